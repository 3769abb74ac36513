/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring.h - the shared rings as Xen's public headers define them, with this program's barriers
 *
 * The only place that includes xen/io/netif.h: ring.h there wants the barriers before it is read.
 */
#ifndef QNETFRONT_RING_H
#define QNETFRONT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define xen_mb() atomic_thread_fence(memory_order_seq_cst)
#define xen_rmb() atomic_thread_fence(memory_order_acquire)
#define xen_wmb() atomic_thread_fence(memory_order_release)

#include <xen/io/netif.h>

/* Both netif rings are one page with 256 entries. */
#define XN_RING_SLOTS 256
#define XN_PAGE_SIZE 4096
/* netif.h: a frontend that keeps to 18 data slots is served by every backend. */
#define XN_GUEST_TX_SLOTS_MAX XEN_NETIF_NR_SLOTS_MIN

/* Headroom before a guest_rx packet, for an XDP program: Linux has it, Xen's netif.h not. The
 * backend gives at most so much. */
#define XN_EXTRA_TYPE_XDP 5
#define XN_HEADROOM_MAX 256

/* The hash of a frame, as its extra tells it. */
struct XnFrameHash {
    bool found;
    uint8_t type; /* _XEN_NETIF_CTRL_HASH_TYPE_* */
    uint32_t value;
};

/* What travels with a frame besides its bytes, the same in both directions. */
struct XnFrameMeta {
    bool csum_blank; /* the L4 checksum field holds the pseudo-header sum only */
    bool data_validated; /* somebody on this host has checked the checksum, or made the frame */
    uint8_t gso_type; /* XEN_NETIF_GSO_TYPE_* */
    uint16_t gso_size; /* bytes of payload of each segment, 0 without GSO */
    struct XnFrameHash hash;
};

#endif
