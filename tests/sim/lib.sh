# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lib.sh - what the simulator tests share: TAP, the daemon, guests, traffic, counters, bounded waits
#
# A test that sources this runs as dom0 of a simulated host of its own, or skips where the machine
# allows none. Whatever it leaves behind is gone with that host.

set -euo pipefail

if [ "${1-}" != --inside ]; then
    exec "$(dirname "${BASH_SOURCE[0]}")/../xensim/xensim-run" --tap "$0" --inside
fi

work=/run/test
mkdir -p $work
trap 'lib_ended $?' EXIT

# --- TAP ------------------------------------------------------------------------------------------

tap_count=0
tap_failed=0
tap_done=

# ok NAME COMMAND...: COMMAND succeeds; its output is shown when it does not. Runs in this shell, so
# it may set variables and leave processes behind.
ok() {
    local name=$1 status=0
    shift
    "$@" >$work/output 2>&1 </dev/null || status=$?
    tap_point "$status" "$name" "$(<$work/output)"
}

# fails NAME COMMAND...: COMMAND fails.
fails() {
    local name=$1 status=1
    shift
    "$@" >$work/output 2>&1 </dev/null && status=0
    tap_point "$((!status))" "$name" "$(<$work/output)"
}

# is NAME GOT WANTED: both are the same text.
is() {
    if [ "$2" = "$3" ]; then
        tap_point 0 "$1" ''
    else
        tap_point 1 "$1" "got:    $2"$'\n'"wanted: $3"
    fi
}

# has NAME TEXT PATTERN: the extended regular expression matches the text.
has() {
    if [[ $2 =~ $3 ]]; then
        tap_point 0 "$1" ''
    else
        tap_point 1 "$1" "text:   $2"$'\n'"wanted: $3"
    fi
}

# between NAME LEAST GOT MOST
between() {
    if [ -n "$3" ] && [ "$2" -le "$3" ] && [ "$3" -le "$4" ]; then
        tap_point 0 "$1" ''
    else
        tap_point 1 "$1" "got:    $3"$'\n'"wanted: $2 to $4"
    fi
}

