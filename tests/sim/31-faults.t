#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 31-faults.t - what the host's side does when a call into Xen fails
#
# The simulator fails chosen calls of the daemon. No request may stay without its answer, no frame
# but the affected ones may be lost, and nothing may leak.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

vif=vif1.0

# fail RULES: from now on, as xensim fail has them; nothing: no more
fail() {
    xensim fail "$daemon_pid" "${1-}"
}

# of NAME FIELD...: the values of a report's fields, in one line
of() {
    local name=$1 one values=()
    shift
    for one in "$@"; do
        values+=("$(field "$name" "$one")")
    done
    echo "${values[*]}"
}

# guest_tx NAME RULES FRAMES BAD SLOTS OPTION...: of so many frames, of so many slots each, so many are
# answered with an error, as a whole; the others arrive.
guest_tx() {
    local name=$1 rules=$2 frames=$3 bad=$4 slots=$5
    shift 5
    mark $vif
    fail "$rules"
    fails "guest_tx, $name: the sender sees errors" guest_to_wire fault 1 $vif --count "$frames" "$@"
    fail
    is "guest_tx, $name: in whole frames, and every request is answered" \
        "$(of fault.sender guest_tx_packets guest_tx_answered guest_tx_packets_bad guest_tx_error \
            guest_tx_okay guest_tx_dropped guest_tx_wrong_id guest_tx_dirty)" \
        "$frames $frames $bad $((bad * slots)) $(((frames - bad) * slots)) 0 0 0"
    is "guest_tx, $name: the others arrive" \
        "$(of fault.receiver frames_good frames_corrupt frames_duplicate)" "$((frames - bad)) 0 0"
    is "guest_tx, $name: the daemon has counted them" \
        "$(since $vif guest_tx_drop_bad_grant) $(since $vif guest_tx_packets)" \
        "$bad $((frames - bad))"
    sound "$name"
}

# guest_rx NAME RULES FRAMES BAD ERRORS OPTION...: the same towards the guest; slots with an error
guest_rx() {
    local name=$1 rules=$2 frames=$3 bad=$4 errors=$5
    shift 5
    mark $vif
    fail "$rules"
    fails "guest_rx, $name: the guest sees errors" wire_to_guest fault 1 $vif --count "$frames" "$@"
    fail
    is "guest_rx, $name: in the slots that failed, and all frames are there" \
        "$(of fault.receiver guest_rx_packets guest_rx_errors guest_rx_packets_bad \
            guest_rx_wrong_id guest_rx_wrong_flags guest_rx_wrong_size)" "$frames $errors $bad 0 0 0"
    is "guest_rx, $name: the others are good" \
        "$(of fault.receiver frames_good frames_corrupt frames_duplicate)" "$((frames - bad)) 0 0"
    is "guest_rx, $name: the daemon has counted them" \
        "$(since $vif guest_rx_drop_bad_grant) $(since $vif guest_rx_packets)" \
        "$bad $((frames - bad))"
    sound "$name"
}

# sound NAME: without faults everything is as it was
sound() {
    ok "$1: guest_tx goes on" guest_to_wire sound 1 $vif --size 60:9000:297
    ok "$1: guest_rx goes on" wire_to_guest sound 1 $vif --size 60:9000:297
}

# each_segment SEGMENTS: rules that fail segment k of frame 2 * k, both from 0
each_segment() {
    local k rules=()
    for ((k = 0; k < $1; k++)); do
        rules+=("segment:+$((2 * k * $1 + k + 1))")
    done
    local IFS=,
    echo "${rules[*]}"
}

quiet_network
bridge xenbr0 65521

for buffers in granted plain; do
    daemon_start --buffers $buffers
    if [ $buffers = granted ]; then
        guest_add 1 mtu=65521
    fi
    ok "$buffers: a sound start" guest_to_wire sound 1 $vif --size 60:9000:297
    ok "$buffers: nothing is mapped" wait_for 5 mapped_is 0
    descriptors=$(descriptors)

    # One frame at a time, so that a call is a frame.
    guest_tx "$buffers, a copy call fails" copy:+3 10 1 2 --size 8000 --window 1
    guest_tx "$buffers, no memory for a copy call" copy:+10:ENOMEM 10 1 16 --size 65535 --window 1
    guest_rx "$buffers, a copy call fails" copy:+3 10 1 2 --size 8000 --window 1
    guest_rx "$buffers, no memory for a copy call" copy:+10:ENOMEM 10 1 16 --size 65535 --window 1
    guest_tx "$buffers, all copy calls fail" copy:+1+ 100 100 2 --size 8000
    guest_rx "$buffers, all copy calls fail" copy:+1+ 100 100 200 --size 8000

    # Several frames a call: each of the 16 segments fails once, each time in another frame.
    guest_tx "$buffers, each segment fails" "$(each_segment 16)" 33 16 16 --size 65535
    guest_rx "$buffers, each segment fails" "$(each_segment 16)" 33 16 16 --size 65535
    guest_tx "$buffers, a frame fails as a whole" segment:+17,segment:+18,segment:+24,segment:+32 \
        33 1 16 --size 65535
    guest_rx "$buffers, a frame fails as a whole" segment:+17,segment:+18,segment:+24,segment:+32 \
        33 1 4 --size 65535

    ok "$buffers: nothing is mapped in the end" wait_for 5 mapped_is 0
    ok "$buffers: no descriptor leaks" wait_for 5 descriptors_are "$descriptors"
    daemon_ends
