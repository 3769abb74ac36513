#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 34-cost.t - what a guest can cost at most: memory, files, mappings, log, a neighbour's share
#
# Prints the figures that stand in docs/security.md, and fails when one is beyond its bound.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

guests=4

resident() { # kB
    awk '/^VmRSS/ { print $2 }' "/proc/$daemon_pid/status"
}

connected() {
    [ "$(qnetctl list | grep -c '^vif[0-9.]* *Connected')" -eq "$1" ]
}

# cost WHAT VALUE BOUND: prints the figure, which is a test point
cost() {
    echo "# cost: $1: $2 (at most $3)"
    between "$1" 0 "$2" "$3"
}

quiet_network
bridge xenbr0
daemon_start --workers 1
guest_add 1
ok "a first guest, so that what is shared is there" wire_to_guest warm 1 vif1.0 --size 60:1514:97

# --- what each more of them costs ---

memory=$(resident)
files=$(descriptors)
pages=$(mapped)
for ((domid = 11; domid < 11 + guests; domid++)); do
    guest_add $domid
    start front$domid xensim as $domid qnetfront --mode idle
done
ok "$guests guests are connected" wait_for 30 connected $guests
if [ -z "${SANITIZE-}" ]; then
    cost "memory of a connected vif, kB" $((($(resident) - memory) / guests)) 512
fi
cost "descriptors of a connected vif with one queue" $((($(descriptors) - files) / guests)) 8
cost "pages of a guest mapped for a vif with one queue" $((($(mapped) - pages) / guests)) 2
cost "bytes of journal for a queue" "$(stat -c %s /run/qnetback/journal/11.0.0)" 65536
cost "nodes in the vif's directory that are ours" \
    "$(xenstore-list "$(backend_of 11 0)" | grep -cE '^(feature-|multi-queue-|carrier|error)')" 24
for ((domid = 11; domid < 11 + guests; domid++)); do
    finish front$domid TERM >/dev/null || true
done

# --- the log of a guest that has a vif closed again and again ---

start others xensim as 12 qnetfront --json --mode idle
ok "another guest" backend_becomes 12 0 4
lines=$(wc -l <"$daemon_log")
begin=$SECONDS
for ((i = 0; i < 50; i++)); do
    xenstore-write "$(frontend_of 1 0)/state" nonsense
    xenstore-write "$(frontend_of 1 0)/state" 1
done
cost "lines of log that a guest causes in a second" \
    $((($(wc -l <"$daemon_log") - lines) / (SECONDS - begin + 1))) 20
is "the other guest is where it was" "$(backend_state 12 0)" 4
finish others TERM >/dev/null || true

# --- a neighbour on the same worker ---

# With slow copies the worker is what there is too little of.
daemon_ends
XENSIM_SEG_NS=1000000 daemon_start --workers 1
rate() { # NAME DOMID: frames that this guest sent in two seconds
    timeout 60 xensim as "$2" qnetfront --json --mode generate --seconds 2 --size 1000 >"$work/$1.out" 2>&1 ||
        echo 0
    field "$1" guest_tx_answered
}
bridge xenbr9
toolstack domain-add 20
toolstack vif-add 20 0 bridge=xenbr9
alone=$(rate alone 20)
start flood xensim as 1 qnetfront --json --mode generate --seconds 60 --size 1000
ok "a neighbour floods" backend_becomes 1 0 4
beside=$(rate beside 20)
ok "the flood goes on" running flood
finish flood TERM >/dev/null || true
echo "# cost: frames of a guest in 2 s: $alone alone, $beside beside a flood on the same worker"
# Half is its share; what the machine itself does meanwhile is not the daemon's.
between "a flood leaves its neighbour about half" $((alone * 35 / 100)) "$beside" $((alone * 2 + 1))
daemon_ends
done_testing
