#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 23-tcp.t - Linux's TCP over the vifs of two guests, to the host and to each other through the bridge
#
# No checksum is completed on the way, so a byte that the rings change arrives changed.

# shellcheck source=tests/sim/tcp.sh
. "$(dirname "${BASH_SOURCE[0]}")/tcp.sh"

megabytes=256
if [ -n "${SANITIZE-}" ]; then
    megabytes=64
fi

# load FROM TO: as fast as it goes for some seconds
load() {
    local from=$1 to=$2 status=0 name=$1-$2
    start "$name.server" ip netns exec "domain$to" iperf3 --server --one-off --port 7100
    wait_for 10 listening "$to" 7100
    timeout 60 ip netns exec "domain$from" iperf3 --client "${ipv4[to]}" --port 7100 --time 2 || status=$?
    finish "$name.server" || status=$?
    return $status
}

# pings FROM TO OPTION...: 1000, as fast as they are answered, without loss
pings() {
    local from=$1 to=$2
    shift 2
    timeout 60 ip netns exec "domain$from" ping -f -c 1000 -q -W 2 "$@" "${ipv4[to]}" >$work/ping
    cat $work/ping
    grep -q '1000 packets transmitted, 1000 received, 0% packet loss' $work/ping
}

# minimum VIF: test points about all that went through it
minimum() {
    is "$1: every frame to the guest took the fewest slots" \
        "$(counter "$1" guest_rx_slots)" "$(counter "$1" guest_rx_slots_minimum)"
    is "$1: and the fewest segments" \
        "$(counter "$1" guest_rx_segments)" "$(counter "$1" guest_rx_segments_minimum)"
    is "$1: one segment for each slot from the guest" \
        "$(counter "$1" guest_tx_segments)" "$(counter "$1" guest_tx_slots)"
    between "$1: more frames from the guest than events to it" \
        1 "$(counter "$1" guest_tx_notifies)" "$(counter "$1" guest_tx_packets)"
    between "$1: more frames to the guest than events to it" \
        1 "$(counter "$1" guest_rx_notifies)" "$(counter "$1" guest_rx_packets)"
}

# mean VIF DIRECTION: bytes per frame since mark
mean() {
    echo $(($(since "$1" "$2_bytes") / ($(since "$1" "$2_packets") + 1)))
}

tcp_host 1500
daemon_start
for domid in 1 2; do
    guest_add $domid
    ok "guest $domid connects" guest_connect $domid
done
ok "content to send" make_content $megabytes
is "the MTU of the vifs is 1500" "$(cat /sys/class/net/vif1.0/mtu /sys/class/net/vif2.0/mtu)" \
    $'1500\n1500'

ok "1000 pings from the guest to the host" pings 1 0
ok "1000 pings from the host to the guest" pings 0 1
ok "1000 pings from guest to guest" pings 1 2
ok "1000 pings in several fragments" pings 0 2 -s 8000

mark vif1.0
ok "$megabytes MB from guest to host" sends 1 0
between "most frames from the guest were super-frames" 10000 "$(mean vif1.0 guest_tx)" 65535
mark vif1.0
ok "$megabytes MB from host to guest" sends 0 1
between "most frames to the guest were super-frames" 10000 "$(mean vif1.0 guest_rx)" 65535
ok "$megabytes MB from guest to guest" sends 1 2
mark vif1.0
ok "$megabytes MB from guest to host, IPv6" sends 1 0 6
between "super-frames too" 10000 "$(mean vif1.0 guest_tx)" 65535
mark vif1.0
ok "$megabytes MB from host to guest, IPv6" sends 0 1 6
between "super-frames too" 10000 "$(mean vif1.0 guest_rx)" 65535

ok "both guests at once, each both ways" at_once \
    "sends 1 0 4 7001" "sends 0 1 4 7002" "sends 2 0 4 7003" "sends 0 2 4 7004"
ok "guest to guest, both ways at once" at_once "sends 1 2 4 7005" "sends 2 1 4 7006"
ok "iperf3 from the guest" load 1 0
ok "iperf3 to the guest" load 0 1
ok "iperf3 to both guests at once" at_once "load 0 1" "load 0 2"
ok "iperf3 from guest to guest" load 2 1

for domid in 1 2; do
    minimum vif$domid.0
    ok "guest $domid leaves" finish front$domid TERM
    is "guest $domid: every answer was in order" \
        "$(field front$domid guest_tx_wrong_id) $(field front$domid guest_tx_error) $(
            field front$domid guest_rx_errors) $(field front$domid guest_rx_slots_excess)" "0 0 0 0"
done
daemon_ends
done_testing
