#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cppcheck.t - cppcheck finds nothing in the C files

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"
need cppcheck

printf 'int main(void)\n{\n    int a[2];\n    a[2] = 1;\n    return a[0];\n}\n' >"$scratch/bad.c"
fails "a mistake is found" "arrayIndexOutOfBounds" scripts/run-cppcheck "$scratch/bad.c"
ok "nothing in the project's files" scripts/run-cppcheck
done_testing
