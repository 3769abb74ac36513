# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lib.sh - what the hygiene tests share: TAP, and the way to the top of the tree

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tap_count=0

# Ends the test, unless the tool is there.
need() { # tool, Debian package
    if ! command -v "$1" >/dev/null; then
        echo "1..0 # SKIP $1 is not installed (Debian package ${2:-$1})"
        exit 0
    fi
}

# ok DESCRIPTION COMMAND...: the command succeeds; what it says is shown when it does not.
ok() {
    local description=$1 output
    shift
    tap_count=$((tap_count + 1))
    if output=$("$@" 2>&1); then
        echo "ok $tap_count - $description"
    else
        echo "not ok $tap_count - $description"
        sed 's/^/# /' <<<"$output" >&2
    fi
}

# fails DESCRIPTION PATTERN COMMAND...: the command fails and what it says matches the pattern.
fails() {
    local description=$1 pattern=$2 output
    shift 2
    tap_count=$((tap_count + 1))
    if output=$("$@" 2>&1); then
        echo "not ok $tap_count - $description"
        echo "# it did not fail" >&2
    elif ! [[ $output =~ $pattern ]]; then
        echo "not ok $tap_count - $description"
        echo "# it did not say: $pattern" >&2
        sed 's/^/# /' <<<"$output" >&2
    else
        echo "ok $tap_count - $description"
    fi
}

done_testing() {
    echo "1..$tap_count"
}

# A directory for the test's files, removed at its end.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/qnetback-hygiene.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
