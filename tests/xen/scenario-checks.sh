# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# scenario-checks.sh - what must hold of qnetback, its vifs and their packets
#
# For scenarios that have sourced scenario-lib.sh.  Each function prints the TAP of its own facts.

# shellcheck disable=SC2154 # daemon_pid and other variables of scenario-lib.sh

# --- Who serves ---

check_no_netback() { # WHEN: the kernel's xen-netback is not loaded, and could not be
    local output
    is "no xen-netback is loaded ($1)" "$(grep -E '^xen_netback' /proc/modules)" ''
    is "no xen-netback could be loaded ($1)" "$(find /usr/lib/modules -name '*netback*')" ''
    is "the kernel knows no back end for vifs ($1)" \
        "$(ls -d /sys/bus/xen-backend/drivers/vif 2> /dev/null)" ''
}

check_served_by_qnetback() { # GUEST VIF
    local owner fd
    check_no_netback "while $1 runs"
    for fd in "/proc/$daemon_pid/fdinfo/"*; do
        owner=$(sed -n 's/^iff:[[:space:]]*//p' "$fd" 2> /dev/null)
        [ "$owner" != "$2" ] || break
    done
    is "$1: the daemon itself holds the tap $2" "$owner" "$2"
    check "$1: vif-bridge put $2 into the bridge" test -e "/sys/class/net/xenbr0/brif/$2"
    is "$1: the guest's driver is the unmodified netfront" \
        "$(guest "$1" 30 "ethtool -i eth0 | sed -n 's/^driver: //p'")" vif
}

# --- Traffic ---

check_offloads() { # GUEST: eth0 offers all that it offers with the kernel's netback
    local what="$1: every offload that the kernel's netback gives is on" seen line missing=
    seen=$(guest "$1" 30 ethtool -k eth0)
    while read -r line; do
        case $line in
            '#'* | '') ;;
            *) [[ $seen == *"$line"* ]] || missing+="missing: $line"$'\n' ;;
        esac
    done < expected/guest-offloads
    if [ -z "$missing" ]; then
        pass "$what"
    else
        fail "$what" "${missing}seen: $seen"
    fi
}

check_pings() { # GUEST ADDRESS: 1000, one after the other, none lost
    local what="$1: 1000 pings, none lost" output
    # (The first packets may wait for the bridge to learn the way.)
    wait_for 20 ping -q -c 1 -W 1 "$2" || true
    output=$(timeout 120 ping -q -f -c 1000 -W 5 "$2" 2>&1)
    if [[ $output == *" 1000 received, 0% packet loss"* ]]; then
        pass "$what"
    else
        fail "$what" "expected: 1000 received"$'\n'"seen:     $output"
    fi
}

# One transfer by TCP.  How fast it is says more about the host than about qnetback: what is
# checked is that it goes through, and that segmentation offload works: the average frame is larger
# than the MTU.  (On an idle host it is fifty KiB; TCP makes smaller frames when it is slow.)
check_tcp() { # GUEST ADDRESS VIF to|from
    local what="$1: TCP $4 the guest" reverse=() counter=guest_rx output megabits mib frame before
    if [ "$4" = from ]; then
        reverse=(-R) counter=guest_tx
    fi
    before=$(stats)
    if ! output=$(timeout 150 iperf3 -J -c "$2" -n 48M "${reverse[@]}" 2>&1); then
        fail "$what" "expected: iperf3 ends well"$'\n'"seen:     $(tail -n 20 <<< "$output")"
        return
    fi
    read -r mib megabits <<< "$(jq -r '.end.sum_received |
        "\(.bytes / 1048576 | floor) \(.bits_per_second / 1000000 | floor)"' <<< "$output")"
    at_least "$what: MiB received" "$mib" 40
    frame=$(stats | average_frame "$counter" "$3" "$before")
    at_least "$what: bytes in an average frame" "$frame" 2000
    say "$megabits Mbit/s (in emulation: not a measure of anything)"
}

stats() {
    ./qnetctl stats --json
}

average_frame() { # COUNTER-PREFIX VIF STATS-BEFORE; later stats on standard input
    jq -r --arg c "$1" --arg vif "$2" --argjson before "$3" '
        def sum($stats; $name): [$stats.vifs[] | select(.name == $vif) | .queues[] | .[$name]] | add;
        . as $after |
        (sum($after; $c + "_packets") - sum($before; $c + "_packets")) as $packets |
        if $packets > 0
        then (sum($after; $c + "_bytes") - sum($before; $c + "_bytes")) / $packets | floor
        else "no packets" end'
}

# Neither iperf3 nor TCP would notice a corrupted byte: checksums between domains are left blank.
check_integrity() { # GUEST ADDRESS: 16 MB each way arrive as they were sent
    local sum seen
    if [ ! -e /srv/random ]; then
        head -c 16000000 /dev/urandom > /srv/random
        busybox httpd -p 8000 -h /srv
    fi
    sum=$(md5sum < /srv/random)
    seen=$(guest "$1" 90 "wget -q -O /tmp/random http://10.0.0.1:8000/random && md5sum < /tmp/random")
    is "$1: 16 MB to the guest arrive as they were sent" "$seen" "$sum"
    guest "$1" 30 "httpd -p 8000 -h /tmp" > /dev/null
    seen=$(timeout 90 busybox wget -q -O - "http://$2:8000/random" | md5sum)
    is "$1: 16 MB from the guest arrive as they were sent" "$seen" "$sum"
}

