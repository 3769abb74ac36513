# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# holdings.sh - all that vifs take, whether it was given back, and what the machine itself takes
#
# To be sourced after vifs.sh; the probe host must run.
# shellcheck disable=SC2154 # lib.sh sets work, backend_domid and daemon_pid

evtchns() { # how many event channels the daemon's domain has
    xensim dump | grep -c "^evtchn d$backend_domid/" || true
}

# The simulator keeps a FIFO open for each event channel handle that it ever woke, also when that is
# gone. So those are left out, and the daemon's own handles counted as the simulated Xen sees them.
open_files() {
    find "/proc/$daemon_pid/fd" -mindepth 1 -not -lname "$XENSIM_DIR/handle.*" | wc -l
}

handles() {
    xensim dump | grep -c "^handle .* pid $daemon_pid\$" || true
}

# Of the daemon, the machine and xenstore; memory aside.
holdings() {
    echo "descriptors $(open_files), handles $(handles)"
    echo "mapped pages $(mapped)"
    echo "event channels $(evtchns)"
    echo "watches $(ask host watches)"
    echo "interfaces $(taps)"
    echo "journals $(find /run/qnetback/journal -type f -printf '%f\n' | sort | tr '\n' ' ')"
    # Whoever removes a domain's last vif takes its empty parents with it.
    xenstore-ls -f | sed 's/ = .*//' | grep -v '^/libxl\(/[0-9]*\)\?$'
}

holdings_are() { # FILE
    holdings | cmp -s - "$1"
}

# nothing_left NAME FILE: a test point: holdings are, or soon become, what they were when written to FILE.
nothing_left() {
    wait_for 60 holdings_are "$2" || true
    is "$1: nothing is left" "$(diff "$2" <(holdings) || true)" ""
}

memory() { # of the daemon, in KiB
    awk '$1 == "VmRSS:" { print $2 }' "/proc/$daemon_pid/status"
}

# The same without what it shares with the simulator: its own, and its journals. What it has mapped of
# the guests' memory is the guests'.
memory_own() { # in KiB
    awk '/^[0-9a-f]+-[0-9a-f]+ / { own = $6 !~ /^.run.xensim/ } /^Rss:/ && own { sum += $2 }
        END { print sum }' "/proc/$daemon_pid/smaps"
}

# --- how long the machine itself stalls -----------------------------------------------------------
#
# The kernel has one lock for all interfaces of all its namespaces, and a vif takes it a few times when it is
# made, and when it connects. So while a time is measured, the state of lo is set again and again: what
# that takes at most is not the daemon's doing.

stalls_watch() { # FILE
    local in out start took worst=0
    rm -f /run/stall.in /run/stall.out
    mkfifo /run/stall.in /run/stall.out
    ip -force -batch - </run/stall.in >/run/stall.out 2>&1 &
    exec {in}>/run/stall.in {out}</run/stall.out
    while sleep 0.02; do
        start=${EPOCHREALTIME/./}
        echo $'link set dev lo up\nlink show dev lo' >&"$in"
        read -r -t 10 <&"$out" && read -r -t 10 <&"$out"
        took=$((${EPOCHREALTIME/./} - start))
        if [ $took -gt $worst ]; then
            worst=$took
            echo $worst >"$1"
        fi
    done
}

stalls_begin() {
    echo 0 >"$work/stalls"
    stalls_watch "$work/stalls" &
    stalls_pid=$!
}

# stalls_end: sets `stall` to the microseconds that may be added to a limit: none on a quiet machine.
stalls_end() {
    kill "$stalls_pid"
    wait "$stalls_pid" 2>/dev/null || true
    stall=$(<"$work/stalls")
    if [ "$stall" -lt 20000 ]; then
        stall=0
    else
        echo "# this machine is busy: it took $stall microseconds to set a state of lo"
        stall=$((5 * stall))
    fi
}
