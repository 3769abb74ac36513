# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# vifs.sh - a toolstack and frontends that cost no processes, for thousands of vifs
#
# To be sourced after lib.sh. What toolstack and qnetfront do is done here by probes: one in dom0, named
# host, and one in each domain, named by its number. A frontend is two zeroed ring pages, shared by
# its probe, and an event channel: enough to connect to.

# shellcheck disable=SC2154 # lib.sh sets lib_here, daemon.sh backend_domid
# shellcheck source=tests/sim/probe.sh
. "$lib_here/probe.sh"

# Where the daemon's vifs are; set by host_start.
backend_vifs=''

host_start() {
    backend_vifs=/local/domain/$backend_domid/backend/vif
    start_probe host 0
}

# send NAME LINES: calls of which only the last has an answer
send() {
    printf '%s\n' "$2" >&"${probe_in[$1]}"
}

# --- the toolstack's part -------------------------------------------------------------------------

# plug DOMID DEVID: writes a new vif's nodes, those that vif-write of toolstack writes.
plug() {
    local domid=$1 devid=$2 libxl=/libxl/$1/device/vif/$2 mac
    local back=$backend_vifs/$1/$2 front=/local/domain/$1/device/vif/$2
    printf -v mac '00:16:3e:%02x:%02x:%02x' $((domid >> 8)) $((domid & 255)) "$devid"
    send host "change rm $libxl
change mkdir $libxl
change perms $libxl n0
change write $libxl/frontend $front
change write $libxl/backend $back
change rm $front
change mkdir $front
change perms $front n$domid,r$backend_domid
change write $front/backend $back
change write $front/backend-id $backend_domid
change write $front/state 1
change write $front/handle $devid
change write $front/mac $mac
change write $front/trusted 1
change write $front/mtu 1500
change perms $front/mtu n$backend_domid,r$domid
change rm $back
change mkdir $back
change perms $back n$backend_domid,r$domid
change write $back/frontend $front
change write $back/frontend-id $domid
change write $back/online 1
change write $back/state 1
change write $back/script /etc/xen/scripts/vif-bridge
change write $back/mac $mac
change write $back/bridge xenbr0
change write $back/handle $devid
change write $back/type vif
change write $back/hotplug-status
commit"
    hear host || host_failed "a vif cannot be written"
}

# The host's own calls must succeed, or the test is wrong.
host_failed() { # WHAT
    echo "Bail out! $1: $answer"
    exit 1
}

# script DOMID DEVID WORD: the hotplug script's verdict: connected or error
script() {
    tell host write "$backend_vifs/$1/$2/hotplug-status" "$3"
    hear host || host_failed "the script's verdict cannot be written"
}

# unplug DOMID DEVID [force]: asks for a vif's end; force takes its frontend away with it.
unplug() {
    local back=$backend_vifs/$1/$2
    tell host read "$back/state"
    hear host || host_failed "a vif that is to be unplugged has no state"
    send host "change write $back/online 0"
    [ "$answer" = 6 ] || send host "change write $back/state 5"
    [ $# -eq 2 ] || send host "change tidy /local/domain/$1/device/vif/$2"
    tell host commit
    hear host || host_failed "a vif cannot be unplugged"
}

# unplugged DOMID DEVID: takes its nodes away.
unplugged() {
    send host "change tidy /local/domain/$1/device/vif/$2
change tidy /libxl/$1/device/vif/$2
change tidy $backend_vifs/$1/$2
commit"
    hear host || host_failed "the nodes of a vif cannot be removed"
}

# backend_reaches DOMID DEVID STATE[|STATE...] [MILLISECONDS]: sets `answer` to the microseconds that
# it took, or to what the state is instead.
backend_reaches() {
    tell host await "$backend_vifs/$1/$2/state" "$3" "${4:-10000}"
    hear host
}

# --- the guest's part -----------------------------------------------------------------------------

declare -A guest_rings

# guest_start DOMID: the domain's probe; the domain is there already.
guest_start() {
    start_probe "$1" "$1"
}

# guest_keys DOMID DEVID: shares rings, if it has none, and writes their keys.
guest_keys() {
    local domid=$1 vif=device/vif/$2 rings=''
    if [ -z "${guest_rings[$1.$2]-}" ]; then
        tell "$domid" share "$backend_domid" 2
        hear "$domid" || return 1
        rings=$answer
        tell "$domid" alloc "$backend_domid"
        hear "$domid" || return 1
        guest_rings[$1.$2]="$rings $answer"
    fi
    read -ra rings <<<"${guest_rings[$1.$2]}"
    send "$domid" "change write $vif/tx-ring-ref ${rings[0]}
change write $vif/rx-ring-ref ${rings[1]}
change write $vif/event-channel ${rings[2]}
change write $vif/request-rx-copy 1
change write $vif/feature-rx-notify 1
change write $vif/feature-sg 1
commit"
    hear "$domid"
}

# guest_unshare DOMID DEVID
guest_unshare() {
    local rings
    if [ -n "${guest_rings[$1.$2]-}" ]; then
        read -ra rings <<<"${guest_rings[$1.$2]}"
        ask "$1" unshare "${rings[0]}" >/dev/null
        ask "$1" unbind "${rings[2]}" >/dev/null
        unset "guest_rings[$1.$2]"
    fi
}

# guest_state DOMID DEVID STATE
guest_state() {
    tell "$1" write "device/vif/$2/state" "$3"
    hear "$1"
}

# guest_connects DOMID DEVID [MILLISECONDS]: from the backend's state 2 to its state 4; `answer` as
# backend_reaches.
guest_connects() {
    backend_reaches "$1" "$2" 2 "${3:-10000}" || return 1
    guest_keys "$1" "$2" && guest_state "$1" "$2" 4 || return 1
    backend_reaches "$1" "$2" 4 "${3:-10000}"
}
