#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 19-live-changes.t - what a connected frontend changes: multicast filter, XDP headroom; and how often

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

quiet_network
bridge xenbr0
daemon_start --max-queues 2
guest_add 1
back=$(backend_of 1 0)
front=$(frontend_of 1 0)
for feature in feature-multicast-control feature-dynamic-multicast-control feature-xdp-headroom; do
    is "$feature" "$(xenstore-read "$back/$feature")" 1
done

said() { # PATTERN
    grep -q -- "$1" "$daemon_log"
}

# What the guest of this test does not do by itself is done for it.
write() { # KEY VALUE
    xenstore-write "$front/$1" "$2"
}

# sends COUNT OPTION...: to the guest; waits until the daemon has taken all.
taken_by_guest() {
    [ "$(since vif1.0 guest_rx_packets)" -eq "$1" ]
}

sends() {
    qnetfront --mode wire-send --interface vif1.0 --frames udp4 --count "$@"
}

# gets NAME COUNT WANTED DROPPED OPTION...: of COUNT frames
gets() {
    local name=$1 count=$2 wanted=$3 dropped=$4
    shift 4
    mark vif1.0
    ok "$name: sent" sends "$count" "$@"
    ok "$name: the guest gets $wanted" wait_for 5 taken_by_guest "$wanted"
    is "$name: $dropped are left out" "$(since vif1.0 guest_rx_drop_multicast)" "$dropped"
}

# Whether the guest's filter is on, as frames show it: what the log says of a guest is limited.
filter_shows() { # COUNTER THAT GROWS
    mark vif1.0
    sends 1 --to 01:00:5e:7e:7e:7e
    wait_for 2 grown "$1"
}

grown() { # COUNTER
    [ "$(since vif1.0 "$1")" -ge 1 ]
}

filtered() {
    filter_shows guest_rx_drop_multicast
}

unfiltered() {
    filter_shows guest_rx_packets
}

multicast=(--to 01:00:5e:01:02:03)
broadcast=(--to ff:ff:ff:ff:ff:ff)

# --- multicast ---

front_start 1 0
wait_for 10 link_up vif1.0
gets "multicast without a filter" 100 100 0 "${multicast[@]}"
write request-multicast-control 1
ok "the filter goes on while the guest is connected" wait_for 10 filtered
gets "multicast" 100 0 100 "${multicast[@]}"
gets "broadcast" 100 100 0 "${broadcast[@]}"
gets "unicast" 100 100 0
write request-multicast-control 0
ok "and off" wait_for 10 unfiltered
gets "multicast with the filter off" 100 100 0 "${multicast[@]}"
front_stop
front_start 1 0 --features request-multicast-control=1
wait_for 10 link_up vif1.0
gets "with a filter from the start" 100 0 100 "${multicast[@]}"
is "nothing of that closes the vif" "$(backend_state 1 0)" 4
front_stop
# The guest's own list.
with_list() { # CHANGES LIST OPTION...
    local changes=$1 list=$2 before
    shift 2
    before=$(counter vif1.0 guest_tx_multicast)
    front_start 1 0 --features request-multicast-control=1 --multicast "$list" "$@"
    wait_for 10 link_up vif1.0
    wait_for 5 counted guest_tx_multicast $((before + changes))
}
counted() { # NAME VALUE
    [ "$(counter vif1.0 "$1")" -eq "$2" ]
}
with_list 1 01:00:5e:01:02:03
gets "an address that the guest asked for" 100 100 0 "${multicast[@]}"
gets "one that it did not" 100 0 100 --to 01:00:5e:01:02:04
gets "IPv6's" 100 0 100 --to 33:33:00:00:00:01
front_stop
with_list 4 33:33:00:00:00:01,01:00:5e:01:02:03,-01:00:5e:01:02:03,-01:00:5e:0f:0f:0f
gets "an address that it gave up" 100 0 100 "${multicast[@]}"
gets "one that it kept" 100 100 0 --to 33:33:00:00:00:01
front_stop
with_list 67 '01:00:5e:7f:00:00*64,01:00:5e:01:02:03!,-01:00:5e:7f:00:00,01:00:5e:01:02:03' --queues 2
gets "64 addresses, one of them exchanged" 100 100 0 "${multicast[@]}"
gets "the last of them" 100 100 0 --to 01:00:5e:7f:00:3f
gets "the one that went" 100 0 100 --to 01:00:5e:7f:00:00
is "changes are counted" "$(counter vif1.0 guest_tx_multicast)" 72
write request-multicast-control 0
ok "without the filter" wait_for 10 unfiltered
gets "the list does not matter" 100 100 0 --to 01:00:5e:7f:00:00
write request-multicast-control 1
ok "with it" wait_for 10 filtered
gets "it is as it was" 100 0 100 --to 01:00:5e:7f:00:00
front_stop
front_start 1 0 --features request-multicast-control=1
wait_for 10 link_up vif1.0
gets "the next connection begins with none" 100 0 100 --to 01:00:5e:7f:00:3f
front_stop
refused "a filter that is no number" 1 0 "request-multicast-control is 'yes', not a number" \
    --features request-multicast-control=yes
