# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# probe.sh - probes: processes in a domain that make the calls they are told
#
# A call costs no process, so that thousands of them cost no time.

declare -A probe_in probe_out probe_pid

# start_probe NAME DOMID
start_probe() {
    local name=$1 domid=$2 in out
    mkfifo "/run/$name.in" "/run/$name.out"
    xensim as "$domid" probe <"/run/$name.in" >"/run/$name.out" 2>/dev/null &
    probe_pid[$name]=$!
    # So that the shell does not report how it ended.
    disown
    exec {in}>"/run/$name.in" {out}<"/run/$name.out"
    rm "/run/$name.in" "/run/$name.out"
    probe_in[$name]=$in probe_out[$name]=$out
}

# tell NAME CALL: without waiting for its answer
tell() {
    local name=$1
    shift
    echo "$*" >&"${probe_in[$name]}"
}

# hear NAME: sets `answer` to that of the next call: "ok" or what comes after it; fails, with what is
# wrong there, when the call failed.
hear() {
    answer=
    read -r -t "${probe_timeout:-20}" answer <&"${probe_out[$1]}" || true
    case $answer in
    'ok '*) answer=${answer#ok } ;;
    ok) ;;
    *) return 1 ;;
    esac
}

# ask NAME CALL: prints the answer
ask() {
    tell "$@"
    hear "$1" || true
    echo "$answer"
}

probe_is_gone() {
    ! kill -0 "${probe_pid[$1]}" 2>/dev/null
}

stop_probe() {
    local in=${probe_in[$1]} out=${probe_out[$1]}
    exec {in}>&- {out}<&-
    wait_for 5 probe_is_gone "$1"
}

kill_probe() {
    kill -KILL "${probe_pid[$1]}"
    stop_probe "$1"
}
