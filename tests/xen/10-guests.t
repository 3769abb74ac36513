#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 10-guests.t - a PV and a PVH guest are served by qnetback, and leave nothing behind

# shellcheck source=tests/xen/host-lib.sh
. "$(dirname "$0")/host-lib.sh"
run_scenario guests
