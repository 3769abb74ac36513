#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 35-injected.t - the N-th call into Xen or into the kernel fails, in a whole life of a vif
#
# For each kind of call, N = 1, 2, ...: a daemon is started, a guest connects, frames go both ways, a
# second daemon adopts the guest, the guest leaves. Wherever the failure was, the daemon lives or has
# refused to start in one line, and afterwards a sound guest is served and nothing is left behind. With
# SOAK=1 up to 12, or to what such a life needs; else the first two.
#
# Then system calls fail under traffic (by strace), and the log's disk is full.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

limit=60
vif=vif1.0
most=2
[ -z "${SOAK-}" ] || most=12

# start_daemon RULE: fails if it refuses to start
start_daemon() {
    XENSIM_FAIL=$1 xensim as 0 qnetback >>"$daemon_log" 2>&1 </dev/null &
    daemon_pid=$!
    # shellcheck disable=SC2317 # called by wait_for
    is_there() { qnetctl list >/dev/null 2>&1 || ! kill -0 "$daemon_pid" 2>/dev/null; }
    wait_for 10 is_there
    kill -0 "$daemon_pid" 2>/dev/null
}

# What the guest sees may be errors; here it counts that everybody lives.
some_traffic() {
    guest_to_wire fault 1 $vif --size 60:9000:897 >/dev/null 2>&1 || true
    wire_to_guest fault 1 $vif --size 60:9000:897 >/dev/null 2>&1 || true
}

# Has the daemon made so many calls of that kind?
reached() { # KIND N
    if [ "$(calls "$1")" -ge "$2" ]; then
        touch $work/reached
    fi
}

# life KIND N: prints what went wrong
life() {
    local rule=$1:$2
    : >"$daemon_log"
    if ! start_daemon "$rule"; then
        wait "$daemon_pid" 2>/dev/null || true
        grep -c 'error: ' "$daemon_log" | grep -qx 1 || echo "it ended, not with one line: $(<"$daemon_log")"
        return
    fi
    limit=8 some_traffic
    start idle xensim as 1 qnetfront --mode idle --json
    backend_becomes 1 0 4 3 || true
    reached "$1" "$2"
    kill -USR2 "$daemon_pid" && wait "$daemon_pid" || echo "it did not leave"
    if start_daemon "$rule"; then
        limit=8 some_traffic
    else
        start_daemon '' || echo "it does not start again"
    fi
    reached "$1" "$2"
    finish idle TERM >/dev/null || true
    xensim fail "$daemon_pid" ''
    guest_to_wire sound 1 $vif --count 20 >$work/sound.said 2>&1 ||
        echo "a sound guest is not served: $(tail -n 3 $work/sound.said)"
    # A page that cannot be unmapped stays, until the process ends.
    [ "$1" = unmap ] || wait_for 5 mapped_is 0 || echo "$(mapped) pages stay mapped"
    kill -TERM "$daemon_pid"
    wait "$daemon_pid" || echo "it did not end in order"
}

quiet_network
bridge xenbr0 9000
daemon_start
guest_add 1 mtu=9000
ok "a sound start" guest_to_wire sound 1 $vif --count 20
daemon_stop || true

for kind in gnttab_open gntshr_open evtchn_open share map unmap bind copy notify unmask pending restrict; do
    problems=''
    for ((n = 1; n <= most; n++)); do
        touch $work/reached
        said=$(rm $work/reached && life $kind $n)
        [ -z "$said" ] || problems+="$kind:$n: $said; "
        [ -e $work/reached ] || [ -n "$said" ] || break
    done
    is "$kind fails, up to the call number $((n - 1))" "$problems" ""
done

# --- system calls ---

strace_works() {
    [ -z "${SANITIZE-}" ] && command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null
}

# under NAME CALL INJECTION COMMAND...: the command succeeds while calls of the daemon fail
under() {
    local name=$1 call=$2 injection=$3
    shift 3
    start strace strace -f -q -o /dev/null -e "trace=$call" -e "inject=$call:$injection" -p "$daemon_pid"
    wait_for 10 traced || true
    ok "$name" "$@"
    finish strace INT >/dev/null || true
}

traced() {
    ! grep -q '^TracerPid:.0$' "/proc/$daemon_pid/status"
}

lossy() { # COMMAND...: the daemon lives, whatever the command says
    "$@" >/dev/null 2>&1 || true
    daemon_lives
}

# (strace fails a call by making it another one, which the filter would not let pass.)
daemon_start --sandbox off
ok "once more a sound start" guest_to_wire sound 1 $vif --count 20
if strace_works; then
    under "writev: EAGAIN every other time loses nothing" writev error=EAGAIN:when=1+2 \
        guest_to_wire fault 1 $vif --size 60:1500:97
    under "readv: EAGAIN every other time loses nothing" readv error=EAGAIN:when=1+2 \
        wire_to_guest fault 1 $vif --size 60:1500:97
    under "writev: no memory" writev error=ENOBUFS:when=2+5 lossy guest_to_wire fault 1 $vif --count 50
    under "epoll_ctl: no memory" epoll_ctl error=ENOMEM:when=1+3 lossy guest_to_wire fault 1 $vif --count 50
    under "openat: no descriptors" openat error=EMFILE:when=1+2 lossy guest_to_wire fault 1 $vif --count 50
    under "mmap: no memory for a connection" mmap error=ENOMEM:when=1+2 lossy guest_to_wire fault 1 $vif --count 50
    ok "afterwards a sound guest is served" guest_to_wire sound 1 $vif --count 20
else
    echo "ok $((++tap_count)) - system calls fail # SKIP strace is missing, or a sanitizer is not"
fi
daemon_ends

# --- the log's disk is full ---

mkdir $work/full
mount -t tmpfs -o size=16k tmpfs $work/full
daemon_log=$work/full/log
head -c 20000 /dev/zero >$work/full/ballast 2>/dev/null || true
xensim as 0 qnetback --log-level debug >>$work/full/log 2>&1 </dev/null &
daemon_pid=$!
ok "a daemon whose log cannot be written starts" wait_for 10 qnetctl list
ok "and serves its guest" guest_to_wire sound 1 $vif --count 20
kill -TERM "$daemon_pid"
ok "and ends in order" wait "$daemon_pid"

# --- clocks ---

# What waits for a time goes by a clock that is never set; who asks the other one only tells the time.
is "the time of day is nobody's reason to do anything" \
    "$(grep -rlE 'CLOCK_REALTIME|g_get_real_time' "$lib_here/../../hw/xen-net" --include='*.c' |
        sed 's,.*/,,' | sort | tr '\n' ' ')" "ctl-server.c main.c verb-doctor.c vif.c "

done_testing
