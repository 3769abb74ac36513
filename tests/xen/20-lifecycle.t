#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 20-lifecycle.t - plain memory; the daemon ends under a guest and starts again

# shellcheck source=tests/xen/host-lib.sh
. "$(dirname "$0")/host-lib.sh"
run_scenario lifecycle --store xenstored