xenstore-rm "$front/request-multicast-control"

# --- headroom ---

# The frontend has seen state 4, so that another one does not disturb it.
front_settled() {
    front_start 1 0 --verbose "$@"
    wait_for 5 grep -q 'backend is in state 4' /run/front.out
    wait_for 10 link_up vif1.0
}

# reconfigure HEADROOM: as Linux's netfront does when an XDP program comes or goes
reconfigure() {
    xenstore-write "$front/xdp-headroom" "$1" "$front/state" 7 &&
        backend_becomes 1 0 8 &&
        xenstore-write "$front/state" 4 &&
        backend_becomes 1 0 4
}

# slots_each NAME SLOTS: small frames take so many slots each: with headroom, one for an extra.
slots_each() {
    mark vif1.0
    sends 100 >/dev/null
    wait_for 5 taken_by_guest 100
    is "$1" "$(since vif1.0 guest_rx_slots)" $((100 * $2))
}

front_settled --queues 2
slots_each "without headroom a frame takes one slot" 1
ok "the frontend reconfigures" reconfigure 256
slots_each "with headroom a frame takes two" 2
ok "the vif says how much" said "reconfigured: 256 bytes of headroom"
for headroom in 4095 4096 32767 65535; do
    ok "$headroom bytes are asked for" reconfigure $headroom
done
slots_each "more than a program needs is not given" 2
is "(but 256 bytes)" "$(grep -c 'reconfigured: ' "$daemon_log")" \
    "$(grep -c 'reconfigured: 256 bytes' "$daemon_log")"
has "a guest with a program gets no super-frames" "$(qnetctl stats vif1.0 --json)" \
    '"gso_tcpv4" *: *false'
ok "the program goes" reconfigure 0
slots_each "and with it the headroom" 1
has "super-frames come again" "$(qnetctl stats vif1.0 --json)" '"gso_tcpv4" *: *true'

front_stop

# The guest checks where each frame begins, and that no slot is wasted.
lengths=(--size 14:65535:97 --csum mixed)
ok "headroom 256, all lengths" wire_to_guest rx 1 vif1.0 "${lengths[@]}" --reconfigure 256
ok "headroom 1" wire_to_guest rx 1 vif1.0 "${lengths[@]}" --features xdp-headroom=1
ok "from 100 to 256 to 17" wire_to_guest rx 1 vif1.0 "${lengths[@]}" --queues 2 \
    --features xdp-headroom=100 --reconfigure 256,17
ok "from 256 to none" wire_to_guest rx 1 vif1.0 "${lengths[@]}" --features xdp-headroom=256 \
    --reconfigure 0
ok "more than there is" wire_to_guest rx 1 vif1.0 "${lengths[@]}" --reconfigure 65535
ok "32 buffers and headroom" wire_to_guest rx 1 vif1.0 "${lengths[@]}" --rx-slots 32 \
    --reconfigure 256

front_settled --queues 2
# Frames that arrive meanwhile are not lost.
often() {
    local i
    for ((i = 0; i < 20; i++)); do
        reconfigure 256 && reconfigure 0 || return 1
    done
}
mark vif1.0
start sender qnetfront --json --mode wire-send --interface vif1.0 --frames udp4 --count 4000 \
    --rate 4000 --flows 16
