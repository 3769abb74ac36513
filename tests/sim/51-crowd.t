#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 51-crowd.t - what some vifs and guests do, or fail to do, does not hurt the others
#
# Silent frontends, vifs removed in the middle of their bring-up, frontends that flip their state or
# take new rings again and again, fifty guests that stop at once.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/sim/vifs.sh
. "$lib_here/vifs.sh"
# shellcheck source=tests/sim/holdings.sh
. "$lib_here/holdings.sh"

silent=50
removals=200
renewals=200
flip_seconds=20
# In microseconds; sanitizers are slow.
initwait_limit=100000
connect_limit=200000
if [ -n "${SANITIZE-}" ]; then
    initwait_limit=1000000
    connect_limit=2000000
fi
seed=${SEED:-$RANDOM}
echo "# seed $seed (SEED=$seed repeats it)"
RANDOM=$seed

quiet_network
bridge xenbr0
daemon_start
host_start
for ((domid = 1; domid <= 4; domid++)); do
    toolstack domain-add $domid
    guest_start $domid
done
holdings >$work/empty

# --- silent frontends ---

slowest=0
# Both times are taken from before the write that starts it all.
plug_timed() { # DOMID DEVID: raises `slowest`
    local start=${EPOCHREALTIME/./}
    plug "$1" "$2"
    backend_reaches "$1" "$2" 2 || return 1
    start=$((${EPOCHREALTIME/./} - start))
    if [ $start -gt "$slowest" ]; then
        slowest=$start
    fi
}

connect_timed() { # DOMID DEVID: sets `took`
    local start
    guest_keys "$1" "$2" || return 1
    start=${EPOCHREALTIME/./}
    guest_state "$1" "$2" 4 || return 1
    backend_reaches "$1" "$2" 4 || return 1
    took=$((${EPOCHREALTIME/./} - start))
}

plug_silent() {
    local devid
    for ((devid = 0; devid < silent; devid++)); do
        plug_timed 1 $devid || return 1
    done
}

stalls_begin
ok "$silent vifs, whose frontends stay silent, reach state 2" plug_silent
echo "# the slowest took $slowest microseconds"
silent_slowest=$slowest
slowest=0
ok "so does one more" plug_timed 2 0
echo "# in $slowest microseconds"
script 2 0 connected
ok "and connects" connect_timed 2 0
echo "# in $took microseconds"
connected=$took
# Two vifs of one guest, of which it uses the second only.
plug 2 1
plug 2 2
script 2 1 connected
script 2 2 connected
backend_reaches 2 2 2
ok "the second vif of a guest that does not use its first connects" connect_timed 2 2
connected_second=$took
stalls_end
between "a vif's way to state 2 takes less than 100 ms" 0 "$slowest" $((initwait_limit + stall))
between "so did those before it" 0 "$silent_slowest" $((initwait_limit + stall))
between "to connect takes less than 200 ms" 0 "$connected" $((connect_limit + stall))
between "for both" 0 "$connected_second" $((connect_limit + stall))
for ((devid = 0; devid < silent; devid++)); do
    unplug 1 $devid
done
all_closed() {
    local devid
    for ((devid = 0; devid < silent; devid++)); do
        backend_reaches 1 $devid 6 || return 1
        unplugged 1 $devid
    done
}
ok "the silent ones go" all_closed
for devid in 0 1 2; do
    unplug 2 $devid force
    backend_reaches 2 $devid 6
    unplugged 2 $devid
    guest_unshare 2 $devid
done
nothing_left "silent frontends" $work/empty

# --- a frontend that flips its state, while other vifs are removed on their way up ---

toolstack vif-add 3 0
toolstack vif-add 4 0
front_start 4 0
other_pid=$front_pid
start flip xensim as 3 qnetfront --json --mode flip --seconds $flip_seconds

# Waits a random time, short or not so short, and often not at all.
any_moment() {
    case $((RANDOM % 3)) in
    0) sleep "0.00$((RANDOM % 10))" ;;
    1) sleep "0.0$((RANDOM % 30 + 10))" ;;
    esac
}

# One vif that gets as far as STEP, is removed at a random moment after, and maybe comes again.
cut_short() { # STEP
    local force='' frontend=1
    if [ $((RANDOM % 3)) -eq 0 ]; then
        force=force
    fi
    plug 1 0
    if [ "$1" -ge 1 ]; then
        backend_reaches 1 0 2 || return 1
    fi
    if [ "$1" -ge 2 ]; then
        script 1 0 connected
    fi
    if [ "$1" -ge 3 ]; then
        guest_keys 1 0
    fi
    if [ "$1" -ge 4 ]; then
        guest_state 1 0 4
        frontend=4
    fi
    if [ "$1" -ge 5 ]; then
        # It closes when a call is made to fail.
        backend_reaches 1 0 '4|5|6' || return 1
    fi
    any_moment
    unplug 1 0 $force
    if [ -z "$force" ] && [ $frontend -eq 4 ]; then
        # As a guest does that sees its backend close.
        backend_reaches 1 0 '5|6' || return 1
        guest_state 1 0 6
    fi
    backend_reaches 1 0 6 || return 1
    unplugged 1 0
}

