#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 13-static-grants.t - pages that stay mapped: lists that are taken whole or not at all, traffic that copies
# nothing, and nothing mapped at the end
#
# What is copied the simulator counts, page by page: each list of static grants is one segment, two when
# it is written back.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

vif=vif1.0
min=14
max=65535
table=512

# says NAME SCRIPT [OPTION...]: a frontend connects, says that and gets the responses that it wants; when
# it has gone nothing is mapped.
says() {
    local name=$1 script=$2
    shift 2
    ok "$name" timeout 30 xensim as 1 qnetfront --json --mode generate --count 1 --ctrl "$script" "$@"
    is "$name: nothing stays mapped" "$(mapped)" 0
}

maps() { # COUNT
    [ "$(mapped)" = "$1" ]
}

# holds NAME SCRIPT COUNT: after that, so many pages are mapped beside the rings of one queue and the
# control ring.
holds() {
    start front xensim as 1 qnetfront --json --mode idle --ctrl "$2"
    ok "$1" wait_for 5 maps $((3 + $3))
}

let_go() {
    ok "$1: it closes" finish front TERM
    is "$1: nothing stays mapped" "$(mapped)" 0
}

quiet_network
bridge xenbr0 $((max - 14))
daemon_start
guest_add 1 mtu=$((max - 14))

# --- lists ---

says "room for all pages of a queue's rings, for each queue" "get-gref-size 0 = ok $table;
    get-gref-size 1 = ok $table; get-gref-size 2 = invalid; get-gref-size 4294967295 = invalid" --queues 2
says "lists of nothing" "add-gref 0 = ok 0; del-gref 0 = ok 0; raw 9 0 60000 0 = ok 0"
# The deletions at the end tell what is known: an entry that is not has status 2.
says "refused lists change nothing" "add-gref 0 g0 g1 r0:ro = ok;
    add-gref 0 g2 g3 g2 = invalid;
    add-gref 0 g2 g3 g0 = invalid;
    add-gref 0 g0 = invalid;
    add-gref 0 g2 60000 g3 = invalid;
    add-gref 0 g2 g3 4294967295 = invalid;
    add-gref 0 g2 g3 r1 = invalid;
    add-gref 0 g2 g3:2 = invalid;
    add-gref 0 g2:3 g3 = invalid;
    add-gref 0 g2 g3:32768 = invalid;
    add-gref 1 g2 = invalid;
    add-gref 4294967295 g2 = invalid;
    raw 9 0 60000 1 = invalid;
    raw 9 0 page 513 = invalid;
    raw 9 0 page 536870912 = invalid;
    raw 9 0 page 536870913 = invalid;
    raw 9 0 page 4294967295 = invalid;
    get-gref-size 0 = ok $table;
    del-gref 0 g0 g1 g2 g3 r0 r1 = ok 3 0 0 2 2 0 2"
says "deletion tells of each entry how it went" "add-gref 0 g0-g9 = ok;
    del-gref 0 g5 g5 g6 60000 g7:1 g8:65535 g20 = ok 4 0 2 0 2 0 0 2;
    del-gref 0 g0-g9 = ok 6 0 0 0 0 0 2 2 2 2 0; del-gref 0 g0-g9 = ok 0 2 2 2 2 2 2 2 2 2 2;
    add-gref 0 g0-g9 = ok; raw 10 0 page 513 = invalid; raw 10 0 60000 1 = invalid; raw 10 1 page 10 = invalid;
    del-gref 0 g0-g9 = ok 10"
says "a list that cannot be written back" "add-gref 0 g0 = ok; page g0; raw 10 0 r0 1 = invalid"
# Grant 1 is that of the page that the guest talks to xenstored through.
says "no list in, and no list of, the toolstack's own grants" "add-gref 0 g0 = ok; raw 9 0 1 1 = invalid;
    raw 10 0 0 1 = invalid; raw 10 0 1 1 = invalid; raw 10 0 7 1 = invalid; raw 3 1 40 = invalid;
    add-gref 0 1 = invalid; add-gref 0 g1 g2 7 = invalid; del-gref 0 g0 g1 = ok 1 0 2"
