#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 60-driver-domain.t - the daemon in a PVH and in a PV driver domain

# shellcheck source=tests/xen/host-lib.sh
. "$(dirname "$0")/host-lib.sh"
run_scenario driver-domain --with-driver-domain --memory 4096 --dom0 1280
