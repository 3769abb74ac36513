#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# completion.t - bash completes qnetctl's verbs, options and settings, as the program has them

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"

qnetctl=${BUILD:-$PWD/build}/qnetctl
if [ ! -x "$qnetctl" ]; then
    echo "1..0 # SKIP $qnetctl is not built"
    exit 0
fi
PATH=$(dirname "$qnetctl"):$PATH
# shellcheck source=contrib/completion/qnetctl
. contrib/completion/qnetctl

# completes WANTED WORD...: to these words, of which the last is being typed
# shellcheck disable=SC2317 # called through ok
completes() {
    local wanted=$1
    shift
    COMP_WORDS=(qnetctl "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _qnetctl
    echo "to: ${COMPREPLY[*]}"
    [ "${COMPREPLY[*]}" = "$wanted" ]
}

ok "a verb" completes "counters capture" c
ok "a verb behind an option" completes "restart" --json --control /x res
ok "an option of a verb" completes "--textfile" stats --t
ok "a common option" completes "--json" show --j
ok "a setting" completes "rate rx-rate rx-csum" set vif1.0 r
ok "its value" completes "up down" set vif1.0 admin ''
ok "a level" completes "debug" log-level d

# Each setting that is completed is one that the program has, and each that it has is completed.
# shellcheck disable=SC2317 # called through ok
settings_are_complete() {
    completes "$(grep -oE '^        \{"[a-z-]+", &key_backend' hw/xen-net/control/vif-set.c |
        grep -oE '"[a-z-]+"' | tr -d '"' | paste -sd ' ')" set vif1.0 ''
}
ok "all settings" settings_are_complete
done_testing
