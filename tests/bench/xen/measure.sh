# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# measure.sh - what the scenarios of "make bench-xen" have in common: sides, measures, figures
#
# To be sourced after scenario-lib.sh.  A scenario compares two sides, `theirs` and `ours`, each with a
# guest, and perhaps a second one; the machine that serves them is dom0 or a driver domain.  What it
# prints, besides TAP, is read by bench-xen:
#
#   progress TEXT                     one line a measurement, before it
#   figure MEASURE SIDE VALUE         what was measured
#   counts MEASURE {JSON}             by how much our daemon's counters grew meanwhile

# shellcheck disable=SC2154 # repeats, seconds, pings, guest_type, daemon_options, vif_keys: from bench-xen

# By side; the scenario fills them in.
declare -A guest_name guest_address peer_name peer_address

# The backend's end; a scenario with a driver domain has functions of its own.
backend_address=10.0.0.1
# shellcheck disable=SC2317 # called by name
in_backend() { # SECONDS COMMAND...
    timeout "$1" bash -c "${*:2}"
}

# Counters of our daemon, where it can be asked.
# shellcheck disable=SC2317
our_stats() {
    ./qnetctl stats --json
}

in_guest() { # SIDE SECONDS COMMAND...
    guest "${guest_name[$1]}" "${@:2}"
}

# --- Figures out of what iperf3 and ping say ---

# What arrived, in Mbit/s.
received_rate() {
    awk '/receiver/ { for (i = 2; i <= NF; i++) if ($i == "Kbits/sec") rate = $(i - 1) }
        END { if (rate > 0) printf "%.3f\n", rate / 1000 }'
}

# What arrived, in packets per second: the line says "0.00-2.01 sec ... LOST/TOTAL (...) receiver".
received_packets() {
    awk '/receiver/ {
            for (i = 2; i <= NF; i++) {
                if ($i == "sec") split($(i - 1), time, "-")
                if ($i ~ /^[0-9]+\/[0-9]+$/) split($i, packets, "/")
            }
            if (time[2] > time[1]) rate = (packets[2] - packets[1]) / (time[2] - time[1])
        }
        END { if (rate > 0) printf "%.1f\n", rate }'
}

# The mean, in microseconds.
round_trip() {
    awk -F'[=/ ]+' '/^(rtt|round-trip) / { for (i = 1; i <= NF; i++) if ($i == "mdev") printf "%.1f\n", $(i + 2) * 1000 }'
}

# --- Measures: each takes a side and prints what the tool said ---

# All clients of iperf3 run in the guest that sends or, with -R, receives: the same for both sides.
# shellcheck disable=SC2317 # called by name
tcp_from_guest() { # SIDE
    in_guest "$1" 120 iperf3 -f k -c $backend_address -t "$seconds"
}

# shellcheck disable=SC2317
tcp_to_guest() {
    in_guest "$1" 120 iperf3 -f k -R -c $backend_address -t "$seconds"
}

# shellcheck disable=SC2317
tcp_guest_to_guest() {
    in_guest "$1" 120 iperf3 -f k -c "${peer_address[$1]}" -t "$seconds"
}

# shellcheck disable=SC2317
udp_from_guest() {
    in_guest "$1" 120 iperf3 -f k -u -b 0 -l 64 -c $backend_address -t "$seconds"
}

# shellcheck disable=SC2317
udp_to_guest() {
    in_guest "$1" 120 iperf3 -f k -u -b 0 -l 64 -R -c $backend_address -t "$seconds"
}

# shellcheck disable=SC2317
ping_guest() {
    in_backend 120 ping -q -f -c "$pings" "${guest_address[$1]}"
}

