#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 03-demo.t - "make demo" that is interrupted says so, and does not call it a failure
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# shellcheck source=tests/sim/tap.sh
. "$here/tap.sh"

status=0
reason=$("$here/../xensim/xensim-run" true 2>&1) || status=$?
if [ "$status" -eq 77 ]; then
    echo "1..0 # SKIP ${reason#xensim-run: }"
    exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# As a terminal does: the whole group gets the signal.
interrupted_at() { # TEXT: what the demo has said when it is interrupted
    local demo status=0
    env --default-signal=INT setsid "$here/../demo/demo" >"$scratch/out" 2>&1 </dev/null &
    demo=$!
    ok "the demo comes to: $1" wait_for 60 grep -q "$1" "$scratch/out"
    kill -INT -- -"$demo"
    wait "$demo" || status=$?
    is "interrupted: the status says so" "$status" 130
    is "interrupted: so does the last line" "$(tail -n 1 "$scratch/out")" "demo: interrupted"
    fails "interrupted: nothing is said to have failed" grep -i fail "$scratch/out"
}

interrupted_at "^2\. qnetback starts"
interrupted_at "^6\. A TCP transfer"
done_testing
