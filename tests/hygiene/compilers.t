#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# compilers.t - gcc and clang compile everything without one warning

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"

build=${BUILD:-$PWD/build}
unset MAKEFLAGS MFLAGS MAKELEVEL CC CFLAGS LDFLAGS

for cc in gcc clang; do
    if ! command -v "$cc" >/dev/null; then
        tap_count=$((tap_count + 1))
        echo "ok $tap_count - $cc # SKIP not installed (Debian package $cc)"
        continue
    fi
    ok "$cc" make -j "$(nproc)" "CC=$cc" WERROR=yes "BUILD=$build/$cc" SANITIZE= objects
done
done_testing
