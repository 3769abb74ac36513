#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# man.t - the manual pages are well-formed, and name only options, tests and files that exist

set -euo pipefail

cd "$(dirname "$0")/../.."
BUILD=${BUILD:-$PWD/build}

if ! command -v scdoc >/dev/null || ! command -v mandoc >/dev/null; then
    echo "1..0 # SKIP scdoc or mandoc is missing"
    exit 0
fi

count=0
failed=0
point() { # STATUS NAME [DIAGNOSTICS]
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        failed=1
        echo "not ok $count - $2"
        printf '# %s\n' "$2: ${3-}" >&2
    fi
}

missing_tests() { # FILE: the tests it names that are not there
    local path
    { grep -oE 'tests/[a-z0-9/-]+\.(t|c)' "$1" || true; } | sort -u | while read -r path; do
        [ -e "$path" ] || echo "$path"
    done
}

missing_options() { # PAGE PROGRAM: the options of one that the other does not know
    diff <("$BUILD/$2" --help | grep -oE -- '--[a-z-]+' | sort -u) \
        <(grep -oE -- '\*--[a-z-]+' "docs/man/$1" | tr -d '*' | sort -u) | grep '^[<>]' || true
}

# The check itself: it sees what is missing.
fixture=$(mktemp)
trap 'rm -f "$fixture"' EXIT
echo 'tests/unit/no-such-test.c' >"$fixture"
point "$([ -n "$(missing_tests "$fixture")" ]; echo $?)" "a test that does not exist is noticed"

for page in docs/man/*.scd; do
    text=$(scdoc <"$page" | mandoc -T lint -W error 2>&1) && status=0 || status=$?
    point "$status" "$page is well-formed" "$text"
    text=$(missing_tests "$page")
    point "$([ -z "$text" ]; echo $?)" "$page names tests that exist" "$text"
done
text=$(xenstore-schema/generate man | scdoc | mandoc -T lint -W error 2>&1) && status=0 || status=$?
point "$status" "qnetback-xenstore(7), which is generated, is well-formed" "$text"
for program in qnetback:qnetback.8.scd qnetctl:qnetctl.1.scd; do
    text=$(missing_options "${program#*:}" "${program%:*}")
    point "$([ -z "$text" ]; echo $?)" "${program#*:} has the options of ${program%:*}" "$text"
done
# Each option is a key of the configuration file, but for those that are none.
text=$(diff <("$BUILD/qnetback" --help | grep -oE -- '--[a-z-]+' | tr -d ' ' | sed 's/^--//' |
    grep -vxE 'beside-netback|config|help|version' | sort -u) \
    <(sed -n '/^# SETTINGS/,/^# EXAMPLE/s/^\*\([a-z-]*\)\*$/\1/p' docs/man/qnetback.conf.5.scd | sort) | grep '^[<>]' || true)
point "$([ -z "$text" ]; echo $?)" "qnetback.conf.5.scd has the keys of the configuration file" "$text"
echo "1..$count"
exit $failed
