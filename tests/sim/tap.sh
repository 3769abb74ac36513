# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tap.sh - test points for the shell tests of this directory
#
# A function tap_diagnose, if there is one, says more about the circumstances of a failure.

tap_output=/run/tap-output
tap_count=0
tap_failed=0

# ok NAME COMMAND...: COMMAND succeeds; its output is shown when it does not. It runs in this shell, so
# a function may set variables, and start and await processes.
ok() {
    local name=$1 status=0
    shift
    "$@" >"$tap_output" 2>&1 </dev/null || status=$?
    tap_point "$status" "$name" "$(<"$tap_output")"
}

# fails NAME COMMAND...: COMMAND fails.
fails() {
    local name=$1 status=1
    shift
    "$@" >"$tap_output" 2>&1 </dev/null && status=0
    tap_point "$((!status))" "$name" "$(<"$tap_output")"
}

# is NAME GOT WANTED: both are the same text.
is() {
    if [ "$2" = "$3" ]; then
        tap_point 0 "$1" ''
    else
        tap_point 1 "$1" "got:    $2"$'\n'"wanted: $3"
    fi
}

# has NAME TEXT PATTERN: the extended regular expression matches the text.
has() {
    if [[ $2 =~ $3 ]]; then
        tap_point 0 "$1" ''
    else
        tap_point 1 "$1" "text:   $2"$'\n'"wanted: $3"
    fi
}

# between NAME LEAST GOT MOST: numbers
between() {
    if [[ $3 =~ ^-?[0-9]+$ ]] && [ "$2" -le "$3" ] && [ "$3" -le "$4" ]; then
        tap_point 0 "$1" ''
    else
        tap_point 1 "$1" "got:    $3"$'\n'"wanted: $2 to $4"
    fi
}

# tap_point STATUS NAME TEXT
tap_point() {
    tap_count=$((tap_count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_count - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_count - $2"
        # prove shows standard error only.
        printf '# %s\n' "$(basename "$0"): $2" "${3//$'\n'/$'\n# '}" >&2
        if declare -F tap_diagnose >/dev/null; then
            tap_diagnose | sed 's/^/#   /' >&2
        fi
    fi
}

# wait_for SECONDS COMMAND...: until COMMAND succeeds.
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.02
    done
}

done_testing() {
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
}
