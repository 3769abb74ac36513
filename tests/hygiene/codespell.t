#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# codespell.t - no misspelled words

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"
need codespell

# Words of ours, and of Xen's headers, that codespell takes for misspellings, in lower case.
own_words=sring

# shellcheck disable=SC2317 # called through ok
all_spelled() {
    scripts/list-files text | xargs -r codespell --ignore-words-list="$own_words"
}

printf 'this is re%sved\n' cie >"$scratch/bad.txt"
fails "a misspelled word is found" "received" codespell "$scratch/bad.txt"
ok "no misspelled words in the project's files" all_spelled
done_testing
