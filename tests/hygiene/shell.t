#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# shell.t - shell programs have none of the mistakes that shellcheck knows

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"
need shellcheck

# shellcheck disable=SC2016 # not to be expanded here
printf '#!/bin/sh\nrm $1\n' >"$scratch/bad.sh"
fails "a mistake is found" "SC2086" shellcheck "$scratch/bad.sh"
while read -r file; do
    ok "$file" shellcheck -x "$file"
done < <(scripts/list-files sh)
done_testing
