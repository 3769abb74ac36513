#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 40-restart.t - the daemon is killed and started again, and guests and their connections do not notice

# shellcheck source=tests/xen/host-lib.sh
. "$(dirname "$0")/host-lib.sh"
run_scenario restart
