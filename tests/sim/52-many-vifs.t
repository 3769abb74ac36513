#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 52-many-vifs.t - three hundred vifs at once, served by a driver domain with a domain's usual rights
#
# oxenstored is the real one and enforces its quotas. That of watches is its default, 100 (128 in the C
# xenstored): less than a watch for each frontend. That of nodes must be raised, whatever the
# backend does: the toolstack's and the backend's keys of one vif are 26 nodes, all of them counted for
# the driver domain, so that the default of 1000 ends at 38 vifs.

vifs_max=301
nodes_each=26
export XENSIM_QUOTA_NODES=$((vifs_max * nodes_each + 1000))
# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/sim/vifs.sh
. "$lib_here/vifs.sh"
# shellcheck source=tests/sim/holdings.sh
. "$lib_here/holdings.sh"

guests=50
vifs_each=6
backend_domid=1000
if [ -n "${SANITIZE-}" ]; then
    guests=25
fi
limit=600

# each COMMAND...: for all vifs of all guests, with DOMID DEVID; stops at the first that fails.
each() {
    local domid devid
    for ((domid = 1; domid <= guests; domid++)); do
        for ((devid = 0; devid < vifs_each; devid++)); do
            if ! "$@" $domid $devid; then
                echo "vif$domid.$devid: ${answer-}"
                return 1
            fi
        done
    done
}

reaches() { # STATE DOMID DEVID
    backend_reaches "$2" "$3" "$1" 60000
}

since_ms() { # EPOCHREALTIME
    echo $(((${EPOCHREALTIME/./} - ${1/./}) / 1000))
}

ticks() { # that the daemon has run
    awk '{ print $14 + $15 }' "/proc/$daemon_pid/stat"
}

quiet_network
bridge xenbr0
toolstack domain-add $backend_domid
for ((domid = 1; domid <= guests + 1; domid++)); do
    toolstack domain-add $domid
done
daemon_start
host_start
owned_empty=$(ask host owned $backend_domid)
holdings >$work/empty
memory_empty=$(memory_own)
echo "# without vifs: $memory_empty KiB of memory"

# --- all connect ---

start=$EPOCHREALTIME
each plug
ok "$((guests * vifs_each)) vifs reach state 2" each reaches 2
echo "# after $(since_ms "$start") ms"
owned=$(ask host owned $backend_domid)
echo "# each takes $(((owned - owned_empty) / (guests * vifs_each))) of the nodes that the driver domain may have"
between "which is what the head of this test says" $((nodes_each - 1)) \
    $(((owned - owned_empty) / (guests * vifs_each))) $nodes_each

# Its own toolstack, xl devd, runs the script there.
bridge_line() {
    echo "link set vif$1.$2 master xenbr0 up"
}
each bridge_line >$work/script
ip -batch $work/script
frontend_start() {
    start "front$1.$2" xensim as "$1" qnetfront --mode echo --vif "$2" --rx-slots 16 --wait 60
}
start=$EPOCHREALTIME
each frontend_start
say_connected() {
    script "$1" "$2" connected
}
each say_connected
ok "all of them connect" each reaches 4
echo "# after $(since_ms "$start") ms"
is "their rings are mapped" "$(mapped)" $((2 * guests * vifs_each))
is "the log says once that watches are too few, and what that means" \
    "$(grep -c "quota of watches.*are looked at every 250 ms" "$daemon_log")" 1

# --- and are served ---

# Each answers a frame from the bridge; the bridge takes none from a sender with such an address.
counts() { # INTERFACE DIRECTION
    cat "/sys/class/net/$1/statistics/$2_packets"
}
answered() {
    [ "$(counts "vif$1.$2" rx)" -ge 3 ]
}
is_up() { # Linux has dealt with the carrier of all taps
    [ "$(ip -oneline link show type tun | grep -c 'state UP')" -ge $((guests * vifs_each)) ]
}
ok "all interfaces have a carrier" wait_for 30 is_up
ip address add 10.0.0.1/16 dev xenbr0
ok "three frames go to everybody" qnetfront --mode wire-send --interface xenbr0 \
    --to ff:ff:ff:ff:ff:ff --count 3 --rate 20
all_answer() {
    each answered
}
ok "everybody answers" wait_for 30 all_answer
toolstack vif-add $((guests + 1)) 0 backend=$backend_domid
backend_reaches $((guests + 1)) 0 2
echo "link set vif$((guests + 1)).0 up" | ip -batch -
script $((guests + 1)) 0 connected
ok "one more guest sends 2000 frames, and all arrive" \
    guest_to_wire one $((guests + 1)) "vif$((guests + 1)).0" --size 64:1514 --count 2000
ok "and gets as many" \
    wire_to_guest two $((guests + 1)) "vif$((guests + 1)).0" --size 64:1514 --count 2000
unplug $((guests + 1)) 0 force
backend_reaches $((guests + 1)) 0 6
unplugged $((guests + 1)) 0

# --- they cost little while nothing happens ---

# More slots than a guest has: they are kept until the guest has got them, or not.
large_frames() {
    qnetfront --mode wire-send --interface "vif$1.$2" --to ff:ff:ff:ff:ff:ff --size 65535 --count 2 \
        --rate 2000 >$work/send.out 2>&1
}
ok "large frames go to everybody" each large_frames
before=$(ticks)
sleep 5
used=$(($(ticks) - before))
echo "# idle with $((guests * vifs_each)) vifs: $(memory_own) KiB of memory, $((used * 100 / (5 * $(getconf CLK_TCK)))) % of a CPU"
if [ -z "${SANITIZE-}" ]; then
    between "each has cost so many KiB of memory, traffic and all" 1 \
        $((($(memory_own) - memory_empty) / (guests * vifs_each))) 64
fi
between "it takes less than a fifth of a CPU" 0 $used $(($(getconf CLK_TCK)))

# --- all go ---

start=$EPOCHREALTIME
each unplug
ok "all close in order" each reaches 6
echo "# after $(since_ms "$start") ms"
each unplugged
frontend_ends() {
    finish "front$1.$2" >/dev/null || true
}
each frontend_ends
nothing_left "$((guests * vifs_each)) vifs" $work/empty
is "the driver domain has as many nodes as at first" "$(ask host owned $backend_domid)" "$owned_empty"
daemon_ends
done_testing
