/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-stall.c - how long frames wait for a guest that posts too few buffers
 */
#include "netif/guest-rx-stall.h"

bool guest_rx_stall_waits(struct XnGuestRxStall *stall, uint32_t needed, uint64_t *since_ns,
                          uint64_t now_ns, uint64_t drain_ns)
{
    if (*since_ns == 0) {
        *since_ns = now_ns;
    }
    if (drain_ns == 0 || now_ns - *since_ns < drain_ns) {
        return false;
    }
    if (stall->refused == 0 || needed < stall->refused) {
        stall->refused = needed;
    }
    if (stall->barren_ns == 0) {
        stall->barren_ns = *since_ns;
    }
    *since_ns = 0;
    return true;
}

bool guest_rx_stall_dropped(struct XnGuestRxStall *stall, uint64_t now_ns, uint64_t stall_ns)
{
    if (stall->barren_ns == 0) {
        stall->barren_ns = now_ns;
    }
    if (stall->stalled || stall_ns == 0 || now_ns - stall->barren_ns < stall_ns) {
        return false;
    }
    stall->stalled = true;
    return true;
}
