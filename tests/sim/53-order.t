#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 53-order.t - whatever happens to a vif, in whatever order, it comes to rest, and the next one works
#
# Random walks: a walk is a dozen things that the toolstack, the guest and the hotplug script do to one
# vif, in random order and at random moments, some while the daemon is killed, leaves, ends or starts.
# The walks of a round go on side by side, one guest each. After them come the checks:
#   - a vif that the toolstack has not asked to close connects when its guest's driver starts anew
#   - every vif closes when it is asked to
#   - then nothing is left: interfaces, nodes, journals, mappings, descriptors, watches
#   - the next vif of the same number connects within a second
# The seed is printed; with the same one the same things are done, if not at the same instants. With
# SOAK=1 there are 4000 walks instead of 500.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/sim/vifs.sh
. "$lib_here/vifs.sh"
# shellcheck source=tests/sim/holdings.sh
. "$lib_here/holdings.sh"

walks=20
rounds=25
steps=12
# How long a vif may take to connect, and to close when its frontend answers, in ms.
connect_ms=1000
close_ms=2000
if [ -n "${SANITIZE-}" ]; then
    rounds=5
    connect_ms=10000
    close_ms=10000
fi
if [ -n "${SOAK-}" ]; then
    rounds=200
fi
# A frontend that does not answer is waited for, 5 s.
silent_ms=$((close_ms + 5000))
seed=${SEED:-$RANDOM}
echo "# seed $seed (SEED=$seed repeats it), $((walks * rounds)) walks of $steps steps"
RANDOM=$seed

# By the guest's number. vif: "" none, plugged, or closing. script: "", connected or error.
# guest: "" none, running or dead. story: what was done since the last round.
declare -a vif script guest story
daemon=running
faults=0
exec {never}<> <(:)

# A pause of up to 8 ms, without a process.
moment() {
    case $((RANDOM % 4)) in
    0) read -r -t "0.00$((RANDOM % 8 + 1))" -u "$never" || true ;;
    esac
}

wrong() { # DOMID WHAT
    faults=$((faults + 1))
    echo "# vif$1.0 $2; what was done:${story[$1]}"
}

# --- what can happen ------------------------------------------------------------------------------

begin_guest() { # DOMID: a domain, or the same with a new kernel
    if [ -z "${guest[$1]-}" ]; then
        # The number is free when nothing of the predecessor is mapped.
        wait_for 10 toolstack domain-add "$1" || wrong "$1" "keeps its domain from dying"
    fi
    guest_start "$1"
    unset "guest_rings[$1.0]"
    guest[$1]=running
}

do_plug() { # DOMID: also when there is one: removed and added again at once
    [ -n "${guest[$1]}" ] || begin_guest "$1"
    plug "$1" 0
    vif[$1]=plugged
    script[$1]=''
}

do_script() { # DOMID WORD
    if [ -n "${vif[$1]}" ] && [ -z "${script[$1]}" ]; then
        script "$1" 0 "$2"
        script[$1]=$2
    fi
}

do_unplug() { # DOMID [force]
    if [ -n "${vif[$1]}" ]; then
        unplug "$1" 0 "${@:2}"
        vif[$1]=closing
    fi
}

# The toolstack's last step, once it sees state 6; or at any time, when it has run out of patience.
do_finish() { # DOMID [at-once]
    if [ "${vif[$1]}" = closing ]; then
        backend_reaches "$1" 0 6 0 || [ $# -eq 2 ] || return 0
        unplugged "$1" 0
        vif[$1]=''
    fi
}

do_destroy() { # DOMID
    if [ -n "${guest[$1]}" ] && [ $daemon = running ]; then
        toolstack domain-destroy "$1" 2>>$work/destroy.err || wrong "$1" "does not let its domain go"
        stop_probe "$1"
        guest[$1]=''
        vif[$1]=''
    fi
}

do_die() { # DOMID: the guest is there, but nothing in it moves any more
    if [ "${guest[$1]}" = running ]; then
        kill_probe "$1"
        guest[$1]=dead
    fi
}

# The guest's writes fail where it has no vif.
do_state() { # DOMID STATE
    if [ "${guest[$1]}" = running ]; then
        guest_state "$1" 0 "$2" || true
    fi
}

do_keys() { # DOMID
    if [ "${guest[$1]}" = running ]; then
        guest_keys "$1" 0 || true
    fi
}

do_bad_key() { # DOMID KEY VALUE
    if [ "${guest[$1]}" = running ]; then
        tell "$1" write "device/vif/0/$2" "$3"
        hear "$1" || true
    fi
}

do_no_key() { # DOMID KEY
    if [ "${guest[$1]}" = running ]; then
        tell "$1" rm "device/vif/0/$2"
        hear "$1" || true
    fi
}

daemon_begins() {
    daemon_start
    daemon=running
}

do_daemon() { # HOW: ends it that way; starts it if there is none
    if [ $daemon = gone ]; then
        daemon_begins
        return
    fi
    kill "-$1" "$daemon_pid"
    if [ "$1" = TERM ]; then
        # It waits for frontends; told twice, it does not.
        moment
        kill -TERM "$daemon_pid" 2>/dev/null || true
    fi
    wait "$daemon_pid" 2>/dev/null || true
    daemon=gone
}

step() { # DOMID
    local words
    case $((RANDOM % 40)) in
    0 | 1 | 2) words="plug $1" ;;
    3 | 4) words="unplug $1" ;;
    5 | 6) words="unplug $1 force" ;;
    7 | 8 | 9) words="finish $1" ;;
    10) words="finish $1 at-once" ;;
    11 | 12 | 13 | 14) words="script $1 connected" ;;
    15) words="script $1 error" ;;
    16 | 17 | 18 | 19 | 20) words="keys $1" ;;
    21 | 22 | 23 | 24) words="state $1 4" ;;
    25 | 26 | 27) words="state $1 1" ;;
    28) words="state $1 5" ;;
    29) words="state $1 6" ;;
    30 | 31) words="state $1 $((RANDOM % 10))" ;;
    32) words="state $1 nonsense" ;;
    33) words="bad_key $1 tx-ring-ref 60000" ;;
    34) words="bad_key $1 event-channel x" ;;
    35) words="bad_key $1 multi-queue-num-queues 3" ;;
    36) words="no_key $1 rx-ring-ref" ;;
    37) words="no_key $1 state" ;;
    38) words="die $1" ;;
    39)
        case $((RANDOM % 8)) in
        0) words="destroy $1" ;;
        1) words="daemon USR2" ;;
        2) words="daemon TERM" ;;
        3 | 4) words="daemon KILL" ;;
        *) words="script $1 connected" ;;
        esac
        ;;
    esac
    story[$1]+=" [$words]"
    # shellcheck disable=SC2086 # it is words
    do_$words
}

