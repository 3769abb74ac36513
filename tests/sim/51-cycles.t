#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 51-cycles.t - one vif connects and closes, others come and go, and nothing is left behind
#
# With SOAK=1, 10,000 vifs come and go instead of a few hundred.

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/sim/vifs.sh
. "$lib_here/vifs.sh"
# shellcheck source=tests/sim/holdings.sh
. "$lib_here/holdings.sh"

reconnects=1000
attaches=300
slow=200000
if [ -n "${SANITIZE-}" ]; then
    reconnects=200
    attaches=100
    slow=1000000
fi
if [ -n "${SOAK-}" ]; then
    attaches=10000
fi
echo "# $reconnects reconnects, $attaches attaches"

bridge xenbr0
daemon_start
host_start
for domid in 1 2; do
    toolstack domain-add $domid
done
guest_start 2

# --- one vif, whose frontend comes and goes ---

# The hotplug script, counted.
cat >/run/script <<'SCRIPT'
#!/bin/sh
echo "$1" >>/run/script-runs
exec /etc/xen/scripts/vif-bridge "$@"
SCRIPT
chmod +x /run/script
holdings >$work/empty
toolstack vif-add 1 0 script=/run/script
# What a first connection leaves for the next is no leak: the frontend's keys, and state 6.
start first xensim as 1 qnetfront --json --mode reconnect --count 50
finish first >/dev/null
holdings >$work/attached
memory_before=$(memory)
stalls_begin
limit=400 start cycles xensim as 1 qnetfront --json --mode reconnect --count $reconnects
ok "a frontend connects, sends a frame and closes $reconnects times" finish cycles
stalls_end
is "each time" "$(field cycles connects)" $reconnects
echo "# from its Connected to the backend's, microseconds: least $(field cycles connect_us_least)," \
    "median $(field cycles connect_us_median), 99 % $(field cycles connect_us_of_100_99)," \
    "99.9 % $(field cycles connect_us_of_1000_999), most $(field cycles connect_us_most)"
between "each within 200 ms" 0 "$(field cycles connect_us_most)" $((slow + stall))
is "the hotplug script ran once" "$(cat /run/script-runs)" online
nothing_left "after $reconnects reconnects" $work/attached
between "memory is as before (KiB more)" -100000 $(($(memory) - memory_before)) ${SANITIZE:+50}1000
toolstack vif-remove 1 0
is "at the end it ran once more" "$(tr '\n' ' ' </run/script-runs)" "online offline "
nothing_left "when the vif is gone" $work/empty

# --- vifs that come and go ---

# What the daemon has to do for a vif from its first day to its last, without the script: a guest's
# first connection, its closing, and the toolstack's removal.
attach_detach() { # DEVID
    plug 2 "$1"
    script 2 "$1" connected
    guest_connects 2 "$1" || return 1
    unplug 2 "$1"
    backend_reaches 2 "$1" 5 || return 1
    guest_state 2 "$1" 6 || return 1
    backend_reaches 2 "$1" 6 || return 1
    unplugged 2 "$1"
}

# The same with the toolstack's own waits, the script, and a whole frontend.
attach_detach_whole() { # DEVID
    toolstack vif-add 2 "$1" && front_start 2 "$1" && toolstack vif-remove 2 "$1" && front_stop
}

attach_often() { # COUNT: counts in `attached`
    local i
    attached=0
    for ((i = 0; i < $1; i++)); do
        if [ $((i % 50)) -eq 25 ]; then
            attach_detach_whole $((i % 3)) || return 1
        else
            attach_detach $((i % 3)) || return 1
        fi
        attached=$((attached + 1))
    done
}

# The guest's rings are made once: its frontend is not what is tested.
ok "vifs come and go" attach_often 30
wait_for 10 no_taps
holdings >$work/empty
memory_before=$(memory)
begun=$SECONDS
ok "$attaches vifs more come and go" attach_often "$attaches"
echo "# $attached in $((SECONDS - begun)) s"
is "each of them" "$attached" "$attaches"
nothing_left "after $attaches attaches" $work/empty
between "memory is as before (KiB more)" -100000 $(($(memory) - memory_before)) ${SANITIZE:+50}1000
daemon_ends
done_testing
