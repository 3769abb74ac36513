#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 30-frames.t - every byte of frames of all sizes arrives, over Xen's real grants

# shellcheck source=tests/xen/host-lib.sh
. "$(dirname "$0")/host-lib.sh"
run_scenario frames
