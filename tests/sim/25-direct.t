#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 25-direct.t - frames between guests on one bridge, copied from guest to guest past the bridge

# shellcheck source=tests/sim/tcp.sh
. "$(dirname "${BASH_SOURCE[0]}")/tcp.sh"

megabytes=64

# direct VIF DIRECTION: frames since mark that took the short cut
direct() {
    since "$1" "$2_direct"
}

# reaches FROM TO: 20 pings
reaches() {
    in_domain "$1" ping -c 20 -i 0.01 -W 2 -q "${ipv4[$2]}"
}

# goes_directly: 20 pings from guest 1 to guest 2, all past the bridge. A guest that once took nothing
# for a while is spared for a second, so a test may have to ask again.
goes_directly() {
    mark vif1.0
    reaches 1 2 && [ "$(direct vif1.0 guest_tx)" -ge 20 ]
}

# said COUNT PATTERN: in the daemon's log, so often at least
said() {
    [ "$(grep -c "$2" "$daemon_log")" -ge "$1" ]
}

carrier_is() { # VALUE
    [ "$(xenstore-read "$(backend_of 2 0)/carrier")" = "$1" ]
}

# What the interface in the host has had from the guest.
host_bytes() { # VIF
    cat "/sys/class/net/$1/statistics/rx_bytes"
}

tcp_host 1500
daemon_start --direct xenbr0
for domid in 1 2; do
    guest_add $domid
    is "guest $domid is offered one queue" \
        "$(xenstore-read "$(backend_of $domid 0)/multi-queue-max-queues")" 1
    ok "guest $domid connects" guest_connect $domid
done
ok "content to send" make_content $megabytes

ok "from guest to guest" reaches 1 2
mark vif1.0
mark vif2.0
before=$(host_bytes vif1.0)
ok "$megabytes MB from guest to guest" sends 1 2
between "went directly" 500 "$(direct vif1.0 guest_tx)" 1000000
is "and every such frame arrived" "$(direct vif2.0 guest_rx)" "$(direct vif1.0 guest_tx)"
between "the interface in the host saw next to nothing" 0 $(($(host_bytes vif1.0) - before)) 5000000
ok "$megabytes MB the other way, IPv6" sends 2 1 6
ok "both ways at once, and with the host" at_once \
    "sends 1 2 4 7001" "sends 2 1 4 7002" "sends 1 0 4 7003" "sends 0 2 4 7004"

xenstore-write "$(backend_of 2 0)/direct" 0
mark vif1.0
wait_for 5 said 1 "vif2.0: frames of neighbours come through the bridge"
ok "the vif's own key says no" reaches 1 2
is "then nothing goes directly" "$(direct vif1.0 guest_tx)" 0
xenstore-write "$(backend_of 2 0)/direct" 1
wait_for 5 said 2 "vif2.0: frames of neighbours come directly"
ok "and yes" wait_for 20 goes_directly

ip link set vif2.0 down
wait_for 5 carrier_is 0
fails "no frame gets past an interface that is down" \
    in_domain 1 ping -c 3 -i 0.05 -W 1 -q "${ipv4[2]}"
ip link set vif2.0 up
wait_for 5 carrier_is 1
ok "up again" wait_for 5 reaches 1 2

ip link add other type bridge
ip link set other up
ip link set vif2.0 master other
wait_for 5 said 5 "vif2.0: frames of neighbours"
mark vif1.0
fails "nor to another bridge" in_domain 1 ping -c 3 -i 0.05 -W 1 -q "${ipv4[2]}"
is "where nothing goes directly" "$(direct vif1.0 guest_tx)" 0
ip link set vif2.0 master xenbr0
ok "back again" wait_for 10 reaches 1 2

# both_isolated on|off: ports between which the bridge forwards nothing
both_isolated() {
    ip link set vif1.0 type bridge_slave isolated "$1" && ip link set vif2.0 type bridge_slave isolated "$1"
}

# passes_bridge: 20 pings from guest 1 to guest 2, none past the bridge
passes_bridge() {
    mark vif1.0
    reaches 1 2 && [ "$(direct vif1.0 guest_tx)" -eq 0 ]
}

ok "two isolated ports" both_isolated on
fails "the short cut joins nobody whom the bridge parts" \
    wait_for 2 in_domain 1 ping -c 1 -W 1 -q "${ipv4[2]}"
ok "isolated no more" both_isolated off
ok "and joined directly" wait_for 20 goes_directly
if ip link set xenbr0 type bridge vlan_filtering 1 2>/dev/null; then
    ok "a bridge that filters VLANs gets every frame" wait_for 10 passes_bridge
    ip link set xenbr0 type bridge vlan_filtering 0
    ok "and one that does not gets none" wait_for 20 goes_directly
else
    echo "# this kernel's bridges filter no VLANs"
fi

# A guest that stops receiving, while another sends to it and to the host.
front=$(pgrep -f "qnetfront.*tap" -P "${job_pid[front2]}" || echo "${job_pid[front2]}")
kill -STOP "$front"
in_domain 1 ping -f -c 3000 -q -W 1 "${ipv4[2]}" >/dev/null 2>&1 &
flood=$!
ok "the sender's other traffic goes on past a neighbour that takes nothing" reaches 1 0
kill "$flood" 2>/dev/null || true
wait "$flood" 2>/dev/null || true
kill -CONT "$front"
ok "the neighbour is reached directly when it takes something again" wait_for 20 goes_directly

daemon_kill
daemon_start --direct xenbr0
ok "after a crash the next daemon's guests reach each other directly" wait_for 20 goes_directly

for domid in 1 2; do
    ok "guest $domid leaves" finish front$domid TERM
    is "guest $domid: every answer was in order" \
        "$(field front$domid guest_tx_wrong_id) $(field front$domid guest_tx_error) $(
            field front$domid guest_rx_errors)" "0 0 0"
done
daemon_ends
done_testing
