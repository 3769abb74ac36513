/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-plan.h - which guest_rx slots a frame goes to
 *
 * Theory of operation: full coalesce
 *
 * Every slot is filled to 4096 bytes before the next one is used, so a frame takes
 * ceil(length / 4096) data slots, the fewest possible, and one more for each extra info. The frame
 * lies page-aligned in our buffer, so page i of the buffer is exactly slot i of the frame and one
 * grant-copy operation moves it: the fewest operations too.
 *
 * In the ring the extras stand behind the first data slot (netif.h); the buffer posted in an
 * extra's slot is given back unused.
 *
 * A guest that runs an XDP program may ask for headroom before the frame (an extension of Linux's).
 * Then the frame starts at that offset in our buffer and in the first slot; everything else is as
 * before, so the slots are the fewest for frame and headroom together.
 */
#ifndef XN_NETIF_GUEST_RX_PLAN_H
#define XN_NETIF_GUEST_RX_PLAN_H

#include "netif/ring.h"

/* Headroom, in bytes, that is given at most: what Linux's netfront asks for. */
#define XN_GUEST_RX_HEADROOM_MAX 256u
/* GSO, hash, XDP: each at most once. */
#define XN_GUEST_RX_EXTRAS_MAX 3u
/* 65535 bytes and the headroom in pages of 4096, and the extras. */
#define XN_GUEST_RX_SLOTS_MAX (17u + XN_GUEST_RX_EXTRAS_MAX)

/* Linux's extension of netif.h; Xen's own header does not have it. */
#define XN_EXTRA_TYPE_XDP 5u

/* What the guest is told about a frame besides its bytes. */
struct XnGuestRxMeta {
    /* NETRXF_csum_blank, NETRXF_data_validated */
    uint16_t flags;
    /* XEN_NETIF_GSO_TYPE_*, and the segment's payload in bytes */
    uint8_t gso_type;
    uint16_t gso_size;
    /* Bytes before the frame in the first slot, 0 ... XN_GUEST_RX_HEADROOM_MAX */
    uint16_t headroom;
    /* XEN_NETIF_EXTRA_TYPE_HASH with the frame's hash, or all zero */
    netif_extra_info_t hash;
};

struct XnGuestRxPlan {
    uint32_t length;
    uint32_t headroom;
    uint32_t data_slots;
    uint32_t extra_slots;
};

/* Plan for a frame of `length` bytes, 1 ... 65535. */
struct XnGuestRxPlan guest_rx_plan(uint32_t length, const struct XnGuestRxMeta *meta);

static inline uint32_t guest_rx_plan_slots(const struct XnGuestRxPlan *plan)
{
    return plan->data_slots + plan->extra_slots;
}

/* Ring position (0 = first slot of the frame) of data slot `index` < data_slots. */
static inline uint32_t guest_rx_plan_position(const struct XnGuestRxPlan *plan, uint32_t index)
{
    return index == 0 ? 0 : index + plan->extra_slots;
}

/* Where the data starts in data slot `index` < data_slots. */
static inline uint32_t guest_rx_plan_offset(const struct XnGuestRxPlan *plan, uint32_t index)
{
    return index == 0 ? plan->headroom : 0;
}

/* Bytes in data slot `index` < data_slots. */
static inline uint32_t guest_rx_plan_size(const struct XnGuestRxPlan *plan, uint32_t index)
{
    uint32_t left = plan->headroom + plan->length - index * XN_PAGE_SIZE;

    return (left < XN_PAGE_SIZE ? left : XN_PAGE_SIZE) - guest_rx_plan_offset(plan, index);
}

/*
 * The ring entry at `position` (0 ... slots - 1) of a frame. `id` is that of the request which
 * stood there. Every byte of the result is defined (XSA-216).
 */
union XnGuestRxEntry guest_rx_plan_entry(const struct XnGuestRxPlan *plan,
                                         const struct XnGuestRxMeta *meta, uint32_t position,
                                         uint16_t id);

#endif
