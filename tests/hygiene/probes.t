#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# probes.t - the trace points are in the program and in the documentation; what uses them and metrics is right

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"

BUILD=${BUILD:-$PWD/build}
events=hw/xen-net/base/trace-events

names() {
    sed -n 's/^\([a-z][a-z0-9_]*\)(.*/\1/p' "$events" | sort
}
arguments() { # NAME: how many it has
    sed -n "s/^$1(\(.*\)) \".*/\1/p" "$events" | awk -F', ' '{ print NF }'
}

# Prints what is wrong in a bpftrace script: probes that are none, arguments that a probe has not.
script_errors() { # FILE
    local name number
    while read -r name number; do
        if ! names | grep -qxF "$name"; then
            echo "$1: there is no probe $name"
        elif [ -n "$number" ] && [ "$number" -ge "$(arguments "$name")" ]; then
            echo "$1: $name has no arg$number"
        fi
    done < <(awk '
        match($0, /qnetback:[a-z0-9_]+$/) { name = substr($0, RSTART + 9); print name }
        /^}/ { name = "" }
        { line = $0; while (match(line, /arg[0-9]+/)) { if (name != "") print name, substr(line, RSTART + 3, RLENGTH - 3); line = substr(line, RSTART + RLENGTH) } }
    ' "$1")
}
# shellcheck disable=SC2317 # called through ok
script_is_right() {
    local errors
    errors=$(script_errors "$1")
    echo "$errors"
    [ -z "$errors" ]
}

printf 'usdt:*:qnetback:no_such_probe\n{\n}\nusdt:*:qnetback:copy_begin\n{\n    @a = arg2;\n}\n' >"$scratch/bad.bt"
ok "a script's mistakes are found" test "$(script_errors "$scratch/bad.bt" | wc -l)" = 2
for script in contrib/bpftrace/*.bt; do
    ok "$script" script_is_right "$script"
    ok "docs/tracing.md names it" grep -qF "\`${script##*/}\`" docs/tracing.md
done
ok "docs/tracing.md has the table of probes (scripts/generate-trace table)" diff \
    <(scripts/generate-trace table) <(sed -n '/^| Probe /,/^$/p' docs/tracing.md | sed '/^$/d')
while read -r name; do
    ok "something calls trace_$name" grep -rqw "trace_$name" hw/xen-net --include='*.c'
done < <(names)
# The dashboard asks for metrics that the daemon has (docs/metrics.md).
# shellcheck disable=SC2317 # called through ok
dashboard_metrics_exist() {
    local metric
    while read -r metric; do
        grep -q "\`$metric\`" docs/metrics.md || {
            echo "no metric $metric"
            return 1
        }
    done < <(grep -oE 'qnetback_[a-z_]*[a-z]\b' contrib/grafana/qnetback.json | grep -vE '^qnetback_guest(_tx|_rx)?(_drop)?$' | sort -u)
}
ok "the dashboard's metrics exist" dashboard_metrics_exist

if grep -q '^SDT = yes' config.mak 2>/dev/null && [ -x "$BUILD/qnetback" ] && command -v readelf >/dev/null; then
    ok "the program has each probe" diff <(names) \
        <(readelf -n "$BUILD/qnetback" | awk '/Provider: qnetback/ { getline; print $2 }' | sort -u)
else
    echo "# built without sys/sdt.h: the program has no probes"
fi
done_testing
