#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 14-link.t - the interface in the host: its MTU, its name, up and down, and what the guest learns of it

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

quiet_network
bridge xenbr0 65521
ip link add wire0 mtu 65521 type veth peer name wire1 mtu 65521
ip link set wire0 master xenbr0 up
ip link set wire1 up
# The bridge must not learn these from the shortest frames.
addresses=(--to 02:72:00:00:00:02 --from 02:72:00:00:00:01)
daemon_start

said() { # PATTERN
    grep -q -- "$1" "$daemon_log"
}

key_is() { # PATH VALUE
    [ "$(xenstore-read "$1" 2>/dev/null)" = "$2" ]
}

carrier_is() { # VALUE
    key_is "$(backend_of 1 0)/carrier" "$1"
}

mtu_is() { # DOMID VALUE
    key_is "$(frontend_of "$1" 0)/mtu" "$2"
}

link_mtu_is() { # INTERFACE VALUE
    [ "$(cat "/sys/class/net/$1/mtu")" -eq "$2" ]
}

# --- carrier ---

toolstack domain-add 1
toolstack vif-write 1 0
ok "a new interface" backend_becomes 1 0 2
ok "is down, and so is the carrier" wait_for 5 carrier_is 0
ok "the vif goes" toolstack vif-remove 1 0
toolstack vif-add 1 0
ok "with the interface in its bridge the carrier is up" wait_for 5 carrier_is 1
front_start 1 0
ip link set vif1.0 down
ok "the interface is set down: no carrier" wait_for 5 carrier_is 0
is "the guest stays connected" "$(backend_state 1 0)" 4
mark vif1.0
ip link set vif1.0 up
ok "up: a carrier" wait_for 5 carrier_is 1
ip link set xenbr0 down
ok "the bridge is set down: no carrier" wait_for 5 carrier_is 0
ip link set xenbr0 up
ok "up: a carrier" wait_for 5 carrier_is 1
ip link set xenbr0 down
ok "the bridge once more" wait_for 5 carrier_is 0
ip link set vif1.0 nomaster
ok "out of the bridge the interface alone counts" wait_for 5 carrier_is 1
ip link set vif1.0 master xenbr0
ok "and back in it the bridge, too" wait_for 5 carrier_is 0
ip link set xenbr0 up
ok "(up again)" wait_for 5 carrier_is 1
is "the guest is connected still" "$(backend_state 1 0)" 4
flaps() {
    local i
    for ((i = 0; i < 200; i++)); do
        ip link set vif1.0 down
        ip link set vif1.0 up
    done
    ip link set vif1.0 down
}
ok "down and up 200 times" flaps
ok "the last word counts" wait_for 5 carrier_is 0
ip link set vif1.0 up
ok "up" wait_for 5 carrier_is 1
front_stop

# An interface that is down takes no frames: they are answered, dropped and counted.
start down xensim as 1 qnetfront --json --mode generate --count 500 --rate 200
backend_becomes 1 0 4
ip link set vif1.0 down
# qnetfront takes that answer for a failure.
finish down >/dev/null || true
is "what a guest sends into an interface that is down is answered" \
    "$(field down guest_tx_answered) $(field down guest_tx_strange)" "500 0"
between "its frames are counted as dropped there" 100 "$(since vif1.0 guest_tx_drop_port)" 500
ip link set vif1.0 up

# --- MTU ---