says "a full table" "add-gref 0 g0-g511 = ok; add-gref 0 g512 = invalid; del-gref 0 g3 g500 = ok 2;
    add-gref 0 g512 g513 g514 = invalid; add-gref 0 g512 g513 = ok; add-gref 0 g3 = invalid;
    del-gref 0 g0-g2 g4-g499 g501-g513 = ok 512"
says "each queue has a table of its own" "add-gref 0 g0-g511 = ok; add-gref 1 g0-g511 = ok;
    add-gref 1 g512 = invalid; del-gref 0 g0-g511 = ok 512; del-gref 1 g0-g511 = ok 512" --queues 2
says "again and again" "$(for _ in {1..20}; do
    echo "add-gref 0 g0-g511 = ok; del-gref 0 g511 g0-g510 = ok 512;"
done)"

holds "pages are mapped" "add-gref 0 g0-g99 r0-r7:ro" 108
let_go "without a deletion"
holds "what was deleted is not" "add-gref 0 g0-g99; del-gref 0 g0-g59; add-gref 0 g200 g0" 42
let_go "some deleted"
holds "what was refused is not" "add-gref 0 g0-g9; add-gref 0 g10-g299 60000; add-gref 0 g10-g299 g0" 10
let_go "a refused list"

# The hypervisor fails: after the three rings and two pages, at the third page of the list.
xensim fail "$daemon_pid" map:+8
says "a page that cannot be mapped" "add-gref 0 g0 g1 = ok; add-gref 0 g2-g20 = invalid;
    del-gref 0 g0-g20 = ok 2; add-gref 0 g2-g20 = ok"
xensim fail "$daemon_pid" ''

# --- guests that go without a word ---

holds "a guest with pages mapped" "add-gref 0 g0-g511" 512
kill -KILL "$(cat "/proc/${job_pid[front]}/task/${job_pid[front]}/children")"
finish front >/dev/null 2>&1 || true
xenstore-write "$(frontend_of 1 0)/state" 1
ok "starts over: all is unmapped" wait_for 5 maps 0
holds "a guest with pages mapped" "add-gref 0 g0-g511" 512
ok "whose vif is taken away by force" toolstack vif-remove 1 0 --force
is "nothing stays mapped" "$(mapped)" 0
finish front TERM >/dev/null || true
toolstack vif-add 1 0 mtu=$((max - 14))

# --- traffic ---

# Segments that the lists themselves cost: read once, and for deletion also written.
lists=3

# no_copies NAME QUEUES BEFORE
no_copies() {
    is "$1: nothing is copied" $(($(calls segment) - $3)) $(($2 * lists))
}

step=7
if [ -n "${SANITIZE-}" ]; then
    step=97
fi
frames=$(((max - min) / step + 1))

# traffic NAME QUEUES OPTION...
traffic() {
    local name=$1 queues=$2 before
    shift 2
    before=$(calls segment)
    ok "guest_tx: $name" guest_to_wire tx 1 $vif --queues "$queues" --size $min:$max:$step \
        --static-grants all "$@"
    no_copies "guest_tx: $name" "$queues" "$before"
    is "guest_tx: $name: each length" "$(field tx.receiver frames_lengths)" $frames
    before=$(calls segment)
    ok "guest_rx: $name" wire_to_guest rx 1 $vif --queues "$queues" --size $min:$max:$step \
        --static-grants all "$@"
    no_copies "guest_rx: $name" "$queues" "$before"
    is "guest_rx: $name: each length" "$(field rx.receiver frames_lengths)" $frames
    is "$name: all pages were known, and taken back" \
        "$(field rx.receiver static_grants_added) $(field rx.receiver static_grants_deleted) $(
            field rx.receiver static_grants_left_out)" "$((queues * 512)) $((queues * 512)) 0"
}

traffic "one queue" 1
traffic "two queues, super-frames" 2 --gso 1448 --flows 64
traffic "headers in slots of their own" 1 --layout header --event-channels single
traffic "as many slots of one byte as there can be" 1 --layout tiny --offset
traffic "slots anywhere" 1 --layout random --offset --gso 1000

