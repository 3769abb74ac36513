#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 15-service.t - the configuration file, and what the daemon tells the service manager
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ "${1-}" = --inside ] || exec "$here/../xensim/xensim-run" --tap "${BASH_SOURCE[0]}" --inside

# shellcheck source=tests/sim/tap.sh
. "$here/tap.sh"
# shellcheck source=tests/sim/daemon.sh
. "$here/daemon.sh"

conf=/run/test.conf

# --- the configuration file ---

# refuses_file NAME PATTERN LINE...: a file of these lines; status 1, one line that names the file.
refuses_file() {
    local name=$1 pattern=$2 output status=0
    shift 2
    printf '%s\n' "$@" >"$conf"
    output=$(timeout 10 qnetback --config "$conf" 2>&1 </dev/null) || status=$?
    if [ "$status" -ne 1 ] || [ "$(wc -l <<<"$output")" -ne 1 ]; then
        tap_point 1 "$name" "status $status, said: $output"
    else
        has "$name" "$output" "wrong configuration file $conf: $pattern"
    fi
}

refuses_file "a value out of range" "--workers is 0, not 1" '[qnetback]' 'workers = 0'
refuses_file "a value that is no number" "Cannot parse integer value" '[qnetback]' 'workers = 3 or 4'
refuses_file "an unknown key" "Unknown option --worker=1" '[qnetback]' 'worker = 1'
refuses_file "a key that is no setting" "unknown key 'version'" '[qnetback]' 'version = true'
refuses_file "nor is this one" "unknown key 'beside-netback'" '[qnetback]' 'beside-netback = true'
refuses_file "an unknown section" "unknown section .network." '[network]' 'workers = 1'
refuses_file "a line that is none" ".*not a key-value" '[qnetback]' 'workers'
refuses_file "a setting before any section" "Key file does not start with a group" 'workers = 1'
has "a file that does not exist" "$(qnetback --config /nonexistent 2>&1 || true)" "/nonexistent: No such file"
has "a directory" "$(qnetback --config /run 2>&1 || true)" "/run: Not a regular file"

printf '%s\n' '# a comment' '[qnetback]' 'workers = 3' 'buffers=plain' 'log-level =info ' >"$conf"
daemon_start --config "$conf" --workers 2
has "the file is read, and the command line wins" "$(cat "$daemon_log")" "2 workers, plain buffers"
daemon_stop || true

# The file that the package installs says nothing until a line of it is changed.
conf_of_package=$here/../../contrib/qnetback.conf
sed 's/^#\([a-z-]*\) = /\1 = /' "$conf_of_package" >"$conf"
is "the package's file names each option" \
    "$(qnetback --help | sed -n 's/^  *\(-., \)\{0,1\}--\([a-z-]*\)[= ].*/\2/p' | grep -vxE 'help|version|config|beside-netback' | sort)" \
    "$(sed -n 's/^\([a-z-]*\) = .*/\1/p' "$conf" | sort)"
daemon_start --config "$conf"
ok "its examples are right" daemon_lives
daemon_stop || true
daemon_start --config "$conf_of_package"
ok "it can be used as it is" daemon_lives
daemon_stop || true

# --- the user that the package's unit gives it ---

# Not root, with one capability; there, xenstored and the devices are open to its group.
unprivileged=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps '-all,+net_admin'
    --ambient-caps '-all,+net_admin' --bounding-set '-all,+net_admin')
if "${unprivileged[@]}" true 2>/dev/null; then
    mkdir /run/unprivileged
    chown 65534:65534 /run/unprivileged
    chmod a+rw /run/xenstored/socket
    xensim as 0 "${unprivileged[@]}" qnetback --control /run/unprivileged/ctl.sock \
        --journal /run/unprivileged/journal >>"$daemon_log" 2>&1 </dev/null &
    daemon_pid=$!
    wait_for 10 qnetctl --control /run/unprivileged/ctl.sock list
    toolstack domain-add 1
    toolstack vif-write 1 0
    ok "a daemon that is not root makes a vif" backend_becomes 1 0 2
    xenstore-write "$(backend_of 1 0)/hotplug-status" connected
    ok "its guest connects" front_start 1 0
    has "the interface says whose it is" "$(ip -d link show vif1.0)" "alias vif1.0"
    front_stop
    ok "and it ends in order" daemon_stop
else
    echo "# no second user here: not tried as somebody else than root"
fi

# --- readiness, and the watchdog ---

notified=/run/notified
socat -u UNIX-RECV:/run/notify.sock CREATE:$notified &
listener=$!
# shellcheck disable=SC2317 # called through wait_for
listens() { [ -S /run/notify.sock ]; }
# shellcheck disable=SC2317 # called through wait_for
told() { # TEXT TIMES
    [ "$(grep -o -- "$1" "$notified" | wc -l)" -ge "$2" ]
}
wait_for 10 listens
export NOTIFY_SOCKET=/run/notify.sock WATCHDOG_USEC=400000
daemon_start
ok "the daemon says that it is ready" wait_for 10 told READY=1 1
ok "and goes on saying that it lives" wait_for 20 told WATCHDOG=1 5
alive=$(grep -o WATCHDOG=1 "$notified" | wc -l)
kill -STOP "$daemon_pid"
quiet=$(grep -o WATCHDOG=1 "$notified" | wc -l)
sleep 1
at_most_one=$(($(grep -o WATCHDOG=1 "$notified" | wc -l) - quiet))
kill -CONT "$daemon_pid"
is "a daemon that hangs falls silent" "$((at_most_one <= 1))" 1
ok "one that goes on says so again" wait_for 20 told WATCHDOG=1 $((alive + 3))
ok "it ends in order" daemon_stop
ok "and says that it does" wait_for 10 told STOPPING=1 1

: >"$notified"
WATCHDOG_PID=1 daemon_start
sleep 1
is "a watchdog that is meant for another process is not fed" "$(grep -c WATCHDOG "$notified" || true)" 0
daemon_stop || true
NOTIFY_SOCKET=/nonexistent daemon_start
ok "a service manager that is gone disturbs nobody" daemon_lives
daemon_stop || true
kill "$listener" 2>/dev/null || true
unset NOTIFY_SOCKET WATCHDOG_USEC

done_testing
