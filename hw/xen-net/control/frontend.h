/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frontend.h - what a frontend asks for when it connects
 */
#ifndef XN_CONTROL_FRONTEND_H
#define XN_CONTROL_FRONTEND_H

#include "data/vif-shared.h"
#include "netif/features.h"
#include "xen/store.h"

struct XnFrontendQueue {
    uint32_t guest_tx_ref;
    uint32_t guest_rx_ref;
    /* The guest's event channels; equal when it uses one for both rings. */
    uint32_t guest_tx_channel;
    uint32_t guest_rx_channel;
};

struct XnFrontend {
    /* What it can take, made consistent; and what its keys say, as they stand there. */
    struct XnFeatures features;
    struct XnFeatures said;
    /* It wants only the multicast frames that it has asked for. */
    bool multicast_filter;
    unsigned queue_count;
    struct XnFrontendQueue queues[XN_VIF_QUEUES_MAX];
    /* The control ring; channel 0 when there is none. */
    uint32_t ctrl_ref;
    uint32_t ctrl_channel;
};

/*
 * Reads and checks all keys of the frontend in `directory`, of which we offered `queue_max` queues
 * (1 ... XN_VIF_QUEUES_MAX). Everything in there is the guest's word: the error names the key, its
 * value and what it may be.
 */
bool frontend_read(struct XnStore *store, const char *directory, unsigned queue_max,
                   struct XnFrontend *ret_frontend, GError **error);

/* Do both use the same rings and event channels? */
bool frontend_same_rings(const struct XnFrontend *a, const struct XnFrontend *b);

#endif
