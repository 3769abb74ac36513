#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 23-tcp.t - Linux's TCP over the vifs of two guests, to the host and to each other through the bridge
#
# Each guest is a network namespace whose eth0 is a tap that qnetfront joins to the rings. No checksum
# is completed on the way, so a byte that the rings change arrives changed.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

megabytes=256
if [ -n "${SANITIZE-}" ]; then
    megabytes=64
fi
# By domain; the host is 0.
ipv4=(10.0.0.1 10.0.0.2 10.0.0.3)
ipv6=(fd00::1 fd00::2 fd00::3)

# in_domain DOMID COMMAND...
in_domain() {
    ip netns exec "domain$1" "${@:2}"
}

add_addresses() { # DOMID INTERFACE
    in_domain "$1" ip address add "${ipv4[$1]}/24" dev "$2"
    in_domain "$1" ip address add "${ipv6[$1]}/64" dev "$2" nodad
    in_domain "$1" ip link set "$2" up
}

guest_start() { # DOMID
    local domid=$1
    ip netns add "domain$domid"
    guest_add "$domid"
    limit=600 start "front$domid" ip netns exec "domain$domid" xensim as "$domid" \
        qnetfront --json --mode tap --tap eth0
    backend_becomes "$domid" 0 4
    wait_for 10 in_domain "$domid" ip link show eth0
    add_addresses "$domid" eth0
    wait_for 10 link_up "vif$domid.0"
}

# Random, but no block like another, so that one in the wrong place shows.
make_content() {
    local block
    head -c $((1024 * 1024 - 16)) /dev/urandom >$work/block
    for ((block = 0; block < megabytes; block++)); do
        printf '%016d' $block
        cat $work/block
    done >$work/content
    [ "$(stat -c %s $work/content)" -eq $((megabytes * 1024 * 1024)) ]
}

listening() { # DOMID PORT
    in_domain "$1" ss -Hltn | grep -q ":$2 "
}

# sends FROM TO [IPVERSION [PORT]]: the content, by TCP
sends() {
    local from=$1 to=$2 version=${3-4} port=${4-7000} status=0 there name=$1-$2
    case $version in
    4) there=${ipv4[to]} ;;
    6) there=[${ipv6[to]}] ;;
    esac
    # shellcheck disable=SC2016 # expanded by that shell
    start "$name.receiver" ip netns exec "domain$to" bash -c 'set -o pipefail
        socat -u "TCP$1-LISTEN:$2,reuseaddr" STDOUT | cmp - "$3"' - "$version" "$port" $work/content
    wait_for 10 listening "$to" "$port"
    start "$name.sender" ip netns exec "domain$from" \
        socat -u "OPEN:$work/content" "TCP$version:$there:$port"
    finish "$name.sender" || status=$?
    finish "$name.receiver" || status=$?
    return $status
}

# load FROM TO: as fast as it goes for some seconds
load() {
    local from=$1 to=$2 status=0 name=$1-$2
    start "$name.server" ip netns exec "domain$to" iperf3 --server --one-off --port 7100
    wait_for 10 listening "$to" 7100
    timeout 60 ip netns exec "domain$from" iperf3 --client "${ipv4[to]}" --port 7100 --time 2 || status=$?
    finish "$name.server" || status=$?
    return $status
}

# at_once NAME... : these functions, each in its own process
at_once() {
    local one pid status=0 pids=()
    for one in "$@"; do
        # shellcheck disable=SC2086 # a function and its arguments
        $one &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || status=$?
    done
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

ip netns attach domain0 $$
bridge xenbr0
add_addresses 0 xenbr0
daemon_start
guest_start 1
guest_start 2
ok "content to send" make_content
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
