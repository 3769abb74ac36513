# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# holdings.sh - all that vifs take, and whether it was given back
#
# To be sourced after vifs.sh; the probe host must run.
# shellcheck disable=SC2154 # lib.sh sets backend_domid and daemon_pid

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
