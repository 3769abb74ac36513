# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# daemon.sh - the daemon, vifs and frontends, for the shell tests of this directory

daemon_log=/run/qnetback.log
daemon_pid=''
# The domain that the daemon runs in.
backend_domid=0

# daemon_start [OPTION...]: returns when it answers.
# shellcheck disable=SC2120 # most tests give no option
daemon_start() {
    (
        # What the test has open is not for the daemon.
        for descriptor in /proc/self/fd/*; do
            descriptor=${descriptor##*/}
            if [ "$descriptor" -gt 2 ] && [ "$descriptor" -lt 255 ]; then
                exec {descriptor}>&-
            fi
        done
        exec xensim as "$backend_domid" qnetback --log-level debug "$@"
    ) >>"$daemon_log" 2>&1 </dev/null &
    daemon_pid=$!
    wait_for 10 qnetctl list || {
        echo "Bail out! qnetback does not start: $(tail -n 3 "$daemon_log")"
        exit 1
    }
}

# Ends it as a service manager does; its exit status.
daemon_stop() {
    local status=0
    kill -TERM "$daemon_pid"
    wait "$daemon_pid" || status=$?
    return "$status"
}

daemon_kill() {
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
}

daemon_lives() {
    kill -0 "$daemon_pid" && qnetctl list
}

backend_of() { # DOMID DEVID
    echo "/local/domain/$backend_domid/backend/vif/$1/$2"
}

frontend_of() { # DOMID DEVID
    echo "/local/domain/$1/device/vif/$2"
}

backend_becomes() { # DOMID DEVID STATE [SECONDS]
    store-wait "$(backend_of "$1" "$2")/state" "$3" "${4-10}"
}

backend_state() { # DOMID DEVID
    xenstore-read "$(backend_of "$1" "$2")/state" 2>/dev/null || echo gone
}

backend_error() { # DOMID DEVID
    xenstore-read "$(backend_of "$1" "$2")/error" 2>/dev/null || echo none
}

# front_start DOMID DEVID [OPTION...]: a frontend that is connected when this returns.
front_start() {
    local domid=$1 devid=$2
    shift 2
    xensim as "$domid" qnetfront --mode idle --vif "$devid" "$@" >/run/front.out 2>&1 </dev/null &
    front_pid=$!
    backend_becomes "$domid" "$devid" 4
}

# Ends the frontend that was started last, in order.
front_stop() {
    kill -TERM "$front_pid" 2>/dev/null || true
    wait "$front_pid" 2>/dev/null || true
}

front_kill() {
    kill -KILL "$front_pid" 2>/dev/null || true
    wait "$front_pid" 2>/dev/null || true
}

# connects NAME DOMID DEVID [OPTION...]: a test point; the frontend goes on.
connects() {
    local name=$1 status=0
    shift
    front_start "$@" || status=$?
    tap_point "$status" "$name" "$(cat /run/front.out; tail -n 5 "$daemon_log")"
}

# refused NAME DOMID DEVID PATTERN [OPTION...]: the backend closes, its error matches the pattern.
refused() {
    local name=$1 domid=$2 devid=$3 pattern=$4 status=0
    shift 4
    timeout 20 xensim as "$domid" qnetfront --mode idle --vif "$devid" "$@" >/run/front.out 2>&1 </dev/null ||
        status=$?
    if [ "$status" -ne 3 ] && [ "$status" -ne 4 ]; then
        tap_point 1 "$name" "status $status: $(cat /run/front.out)"
        return
    fi
    ok "$name: closed" backend_becomes "$domid" "$devid" 6
    has "$name: the reason" "$(backend_error "$domid" "$devid")" "$pattern"
}

counter() { # VIF NAME: of all its queues together
    qnetctl stats "$1" --json | grep -o "\"$2\" *: *[0-9]*" |
        awk -F: '{ sum += $2 } END { printf "%.0f\n", sum }'
}

mapped() {
    xensim stats "$daemon_pid" mapped_pages
}

# Its open files, and its handles of Xen's libraries. The simulator's own files to wake others do not
# count: a process keeps one for every other process that it has woken.
descriptors() {
    local files handles
    files=$(find "/proc/$daemon_pid/fd" -mindepth 1 ! -lname '/run/xensim/handle.*' | wc -l)
    handles=$(xensim dump | grep -c "^handle .* pid $daemon_pid\$" || true)
    echo $((files + handles))
}

taps() {
    ip -brief link show | awk '$1 ~ /^vif/ { sub(/@.*/, "", $1); print $1 }' | sort | tr '\n' ' '
}

no_taps() {
    [ -z "$(taps)" ]
}

in_bridge() { # INTERFACE
    [ -e "/sys/class/net/xenbr0/brif/$1" ]
}
