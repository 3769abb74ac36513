#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# metrics.t - the table of counters in docs/metrics.md is what the program counts

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"

qnetctl=${BUILD:-$PWD/build}/qnetctl
if [ ! -x "$qnetctl" ]; then
    echo "1..0 # SKIP $qnetctl is not built"
    exit 0
fi

# shellcheck disable=SC2317 # called through ok
table_is_fresh() { # FILE
    "$qnetctl" counters --markdown | diff -u "$1" - || {
        echo "run: make metrics"
        return 1
    }
}

ok 'the table in docs/metrics.md is what "make metrics" writes' table_is_fresh docs/metrics.md
sed 1d docs/metrics.md >"$scratch/stale.md"
fails 'a stale table is noticed' 'run: make metrics' table_is_fresh "$scratch/stale.md"
done_testing
