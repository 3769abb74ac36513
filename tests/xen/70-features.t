#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 70-features.t - Linux's netfront with several queues, a large MTU, and XDP programs

# shellcheck source=tests/xen/host-lib.sh
. "$(dirname "$0")/host-lib.sh"
run_scenario features --memory 2560
