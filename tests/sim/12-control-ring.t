#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 12-control-ring.t - every message of the control ring with every rule, and the hashes that they set
#
# The script of each conversation says what has to come back, and qnetfront fails when something else
# does. Its sink then checks each frame: the hash, its absence, and the queue. Attacks through the
# control ring are among those of 30-hostile.t.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

vif=vif1.0

# says NAME SCRIPT [OPTION...]: a frontend connects, says that and gets the responses that it wants.
says() {
    local name=$1 script=$2
    shift 2
    ok "$name" timeout 30 xensim as 1 qnetfront --json --mode generate --count 1 --ctrl "$script" "$@"
}

# steered NAME SCRIPT RIGHT OPTION...: frames come for a guest that has said that before; at least RIGHT of
# them with a hash.
steered() {
    local name=$1 script=$2 right=$3
    shift 3
    ok "$name" wire_to_guest rx 1 $vif --queues 2 --flows 64 --size 14:1514 --ctrl "$script" "$@"
    between "$name: so many had a hash" "$right" "$(field rx.receiver hash_right)" 100000
}

# matrix SIZE: a table of that size, and parts of it from everywhere (XSA-270).
matrix() {
    local size=$1 offset count expected
    local numbers="0 1 2 127 128 129 1024 1073741824 1073741825 2147483647 2147483648 4294967295"
    echo "mapping-size $size = ok 0; page"
    for offset in $numbers; do
        for count in $numbers; do
            expected=invalid
            if [ "$offset" -le "$size" ] && [ "$count" -le $((size - offset)) ]; then
                expected="ok 0"
            fi
            echo "; raw 6 page $count $offset = $expected"
        done
    done
}

quiet_network
bridge xenbr0
daemon_start
guest_add 1
is "a control ring is offered" "$(xenstore-read "$(backend_of 1 0)/feature-ctrl-ring")" 1

# --- messages ---

says "no hash at the beginning" "get-flags = unsupported 0; flags 0 = invalid; flags 1 = invalid;
    get-mapping-size = ok 128; mapping 0 = ok 0; mapping 0 0 = invalid"
says "algorithms" "algorithm 0 = ok 0; algorithm 1 = ok 0; algorithm 2 = invalid; get-flags = ok 15;
    algorithm 4294967295 = invalid; get-flags = ok 15; algorithm none = ok 0; get-flags = unsupported"
says "types of hashes" "algorithm toeplitz = ok; $(for types in {0..15}; do
    echo "flags $types = ok 0;"
done) flags 16 = invalid; flags 31 = invalid; flags 2147483648 = invalid; flags 4294967295 = invalid"
says "keys" "key empty = ok 0; key 6d = ok 0; key default = ok 0; raw 3 page 39 = ok 0;
    raw 3 page 41 = overflow; raw 3 page 4096 = overflow; raw 3 page 4097 = overflow;
    raw 3 page 65536 = overflow; raw 3 page 4294967295 = overflow"
says "keys in pages that may only be read, or not even that" "raw 3 r0 40 = ok 0; raw 3 60000 40 = invalid;
    raw 3 60000 0 = ok 0; raw 3 4294967295 1 = invalid"
says "sizes of the table" "mapping-size 0 = ok 0; mapping-size 1 = ok 0; mapping-size 127 = ok 0;
    mapping-size 128 = ok 0; mapping-size 129 = invalid; mapping-size 2147483648 = invalid;
    mapping-size 4294967295 = invalid"
for size in 0 1 127 128; do
    says "every part of a table of $size" "$(matrix $size)"
done
says "queues in the table" "mapping-size 128 = ok; mapping 0 1*128 = ok; mapping 0 2 = invalid;
    mapping 127 2 = invalid; mapping 0 0*127 2 = invalid; mapping 5 4294967295 = invalid;
    mapping 127 1 = ok; mapping 128 0 = invalid" --queues 2
says "one queue is number 0" "mapping-size 4 = ok; mapping 0 0*4 = ok; mapping 0 1 = invalid"
says "tables in pages that may only be read, or not even that" "mapping-size 128 = ok;
    raw 6 r0 128 0 = ok 0; raw 6 60000 1 0 = invalid; raw 6 60000 0 0 = ok 0; raw 6 60000 129 0 = invalid"
says "messages that do not exist" "raw 0 = unsupported 0; raw 11 1 2 3 = unsupported 0;
    raw 12 = unsupported; raw 255 = unsupported; raw 256 page 1 0 = unsupported; raw 65535 = unsupported"
says "the Windows driver's sequence" "windows = ok 0; get-flags = ok 15"
is "all of it" "$(timeout 30 xensim as 1 qnetfront --json --mode generate --count 1 --ctrl windows |
    grep -o '"ctrl_statuses":"[^"]*"')" '"ctrl_statuses":"0,0,0,0,0"'
says "a ring full of messages, again and again" "burst 1280"
says "more messages than the ring holds, without a pause" "flood 20000"

# --- hashes ---

