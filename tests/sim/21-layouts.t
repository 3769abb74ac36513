#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 21-layouts.t - frames from the guest in every kind of slots that the protocol allows
#
# Slots of one byte, headers cut anywhere, data anywhere in its page, slots without data, as many slots
# as are taken at most. SEED=N repeats a run.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

seed=${SEED:-$RANDOM}
echo "# seed $seed"
vif=vif1.0
step=7
if [ -n "${SANITIZE-}" ]; then
    step=29
fi

# layout NAME OPTION...: frames of many lengths; their number is in $frames afterwards.
layout() {
    local name=$1
    shift
    mark $vif
    ok "$name" guest_to_wire tx 1 $vif --seed "$seed" "$@"
    frames=$(field tx.sender guest_tx_packets)
    is "$name: all arrive" "$(field tx.receiver frames_good)" "$(field tx.sender frames_sent)"
    is "$name: each slot is counted and answered once" \
        "$(since $vif guest_tx_packets) $(since $vif guest_tx_bytes) $(
            since $vif guest_tx_extras) $(since $vif guest_tx_responses)" \
        "$frames $(field tx.sender guest_tx_bytes) $(
            field tx.sender guest_tx_extras) $(field tx.sender guest_tx_slots)"
    between "$name: not more copy calls than frames" 1 "$(since $vif guest_tx_copy_calls)" "$frames"
    between "$name: nor events" 1 "$(since $vif guest_tx_notifies)" "$frames"
}

# segments NAME EMPTY: one for each slot of the last frames but the empty ones
segments() {
    is "$1: one segment for each slot with data" \
        "$(since $vif guest_tx_segments)" $(($(since $vif guest_tx_slots) - $2))
}

quiet_network
bridge xenbr0 65521
daemon_start
guest_add 1 mtu=65521

for kind in full header tiny random; do
    for offset in "" --offset; do
        for gso in "" "--gso 1448"; do
            name="$kind${offset:+, offsets}${gso:+, GSO}"
            # shellcheck disable=SC2086 # several words, or none
            layout "$name" --layout $kind $offset $gso --size 14:65535:$step
            segments "$name" 0
        done
    done
done
between "headers in several slots were gathered" 1 "$(counter $vif guest_tx_gathered)" 1000000

# Around each multiple of the page size, where one more slot begins.
for size in 4094 4095 4096 4097 4098; do
    layout "lengths of n * 4096 + $((size - 4096))" --size "$size:65535:4096" --count 320 --gso 1448
    segments "the same" 0
done

# 18 slots are what every backend takes, and ours one more, as Linux's does: with and without GSO.
for slots in 18 19; do
    for gso in "" "--gso 1448"; do
        name="$slots slots${gso:+, GSO}"
        # shellcheck disable=SC2086 # several words, or none
        layout "$name" --slots $slots --offset $gso --size "$slots:65535:$step"
        is "$name: always as many" "$(since $vif guest_tx_slots)" $((slots * frames))
        segments "$name" 0
        # Totals of few bytes, and headers cut everywhere (advisories 423 and 432).
        name="$slots slots, short frames${gso:+, GSO of 8}"
        layout "$name" --slots $slots --offset ${gso:+--gso 8} --size "$slots:300" --count 3000
        segments "$name" 0
    done
done
# (Linux itself drops a tagged frame with less than two bytes behind its tag.)
for vlan in 1 2; do
    layout "18 slots, $vlan VLAN tags" --slots 18 --vlan $vlan --size 20:300 --count 3000 --csum blank
    segments "18 slots, $vlan VLAN tags" 0
done

# Slots without data, also as the first and the last one (advisory 448).
layout "2 empty slots" --empty 2 --size 14:65535:$step
segments "2 empty slots" $((2 * frames))
layout "17 empty slots" --empty 17 --size 14:4096:$step --count 3000
segments "17 empty slots" $((17 * frames))
is "17 empty slots: 18 in all" "$(since $vif guest_tx_slots)" $((18 * frames))
layout "empty slots among random ones" --layout random --offset --empty 3 --vlan 1 --gso 1400 \
    --size 20:65535:$step
between "they are among the slots" $((frames * 3 / 2)) \
    $(($(since $vif guest_tx_slots) - $(since $vif guest_tx_segments))) $((frames * 3))

# One frame at a time: each is answered before the next comes, whoever sleeps when.
layout "one at a time" --window 1 --layout random --offset --size 14:65535:997
segments "one at a time" 0
layout "one at a time, events always sent" --window 1 --always-kick --size 14:65535:997
segments "one at a time, events always sent" 0

is "no frame from the guest was dropped" \
    "$(qnetctl stats $vif | awk '/guest_tx_drop/ { sum += $4 } END { print sum }')" 0
daemon_ends
done_testing
