#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# heads.t - each file of code says its licence and what it is

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"

# Prints what the head of the file lacks.
head_lacks() {
    local top name
    name=$(basename "$1")
    top=$(head -n 8 "$1")
    head -n 2 "$1" | grep -q 'SPDX-License-Identifier: GPL-2\.0-or-later' ||
        echo "$1: no line 'SPDX-License-Identifier: GPL-2.0-or-later' at its top"
    case $1 in
    *.map) ;;
    *)
        [[ $top == *"$name - "* ]] || [[ $top == *"${name%.t} - "* ]] ||
            echo "$1: no line '$name - what it is' at its top"
        ;;
    esac
}

# shellcheck disable=SC2317 # called through ok
all_have_heads() {
    local lacks
    lacks=$(scripts/list-files code | while read -r file; do head_lacks "$file"; done)
    echo "$lacks"
    [ -z "$lacks" ]
}

# shellcheck disable=SC2317 # called through ok
no_stray_bytes() { # file...
    # Tabs belong into makefiles only, trailing blanks nowhere.
    ! grep -nH -P '[ \t]+$' "$@" && ! grep -nH -P '^ *\t' "$@"
}

printf '/* bad.c - a file without a licence */\n' >"$scratch/bad.c"
printf '/* SPDX-License-Identifier: GPL-2.0-or-later */\n/* something else */\n' >"$scratch/worse.c"
ok "a missing licence is found" test "$(head_lacks "$scratch/bad.c" | wc -l)" = 1
ok "a missing sentence is found" test "$(head_lacks "$scratch/worse.c" | wc -l)" = 1
ok "each file has its head" all_have_heads

printf 'int a; \n' >"$scratch/bad.c"
fails "a trailing blank is found" "bad.c:1" no_stray_bytes "$scratch/bad.c"
printf '\tint a;\n' >"$scratch/bad.c"
fails "a tab is found" "bad.c:1" no_stray_bytes "$scratch/bad.c"
mapfile -t files < <(scripts/list-files code | grep -vE '(^|/)Makefile$')
ok "no tabs, no trailing blanks" no_stray_bytes "${files[@]}"
done_testing
