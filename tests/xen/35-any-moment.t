#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 35-any-moment.t - xl destroy at any moment of a boot, many guests at once
#
# Five boots and six guests; with SOAK=1 100 boots and 20 guests, and 10 migrations with the daemon killed
# meanwhile.

# shellcheck source=tests/xen/host-lib.sh
. "$(dirname "$0")/host-lib.sh"
seed=${SEED:-$RANDOM}
boots=5 guests=6 migrations=0 memory=3072
if [ -n "${SOAK-}" ]; then
    boots=100 guests=20 migrations=10 memory=5120
fi
echo "# seed $seed (SEED=$seed repeats it), $boots boots, $guests guests, $migrations migrations"
run_scenario any-moment --memory $memory --dom0 1536 --limit "${SOAK:+6}900" \
    --set "seed=$seed" --set "boots=$boots" --set "guests=$guests" --set "migrations=$migrations"
