#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 20-every-length.t - every frame length arrives byte for byte, in as few slots and segments as can be
#
# The ends check each frame: qnetfront's sink compares the slots of each packet with its length. The
# sums are checked against arithmetic here, in the daemon's counters and in the simulator's count of
# copy operations.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

min=14
max=65535
vif=vif1.0

# With sanitizers only the first combination gets every length.
coarse=1
if [ -n "${SANITIZE-}" ]; then
    coarse=13
fi

# guest_tx WHAT STEP INTERFACE OPTION...
guest_tx() {
    local what=$1 step=$2 interface=$3 frames slots gso copied
    shift 3
    frames=$(((max - min) / step + 1))
    slots=$(pages $min $max "$step")
    mark $vif
    copied=$(calls segment)
    ok "guest_tx: $frames lengths arrive: $what" \
        guest_to_wire tx 1 "$interface" --size "$min:$max:$step" "$@"
    gso=$(field tx.receiver frames_gso)
    is "guest_tx: each length once: $what" "$(field tx.receiver frames_lengths)" "$frames"
    is "guest_tx: one segment a slot: $what" \
        "$(since $vif guest_tx_packets) $(since $vif guest_tx_slots) $(since $vif guest_tx_extras) $(
            since $vif guest_tx_segments) $(since $vif guest_tx_responses)" \
        "$frames $slots $gso $slots $((slots + gso))"
    is "guest_tx: the hypervisor saw no other segments: $what" $(($(calls segment) - copied)) "$slots"
    between "guest_tx: at most one event for each response: $what" \
        1 "$(since $vif guest_tx_notifies)" "$frames"
}

# guest_rx WHAT STEP INTERFACE OPTION...
guest_rx() {
    local what=$1 step=$2 interface=$3 frames slots gso copied
    shift 3
    frames=$(((max - min) / step + 1))
    slots=$(pages $min $max "$step")
    mark $vif
    copied=$(calls segment)
    ok "guest_rx: $frames lengths arrive, each in the fewest slots: $what" \
        wire_to_guest rx 1 "$interface" --size "$min:$max:$step" "$@"
    gso=$(field rx.receiver frames_gso)
    is "guest_rx: each length once: $what" "$(field rx.receiver frames_lengths)" "$frames"
    is "guest_rx: the guest saw as many slots as there must be: $what" \
        "$(field rx.receiver guest_rx_packets) $(field rx.receiver guest_rx_slots) $(
            field rx.receiver guest_rx_extras) $(field rx.receiver guest_rx_slots_excess)" \
        "$frames $((slots + gso)) $gso 0"
    is "guest_rx: so did the daemon, and as few segments: $what" \
        "$(since $vif guest_rx_packets) $(since $vif guest_rx_slots) $(
            since $vif guest_rx_slots_minimum) $(since $vif guest_rx_segments) $(
            since $vif guest_rx_segments_minimum)" \
        "$frames $((slots + gso)) $((slots + gso)) $slots $slots"
    is "guest_rx: the hypervisor saw no other segments: $what" $(($(calls segment) - copied)) "$slots"
    between "guest_rx: at most one event for each frame: $what" \
        1 "$(since $vif guest_rx_notifies)" "$frames"
}

# sweep WHAT STEP OPTION...: both directions, without GSO, with GSO over IPv4, over IPv6
sweep() {
    local what=$1 step=$2
    shift 2
    guest_tx "$what" "$step" $vif "$@"
    guest_rx "$what" "$step" $vif "$@"
    guest_tx "$what, TSO4" "$step" $vif --frames tcp4 --gso 1448 "$@"
    guest_rx "$what, TSO4" "$step" $vif --frames tcp4 --gso 1448 "$@"
    is "guest_rx: all frames of more than one segment had GSO: $what, TSO4" \
        "$(field rx.receiver frames_gso)" \
        $(((max - min) / step - (54 + 1448 - min) / step))
    guest_tx "$what, TSO6" "$step" $vif --frames tcp6 --gso 1428 "$@"
    guest_rx "$what, TSO6" "$step" $vif --frames tcp6 --gso 1428 "$@"
}

quiet_network
bridge xenbr0 $((max - 14))

daemon_start
guest_add 1 mtu=$((max - 14))
has "packet buffers are granted" "$(qnetctl list --json)" '"buffers":"granted"'
sweep "granted, split" 1 --event-channels split
sweep "granted, single" $coarse --event-channels single

# The same through the bridge, from and to another port of it. The shortest frames have no room for
# addresses of their own, so the bridge may know the usual ones from them, on the wrong port.
ip link add wire0 mtu $((max - 14)) type veth peer name wire1 mtu $((max - 14))
ip link set wire0 master xenbr0 up
ip link set wire1 up
addresses=(--to 02:72:00:00:00:02 --from 02:72:00:00:00:01)
guest_tx "through the bridge" 13 wire1 "${addresses[@]}"
guest_rx "through the bridge, GSO" 13 wire1 --gso 1448 "${addresses[@]}"

ok "the vif goes" toolstack vif-remove 1 0
daemon_ends

daemon_start --buffers plain
toolstack vif-add 1 0 mtu=$((max - 14))
has "packet buffers are plain" "$(qnetctl list --json)" '"buffers":"plain"'
sweep "plain, split" $coarse --event-channels split
sweep "plain, single" $coarse --event-channels single
daemon_ends
done_testing