# measure NAME FUNCTION FILTER: both sides in turn, `repeats` times.  Which one comes first changes, so that
# what drifts does not favour one.
measure() {
    local name=$1 tool=$2 filter=$3 round side value order said before
    for ((round = 1; round <= repeats; round++)); do
        order="theirs ours"
        [ $((round % 2)) = 1 ] || order="ours theirs"
        for side in $order; do
            echo "progress $name, $side, $round of $repeats"
            [ "$side" = theirs ] || before=$(our_stats)
            said=$($tool "$side" 2>&1)
            value=$($filter <<< "$said")
            if [ -z "$value" ]; then
                # iperf3's server has one client at a time, and may still be busy with the last one.
                pause 2
                said=$($tool "$side" 2>&1)
                value=$($filter <<< "$said")
            fi
            printf '%s\n' "--- $name, $side, $round" "$said" >> /out/measures
            if [ -z "$value" ]; then
                fail "$name, $side, $round of $repeats" "$said"
                continue
            fi
            echo "figure $name $side $value"
            [ "$side" = theirs ] || counts "$name" "$before"
        done
    done
}

# counts MEASURE STATS-BEFORE: the growth of each counter, over all vifs and queues
counts() {
    our_stats | jq -c --argjson before "$2" '
        def sums($stats): [$stats.vifs[].queues[] | to_entries[]] | group_by(.key) |
            map({(.[0].key): map(.value) | add}) | add;
        sums(.) as $now | sums($before) as $old |
        $now | with_entries(.value -= ($old[.key] // 0)) | with_entries(select(.value != 0))' |
        sed "s/^/counts $1 /"
}

# --- The rest ---

# Our vifs' key `direct`: whether frames go from guest to guest past the bridge, as with --direct.
set_direct() { # 0|1
    local name backend
    for name in "${guest_name[ours]}" "${peer_name[ours]}"; do
        backend=$(xenstore-read "/local/domain/$(xl domid "$name")/device/vif/0/backend")
        xenstore-write "$backend/direct" "$1"
    done
    # (The daemon sees it at once; nothing tells when it has.)
    pause 1
}

# Both ways that ours has from guest to guest.  The bridge is its default; direct is what is compared.
measure_guest_to_guest() {
    measure tcp.guest-to-guest.through-bridge tcp_guest_to_guest received_rate
    set_direct 1
    measure tcp.guest-to-guest tcp_guest_to_guest received_rate
    set_direct 0
}

# Checksums between domains are blank: neither iperf3 nor TCP would notice a byte that is not right.
check_bytes() { # SIDE: 16 MB each way
    local sum
    echo "progress 16 MB each way, $1"
    in_backend 60 "[ -e /srv/random ] || { mkdir -p /srv; head -c 16000000 /dev/urandom > /srv/random;" \
        "busybox httpd -p 8000 -h /srv; }"
    sum=$(in_backend 60 "md5sum < /srv/random")
    is "$1: 16 MB to the guest arrive as they were sent" "$(in_guest "$1" 120 \
        "wget -q -O /tmp/random http://$backend_address:8000/random && md5sum < /tmp/random")" "$sum"
    in_guest "$1" 30 "httpd -p 8000 -h /tmp" > /dev/null
    is "$1: 16 MB from the guest arrive as they were sent" \
        "$(in_backend 120 "busybox wget -q -O - http://${guest_address[$1]}:8000/random | md5sum")" "$sum"
    [ -n "${peer_name[$1]-}" ] || return 0
    is "$1: 16 MB from guest to guest arrive as they were sent" "$(guest "${peer_name[$1]}" 120 \
        "wget -q -O - http://${guest_address[$1]}:8000/random | md5sum")" "$sum"
}

# A guest that answers.
make_guest() { # NAME ADDRESS [VIF-KEYS]
    echo "progress starting the guest $1"
    guest_config "$1" "$guest_type" "$2/24" "'mac=00:16:3e:00:00:0${2##*.},bridge=xenbr0${3:+,$3}'"
    xl create "/tmp/$1.cfg" > /dev/null || give_up "xl create of $1 failed"
    wait_guest "$1" 120 || give_up "the guest $1 did not boot"
    guest "$1" 60 "tries=0; until ping -q -c 1 -W 1 $backend_address || [ \$tries = 30 ]; do" \
        "tries=\$((tries + 1)); done" > /dev/null
}