# What is not known is copied, slot by slot.
some=$(((max - min) / 97 + 1))
slots=$(pages $min $max 97)
for choice in guest-rx guest-tx half read-only; do
    case $choice in
    guest-rx) copied_tx=$slots copied_rx=0 ;;
    guest-tx) copied_tx=0 copied_rx=$slots ;;
    half) copied_tx=half copied_rx=half ;;
    read-only) copied_tx=0 copied_rx=$slots ;;
    esac
    before=$(calls segment)
    ok "guest_tx: only $choice" guest_to_wire tx 1 $vif --size $min:$max:97 --static-grants $choice
    copied=$(($(calls segment) - before - lists))
    if [ "$copied_tx" = half ]; then
        between "guest_tx: half: some are copied" $((slots / 4)) $copied $((slots * 3 / 4))
    else
        is "guest_tx: only $choice: segments" $copied "$copied_tx"
    fi
    before=$(calls segment)
    ok "guest_rx: only $choice" wire_to_guest rx 1 $vif --size $min:$max:97 --static-grants $choice
    copied=$(($(calls segment) - before - lists))
    if [ "$copied_rx" = half ]; then
        between "guest_rx: half: some are copied" $((slots / 4)) $copied $((slots * 3 / 4))
    else
        is "guest_rx: only $choice: segments" $copied "$copied_rx"
    fi
    is "only $choice: each length" "$(field tx.receiver frames_lengths) $(field rx.receiver frames_lengths)" \
        "$some $some"
done

ok "guest_tx: pages that come and go" guest_to_wire tx 1 $vif --queues 2 --gso 1448 --size 60:$max:131 \
    --count 3000 --static-grants all --churn
between "again and again" 10000 "$(field tx.sender static_grants_added)" 100000000
# For 3 s the tap gives a flow to the queue that the guest sent it from; then it may move to another, and
# overtake itself.
sleep 3.5
ok "guest_rx: pages that come and go" wire_to_guest rx 1 $vif --queues 2 --gso 1448 --size 60:$max:131 \
    --count 3000 --static-grants all --churn
between "again and again" 10000 "$(field rx.receiver static_grants_added)" 100000000
ok "with hashes, and from one queue to the other" wire_to_guest rx 1 $vif --queues 2 --flows 64 \
    --size 60:1514 --count 3000 --static-grants all --ctrl windows
between "with hashes" 2000 "$(field rx.receiver hash_right)" 3000
is "nothing stays mapped" "$(mapped)" 0

ok "kept pages that change while they are sent" timeout 30 xensim as 1 qnetfront --json --mode hostile \
    --attack ctrl-static-rewritten

# --- the daemon ends ---

# Whatever it was doing, each message takes effect once: the guest wants these responses.
start front xensim as 1 qnetfront --json --mode idle --queues 2 \
    --ctrl "add-gref 1 g0-g99 r0-r7:ro = ok" --ctrl-loop "add-gref 0 g0-g511 = ok; del-gref 0 g0-g255 = ok 256;
    add-gref 0 g0 g1 = ok; add-gref 0 g0 = invalid; del-gref 1 r7 = ok 1 0; add-gref 1 r7:ro = ok;
    del-gref 0 g0 g1 g256-g511 = ok 258; key default = ok"
ok "a guest with pages mapped" wait_for 10 maps $((5 + 108))
for signal in KILL KILL KILL USR2 KILL KILL KILL USR2 KILL KILL; do
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    kill -$signal "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
    daemon_start
done
copied() { # COUNT
    [ "$(calls segment)" -ge "$1" ]
}
ok "each of ten daemons takes it over, and goes on with its messages" wait_for 20 copied 40
is "with its journal" \
    "$(grep -c 'adopted: ' "$daemon_log") $(grep -c 'without its journal' "$daemon_log" || true)" "10 0"
ok "and its pages" wait_for 10 maps $((5 + 108))
ok "it closes, and has had what it wanted" finish front TERM
is "nothing stays mapped" "$(mapped)" 0
daemon_ends
done_testing
