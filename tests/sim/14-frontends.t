#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 14-frontends.t - the frontends of Linux, Windows, FreeBSD, NetBSD, mini-os and iPXE, with their habits
#
# qnetfront plays them: the keys and when they are written, the states, which states of ours they do not
# survive, the ring's use. Each connects, gets and sends frames, closes in its way, and comes again; and
# each takes over from each other, in order or after a crash.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

vif=vif1.0
all=(linux windows freebsd netbsd minios ipxe)

# key NAME: what the frontend has written; nothing if it has not.
key() {
    xenstore-read "$(frontend_of 1 0)/$1" 2>/dev/null || true
}

# plays NAME OPTION...: a frontend that is connected when this returns. State 4 alone does not tell: it may
# be left from one that has crashed.
plays() {
    rm -f $work/front.err
    start front xensim as 1 qnetfront --json --verbose --mode idle --personality "$@"
    wait_for 20 connected
}

connected() {
    grep -q "going to state 4" $work/front.err &&
        [[ $(tail -n 1 $work/front.err) == *"backend is in state 4" ]]
}

# Its process, below timeout's: that may not have started it yet when the last one's state 4 stands.
front_process() {
    child=$(<"/proc/${job_pid[front]}/task/${job_pid[front]}/children")
    [ -n "$child" ]
}

crashes() { # The frontend is gone, and what it shared; xenstore has its last words.
    local child
    wait_for 10 front_process
    cat $work/front.out $work/front.err
    kill -KILL "${child% }" && ! finish front 2>/dev/null
}

# both NAME PERSONALITY OPTION...
both() {
    local name=$1 personality=$2
    shift 2
    ok "$name: to the guest" wire_to_guest rx 1 $vif --personality "$personality" "$@"
    ok "$name: to the wire" guest_to_wire tx 1 $vif --personality "$personality" "$@"
}

quiet_network
bridge xenbr0 9000

# --- there before the backend is ---

for personality in "${all[@]}"; do
    toolstack domain-add 1
    toolstack vif-add 1 0 >/run/added 2>&1 </dev/null &
    added=$!
    wait_for 10 xenstore-exists "$(frontend_of 1 0)/state"
    start front xensim as 1 qnetfront --json --verbose --mode idle --personality "$personality"
    ok "$personality finds none" wait_for 10 grep -q "backend is in state 1" $work/front.err
    daemon_start
    ok "$personality waits for a backend that comes later" backend_becomes 1 0 4
    wait $added
    ok "$personality closes" finish front TERM
    toolstack domain-destroy 1
    daemon_stop
done

# --- keys, and frames both ways ---

daemon_start
guest_add 1
plays linux --queues 1
is "linux: keys" "$(key multi-queue-num-queues) $(key request-rx-copy) $(key feature-rx-notify) $(
    key feature-gso-tcpv4) $(key feature-gso-tcpv6) $(key event-channel)" " 1 1 1 1 "
ok "linux: closes" finish front TERM
ok "linux: and is closed" backend_becomes 1 0 6
plays windows --queues 1
is "windows: keys of one queue, and their number" "$(key multi-queue-num-queues) $(key queue-0/tx-ring-ref) $(
    key feature-no-csum-offload)" "1  0"
has "windows: a control ring" "$(key ctrl-ring-ref) $(key event-channel-ctrl)" "^[0-9]+ [0-9]+$"
ok "windows: closes" finish front TERM
is "windows: the sequence for receive side scaling" "$(field front ctrl_statuses)" "0,0,0,0,0"
plays freebsd --queues 2
has "freebsd: one channel for each queue" "$(key queue-1/event-channel) $(key queue-1/event-channel-tx)" \
    "^[0-9]+ $"
ok "freebsd: closes" finish front TERM
ok "freebsd: waits for the next" backend_becomes 1 0 2
plays netbsd --queues 2
is "netbsd: one queue" "$(key multi-queue-num-queues) $(key vifname) $(key feature-gso-tcpv4)" " xennet0 "
ok "netbsd: closes" finish front TERM
plays minios --queues 2
is "minios: says next to nothing" "$(key multi-queue-num-queues) $(key request-rx-copy) $(
    key feature-sg) $(key feature-rx-notify) $(key event-channel-tx)" " 1   "