ok "40 times under traffic" often
ok "the traffic ends" finish sender
ok "all frames came" wait_for 5 taken_by_guest 4000
front_stop

front_settled --features xdp-headroom=100
slots_each "headroom from the start" 2
xenstore-write "$front/xdp-headroom" 0 "$front/state" 7
ok "reconfigured" backend_becomes 1 0 8
write xdp-headroom 200
takes_two() { # slots, a frame that is sent now
    mark vif1.0
    sends 1 && wait_for 5 taken_by_guest 1 && [ "$(since vif1.0 guest_rx_slots)" -eq 2 ]
}
ok "it changes its mind while it waits" wait_for 5 takes_two
is "in the same state" "$(backend_state 1 0)" 8
daemon_kill
daemon_start --max-queues 2
ok "a daemon finds it reconfigured" wait_for 5 said "adopted"
is "and leaves it so" "$(backend_state 1 0)" 8
write state 4
ok "until it goes on" backend_becomes 1 0 4
wait_for 10 link_up vif1.0
slots_each "with headroom" 2
xenstore-write "$front/xdp-headroom" 65536 "$front/state" 7
# The frontend answers our Closing, so Closed may follow before we look.
is_closing() {
    [[ $(backend_state 1 0) == [56] ]]
}
ok "headroom beyond 16 bits closes the vif" wait_for 10 is_closing
has "with the reason" "$(backend_error 1 0)" \
    "cannot reconfigure: xdp-headroom is '65536', not a number 0..65535"
front_stop
xenstore-write "$front/state" 6
ok "it is closed" backend_becomes 1 0 6
xenstore-rm "$front/xdp-headroom"
ok "and connects again" front_settled
xenstore-write "$front/state" 7
ok "a frontend that waits for us" backend_becomes 1 0 8
front_stop
ok "and closes" backend_becomes 1 0 6

# --- a flood of writes (XSA-349) ---

# As fast as xenstored takes them, from two processes in the guest.
flood() {
    local i writes=()
    for ((i = 0; i < 500; i++)); do
        writes+=(device/vif/0/request-multicast-control $((i % 2)) device/vif/0/feature-sg 1)
    done
    while :; do
        xensim as 1 xenstore-write "${writes[@]}"
        echo 1000 >>$work/written
    done
}

memory() { # in KiB
    awk '/^VmRSS/ { print $2 }' "/proc/$daemon_pid/status"
}

ticks() { # of the main thread, in 10 ms
    awk '{ print $14 + $15 }' "/proc/$daemon_pid/task/$daemon_pid/stat"
}

milliseconds() {
    echo $((${EPOCHREALTIME/./} / 1000))
}

toolstack domain-add 2
front_start 1 0
flooded_pid=$front_pid
memory_before=$(memory)
flood &
flood_pids=$!
flood &
flood_pids+=" $!"
wait_for 10 test -s $work/written
ticks_before=$(ticks)
begin=$(milliseconds)
connect_others() {
    local i
    for ((i = 0; i < 5; i++)); do
        toolstack vif-add 2 0 && front_start 2 0 || return 1
        front_stop
        toolstack vif-remove 2 0 || return 1
    done
}
ok "while one guest writes as fast as it can, others come, connect and go" connect_others
elapsed=$(($(milliseconds) - begin))
between "in bearable time (ms for five)" 0 $elapsed 20000
sleep 2
elapsed=$(($(milliseconds) - begin))
between "the main thread's share (percent)" 0 $((($(ticks) - ticks_before) * 1000 / elapsed)) 50
# shellcheck disable=SC2086 # a list
kill $flood_pids 2>/dev/null || true
wait_for 5 gone pgrep -x xenstore-write
between "the guest wrote often enough (thousands)" 5 "$(wc -l <$work/written)" 999999
# The sanitizer keeps freed memory for a while.
growth=4096
if [ -n "${SANITIZE-}" ]; then
    growth=262144
fi
between "memory does not grow (KiB)" -4096 "$(($(memory) - memory_before))" \
    $growth
write request-multicast-control 1
ok "the last word counts" wait_for 10 filtered
is "the vif is connected still" "$(backend_state 1 0)" 4
front_pid=$flooded_pid
front_stop

daemon_ends
done_testing
