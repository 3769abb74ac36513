#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 33-sandbox.t - what the running daemon has given up, and that it works without
#
# The whole life of a vif as root and as another user: made, connected, used, adopted by a daemon that
# is somebody else, closed. What a stage forbids is tested by tests/unit/control/sandbox-test.c.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

vif=vif1.0
# No sanitizer runs under a filter, or without ptrace.
filtered=2
[ -z "${SANITIZE-}" ] || filtered=0

# per_thread FIELD: the values that the daemon's threads have, each once
per_thread() {
    cat "/proc/$daemon_pid"/task/*/status | awk -v field="$1:" '$1 == field { print $2 }' | sort -u |
        tr '\n' ' '
}

workers_capabilities() {
    local task
    for task in "/proc/$daemon_pid"/task/*; do
        case $(<"$task/comm") in
        qnetback-*) awk '$1 ~ /^Cap(Prm|Eff|Amb):$/ { print $2 }' "$task/status" ;;
        esac
    done | sort -u
}

net_admin=0000000000001000
none=0000000000000000

# shut_in NAME: four test points
shut_in() {
    has "$1: no more than net_admin" "$(per_thread CapPrm)" "^$none $net_admin \$"
    is "$1: workers have no capability" "$(workers_capabilities)" $none
    is "$1: no new privileges" "$(per_thread NoNewPrivs)" "1 "
    is "$1: system calls are filtered" "$(per_thread Seccomp)" "$filtered "
}

lives() { # NAME
    ok "$1: guest_tx" guest_to_wire "life" 1 $vif --size 60:9000:297
    ok "$1: guest_rx" wire_to_guest "life" 1 $vif --size 60:9000:297
}

quiet_network
bridge xenbr0 9000

# --- as root ---

daemon_start
guest_add 1 mtu=9000
shut_in "as root"
has "the log says what is in force" "$(<"$daemon_log")" "sandbox: .*net_admin.*, files limited"
lives "as root"
start front xensim as 1 qnetfront --json --mode idle
ok "a guest is connected" backend_becomes 1 0 4

# --- another user adopts what root has left ---

user=nobody
uid=$(id -u $user)
chmod a+rw /run/xenstored/socket
kill -USR2 "$daemon_pid"
wait "$daemon_pid" || true
: >"$daemon_log"
daemon_start --user $user
is "the daemon is another user" "$(per_thread Uid)" "$uid "
shut_in "as $user"
has "the log names it" "$(<"$daemon_log")" "sandbox: user $user, "
ok "the guest is adopted" wait_for 10 grep -q "$vif: adopted" "$daemon_log"
ok "with its journal" gone grep "adopted without" "$daemon_log"
is "which is the user's now" "$(stat -c %u /run/qnetback/journal /run/qnetback/journal/* | sort -u)" "$uid"
ok "the guest ends" finish front TERM
lives "as $user"
toolstack domain-add 2
toolstack vif-add 2 0 mtu=9000
ok "a vif that comes later has its interface" ip link show vif2.0
connects "and connects" 2 0
front_stop
ok "a vif goes" toolstack vif-remove 2 0
ok "and its interface" wait_for 10 gone ip link show vif2.0

# A daemon that crashes finds the socket and the journal that it left.
front_start 1 0
daemon_kill
daemon_start --user $user
ok "after a crash the guest is adopted" wait_for 10 grep -q "$vif: adopted" "$daemon_log"
front_stop
lives "after a crash"
daemon_ends
ok "no socket is left" gone test -e /run/qnetback/ctl.sock

# --- without ---

: >"$daemon_log"
daemon_start --sandbox off
is "off: no filter" "$(per_thread Seccomp)" "0 "
has "off: the log says so" "$(<"$daemon_log")" "sandbox: off"
daemon_ends

refuses() { # NAME PATTERN OPTION...
    local name=$1 pattern=$2 output status=0
    shift 2
    output=$(timeout 10 qnetback "$@" 2>&1 </dev/null) || status=$?
    is "$name: refused" $status 1
    has "$name: in words" "$output" "$pattern"
}

refuses "an unknown user" "there is no user 'nosuch'" --user nosuch
refuses "a user without the sandbox" "needs --sandbox=on" --user nobody --sandbox off
refuses "a sandbox that is neither" "not on or off" --sandbox maybe

done_testing
