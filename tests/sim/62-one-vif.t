#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 62-one-vif.t - qnetctl show, rings, kick and set: what a vif is doing, and changing it while it runs

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

quiet_network
bridge xenbr0
daemon_start --max-queues 2 --guest-rx-drain 500 --guest-rx-stall 500
guest_add 1 rate=62500,50000

shows() { # PATTERN
    [[ $(qnetctl show vif1.0) =~ $1 ]]
}
is_set() { # KEY VALUE: in xenstore
    [ "$(xenstore-read "$(backend_of 1 0)/$1" 2>/dev/null || echo none)" = "$2" ]
}

# --- show ---

has "before it connects" "$(qnetctl show vif1.0)" 'state +InitWait, frontend Initialising'
start idle xensim as 1 qnetfront --mode idle --seconds 60 --queues 2 --features feature-gso-tcpv6=0
ok "a guest connects" backend_becomes 1 0 4
text=$(qnetctl show vif1.0)
has "states" "$text" $'state +Connected, frontend Connected\n'
has "the interface" "$text" $'interface +vif1\.0, up, MTU 1500, bridge xenbr0\n'
has "settings" "$text" 'settings +admin up, rate 62500,50000, rx-rate -'
has "a feature that is on" "$text" 'gso_tcpv4 +on +the frontend takes super-frames'
has "one that is off, and why" "$text" 'gso_tcpv6 +off +the frontend does not write feature-gso-tcpv6'
has "queues" "$text" 'queues +2 used, [0-9]+ grants mapped'
has "JSON" "$(qnetctl show vif1.0 --json)" '"negotiation":\[\{"name":"sg","on":true,"why":"the frontend writes'

# --- rings and kick ---

text=$(qnetctl rings vif1.0)
has "rings: each queue" "$text" $'queue-0, worker [0-9]+\n.*queue-1, worker'
has "rings: all buffers are posted" "$text" 'guest_rx: grant [0-9]+, event channel [0-9]+.*requests: posted 256, taken 0'
has "rings: JSON" "$(qnetctl rings vif1.0 --json)" '^\[\{"queue":0,.*"guest_rx":\{.*"outstanding":256'
before=$(calls notify)
ok "kick" qnetctl kick vif1.0
is "wakes the guest, once for each event channel" $(($(calls notify) - before)) 4

# --- set, live ---

ok "a rate as in xl.cfg" qnetctl set vif1.0 rate 40Mb/s@10ms
ok "is written to xenstore" is_set rate 50000,10000
ok "and followed" wait_for 5 shows 'rate 50000,10000'
ok "no rate" qnetctl set vif1.0 rate none
ok "the key is gone" is_set rate none
ok "a limit of the other direction" qnetctl set vif1.0 rx-rate 1GB/s
ok "is followed" wait_for 5 shows 'rx-rate 50000000,50000'

mark vif1.0
start wire qnetfront --mode wire-send --interface vif1.0 --seconds 60 --size 9000 --frames tcp4 --gso 1448 --rate 200
moves() { # COUNTER LEAST: it has grown by so much since the mark
    [ "$(since vif1.0 "$1")" -ge "$2" ]
}
average() { # of what came since the mark, in bytes; both counters of one moment
    local name value packets=0 bytes=0
    while IFS=: read -r name value; do
        case $name in
        guest_rx_packets) packets=$((value - "${counted[vif1.0/$name]}")) ;;
        guest_rx_bytes) bytes=$((value - "${counted[vif1.0/$name]}")) ;;
        esac
    done < <(lib_counters vif1.0)
    echo $((bytes / packets))
}
ok "super-frames reach the guest" wait_for 10 moves guest_rx_packets 20
between "as they are" 8900 "$(average)" 9000
ok "gso off" qnetctl set vif1.0 gso off
ok "the reason is shown" wait_for 5 shows 'gso_tcpv4 +off +the administrator has set gso off'
mark vif1.0
ok "at once they come" wait_for 5 moves guest_rx_packets 20
between "in segments" 700 "$(average)" 1514
ok "gso on" qnetctl set vif1.0 gso on
ok "is shown" wait_for 5 shows 'gso_tcpv4 +on'
mark vif1.0
ok "they come" wait_for 5 moves guest_rx_packets 20
between "whole again" 2000 "$(average)" 9000
ok "csum off" qnetctl set vif1.0 csum off
ok "takes the super-frames along" wait_for 5 shows 'gso_tcpv4 +off +the administrator has switched the checksum'
ok "csum on" qnetctl set vif1.0 csum on

ok "admin down" qnetctl set vif1.0 admin down
ok "frames are dropped" wait_for 5 moves guest_rx_drop_admin_down 10
is "the frontend stays connected" "$(xenstore-read "$(frontend_of 1 0)/state") $(backend_state 1 0)" "4 4"
ok "the reason is shown" shows $'admin down.*drops +guest_rx_drop_admin_down: [0-9]+, the administrator'
mark vif1.0
is "none gets through" "$(sleep 0.3; since vif1.0 guest_rx_packets)" 0
ok "admin up" qnetctl set vif1.0 admin up
ok "they get through" wait_for 5 moves guest_rx_packets 10
finish wire TERM >/dev/null || true
finish idle TERM >/dev/null || true

ok "admin down, for a guest that comes later" qnetctl set vif1.0 admin down
mark vif1.0
xensim as 1 qnetfront --mode generate --size 64 --count 16 >/dev/null 2>&1 || true
is "nor can it send" "$(since vif1.0 guest_tx_drop_admin_down) $(since vif1.0 guest_tx_packets)" "16 0"
ok "admin up" qnetctl set vif1.0 admin up
ok "gso off: what it is offered next" qnetctl set vif1.0 gso off
start quiet xensim as 1 qnetfront --mode generate --size 64 --count 8 --no-notify
ok "a guest that forgets its events connects" backend_becomes 1 0 4
ok "it was offered no GSO" is_set feature-gso-tcpv4 0
sent() {
    [[ $(qnetctl rings vif1.0) =~ requests:\ posted\ 8 ]]
}
ok "it has posted its frames" wait_for 5 sent
kicked() {
    # (Once they are out, the guest closes, and there is nothing to kick.)
    qnetctl kick vif1.0 || true
    sleep 0.1
    ! running quiet
}
ok "kick: they go out" wait_for 5 kicked
finish quiet >/dev/null || true

# --- a guest that takes nothing ---

start events qnetctl events
start deaf xensim as 1 qnetfront --mode idle --seconds 60 --rx-slots 0
stalls() {
    grep -q 'VIF_STALLED *vif1.0' "$work/events.out"
}
ok "a guest that posts no buffers connects" backend_becomes 1 0 4
start wire qnetfront --mode wire-send --interface vif1.0 --seconds 60 --size 100 --rate 200
ok "it is told of" wait_for 20 stalls
ok "and shown" shows 'frontend Connected, stalled'
finish deaf TERM >/dev/null || true
finish wire TERM >/dev/null || true
finish events TERM >/dev/null || true

daemon_ends
done_testing