ok "minios: closes" finish front TERM
ok "minios: waits for the next" backend_becomes 1 0 2
plays ipxe
is "ipxe: takes no blank checksum" "$(key feature-no-csum-offload)" 1
ok "ipxe: closes" finish front TERM
ok "ipxe: waits for the next" backend_becomes 1 0 2

both "linux" linux --size 14:1514
both "linux, two queues, super-frames" linux --queues 2 --flows 64 --gso 1448 --size 60:60000:97
both "windows, two queues" windows --queues 2 --flows 64 --size 14:1514
between "windows: frames come with a hash" 1100 "$(field rx.receiver hash_right)" 1501
both "windows, super-frames" windows --gso 1448 --size 60:60000:97 --window 8
both "freebsd" freebsd --size 14:1514
both "freebsd, two queues, super-frames" freebsd --queues 2 --flows 64 --frames tcp4 --gso 1448 \
    --size 60:60000:97
both "netbsd" netbsd --size 14:1514 --count 3000
both "netbsd, frames of several slots" netbsd --size 14:9000:7 --count 3000
both "minios" minios --size 14:1514
ok "minios: what it gets fits one page, and is complete" wire_to_guest rx 1 $vif --personality minios \
    --size 14:1514 --expect-csum complete
is "minios: in one slot" "$(field rx.receiver guest_rx_slots_most)" 1
both "ipxe" ipxe --size 14:1514
ok "ipxe: what it gets is complete" wire_to_guest rx 1 $vif --personality ipxe --size 14:1514 \
    --expect-csum complete

# --- again and again ---

for personality in "${all[@]}"; do
    ok "$personality connects 30 times" timeout 60 xensim as 1 qnetfront --json --mode reconnect --count 30 \
        --personality "$personality" --queues 2
done
is "nothing stays mapped" "$(mapped)" 0

# --- one after the other ---

# An order in which each follows each.
order=()
for ((i = 0; i < ${#all[@]}; i++)); do
    order+=("${all[i]}")
    for ((k = i + 1; k < ${#all[@]}; k++)); do
        order+=("${all[i]}" "${all[k]}")
    done
done
order+=("${all[0]}")

former=linux
for personality in "${order[@]}"; do
    ok "$personality after $former" timeout 30 xensim as 1 qnetfront --json --mode generate --count 20 \
        --size 60 --personality "$personality"
    former=$personality
done
for personality in "${order[@]}"; do
    # That one never looks at a state before it says Connected. Whoever boots it there resets the vif.
    if [ "$personality" = minios ]; then
        xenstore-write "$(frontend_of 1 0)/state" 1
        backend_becomes 1 0 2
    fi
    ok "$personality after a crash of $former" plays "$personality"
    ok "which crashes too" crashes
    former=$personality
done
xenstore-write "$(frontend_of 1 0)/state" 1
ok "the vif of a guest that is gone closes" backend_becomes 1 0 2
is "nothing stays mapped" "$(mapped)" 0

# --- the toolstack takes the vif away ---

# It ends in order: status 4 when it was in the middle of a message, 3 when state 5 came before it had
# looked at state 4.
survives() {
    local status=0
    finish front TERM || status=$?
    [[ $status == [034] ]]
}

for personality in linux windows freebsd netbsd; do
    plays "$personality"
    begin=${EPOCHREALTIME/[.,]/}
    ok "$personality: the vif is detached" toolstack vif-remove 1 0
    between "$personality: at once (us)" 1 $((${EPOCHREALTIME/[.,]/} - begin)) 2000000
    ok "$personality: the guest survives" survives
    toolstack vif-add 1 0
done
# That this can fail, when no daemon puts it right:
plays netbsd
daemon_kill
xenstore-write "$(backend_of 1 0)/state" 8
ok "and then a state that it does not know" wait_for 10 grep -q "backend is in state 8" $work/front.err
fails "which it does not survive" finish front TERM

daemon_start
daemon_ends
done_testing