# What the daemon calls while it connects can fail, too.
faults=('' '' map:+1 map:+2 evtchn_open:+1 bind:+1 '')
cut_often() {
    local i
    for ((i = 0; i < removals; i++)); do
        xensim fail "$daemon_pid" "${faults[i % 7]}"
        cut_short $((i % 6)) || echo "at step $((i % 6)): $answer"
    done
    xensim fail "$daemon_pid" ''
}
is "$removals vifs are removed at every step of their bring-up" "$(cut_often)" ""
ok "the daemon lives" daemon_lives
guest_unshare 1 0
plug 1 0
script 1 0 connected
ok "the next one connects" guest_connects 1 0
unplug 1 0 force
backend_reaches 1 0 6
unplugged 1 0
guest_unshare 1 0
ok "a frontend flips its states as fast as it can for $flip_seconds s, and then connects" finish flip
echo "# $(field flip flips) flips"
between "it was fast" 10000 "$(field flip flips)" 1000000000
is "the other guest did not notice" "$(backend_state 4 0)" 4
toolstack vif-remove 3 0

# --- a frontend that takes new rings and says Connected again ---

toolstack vif-add 3 0
start few xensim as 3 qnetfront --json --mode renew --count 50
finish few >/dev/null
holdings >$work/attached
memory_before=$(memory)
start renew xensim as 3 qnetfront --json --mode renew --count $renewals
ok "a connected frontend takes new rings $renewals times" finish renew
is "each time they are served" "$(field renew renewed)" $renewals
nothing_left "new rings" $work/attached
between "memory is as before (KiB more)" -100000 $(($(memory) - memory_before)) ${SANITIZE:+50}1000
toolstack vif-remove 3 0
kill -TERM "$other_pid"
wait "$other_pid" || true
toolstack vif-remove 4 0
nothing_left "all of them" $work/empty

# --- fifty guests stop at once, while another passes traffic ---

stopped_first=11
stopped_last=60
guests_start() {
    local domid
    for ((domid = stopped_first; domid <= stopped_last; domid++)); do
        toolstack domain-add $domid
        guest_start $domid
        plug $domid 0
    done
    for ((domid = stopped_first; domid <= stopped_last; domid++)); do
        script $domid 0 connected
        guest_connects $domid 0 || return 1
    done
}
guests_stop() {
    local domid stoppers=() status=0
    for ((domid = stopped_first; domid <= stopped_last; domid++)); do
        TOOLSTACK_DESTROY_TIMEOUT=60 toolstack domain-destroy $domid 2>>$work/destroy.err &
        stoppers+=($!)
    done
    for domid in "${stoppers[@]}"; do
        wait "$domid" || status=1
    done
    return $status
}

# In another bridge than the first, where what that one sends does not come.
bridge xenbr1
toolstack vif-add 3 0
toolstack vif-add 4 0 bridge=xenbr1
guests_start || status=$?
is "fifty guests are connected" "$(mapped)" $((2 * (stopped_last - stopped_first + 1)))
rate=2000
start out.sender xensim as 3 qnetfront --json --mode generate --progress $work/out --size 64:1514 \
    --seed 1 --rate $rate --count 1000000
start in.receiver xensim as 4 qnetfront --json --mode sink --progress $work/in --size 64:1514 \
    --seed 2 --count 1000000
lib_link_ready 3 vif3.0
lib_link_ready 4 vif4.0
start out.receiver qnetfront --json --mode wire-receive --interface vif3.0 --progress $work/out \
    --size 64:1514 --seed 1
start in.sender qnetfront --json --mode wire-send --interface vif4.0 --progress $work/in \
    --size 64:1514 --seed 2 --rate $rate --count 1000000
ok "all of them are destroyed at once" guests_stop
traffic_end() { # NAME: the sender stops, the receiver sees that, and judges
    local status=0
    finish "$1.sender" TERM || status=$?
    finish "$1.receiver" || status=$?
    return $status
}
ok "another guest lost nothing that it sent meanwhile" traffic_end out
ok "and nothing that was sent to it" traffic_end in
echo "# $(field out.receiver frames_good) frames from one guest, $(field in.receiver frames_good) to another"
between "they were many" 1000 "$(field out.receiver frames_good)" 1000000
between "both ways" 1000 "$(field in.receiver frames_good)" 1000000
toolstack vif-remove 3 0
toolstack vif-remove 4 0
nothing_left "fifty guests" $work/empty
daemon_ends
done_testing