# Not on average but exactly: no slot and no copy operation more than the frames need.
check_minimum() { # VIF
    local what="$1: slots and copy operations at their minimum" seen
    # The figures of a frame under way may be half there: look again.
    if ! wait_for 5 at_minimum "$1"; then
        seen=$(stats | jq -c --arg vif "$1" '.vifs[] | select(.name == $vif) | .queues[]')
        fail "$what" "expected: guest_rx_slots = guest_rx_slots_minimum," \
            "guest_rx_segments = guest_rx_segments_minimum, guest_tx_segments = guest_tx_slots"$'\n'"seen: $seen"
        return
    fi
    pass "$what"
    stats | jq -r --arg vif "$1" '.vifs[] | select(.name == $vif) | .queues[] |
        def per($a; $b): if $b > 0 then $a * 10 / $b | round / 10 else 0 end;
        "# guest tx: \(.guest_tx_packets) packets, \(per(.guest_tx_slots; .guest_tx_packets)) slots and \(
            per(.guest_tx_segments; .guest_tx_packets)) copy operations a packet, \(
            per(.guest_tx_packets; .guest_tx_copy_calls)) packets a copy call",
        "# guest rx: \(.guest_rx_packets) packets, \(per(.guest_rx_slots; .guest_rx_packets)) slots and \(
            per(.guest_rx_segments; .guest_rx_packets)) copy operations a packet, \(
            per(.guest_rx_packets; .guest_rx_copy_calls)) packets a copy call"'
}

at_minimum() { # VIF
    stats | jq -e --arg vif "$1" '[.vifs[] | select(.name == $vif) | .queues[]] |
        length > 0 and all(.guest_rx_packets > 0 and .guest_tx_packets > 0
            and .guest_rx_slots == .guest_rx_slots_minimum
            and .guest_rx_segments == .guest_rx_segments_minimum
            and .guest_tx_segments == .guest_tx_slots)'
}

check_no_drops() { # VIF
    is "$1: no packet was dropped" "$(drops "$1")" '[]'
}

drops() { # VIF: its counters of dropped packets that are not 0
    stats | jq -c --arg vif "$1" '
        [.vifs[] | select(.name == $vif) | .queues[] | to_entries[] |
            select((.key | contains("_drop_")) and .value != 0) | "\(.key) \(.value)"]'
}

check_guest_kernel() { # GUEST: its netfront is content
    is "$1: the guest's kernel did not complain" "$(guest "$1" 30 "dmesg | grep -E" \
        "'WARNING|BUG|Call Trace|rx->|(vif-|eth)[0-9].*(rror|nvalid|roken|[Bb]ad|[Tt]oo)'")" ''
}

# --- Leaving ---

check_vif_gone() { # WHO DOMID DEVID: what a removed vif leaves behind: nothing
    local node
    check "$1: the tap vif$2.$3 is gone" wait_for 15 gone test -e "/sys/class/net/vif$2.$3"
    for node in "$vif_tree/$2/$3" "/local/domain/$2/device/vif/$3" "/libxl/$2/device/vif/$3"; do
        check "$1: $node is gone" wait_for 15 gone xenstore-exists "$node"
    done
}

check_guest_gone() { # WHAT GUEST DOMID: nor does a guest that has ended
    check "$1: the domain is gone" wait_for 30 gone xl domid "$2"
    check_vif_gone "$1" "$3" 0
    is "$1: its part of xenstore is gone" "$(xenstore-ls -f | grep -E "/(domain|libxl|vif)/$3(/| )")" ''
    check "$1: no dead domain that somebody holds pages of" wait_for 15 no_dead_domains ||
        say "$(xl list)"
    is "$1: Xen knows no grant of it any more" "$(xen_mapped_grants "$3")" "no such domain"
}

check_daemon_idle() { # WHEN FDS: it holds nothing of any guest
    check "$1: the daemon's file descriptors are as many as before" wait_for 10 daemon_has_fds "$2" ||
        say "before: $2"$'\n'"now: $(daemon_fds)"$'\n'"$(ls -l "/proc/$daemon_pid/fd")"
    is "$1: the daemon maps no page of a guest" "$(daemon_mapped_grants)" 0
}

daemon_has_fds() { # COUNT
    [ "$(daemon_fds)" = "$1" ]
}

check_no_taps() { # WHEN
    is "$1: no tap is left" "$(ls -d /sys/class/net/vif* 2> /dev/null)" ''
}

check_daemon_ends() { # WHEN: SIGTERM ends it well
    local pid=$daemon_pid
    stop_daemon
    is "$1: SIGTERM ends the daemon with status 0" "$daemon_status" 0
    is "$1: no message of a failed assertion or of a sanitizer" \
        "$(grep -aE 'CRITICAL|assert|Sanitizer|runtime error' "$daemon_log" | head -n 5)" ''
    check "$1: no process is left" gone kill -0 "$pid"
}
