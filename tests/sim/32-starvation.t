#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 32-starvation.t - guests that take nothing, or send without end, cost neither us nor others much
#
# One worker serves all vifs here. Guest 2 sends back what it gets, at a moderate rate, and must not
# lose a frame.

# shellcheck source=tests/sim/tcp.sh
. "$(dirname "${BASH_SOURCE[0]}")/tcp.sh"

limit=300
vif=vif1.0

resident() { # kB
    awk '/^VmRSS/ { print $2 }' "/proc/$daemon_pid/status"
}

# Hundredths of a second that the daemon has used.
used() {
    local text
    text=$(<"/proc/$daemon_pid/stat")
    # shellcheck disable=SC2086 # the fields behind the name
    set -- ${text##*) }
    echo $((${12} + ${13}))
}

grown() { # VIF COUNTER LEAST: since mark
    [ "$(since "$1" "$2")" -ge "$3" ]
}

dropped() {
    cat /sys/class/net/$vif/statistics/tx_dropped
}

others_start() { # NAME
    start "$1.echo" xensim as 2 qnetfront --json --mode echo
    ok "$1: the other guest is there" lib_link_ready 2 vif2.0
    start "$1.receiver" qnetfront --json --mode wire-receive --interface vif2.0 --seed 2 \
        --progress "$work/$1.progress"
    start "$1.sender" qnetfront --json --mode wire-send --interface vif2.0 --seed 2 --rate 500 \
        --seconds 1000 --size 90:1514:17 --progress "$work/$1.progress"
    mark vif2.0
    ok "$1: it has traffic" wait_for 10 grown vif2.0 guest_tx_packets 10
}

others_end() { # NAME
    finish "$1.sender" TERM >$work/others || true
    ok "$1: the other guest has lost nothing" finish "$1.receiver"
    is "$1: all its frames came back" "$(field "$1.receiver" frames_good)" "$(field "$1.sender" frames_sent)"
    finish "$1.echo" TERM >$work/others || true
}

# for_others NAME FRAMES SECONDS: the other guest gets so many frames in less than the time
for_others() {
    mark vif2.0
    ok "$1: the other guest is served meanwhile" wait_for "$3" grown vif2.0 guest_tx_packets "$2"
}

quiet_network
bridge xenbr0 65521
bridge xenbr1
daemon_start --workers 1
guest_add 1 mtu=65521
guest_add 2 bridge=xenbr1

# --- a guest that posts no guest_rx buffers ---

others_start none
start idle xensim as 1 qnetfront --json --mode idle --rx-slots 0
ok "a guest without buffers connects" lib_link_ready 1 $vif
mark $vif
before=$(dropped)
memory=$(resident)
time_used=$(used)
ok "a flood for it" qnetfront --mode wire-send --interface $vif --seconds 3 --window 100000 --size 60:60000:991
time_used=$(($(used) - time_used))
is "it gets nothing" "$(since $vif guest_rx_packets)" 0
between "all but the interface's queue is dropped, by the kernel" 100 $(($(dropped) - before)) 1000000000
# The sanitizer keeps freed memory for a while.
growth=4096
if [ -n "${SANITIZE-}" ]; then
    growth=262144
fi
between "no memory is used for it (kB)" 0 $(($(resident) - memory + 1024)) $((1024 + growth))
# What the other guest costs, and ten looks a second.
if [ -z "${SANITIZE-}" ]; then
    between "nor much time (1/100 s in 3 s)" 0 $time_used 60
fi
for_others none 500 10
ok "it goes" finish idle TERM
start flood qnetfront --json --mode wire-send --interface $vif --seconds 1000 --seed 4 --size 60:1500:7
ok "a guest without buffers sends all the same" \
    guest_to_wire tx 1 $vif --rx-slots 0 --size 60:60000:97 --gso 1448
finish flood TERM >/dev/null || true
others_end none

# --- a guest that posts few ---

# The interface's queue still has longer frames.
ok "the vif goes" toolstack vif-remove 1 0
ok "and a new one comes" toolstack vif-add 1 0 mtu=65521
mark $vif
ok "1 buffer: frames of a page" wire_to_guest few 1 $vif --rx-slots 1 --size 60:4096:41
ok "4 buffers: frames of 4" wire_to_guest few 1 $vif --rx-slots 4 --size 60:16384:97
ok "17 buffers: the longest super-frames" wire_to_guest few 1 $vif --rx-slots 17 --frames tcp4 \
    --gso 1448 --size 60000:65535:97
between "frames waited for buffers" 1 "$(since $vif guest_rx_no_slots)" 1000000
ok "8 buffers and no events: noticed all the same" \
    wire_to_guest few 1 $vif --rx-slots 8 --no-notify --size 60 --count 100

# --- a guest that sends events without end ---

others_start events
mark $vif
time_used=$(used)
ok "a flood of events" timeout 60 xensim as 1 qnetfront --json --mode hostile --attack event-flood
time_used=$(($(used) - time_used))
between "few of them are taken" 1 "$(since $vif evtchn_events)" 200
between "because they bring no work" 1 "$(since $vif evtchn_spurious)" 200
for_others events 500 10
others_end events
mark $vif
time_used=$(used)
ok "the same with one channel" timeout 60 xensim as 1 qnetfront --json --mode hostile \
    --attack event-flood --event-channels single
between "few are taken" 1 "$(since $vif evtchn_events)" 200
between "at little cost (1/100 s in 2 s)" 0 $(($(used) - time_used)) 50
ok "afterwards events are taken at once again" guest_to_wire tx 1 $vif --window 1 --count 1000

# --- both directions of a vif, and a neighbour ---

# flood_start NAME FROM INTERFACE MAC: datagrams to an address that the owner of that MAC does not
# have, so that nobody answers
flood_start() {
    in_domain "$2" ip neigh replace 10.0.0.9 lladdr "$4" dev "$3" nud permanent
    # shellcheck disable=SC2016 # expanded by that shell
    start "$1" ip netns exec "domain$2" bash -c 'trap "exit 0" TERM
        dd if=/dev/zero bs=1400 status=none >/dev/udp/10.0.0.9/9 & wait'
}

daemon_ends
toolstack vif-remove 1 0
ip link del xenbr0
tcp_host 1500
# With slow copies the guest's ring is never empty: else there would be nothing to be unfair about.
XENSIM_SEG_NS=60000 daemon_start --workers 1
guest_add_vif() {
    toolstack vif-add 1 0 && guest_connect 1
}
ok "a guest with a TCP stack" guest_add_vif
others_start floods
flood_start from_guest 1 eth0 "$(cat /sys/class/net/xenbr0/address)"
flood_start to_guest 0 xenbr0 "$(in_domain 1 cat /sys/class/net/eth0/address)"
mark $vif
ok "both directions at once: frames from the guest" wait_for 60 grown $vif guest_tx_packets 2000
ok "and to it" wait_for 60 grown $vif guest_rx_packets 2000
sent=$(since $vif guest_tx_packets)
received=$(since $vif guest_rx_packets)
echo "# from the guest: $sent, to it: $received"
between "neither direction starves" $((received / 5)) "$sent" $((received * 5))
for_others floods 200 60
ok "the flood from the guest ends" finish from_guest TERM
ok "and that to it" finish to_guest TERM
ok "the guest answers" wait_for 10 in_domain 0 ping -c 1 -W 1 "${ipv4[1]}"
others_end floods
ok "the guest goes" finish front1 TERM
daemon_ends
done_testing
