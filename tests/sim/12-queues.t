#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 12-queues.t - a vif with several queues: how many are offered, what is refused, and that each works

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

quiet_network
bridge xenbr0
back=$(backend_of 1 0)
front=$(frontend_of 1 0)

offered() {
    xenstore-read "$back/multi-queue-max-queues"
}

# queues NAME: of that counter, one line for each queue
queues() {
    qnetctl stats vif1.0 --json | grep -oE "\"$1\" *: *[0-9]+" | grep -oE '[0-9]+$'
}

# every_queue NAME COUNTER BEFORE COUNT: so many queues have counted on since.
every_queue() {
    is "$1" "$(paste -d ' ' <(echo "$3") <(queues "$2") | awk '$2 > $1' | wc -l)" "$4"
}

# --- how many are offered ---

processors=$(nproc)
daemon_start
guest_add 1
is "as many as processors are offered, at most 8" "$(offered)" $((processors < 8 ? processors : 8))
toolstack vif-remove 1 0
daemon_stop
daemon_start --max-queues 8 --workers 8
toolstack vif-add 1 0
is "or what an option says" "$(offered)" 8

# As a guest does whose driver is loaded again.
offer() { # VALUE: of the vif's own key
    xenstore-write "$back/max-queues" "$1"
    xenstore-write "$front/state" 6
    backend_becomes 1 0 6
    xenstore-write "$front/state" 1
    backend_becomes 1 0 2
}
offer 3
is "the vif's own key wins" "$(offered)" 3
fails "and no more are accepted" front_start 1 0 --queues 4 --features multi-queue-num-queues=4
front_stop
has "for this reason" "$(backend_error 1 0)" "multi-queue-num-queues is 4, but 3 is the most"
for mistake in 0 9 many; do
    offer $mistake
    is "max-queues=$mistake is as none" "$(offered)" 8
    ok "and said" grep -q "max-queues is '$mistake', not a number 1..8; using 8" "$daemon_log"
done
xenstore-rm "$back/max-queues"

# --- what is refused ---

# A frontend made of nothing but keys: the number of queues is looked at before anything is mapped.
by_hand() { # VALUE: of multi-queue-num-queues
    xenstore-write "$front/state" 1 &&
        backend_becomes 1 0 2 &&
        xenstore-write -- "$front/request-rx-copy" 1 "$front/multi-queue-num-queues" "$1" \
            "$front/state" 4 &&
        backend_becomes 1 0 5 &&
        xenstore-write "$front/state" 6 &&
        backend_becomes 1 0 6
}
for value in 0 -1 9 16 4294967296 4294967297 18446744073709551617 '' 8x ' 2' +2 0x2 2.0; do
    ok "multi-queue-num-queues='$value' is refused" by_hand "$value"
    has "with the reason" "$(backend_error 1 0)" \
        "cannot connect: multi-queue-num-queues is '${value//+/[+]}', not a number 1..8"
    connects "then a valid number is accepted" 1 0 --queues 2
    front_stop
done

refused "a gap" 1 0 "cannot connect: queue-1: tx-ring-ref is missing" --queues 3 \
    --features queue-1/tx-ring-ref=
refused "a last queue that is not there" 1 0 "queue-2: tx-ring-ref is missing" --queues 2 \
    --features multi-queue-num-queues=3
refused "a queue without an event channel" 1 0 "queue-7: event-channel-rx is missing" --queues 8 \
    --features queue-7/event-channel-rx=
refused "a bad grant in the last queue" 1 0 "queue-7: guest_rx ring: .*60000" --queues 8 \
    --features queue-7/rx-ring-ref=60000
refused "queues without a number of them" 1 0 "tx-ring-ref is missing" --queues 2 \
    --features multi-queue-num-queues=
is "all is undone each time" "$(mapped)" 0
connects "keys of one queue beside those of several do not matter" 1 0 --queues 2 \
    --features tx-ring-ref=60000,rx-ring-ref=60001,event-channel=1
is "two queues are served" "$(mapped)" 4
front_stop
connects "one queue that is counted" 1 0 --features multi-queue-num-queues=1
is "has its keys where it has them uncounted" "$(mapped)" 2
front_stop

# --- each works ---

switches() { # of each worker
    local task
    for task in "/proc/$daemon_pid/task/"*; do
        if [[ $(cat "$task/comm") == qnetback-* ]]; then
            awk '/^voluntary/ { print $2 }' "$task/status"
        fi
    done
}

before=$(queues guest_tx_packets)
switched=$(switches)
ok "8 queues, to the wire" guest_to_wire tx 1 vif1.0 --queues 8 --size 60:1514 --count 20000
every_queue "frames through every queue" guest_tx_packets "$before" 8
is "each by a worker of its own" \
    "$(paste -d ' ' <(echo "$switched") <(switches) | awk '$2 > $1 + 10' | wc -l)" 8
before=$(queues guest_rx_packets)
ok "8 queues, to the guest" wire_to_guest rx 1 vif1.0 --queues 8 --flows 256 --size 60:1514 \
    --count 20000
every_queue "frames through every queue" guest_rx_packets "$before" 8
ok "8 queues, large frames, to the wire" guest_to_wire tx 1 vif1.0 --queues 8 --size 65535 \
    --frames tcp4,tcp6 --gso 1448 --count 2000
ok "8 queues, large frames, to the guest" wire_to_guest rx 1 vif1.0 --queues 8 --flows 256 \
    --size 65535 --frames tcp4,tcp6 --gso 1448 --count 2000
ok "8 queues with one event channel each" wire_to_guest rx 1 vif1.0 --queues 8 --flows 256 \
    --event-channels single --count 2000

# --- from one number to another ---

front_start 1 0
front_stop
before=$(descriptors)
changes() {
    local i
    for i in 8 1 3 8 2 1; do
        front_start 1 0 --queues $i || return 1
        [ "$(mapped)" -eq $((2 * i)) ] || return 1
        front_stop
        backend_becomes 1 0 6 || return 1
    done
}
ok "8, 1, 3, 8, 2 and 1 queues in turn" changes
is "no descriptor is left" "$(descriptors)" "$before"
ok "8 queues work after that" guest_to_wire tx 1 vif1.0 --queues 8 --count 2000

# A daemon that offers less takes over what a former one has agreed on.
front_start 1 0 --queues 8
daemon_kill
daemon_start --max-queues 1 --workers 2
ok "the next daemon serves 8 queues, though it offers one" wait_for 5 \
    grep -q "adopted: 8 queues" "$daemon_log"
is "the guest is connected" "$(backend_state 1 0)" 4
is "to all of them" "$(mapped)" 16
front_stop
ok "until it closes" backend_becomes 1 0 6
front_start 1 0 --queues 8
is "then it gets one" "$(offered) $(mapped)" "1 2"
front_stop

daemon_ends
done_testing
