#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 60-stats.t - the counters as text, JSON, OpenMetrics, and a file for the node exporter

# shellcheck source=tests/sim/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# skip NAME REASON
skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

quiet_network
bridge xenbr0
daemon_start --max-queues 2
guest_add 1
guest_add 2
ok "64 frames go out" guest_to_wire out 1 vif1.0 --size 100 --frames udp4 --count 64 --queues 2

text=$(qnetctl stats vif1.0)
has "text: one line for each counter and queue" "$text" "vif1.0 queue-1 guest_tx_packets +[0-9]+ packets"
has "text: only of the vif that was named" "${text//vif1.0/}" '^[^.]*$'
is "JSON: the frames were counted" "$(counter vif1.0 guest_tx_packets)" 64

qnetctl stats --openmetrics >"$work/open"
sum=$(awk '/^qnetback_guest_tx_packets_total\{vif="vif1.0"/ { sum += $2 } END { print sum }' "$work/open")
is "OpenMetrics: the same number" "$sum" 64
if /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null; then
    ok "OpenMetrics: Prometheus' own parser reads it" /usr/bin/python3 -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = {family.name: family for family in text_string_to_metric_families(open(sys.argv[1]).read())}
assert families["qnetback_guest_tx_bytes"].unit == "bytes"
assert {sample.labels["reason"] for sample in families["qnetback_guest_tx_drop"].samples} >= {"port", "bad_grant"}
' "$work/open"
else
    skip "OpenMetrics: Prometheus' own parser reads it" "python3-prometheus-client is not installed"
fi

ok "the file for the node exporter" qnetctl stats --textfile "$work/qnetback.prom"
is "can be read by everybody" "$(stat -c %a "$work/qnetback.prom")" 644
has "has the counters" "$(<"$work/qnetback.prom")" '# TYPE qnetback_guest_tx_packets_total counter'
if command -v promtool >/dev/null; then
    ok "promtool finds nothing wrong with it" promtool check metrics <"$work/qnetback.prom"
    promtool_says() {
        local output
        output=$(promtool check metrics <"$work/qnetback.prom" 2>&1) && [ -z "$output" ]
    }
    ok "not even in style" promtool_says
else
    skip "promtool finds nothing wrong with it" "promtool is not installed (Debian package prometheus)"
fi
# Whoever reads the file while it is replaced gets a whole one.
reads_whole_ones() {
    local i
    (for ((i = 0; i < 50; i++)); do qnetctl stats --textfile "$work/qnetback.prom"; done) &
    for ((i = 0; i < 200; i++)); do
        [[ $(tail -n 1 "$work/qnetback.prom") = qnetback_evtchn_spurious_total* ]] || return 1
    done
    wait $!
}
ok "it is replaced in one go" reads_whole_ones
is "and leaves no other file" "$(cd "$work" && echo qnetback.prom*)" qnetback.prom

refuses() { # NAME STATUS PATTERN COMMAND...
    local name=$1 status=$2 pattern=$3 got=0 said
    shift 3
    said=$("$@" 2>&1 >/dev/null </dev/null) || got=$?
    is "$name: the status" "$got" "$status"
    has "$name: the reason" "$said" "^qnetctl: [^"$'\n'"]*${pattern}[^"$'\n'"]*$"
}
refuses "a directory that is not there" 7 'No such file' qnetctl stats --textfile "$work/none/x.prom"
refuses "two formats" 2 'only one of' qnetctl stats --json --openmetrics
refuses "an unknown verb, whatever its options" 2 "no verb 'frob', see --help" qnetctl frob --hard
exec {pipe}> >(exit)
wait $!
is "output that nobody reads is an error without a word" "$(qnetctl counters 2>&1 >&"$pipe" || echo $?)" 7
exec {pipe}>&-
refuses "an option of another verb" 2 'Unknown option --openmetrics' qnetctl list --openmetrics

daemon_ends
done_testing
