/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots.h - from guest_tx ring entries to packets
 *
 * Theory of operation
 *
 * A packet is a head request, then its extra infos, then its continuation requests. The head's
 * `size` is the size of the whole packet, each continuation's that of its own slot; the head's own
 * part is the difference (netif.h). The parser sees only private copies of entries, reads each
 * once and allocates nothing.
 *
 * It tells the outcomes apart (XSA-39, 155, 423, 432, 448): a packet; a change of the guest's
 * multicast list, which is a head with such an extra and nothing else; a packet that cannot be
 * forwarded but whose extent in the ring is known, so that each of its entries can be answered
 * with an error; a ring that can no longer be understood, after which the vif is closed.
 */
#ifndef XN_NETIF_SLOTS_H
#define XN_NETIF_SLOTS_H

#include "netif/ring.h"

/*
 * Data slots of one packet: what frontends may use at least is XEN_NETIF_NR_SLOTS_MIN (18), a
 * head and as many continuations are taken (19), two more are answered with an error and dropped,
 * and from there on the ring counts as broken.
 */
#define XN_GUEST_TX_SLOTS_MAX (XEN_NETIF_NR_SLOTS_MIN + 1)
#define XN_GUEST_TX_SLOTS_TOLERATED (XN_GUEST_TX_SLOTS_MAX + 2)

enum XnSlotsResult {
    XN_SLOTS_PACKET,
    /* No frame: the guest's list of multicast addresses changes (netif.h). */
    XN_SLOTS_MULTICAST,
    XN_SLOTS_DROP,
    XN_SLOTS_BROKEN,
};

/* Why a packet was dropped or a ring is broken; XN_SLOTS_REASON_MAX is no reason. */
enum XnSlotsReason {
    XN_SLOTS_OK,
    /* dropped */
    XN_SLOTS_TOO_SHORT,
    XN_SLOTS_TOO_MANY,
    XN_SLOTS_SIZE_MISMATCH,
    /* broken */
    XN_SLOTS_FAR_TOO_MANY,
    XN_SLOTS_CROSSES_PAGE,
    XN_SLOTS_MISSING_SLOT,
    XN_SLOTS_MISSING_EXTRA,
    XN_SLOTS_BAD_EXTRA_TYPE,
    XN_SLOTS_BAD_GSO,
    XN_SLOTS_REASON_MAX,
};

/* One piece of a packet in the guest's memory; size is not 0, offset + size <= 4096. */
struct XnSlot {
    uint32_t ref;
    uint16_t offset;
    uint16_t size;
};

struct XnGuestTxPacket {
    /* Ring entries it takes, extras included; valid unless BROKEN. */
    uint32_t entry_count;
    /* Entries 1 ... extra_count are extras, to be answered with NETIF_RSP_NULL. */
    uint32_t extra_count;
    /* Bytes in all, 14 ... 65535: the sum of the slots' sizes. */
    uint32_t size;
    /* NETTXF_csum_blank and NETTXF_data_validated of the head. */
    uint16_t flags;
    /* XEN_NETIF_GSO_TYPE_*; gso_size is the segment's payload in bytes, not 0 unless NONE. */
    uint8_t gso_type;
    uint16_t gso_size;
    /* For MULTICAST: XEN_NETIF_EXTRA_TYPE_MCAST_ADD or _DEL, and the address. Else 0. */
    uint8_t multicast_type;
    uint8_t multicast_address[6];
    /* Slots that hold data, in the packet's order; the guest may also post empty ones. */
    uint32_t slot_count;
    struct XnSlot slots[XN_GUEST_TX_SLOTS_MAX];
};

/*
 * Parses the packet that starts at entries[start % XN_RING_SIZE]; `available` (1 ... 256) entries
 * from there on were copied from the ring. For BROKEN only *ret_reason is valid; the guest posts
 * whole packets, so one that goes on behind the last entry is BROKEN too.
 */
enum XnSlotsResult slots_parse(const union XnGuestTxEntry entries[XN_RING_SIZE], uint32_t start,
                               uint32_t available, struct XnGuestTxPacket *ret_packet,
                               enum XnSlotsReason *ret_reason);

/* A sentence for logs and the vif's error node; never NULL. */
const char *slots_reason_text(enum XnSlotsReason reason);

#endif
