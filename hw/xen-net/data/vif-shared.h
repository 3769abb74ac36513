/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-shared.h - what the queues of one vif have in common
 *
 * The control plane sets it up before the queues are served. What changes later is changed by
 * atomic operations only, so that queues on several workers may use it at the same time.
 */
#ifndef XN_DATA_VIF_SHARED_H
#define XN_DATA_VIF_SHARED_H

#include "netif/credit.h"
#include "netif/hash.h"
#include "netif/mcast.h"

#define XN_VIF_QUEUES_MAX 8u

struct XnQueue;

/* What a vif's guest has told us since it connected; must survive the process, as its rings do. */
struct XnVifMemory {
    /* Any queue changes the list, the control plane switches the filter. */
    struct XnMcast mcast;
    /* The control ring changes it. */
    struct XnHash hash;
};

struct XnVifShared {
    struct XnVifMemory *memory;
    /* The administrator has set the vif down: frames are dropped, both ways. */
    bool admin_down;
    /* The vif's rate limits: one bucket for all queues. The control plane sets the rate. */
    struct XnCredit guest_tx_credit;
    struct XnCredit guest_rx_credit;
    /* Bit i: queue i's guest takes no frames (netif/guest-rx-stall.h). Atomic. */
    uint32_t guest_rx_stalled;
    /*
     * Where frames go by their hash, when the guest has asked for that: then all queues are on one
     * worker, and each gives what its port has to whichever queue the hash says. NULL behind the
     * last one; all NULL when frames stay in the queue whose port they came through. Changed only
     * while no worker has any of the queues.
     */
    struct XnQueue *steered[XN_VIF_QUEUES_MAX];
};

static inline bool vif_shared_is_down(const struct XnVifShared *shared)
{
    return __atomic_load_n(&shared->admin_down, __ATOMIC_RELAXED);
}

#endif
