#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 63-top-and-capture.t - qnetctl top and capture: what goes through a vif, in numbers and in whole

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

quiet_network
bridge xenbr0
daemon_start --max-queues 2
guest_add 1
guest_add 2

# --- top ---

start sender xensim as 1 qnetfront --mode generate --size 1000 --frames udp4 --seconds 60 --rate 500
ok "a guest sends" backend_becomes 1 0 4
table=$(qnetctl top --batch --rounds 2 --delay 1 --sort guest_tx)
is "two tables with two vifs" "$(grep -c '^VIF ' <<<"$table") $(grep -c '^vif' <<<"$table")" "2 4"
last=$(tail -n 2 <<<"$table")
has "the busy one comes first" "$last" '^vif1\.0 +all Connected '
rate=$(qnetctl top --json --rounds 1 --delay 2 | grep -o '"guest_tx_packets":[0-9]*' | head -n 1)
between "at the rate that it sends" 100 "${rate#*:}" 600
has "by queue" "$(qnetctl top -b -q -n 1 -d 0.2)" 'vif1\.0 +0 Connected'
if command -v script >/dev/null; then
    (sleep 1.5; printf s; sleep 0.3; printf Q; sleep 0.3; printf q) |
        TERM=xterm timeout 20 script -qec 'qnetctl top -d 0.3' "$work/screen" >/dev/null || true
    has "on a terminal" "$(tr -d '\0' <"$work/screen")" 'vif1\.0.*guest_tx    q quit.*queues by guest_tx'
fi

# --- capture ---

said=$(qnetctl capture vif1.0 --write "$work/tx.pcap" --frames 20 --direction guest_tx 2>&1)
is "capture: a summary" "${said%, 0 lost}" "vif1.0: 20 frames, $((24 + 20 * 1016)) bytes"
is "nanoseconds, in a pcap file" "$(od -An -tx1 -N4 "$work/tx.pcap" | tr -d ' ')" 4d3cb2a1
is "the file has them all" "$(stat -c %s "$work/tx.pcap")" $((24 + 20 * 1016))
said=$(qnetctl capture vif1.0 --seconds 1 --direction guest_rx --json --write "$work/rx.pcap")
is "the other direction has none" "$said" '{"frames":0,"bytes":24,"lost":0}'
is "snaplen" "$(qnetctl capture vif1.0 -n 5 --snaplen 60 2>/dev/null | wc -c)" $((24 + 5 * 76))
is "size" "$(qnetctl capture vif1.0 --size 5000 2>/dev/null | wc -c)" $((24 + 4 * 1016))
is "a filter" "$(qnetctl capture vif1.0 -f 'udp and greater 900' -n 3 2>/dev/null | wc -c)" $((24 + 3 * 1016))
is "a filter that nothing passes" "$(qnetctl capture vif1.0 -f tcp --seconds 1 2>/dev/null | wc -c)" 24
start whole qnetctl capture vif1.0 --write "$work/whole.pcap"
growing() {
    [ "$(stat -c %s "$work/whole.pcap" 2>/dev/null || echo 0)" -gt 5000 ]
}
ok "until Ctrl-C" wait_for 10 growing
finish whole INT >"$work/said" || true
has "which is an ordinary end" "$(<"$work/said")" $'status 0\nvif1.0: [0-9]+ frames'

refuses() { # NAME STATUS PATTERN COMMAND...
    local name=$1 status=$2 pattern=$3 got=0 said
    shift 3
    said=$("$@" 2>&1 >/dev/null </dev/null) || got=$?
    is "$name: the status" "$got" "$status"
    has "$name: the reason" "$said" "^qnetctl: [^"$'\n'"]*${pattern}[^"$'\n'"]*$"
}
refuses "a filter that makes no sense" 2 'cannot understand the filter' qnetctl capture vif1.0 -f 'frob 7'
refuses "a file that cannot be" 7 'cannot write /no/such.pcap' qnetctl capture vif1.0 -w /no/such.pcap
refuses "a wrong direction" 2 'must be guest_tx or guest_rx' qnetctl capture vif1.0 --direction in
refuses "no terminal for top" 2 'needs a terminal; see --batch' qnetctl top
refuses "a wrong order" 2 "--sort is 'size'" qnetctl top --batch --sort size
start cut qnetctl capture vif2.0 --write "$work/cut.pcap"
ok "a capture of a vif" wait_for 10 test -s "$work/cut.pcap"
ok "that is removed" toolstack vif-remove 2 0
status=0
finish cut >"$work/said" || status=$?
is "ends with it" "$status" 1
has "and says so" "$(<"$work/said")" 'qnetctl: cannot go on capturing: '

finish sender TERM >/dev/null || true
daemon_ends
done_testing