ok "no hash where nothing was said" wire_to_guest rx 1 $vif --queues 2 --flows 64 --size 14:1514
is "not one" "$(field rx.receiver hash_unexpected) $(field rx.receiver guest_rx_extras)" "0 0"
steered "no hash without an algorithm" "mapping-size 128; mapping spread; key default; flags 15 = invalid" 0
is "not one" "$(field rx.receiver guest_rx_extras)" 0
steered "no hash without types" "algorithm toeplitz; key default; flags 15; flags 0" 0
between "the host's flow hash spreads them" 300 "$(field rx.receiver queue1_guest_rx_packets)" 1200
steered "no hash after the algorithm is taken back" "windows; algorithm none" 0
steered "the Windows driver's settings" windows 1100
between "both queues have their part" 300 "$(field rx.receiver queue1_guest_rx_packets)" 1200
for types in 1 2 4 8 3 10; do
    steered "types $types" "algorithm toeplitz; flags $types = ok; key default; mapping-size 128; mapping spread" 250
done
steered "a new key" "windows; key 00112233445566778899aabbccddeeff = ok" 1100
steered "no key" "windows; key empty = ok" 1100
steered "no table: modulo the number of queues" "windows; mapping-size 0 = ok" 1100
steered "a table that is all zero" "windows; mapping-size 100 = ok" 1100
is "goes to queue 0" "$(field rx.receiver queue1_guest_rx_packets)" 0
steered "a table of 3" "windows; mapping-size 3 = ok; mapping 0 1 0 1 = ok" 1100
steered "a part of the table" "windows; mapping 100 1*28 = ok; mapping 0 0*5 = ok" 1100
steered "a table that is refused changes nothing" "windows; mapping 0 1*128 = ok; mapping 0 0*127 2 = invalid" 1100
between "all hashed frames go to queue 1" "$(field rx.receiver hash_right)" \
    "$(field rx.receiver queue1_guest_rx_packets)" 1501
steered "behind one and two VLAN tags" windows 1000 --vlan 2 --size 70:1514
# More at once than one ring holds: they wait for it.
steered "super-frames" windows 1000 --frames tcp4,tcp6 --gso 1448 --size 2000:60000:50 --window 128
is "none was lost for want of buffers" "$(counter $vif guest_rx_drop_no_slots)" 0
between "a hash beside GSO" 1000 "$(field rx.receiver frames_gso)" 2000
steered "frames while the table changes" windows 1000 \
    --ctrl-loop "mapping 0 0*128 = ok; mapping 0 1*128 = ok; mapping 0 9 = invalid; mapping spread = ok" \
    --count 20000 --rate 10000
ok "with one queue" wire_to_guest rx 1 $vif --flows 64 --size 14:1514 --ctrl windows
ok "with one event channel" wire_to_guest rx 1 $vif --queues 2 --flows 64 --size 14:1514 --ctrl windows \
    --event-channels single
mark $vif
ok "frames with a hash from the guest" guest_to_wire tx 1 $vif --queues 2 --flows 64 --size 14:1514 \
    --gso 500 --ctrl windows
between "beside GSO, too" 1400 "$(since $vif guest_tx_extras)" 1600

# What was set is gone with the connection.
ok "fewer queues after a table for two" wire_to_guest rx 1 $vif --flows 64 --size 14:1514 \
    --ctrl "get-flags = unsupported; algorithm toeplitz; mapping-size 2; mapping 0 1 = invalid; flags 15"

# --- floods ---

toolstack domain-add 2
toolstack vif-add 2 0
memory=$(awk '/^VmRSS/ { print $2 }' "/proc/$daemon_pid/status")
start flood xensim as 1 qnetfront --json --mode generate --count 1 --ctrl "flood 300000"
ok "a guest floods the control ring" lib_link_ready 1 $vif
begin=${EPOCHREALTIME/[.,]/}
connects "another connects meanwhile" 2 0
between "as fast as ever (us)" 1 $((${EPOCHREALTIME/[.,]/} - begin)) 2000000
ok "and the daemon answers" daemon_lives
front_stop
ok "the flood goes on" running flood
ok "and every message is answered" finish flood
# A sanitizer keeps what was freed.
if [ -z "${SANITIZE-}" ]; then
    between "memory stays as it was (kB)" 0 "$(awk '/^VmRSS/ { print $2 }' "/proc/$daemon_pid/status")" \
        $((memory + 4096))
fi

for seed in 1 2 3 4 5 6; do
    ok "garbage, seed $seed" timeout 30 xensim as 1 qnetfront --json --mode hostile --attack ctrl-garbage \
        --seed $seed
done

# --- a control ring outlives the daemon ---

start front xensim as 1 qnetfront --json --mode idle --queues 2 --ctrl "windows; add-gref 0 g0-g9 = ok" \
    --ctrl-loop "key default = ok"
ok "a guest with a control ring" backend_becomes 1 0 4
daemon_kill
daemon_start
ok "is adopted" wait_for 10 grep -q "$vif: adopted" "$daemon_log"
ok "and goes on" wait_for 5 test "$(backend_state 1 0)" = 4
copied() { # A key is copied for each message.
    [ "$(calls segment)" -ge 2 ]
}
ok "its messages are read" wait_for 10 copied
ok "and answered, and it closes" finish front TERM
is "nothing stays mapped" "$(mapped)" 0
daemon_ends
done_testing
