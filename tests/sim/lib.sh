# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lib.sh - what the tests of the data path share: background processes, traffic, counters
#
# A test that sources this runs as dom0 of a simulated host of its own, or skips where the machine
# allows none. Whatever it leaves behind is gone with that host.

set -euo pipefail

lib_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ "${1-}" != --inside ]; then
    exec "$lib_here/../xensim/xensim-run" --tap "$0" --inside
fi

# shellcheck source=tests/sim/tap.sh
. "$lib_here/tap.sh"
# shellcheck source=tests/sim/daemon.sh
. "$lib_here/daemon.sh"

work=/run/test
mkdir -p $work

tap_diagnose() {
    if [ -s "$daemon_log" ]; then
        echo "the daemon's last lines:"
        tail -n 20 "$daemon_log" | sed 's/^/  /'
    fi
}

# A test that ends early says why: prove only sees that the plan is missing.
lib_ended() { # STATUS
    if [ "$1" -ne 0 ] && [ "$tap_failed" -eq 0 ]; then
        echo "# $(basename "$0"): ended with status $1 after test point $tap_count" >&2
        tap_diagnose | sed 's/^/#   /' >&2
    fi
}
trap 'lib_ended $?' EXIT

# --- processes in the background ------------------------------------------------------------------

gone() { # COMMAND...: fails
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

# --- the daemon and guests ------------------------------------------------------------------------

# daemon_ends: two test points.
daemon_ends() {
    local status=0
    daemon_stop || status=$?
    tap_point "$status" "the daemon ends in order" "status $status"
    is "no sanitizer has complained" "$(grep -E 'ERROR: |runtime error' "$daemon_log" || true)" ""
}

# guest_add DOMID [KEY=VALUE...]: a domain with one vif, number 0.
guest_add() {
    local domid=$1
    shift
    toolstack domain-add "$domid"
    toolstack vif-add "$domid" 0 "$@"
}

# mapped_is PAGES, descriptors_are COUNT: of the daemon, now; for wait_for
mapped_is() {
    [ "$(mapped)" -eq "$1" ]
}

descriptors_are() {
    [ "$(descriptors)" -eq "$1" ]
}

# calls NAME: how many calls of a kind the daemon has made, as the simulator counts.
calls() {
    xensim stats "$daemon_pid" "$1"
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

# guest_to_guest NAME FROM TO OPTION...: from one guest's qnetfront to another's, through a bridge.
guest_to_guest() {
    local name=$1 from=$2 to=$3
    shift 3
    start "$name.sender" xensim as "$from" qnetfront --json --mode generate \
        --progress "$work/$name.progress" "$@"
    start "$name.receiver" xensim as "$to" qnetfront --json --mode sink \
        --progress "$work/$name.ready" "$@"
    if lib_link_ready "$from" "vif$from.0" && lib_link_ready "$to" "vif$to.0" &&
        wait_for 10 test -s "$work/$name.ready"; then
        # The sender looks for this name: now it may begin.
        ln -f "$work/$name.ready" "$work/$name.progress"
    fi
    rm -f "$work/$name.ready"
    lib_transfer_end "$name"
}

# Linux drops frames for an interface until it has dealt with its new carrier, some time after the
# daemon set it.
lib_link_ready() { # DOMID INTERFACE
    backend_becomes "$1" 0 4 && wait_for 10 link_up "vif$1.0" && wait_for 10 link_up "$2"
}

link_up() { # INTERFACE
    [[ $(ip -oneline link show "$1") == *' state UP '* ]]
}

lib_transfer_end() { # NAME
    local status=0
    finish "$1.sender" || status=$?
    if [ $status -le 1 ]; then
        finish "$1.receiver" || status=$?
    else
        # It has not sent all it would: the receiver would wait for ever.
        finish "$1.receiver" TERM || true
    fi
    rm -f "$work/$1.progress"
    return $status
}

# pages MIN MAX [STEP]: the pages that frames of all these lengths fill, each frame on its own.
pages() {
    awk -v min="$1" -v max="$2" -v step="${3:-1}" 'BEGIN {
        for (length_ = min; length_ <= max; length_ += step) sum += int((length_ + 4095) / 4096)
        printf "%.0f\n", sum
    }'
}

# --- counters -------------------------------------------------------------------------------------

declare -A counted

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
        awk -F: '{ sum[$1] += $2 } END { for (name in sum) printf "%s:%.0f\n", name, sum[name] }'
}
