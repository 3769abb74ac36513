# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# host-lib.sh - for the tests of this directory: run a scenario, or skip it with the reason
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

need_tools() { # or skips the test
    local tool
    for tool in qemu-system-x86_64 apt-get cpio depmod xz zstd; do
        if ! command -v "$tool" > /dev/null; then
            echo "1..0 # SKIP no $tool here; scripts/install-packages xen installs it"
            exit 0
        fi
    done
}

run_scenario() { # SCENARIO [OPTION OF run-machine...]
    local scenario=$1
    shift
    need_tools
    exec "$here/run-machine" --name "$(basename "$0" .t)" "$@" "$here/scenarios/$scenario"
}