tap_point() { # STATUS NAME TEXT
    tap_count=$((tap_count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_count - $2"
        return
    fi
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $2"
    {
        echo "# $(basename "$0"): failed: $2"
        sed 's/^/#   /' <<<"$3"
        lib_daemon_log
    } >&2
}

lib_daemon_log() {
    if [ -s $work/qnetback.log ]; then
        echo "#   the daemon's last lines:"
        tail -n 30 $work/qnetback.log | sed 's/^/#     /'
    fi
}

done_testing() {
    tap_done=yes
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
}

# A test that ends early says why: prove only sees that the plan is missing.
lib_ended() { # STATUS
    if [ -z "$tap_done" ]; then
        {
            echo "# $(basename "$0"): ended with status $1 after test point $tap_count"
            lib_daemon_log
        } >&2
        [ "$1" -ne 0 ] || exit 1
    fi
}

# --- waiting, and processes in the background -----------------------------------------------------

# wait_for SECONDS COMMAND...: until COMMAND succeeds.
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.02
    done
}

# gone COMMAND...: COMMAND fails.
gone() {
    ! "$@" >/dev/null 2>&1
}

# Seconds that a background process may live: the sanitizers take their time.
limit=${SANITIZE:+300}
limit=${limit:-100}
declare -A job_pid

# start NAME COMMAND...: in the background; output in $work/NAME.out and .err.
start() {
    local name=$1
    shift
    timeout --kill-after=5 "$limit" "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    job_pid[$name]=$!
}

# finish NAME [SIGNAL]: waits for its end, after sending the signal; returns its status, 124 when it
# took too long, and prints what it said.
finish() {
    local name=$1 status=0
    if [ -n "${2-}" ]; then
        kill "-$2" "${job_pid[$name]}" 2>/dev/null || true
    fi
    wait "${job_pid[$name]}" || status=$?
    unset "job_pid[$name]"
    echo "$name: status $status"
    cat "$work/$name.out" "$work/$name.err"
    return "$status"
}

running() { # NAME
    kill -0 "${job_pid[$1]}" 2>/dev/null
}

# field NAME FIELD: of the JSON that a process reported; nothing if there is no such field.
field() {
    local text
    text=$(<"$work/$1.out")
    if [[ $text =~ \"$2\":(\"([^\"]*)\"|[^,}]*) ]]; then
        echo "${BASH_REMATCH[2]:-${BASH_REMATCH[1]}}"
    fi
}

# --- the host -------------------------------------------------------------------------------------

# A network in which nobody speaks unasked, so that each frame there is one of the test's.
quiet_network() {
    echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
    echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
}

# bridge NAME [MTU]: one that forwards at once and to everywhere.
bridge() {
    ip link add "$1" type bridge forward_delay 0 mcast_snooping 0
    ip link set "$1" mtu "${2:-1500}" up
}

# --- the daemon -----------------------------------------------------------------------------------

daemon=

# daemon_start OPTION...: returns when it answers.
daemon_start() {
    qnetback "$@" >>$work/qnetback.log 2>&1 </dev/null &
    daemon=$!
    wait_for 10 lib_daemon_answers
}

lib_daemon_answers() {
    qnetctl list || gone kill -0 "$daemon"
    kill -0 "$daemon"
}

daemon_alive() {
    kill -0 "$daemon" && qnetctl list >/dev/null
}

# daemon_stop: tells it to end; its exit status.
daemon_stop() {
    local status=0
    kill -TERM "$daemon"
    wait_for 20 gone kill -0 "$daemon" || kill -KILL "$daemon"
    wait "$daemon" || status=$?
    daemon=
    return $status
}

# said PATTERN: the daemon has written a line that matches the basic regular expression.
said() {
    grep -q -- "$1" $work/qnetback.log
}

# calls NAME: how many calls of a kind the daemon has made, as the simulator counts.
calls() {
    xensim stats "$daemon" "$1"
}

# --- guests ---------------------------------------------------------------------------------------

# guest_add DOMID [KEY=VALUE...]: a domain with one vif, number 0.
guest_add() {
    local domid=$1
    shift
    toolstack domain-add "$domid"
    toolstack vif-add "$domid" 0 "$@"
}

backend_state() { # DOMID
    xenstore-read "/local/domain/0/backend/vif/$1/0/state" 2>/dev/null
}

# backend_in DOMID STATE
backend_in() {
    [ "$(backend_state "$1")" = "$2" ]
}

backend_error() { # DOMID
    xenstore-read "/local/domain/0/error/backend/vif/$1/0/error" 2>/dev/null ||
        xenstore-read "/local/domain/0/backend/vif/$1/0/error" 2>/dev/null
}

# front DOMID OPTION...: the guest's driver, in the foreground.
front() {
    local domid=$1
    shift
    xensim as "$domid" qnetfront --json "$@"
}

# --- traffic --------------------------------------------------------------------------------------
#
# Both ends of a transfer get the same options and use those that concern them. The sender is paced
# by the receiver, so a lost frame is somebody's fault.

# guest_to_wire NAME DOMID INTERFACE OPTION...: from the guest's qnetfront to a network interface;
# fails unless every frame arrives as it must. Reports: field NAME.sender, field NAME.receiver.
guest_to_wire() {
    local name=$1 domid=$2 interface=$3
    shift 3
    start "$name.sender" xensim as "$domid" qnetfront --json --mode generate \
        --progress "$work/$name.progress" "$@"
    lib_link_ready "$domid" "$interface" || true
    start "$name.receiver" qnetfront --json --mode wire-receive --interface "$interface" \
        --progress "$work/$name.progress" "$@"
    lib_transfer_end "$name"
}

# wire_to_guest NAME DOMID INTERFACE OPTION...: the other way round.
wire_to_guest() {
    local name=$1 domid=$2 interface=$3
    shift 3
    start "$name.receiver" xensim as "$domid" qnetfront --json --mode sink \
        --progress "$work/$name.progress" "$@"
    lib_link_ready "$domid" "$interface" || true
    start "$name.sender" qnetfront --json --mode wire-send --interface "$interface" \
        --progress "$work/$name.progress" "$@"
    lib_transfer_end "$name"
}

# Linux drops frames for an interface until it has dealt with its new carrier, some time after the
# daemon set it.
lib_link_ready() { # DOMID INTERFACE
    wait_for 10 backend_in "$1" 4 && wait_for 10 link_up "vif$1.0" && wait_for 10 link_up "$2"
}

link_up() { # INTERFACE
    [[ $(ip -oneline link show "$1") == *' state UP '* ]]
}

lib_transfer_end() { # NAME
    local status=0
    finish "$1.sender" || status=$?
    if [ $status -eq 0 ]; then
        finish "$1.receiver" || status=$?
    else
        # Without a sender it would wait for ever.
        finish "$1.receiver" TERM || true
    fi
    rm -f "$work/$1.progress"
    return $status
}

# pages MIN MAX [STEP]: the pages that frames of all these lengths fill, each frame on its own.
pages() {
    awk -v min="$1" -v max="$2" -v step="${3:-1}" 'BEGIN {
        for (length_ = min; length_ <= max; length_ += step) sum += int((length_ + 4095) / 4096)
        printf "%d\n", sum
    }'
}

# --- counters -------------------------------------------------------------------------------------

declare -A counted

# counter VIF NAME: summed over the queues.
counter() {
    qnetctl stats "$1" --json | grep -o "\"$2\":[0-9]*" | awk -F: '{ sum += $2 } END { print +sum }'
}

# mark VIF: since counts from here.
mark() {
    local name value
    while IFS=: read -r name value; do
        counted[$1/$name]=$value
    done < <(lib_counters "$1")
}

# since VIF NAME: by how much the counter has grown since mark.
since() {
    local now
    now=$(counter "$1" "$2")
    echo $((now - counted[$1/$2]))
}

lib_counters() { # VIF
    qnetctl stats "$1" --json | grep -oE '"[a-z_]+":[0-9]+' | tr -d '"' |
        awk -F: '{ sum[$1] += $2 } END { for (name in sum) print name ":" sum[name] }'
}
