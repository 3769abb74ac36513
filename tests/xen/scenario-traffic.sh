# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# scenario-traffic.sh - traffic that runs while something happens, and what became of it
#
# For scenarios that have sourced scenario-lib.sh.

# shellcheck disable=SC2154 # variables of scenario-lib.sh

declare -A traffic_pid

# --- Pings: one a tenth of a second, or as asked ---

pings_start() { # NAME ADDRESS [INTERVAL]
    ping -n -D -i "${3:-0.1}" "$2" > "/tmp/pings.$1" 2>&1 &
    traffic_pid[pings.$1]=$!
}

pings_stop() { # NAME
    kill -INT "${traffic_pid[pings.$1]}"
    wait "${traffic_pid[pings.$1]}" || true
}

# The longest time in which no answer came, in ms, after pings_stop.
pings_gap() { # NAME
    awk -F '[][]' '
        /bytes from/ { if (last && $2 - last > gap) gap = $2 - last; last = $2; answers++ }
        END { print (answers > 1) ? int(gap * 1000) : "no answers" }' "/tmp/pings.$1"
}

# (Not the ones under way at the end.)
pings_lost() { # NAME
    awk -F 'icmp_seq=' '
        /bytes from/ { split($2, field, " "); if (!first) first = field[1]; last = field[1]; answers++ }
        END { print answers ? last - first + 1 - answers : "all" }' "/tmp/pings.$1"
}

# --- Load: iperf3 both ways until it is stopped ---

# (Without -b: its pacing takes more timers than packets, and timers are dear in emulation.)
load_start() { # NAME ADDRESS
    iperf3 -c "$2" -t 3600 --bidir > "/tmp/load.$1" 2>&1 &
    traffic_pid[load.$1]=$!
}

load_runs() { # NAME
    kill -0 "${traffic_pid[load.$1]}" 2> /dev/null
}

load_stop() { # NAME
    kill "${traffic_pid[load.$1]}" 2> /dev/null
    wait "${traffic_pid[load.$1]}" || true
}

# A tap's counters go on from one daemon to the next, and reading them needs no fork.
tap_bytes() { # VIF guest_rx|guest_tx, result in $bytes
    local name=tx_bytes
    [ "$2" = guest_rx ] || name=rx_bytes
    bytes=
    read -r bytes 2> /dev/null < "/sys/class/net/$1/statistics/$name"
}

tap_exceeds() { # VIF guest_rx|guest_tx BYTES
    tap_bytes "$1" "$2" && [ "$bytes" -gt "$3" ]
}

# Each direction of the vif moves 1 MB from now on.
traffic_moves() { # VIF SECONDS
    local direction
    for direction in guest_rx guest_tx; do
        tap_bytes "$1" $direction
        if ! wait_for "$2" tap_exceeds "$1" $direction $((bytes + 1000000)); then
            echo "$direction of $1 stands still; iperf3 says:"
            tail -n 3 /tmp/load.*
            return 1
        fi
    done
}

# --- Streams ---

# A stream is one TCP connection, by HTTP, without an end, so that it lasts as long as what happens
# meanwhile.  It is a piece of 1 MB, again and again, and behind each its number, until the sender finds
# a file that stops it.  So the hash of what must have arrived follows from the last number.  At most
# 1 MB/s, to leave some of the only CPU to others.
# shellcheck disable=SC2016 # expanded where it runs, by bash in dom0 and by busybox in a guest
stream_program='#!/bin/sh
echo "Content-Type: application/octet-stream"
echo
n=0
while [ ! -e /tmp/stream.stop ]; do
    cat /tmp/stream.piece || exit
    n=$((n + 1))
    echo $n
    echo $n > /tmp/stream.count.$QUERY_STRING
    busybox usleep 1000000
done'

streams_prepare() { # GUEST...
    local name
    mkdir -p /tmp/stream/cgi-bin
    echo "$stream_program" > /tmp/stream/cgi-bin/stream
    chmod 755 /tmp/stream/cgi-bin/stream
    head -c 1000000 /dev/urandom > /tmp/stream.piece
    ln -sf /tmp/stream.piece /tmp/stream/piece
    traffic_httpd
    for name in "$@"; do
        check "$name: ready for streams" guest "$name" 60 "cd /tmp && mkdir -p stream/cgi-bin &&" \
            "wget -q -O stream.piece http://10.0.0.1:8001/piece &&" \
            "wget -q -O stream/cgi-bin/stream http://10.0.0.1:8001/program &&" \
            "chmod 755 stream/cgi-bin/stream && httpd -p 8001 -h /tmp/stream"
    done
}

traffic_httpd() {
    cp /tmp/stream/cgi-bin/stream /tmp/stream/program
    busybox httpd -f -p 8001 -h /tmp/stream &
    traffic_pid[httpd]=$!
}

streams_start() { # GUEST ADDRESS: one to the guest, one from it
    rm -f /tmp/stream.stop "/tmp/stream.count.$1" "/tmp/stream.from.$1"
    guest "$1" 30 "cd /tmp; rm -f stream.stop stream.count.$1 stream.sum;" \
        "(wget -q -O - http://10.0.0.1:8001/cgi-bin/stream?$1 | md5sum > stream.sum) &" > /dev/null
    busybox wget -q -O - "http://$2:8001/cgi-bin/stream?$1" | md5sum > "/tmp/stream.from.$1" &
    traffic_pid[stream.$1]=$!
}

stream_expected() { # PIECES
    local n
    for ((n = 1; n <= $1; n++)); do
        cat /tmp/stream.piece
        echo "$n"
    done | md5sum
}

stream_has() { # GUEST MB: either way
    local to from
    to=$(< "/tmp/stream.count.$1")
    from=$(guest "$1" 30 cat "/tmp/stream.count.$1")
    [[ $to =~ ^[0-9]+$ && $from =~ ^[0-9]+$ ]] && [ "$to" -ge "$2" ] && [ "$from" -ge "$2" ]
}

# Both streams of each guest are still there, go on to so many MB, and end; and each byte has arrived.
check_streams() { # MB GUEST...
    local least=$1 name count
    shift
    for name in "$@"; do
        check "$name: the stream from the guest lives" kill -0 "${traffic_pid[stream.$name]}"
        check "$name: both streams come to $least MB" wait_for 120 stream_has "$name" "$least"
    done
    touch /tmp/stream.stop
    for name in "$@"; do
        guest "$name" 30 "touch /tmp/stream.stop"
        check "$name: the stream from the guest ends" wait_for 60 gone kill -0 "${traffic_pid[stream.$name]}"
        count=$(guest "$name" 30 "cat /tmp/stream.count.$name")
        is "$name: the stream from the guest, of $count MB, arrived as it was sent" \
            "$(< "/tmp/stream.from.$name")" "$(stream_expected "$count")"
        check "$name: the stream to the guest ends" wait_for 60 guest "$name" 20 test -s /tmp/stream.sum
        count=$(< "/tmp/stream.count.$name")
        is "$name: the stream to the guest, of $count MB, arrived as it was sent" \
            "$(guest "$name" 30 cat /tmp/stream.sum)" "$(stream_expected "$count")"
    done
}
