#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 25-save-restore.t - guests are paused, migrated, saved and restored, rebooted, reload their driver

# shellcheck source=tests/xen/host-lib.sh
. "$(dirname "$0")/host-lib.sh"
run_scenario save-restore --memory 3072 --dom0 1280 --limit 1300
