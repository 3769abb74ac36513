#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# format.t - "make format" would change nothing

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"
need clang-format

# shellcheck disable=SC2317 # called through ok
all_formatted() {
    scripts/list-files c | xargs -r clang-format --dry-run --Werror --style=file
}

printf 'int f( void ){return 1;}\n' >"$scratch/bad.c"
cp .clang-format "$scratch"
fails "a badly formatted file is found" "clang-format-violations" \
    clang-format --dry-run --Werror --style=file "$scratch/bad.c"
ok "all C files have the project's format (make format)" all_formatted
done_testing
