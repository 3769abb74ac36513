#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 61-control.t - the control socket: events, the log's level, leaving, restarting, and who may

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

quiet_network
bridge xenbr0
daemon_start --max-queues 2

# --- a client that knows QMP but not us ---

qmp() { # LINE...: what the daemon answers to these
    { printf '%s\n' '{"execute":"qmp_capabilities"}' "$@" && sleep 0.3; } |
        socat - UNIX-CONNECT:/run/qnetback/ctl.sock
}
answers=$(qmp '{"execute":"query-schema","id":1}')
has "it is greeted" "$answers" '^\{"QMP":\{"version":\{"qemu":\{"major":[0-9]+'
has "it can ask what there is" "$answers" '"name":"query-vifs".*"name":"VIF_CONNECTED".*"id":1'
has "an unknown vif" "$(qmp '{"execute":"query-vifs","arguments":{"vif":"vif9.9"}}')" \
    '"class":"DeviceNotFound","desc":"there is no vif .vif9.9.'

# --- events ---

start events qnetctl events --json
start text qnetctl events --count 3
listens() { # COUNT: so many clients are connected
    [ "$(ss -x state connected 2>/dev/null | grep -c /run/qnetback/ctl.sock)" -ge "$1" ]
}
ok "two listeners" wait_for 10 listens 2
guest_add 1
connects "a guest connects" 1 0 --queues 2
event() { # PATTERN: has come
    grep -qE "$1" "$work/events.out"
}
ok "VIF_ADDED" wait_for 10 event '"event":"VIF_ADDED","data":\{"vif":"vif1.0","domid":1,"devid":0'
ok "VIF_CONNECTED" wait_for 10 event '"VIF_CONNECTED","data":\{"vif":"vif1.0".*"queues":2,"adopted":false'
front_stop
ok "VIF_CLOSED says why" wait_for 10 event '"VIF_CLOSED",.*"reason":"the frontend has closed"'
finish text >"$work/said" || true
has "as text, until there were three" "$(<"$work/said")" \
    'VIF_ADDED +vif1.0.*VIF_CONNECTED vif1.0 queues=2 adopted=false.*VIF_CLOSED +vif1.0 reason="the frontend'
start hostile xensim as 1 qnetfront --mode hostile --attack guest-tx-jump-257 --json
ok "of a guest that breaks its ring, too" wait_for 20 event '"VIF_CLOSED",.*"reason":"[a-z_]+ ring: '
finish hostile TERM >/dev/null || true
ok "the guest goes" toolstack domain-destroy 1
ok "VIF_REMOVED" wait_for 10 event '"VIF_REMOVED"'

# --- the log ---

is "the log's level" "$(qnetctl log-level)" debug
ok "is lowered" qnetctl log-level warning
is "and shown" "$(qnetctl log-level --json)" '{"log_level":"warning"}'
lines=$(wc -l <"$daemon_log")
guest_add 2
ok "a guest connects" front_start 2 0
is "nothing is logged of it" "$(tail -n +$((lines + 1)) "$daemon_log")" ''
ok "and raised again" qnetctl log-level debug

# --- leaving and restarting ---

old=$daemon_pid
restarts() {
    qnetctl restart >"$work/restart.out" 2>&1
}
mark_state=$(backend_state 2 0)
ok "restart" restarts
has "says what happened" "$(<"$work/restart.out")" "^process [0-9]+ serves in the place of $old; 1 vif was connected$"
daemon_pid=$(sed -n 's/^process \([0-9]*\) serves.*/\1/p' "$work/restart.out")
ok "another process serves" daemon_lives
is "the guest was not told" "$mark_state $(backend_state 2 0)" "4 4"
has "it was adopted" "$(qnetctl list)" 'vif2.0 +Connected +Connected'
has "it runs as it did before" "$(tr '\0' ' ' <"/proc/$daemon_pid/cmdline")" '--log-level debug --max-queues 2'
has "and logs to where it did" "$(<"$daemon_log")" 'vif2.0: adopted'
finish events >/dev/null && status=0 || status=$?
is "a listener's end is told" "$status" 6

has "drain" "$(qnetctl drain)" "^process $daemon_pid has ended; 1 vif stays connected and waits for the next daemon$"
is "the guest was not told of that either" "$(backend_state 2 0)" 4
status=0
said=$(qnetctl list 2>&1) || status=$?
is "without a daemon the status says so" "$status" 3
has "and one line does" "$said" '^qnetctl: no daemon listens at /run/qnetback/ctl.sock; is qnetback running\?$'

# --- who may ---

daemon_start --control-group games
is "the socket is its group's" "$(stat -c '%a %G' /run/qnetback/ctl.sock)" "660 games"
as() { # UID:GID COMMAND...
    setpriv --reuid "${1%:*}" --regid "${1#*:}" --clear-groups "${@:2}"
}
if as 5:60 true 2>/dev/null; then
    ok "a member of it may" as 5:60 qnetctl list
    status=0
    said=$(as 5:6 qnetctl list 2>&1) || status=$?
    is "another user may not: the status" "$status" 5
    has "and the reason" "$said" '^qnetctl: no permission to talk to the daemon at .*; run as root$'
    chmod 666 /run/qnetback/ctl.sock
    status=0
    said=$(as 5:6 qnetctl list 2>&1) || status=$?
    is "not even when the socket's mode is wrong" "$status" 5
    has "as the daemon says" "$said" "^qnetctl: the daemon refuses us: only root and the socket's group may"
fi
front_stop
daemon_ends
done_testing