# --- what must be so afterwards -------------------------------------------------------------------

# chosen CONDITION...: sets `chosen` to the guests for which it holds.
choose() {
    local domid
    chosen=()
    for ((domid = 1; domid <= walks; domid++)); do
        if "$@" $domid; then
            chosen+=("$domid")
        fi
    done
}

# all_reach STATE MS DOMID...: the guests themselves look, all at once.
all_reach() {
    local state=$1 ms=$2 domid
    shift 2
    for domid in "$@"; do
        tell "$domid" await "/local/domain/0/backend/vif/$domid/0/state" "$state" "$ms"
    done
    for domid in "$@"; do
        hear "$domid" || wrong "$domid" "is in state $answer after $ms ms, not $state"
    done
}

all_say() { # STATE DOMID...
    local domid
    for domid in "${@:2}"; do
        guest_state "$domid" 0 "$1" || wrong "$domid" "cannot be written by its guest: $answer"
    done
}

# The keys of a frontend that starts, without what an earlier one wrote.
all_write_keys() { # DOMID...
    local domid key
    for domid in "$@"; do
        for key in multi-queue-num-queues event-channel-tx event-channel-rx; do
            tell "$domid" rm "device/vif/0/$key"
            hear "$domid" || true
        done
        guest_keys "$domid" 0 || wrong "$domid" "does not take its guest's keys: $answer"
    done
}

is_up() { # DOMID: nobody asked it to close, and its script has not failed
    [ "${vif[$1]}" = plugged ] && [ "${script[$1]}" != error ]
}

is_there() { # DOMID
    [ -n "${vif[$1]}" ]
}

everybody() {
    true
}

# From state 2 on.
chosen_connect() {
    local domid
    all_write_keys "${chosen[@]}"
    all_say 4 "${chosen[@]}"
    for domid in "${chosen[@]}"; do
        do_script "$domid" connected
    done
    all_reach 4 $connect_ms "${chosen[@]}"
}

# The guests' drivers start anew, and the scripts are done at last.
check_restart() {
    choose is_up
    all_say 6 "${chosen[@]}"
    all_reach 6 $silent_ms "${chosen[@]}"
    all_say 1 "${chosen[@]}"
    all_reach 2 $connect_ms "${chosen[@]}"
    chosen_connect
    restarted=$((restarted + ${#chosen[@]}))
}

# $1: some frontends do not answer, and the toolstack does not force them
check_close() { # [silent]
    local domid force
    choose is_there
    for domid in "${chosen[@]}"; do
        force=''
        if [ $((RANDOM % 2)) -eq 0 ]; then
            force=force
        fi
        do_unplug "$domid" $force
        if [ -z "$force" ] && { [ $# -eq 0 ] || [ $((RANDOM % 2)) -eq 0 ]; }; then
            guest_state "$domid" 0 6 || true
        fi
    done
    all_reach 6 $(($# ? silent_ms : close_ms)) "${chosen[@]}"
    for domid in "${chosen[@]}"; do
        unplugged "$domid" 0
        vif[domid]=''
    done
}

check_next() {
    local domid
    choose everybody
    for domid in "${chosen[@]}"; do
        do_plug "$domid"
    done
    all_reach 2 $connect_ms "${chosen[@]}"
    chosen_connect
}

bridge xenbr0
daemon_start
host_start
for ((domid = 1; domid <= walks; domid++)); do
    guest[domid]=''
    vif[domid]=''
    story[domid]=''
    begin_guest $domid
done
holdings >$work/empty
check_next
is "every vif connects at first" $faults 0

restarted=0
for ((round = 0; round < rounds; round++)); do
    for ((i = 0; i < walks; i++)); do
        story[i + 1]=''
    done
    for ((i = 0; i < walks * steps; i++)); do
        step $((RANDOM % walks + 1))
        moment
    done
    [ $daemon = running ] || daemon_begins
    for ((domid = 1; domid <= walks; domid++)); do
        [ "${guest[domid]}" = running ] || begin_guest $domid
    done
    check_restart
    if [ $((round % 8)) -eq 3 ]; then
        check_close silent
    else
        check_close
    fi
    is "round $round: no vif is stuck" $faults 0
    nothing_left "round $round" $work/empty
    for tap in $(taps); do
        domid=${tap#vif}
        wrong "${domid%.*}" "has left its interface"
    done
    check_next
    is "round $round: the next vifs connect" $faults 0
    faults=0
done
echo "# $restarted of them connected once more when their guest's driver started anew"
check_close
daemon_ends
done_testing