# With no mtu= the script takes the bridge's.
ok "the guest is told the interface's MTU" wait_for 5 mtu_is 1 65521
ip link set vif1.0 mtu 4000
ok "and a new one" wait_for 5 mtu_is 1 4000
ip link set vif1.0 mtu 9000
ok "at any time" wait_for 5 mtu_is 1 9000
front_start 1 0 --features feature-sg=0
ok "a guest without scatter-gather has Ethernet's" wait_for 5 mtu_is 1 1500
ok "so has the interface" link_mtu_is vif1.0 1500
front_stop
ok "when it has gone, the interface has its own again" wait_for 5 link_mtu_is vif1.0 9000
ok "and the key, too" wait_for 5 mtu_is 1 9000
front_start 1 0 --features feature-sg=0
ip link set vif1.0 mtu 1400
front_stop
ok "unless somebody set another one meanwhile" link_mtu_is vif1.0 1400
ok "(in the key)" wait_for 5 mtu_is 1 1400
# The daemon may die meanwhile, and the guest, too.
ip link set vif1.0 mtu 9000
front_start 1 0 --features feature-sg=0
ok "a guest without scatter-gather" wait_for 5 link_mtu_is vif1.0 1500
daemon_kill
daemon_start
wait_for 10 said "vif1.0: adopted"
front_stop
ok "goes under another daemon: the interface has its own MTU again" wait_for 5 link_mtu_is vif1.0 9000
front_start 1 0 --features feature-sg=0
ok "another such guest" wait_for 5 link_mtu_is vif1.0 1500
daemon_kill
front_kill
front_start 1 0 --features feature-sg=1 &
starter=$!
daemon_start
wait $starter
ok "comes back with scatter-gather while no daemon runs" wait_for 10 link_mtu_is vif1.0 9000
is "nothing is remembered any more" "$(xenstore-read "$(backend_of 1 0)/mtu-lowered-from")" 0
ok "the vif goes" toolstack vif-remove 1 0 --force
fails "the key is not made again" xenstore-exists "$(frontend_of 1 0)/mtu"

# frames NAME LENGTH OPTION...: both ways, through the bridge, without GSO
frames() {
    local name=$1 length=$2
    shift 2
    ok "$name, to the wire" guest_to_wire tx 1 wire1 --size "$length" --count 500 \
        "${addresses[@]}" "$@"
    ok "$name, to the guest" wire_to_guest rx 1 wire1 --size "$length" --count 500 \
        "${addresses[@]}" "$@"
}

for mtu in 9000 65521; do
    toolstack vif-add 1 0 mtu=$mtu
    ok "mtu=$mtu" wait_for 5 mtu_is 1 $mtu
    frames "$((mtu + 14)) bytes" $((mtu + 14)) --csum complete
    toolstack vif-remove 1 0
done
toolstack vif-add 1 0 mtu=1500
ok "mtu=1500" wait_for 5 link_mtu_is vif1.0 1500
frames "1514 bytes" 1514
frames "1518 bytes with a VLAN tag" 1518 --vlan 1
frames "1522 bytes with two" 1522 --vlan 2
toolstack vif-remove 1 0

# --- another name ---

vifname=a-guest.0
toolstack vif-add 1 0 vifname=$vifname mtu=2000
is "the script gave the interface another name" "$(taps)$(ls -d /sys/class/net/$vifname)" \
    "/sys/class/net/$vifname"
ok "which the guest's MTU comes from" wait_for 5 mtu_is 1 2000
ip link set $vifname mtu 1600
ok "always" wait_for 5 mtu_is 1 1600
front_start 1 0
ok "the guest has a carrier" wait_for 5 grep -q 1 /sys/class/net/$vifname/carrier
daemon_kill
daemon_start
ok "the next daemon finds the interface" wait_for 5 said "adopted"
ok "(under its name)" wait_for 5 grep -q 1 /sys/class/net/$vifname/carrier
is "and makes no other" "$(taps)" ""
ip link set $vifname down
ok "it follows its state" wait_for 5 carrier_is 0
ip link set $vifname mtu 1700
ok "and its MTU" wait_for 5 mtu_is 1 1700
front_stop
ok "the frontend has closed" backend_becomes 1 0 6
front_start 1 0
is "the vif connects again" "$(backend_state 1 0)$(taps)" 4
front_stop
# Two guests must not share an interface: the script refuses the second.
toolstack domain-add 2
fails "the same name for another vif is refused" toolstack vif-add 2 0 vifname=$vifname
has "by the script" "$(xenstore-read "$(backend_of 2 0)/hotplug-error")" "already exists"
toolstack vif-remove 2 0
daemon_kill
ok "without a daemon, the closed vif can be removed" toolstack vif-remove 1 0
daemon_start
ok "the next daemon removes its interface" wait_for 5 test ! -e /sys/class/net/$vifname
ok "so that the name is free" toolstack vif-add 2 0 vifname=$vifname
toolstack vif-remove 2 0

daemon_ends
done_testing