done

# --- packet buffers cannot be granted ---

refuses_granted() { # RULES
    local status=0
    XENSIM_FAIL=$1 timeout 20 qnetback --buffers granted >$work/refuses 2>&1 || status=$?
    cat $work/refuses
    [ $status -eq 1 ] && [ "$(grep -vc 'debug:' $work/refuses)" -eq 1 ]
}

for rules in share:1+:ENOSPC gntshr_open:1+:ENOENT; do
    ok "$rules: --buffers granted refuses, in one line" refuses_granted $rules
    has "$rules: which says what to do" "$(<$work/refuses)" "xen[-_]gntalloc"
    XENSIM_FAIL=$rules daemon_start
    has "$rules: else buffers are plain" "$(qnetctl list --json)" '"buffers":"plain"'
    has "$rules: and the log says so" "$(<"$daemon_log")" "packet buffers are plain memory: .*gntalloc"
    sound "$rules"
    daemon_ends
done

# --- connecting, with another vif that must not notice ---

daemon_start
# Its own bridge: it is not to get the frames that are lost here.
bridge xenbr1
guest_add 2 bridge=xenbr1
start others.echo xensim as 2 qnetfront --json --mode echo
ok "another guest is there" lib_link_ready 2 vif2.0
start others.receiver qnetfront --json --mode wire-receive --interface vif2.0 --seed 2 \
    --progress $work/others.progress
start others.sender qnetfront --json --mode wire-send --interface vif2.0 --seed 2 --rate 1000 \
    --seconds 1000 --size 90:1514:17 --progress $work/others.progress
ok "it has traffic" wait_for 10 test -e $work/others.progress
ok "a sound connection" guest_to_wire sound 1 $vif --count 10
ok "only the other guest's rings are mapped" wait_for 5 mapped_is 2
descriptors=$(descriptors)

# connect_fails RULES PATTERN: the vif closes with the reason, and connects when the fault is gone.
connect_fails() {
    local rules=$1 pattern=$2 status=0
    fail "$rules"
    timeout 30 xensim as 1 qnetfront --mode idle --json >$work/refused.out 2>&1 || status=$?
    fail
    between "$rules: the connection is refused" 3 $status 4
    has "$rules: with the reason" "$(backend_error 1 0)" "$pattern"
    ok "$rules: nothing stays mapped" wait_for 5 mapped_is 2
    ok "$rules: no descriptor leaks" wait_for 5 descriptors_are "$descriptors"
    sound "$rules"
}

connect_fails map:+1 "cannot connect: .*cannot map grant"
connect_fails map:+2:ENOMEM "cannot connect: .*cannot map grant .*: Cannot allocate memory"
connect_fails bind:+1 "cannot connect: .*cannot bind event channel"
connect_fails bind:+2:ESRCH "cannot connect: .*cannot bind event channel"
connect_fails evtchn_open:+1:EMFILE "cannot connect: .*evtchn.*: Too many open files"

# What does not stop a connection.
tolerated() { # RULES
    fail "$1"
    ok "$1 is tolerated" guest_to_wire fault 1 $vif --size 60:9000:297
    fail
    sound "$1"
}

tolerated restrict:+1:EACCES
tolerated notify:+3:EINVAL
tolerated pending:+2:EINTR

# The frames are there; the guest is not told.
before=$(grep -c "notifying event channel" "$daemon_log" || true)
fail "notify:+1+:EINVAL"
start fault.sender timeout 3 xensim as 1 qnetfront --json --mode generate --count 20000 --size 60
finish fault.sender >/dev/null || true
fail
between "calls that fail again and again are told of ten times a second" 1 \
    $(($(grep -c "notifying event channel" "$daemon_log") - before)) 100
sound "no notifications"

ok "the sender ends" finish others.sender TERM
ok "the other guest has lost nothing" finish others.receiver
is "all frames came back" "$(field others.receiver frames_good)" "$(field others.sender frames_sent)"
ok "the other guest ends" finish others.echo TERM

# --- the interface ---

mark $vif
ip link set $vif down
start fault.sender xensim as 1 qnetfront --json --mode generate --count 20 --size 60:9000:297
fails "while the interface is down the sender sees errors" finish fault.sender
is "one for each frame" "$(of fault.sender guest_tx_answered guest_tx_packets_bad guest_tx_okay)" "20 20 0"
is "and they are counted" "$(since $vif guest_tx_drop_port)" 20
ip link set $vif up
sound "the interface is up again"
start idle xensim as 1 qnetfront --json --mode idle
ok "a guest is connected" lib_link_ready 1 $vif
ip link del $vif
ok "its interface is deleted: the vif closes" backend_becomes 1 0 6
has "with the reason" "$(backend_error 1 0)" "was the interface deleted"
finish idle TERM >/dev/null || true
ok "the daemon lives" daemon_lives
ok "the vif can be removed" toolstack vif-remove 1 0
ok "and a new one added" toolstack vif-add 1 0
sound "the new vif"
daemon_ends
done_testing
