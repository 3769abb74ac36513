#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 25-stall.t - guests that post too few buffers: frames wait a while, and a guest that takes none
# loses its carrier until it does

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

vif=vif1.0

carrier_is() { # VALUE
    [ "$(cat /sys/class/net/$vif/carrier)" = "$1" ]
}

counts() { # COUNTER MINIMUM
    [ "$(counter $vif "$1")" -ge "$2" ]
}

# to_guest OPTION...: frames for the guest, whatever becomes of them
to_guest() {
    timeout 20 qnetfront --mode wire-send --interface $vif "$@" >$work/send.out 2>&1
}

quiet_network
bridge xenbr0
daemon_start --guest-rx-drain 300 --guest-rx-stall 1500
guest_add 1

# --- a frame that needs more buffers than the guest ever has ---

front_start 1 0 --rx-slots 2
wait_for 10 carrier_is 1
ok "a frame of 15 pages for a guest with 2 buffers" to_guest --size 60000 --count 1 --rate 100
ok "(it waits)" wait_for 10 counts guest_rx_no_slots 1
ok "small frames behind it" to_guest --size 60 --count 20 --rate 200
ok "arrive, for the large one is dropped" wait_for 10 counts guest_rx_packets 20
is "and counted" "$(counter $vif guest_rx_drop_no_slots)" 1
ok "others like it" to_guest --size 60000 --count 10 --rate 1000
ok "are dropped" wait_for 10 counts guest_rx_drop_no_slots 11
ok "small frames arrive" to_guest --size 60 --count 5 --rate 1000
ok "still" wait_for 10 counts guest_rx_packets 25
ok "the guest keeps its carrier" carrier_is 1
front_stop

# --- a guest that hangs ---

front_start 1 0
wait_for 10 carrier_is 1
kill -STOP "$front_pid"
start flood qnetfront --mode wire-send --interface $vif --size 60 --count 1000000 --rate 2000
ok "a guest that hangs loses its carrier" wait_for 20 carrier_is 0
is "which is counted" "$(counter $vif guest_rx_stalls)" 1
has "and said" "$(grep "$vif: " "$daemon_log")" "takes no frames; no carrier until it does"
is "it stays connected" "$(backend_state 1 0)" 4
kill -CONT "$front_pid"
ok "it goes on, and has a carrier again" wait_for 20 carrier_is 1
before=$(counter $vif guest_rx_packets)
ok "and gets frames" wait_for 20 counts guest_rx_packets $((before + 1))
finish flood TERM >/dev/null || true
front_stop

# --- a guest that cannot tell that it has buffers is not judged by that ---

front_start 1 0 --features feature-rx-notify=
wait_for 10 carrier_is 1
kill -STOP "$front_pid"
before=$(counter $vif guest_rx_drop_no_slots)
start flood qnetfront --mode wire-send --interface $vif --size 60 --count 1000000 --rate 2000
ok "without feature-rx-notify, frames are dropped, too" \
    wait_for 20 counts guest_rx_drop_no_slots $((before + 4000))
ok "but the carrier stays" carrier_is 1
is "(no stall)" "$(counter $vif guest_rx_stalls)" 1
finish flood TERM >/dev/null || true
kill -CONT "$front_pid"
front_stop

# --- the end while stalled ---

front_start 1 0 --features feature-rx-notify=1
kill -STOP "$front_pid"
start flood qnetfront --mode wire-send --interface $vif --size 60 --count 1000000 --rate 2000
ok "a guest hangs" wait_for 20 carrier_is 0
finish flood TERM >/dev/null || true
ok "and is taken away" toolstack vif-remove 1 0 --force
front_kill
is "nothing stays mapped" "$(mapped)" 0
daemon_ends
done_testing
