/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots.c - from guest_tx ring entries to packets
 */
#include "netif/slots.h"

#include <linux/if_ether.h>

/* Where the parser stands: the packet's entries that were looked at so far, and what came out. */
struct Parser {
    const union XnGuestTxEntry *entries;
    uint32_t start;
    uint32_t available;
    struct XnGuestTxPacket *packet;
    /* The first reason to drop the packet; XN_SLOTS_OK while there is none. */
    enum XnSlotsReason drop;
};

/* The packet's next entry; NULL behind the last one that the guest has posted. */
static const union XnGuestTxEntry *parser_next(struct Parser *parser)
{
    uint32_t position = parser->packet->entry_count;

    if (position == parser->available) {
        return NULL;
    }
    parser->packet->entry_count++;
    return &parser->entries[(parser->start + position) % XN_RING_SIZE];
}

static void parser_drop(struct Parser *parser, enum XnSlotsReason reason)
{
    if (parser->drop == XN_SLOTS_OK) {
        parser->drop = reason;
    }
}

/* The chain of extras behind the head. One type given twice counts once, the last time. */
static enum XnSlotsReason parse_extras(struct Parser *parser)
{
    struct XnGuestTxPacket *packet = parser->packet;
    const union XnGuestTxEntry *entry;
    bool gso = false;

    do {
        entry = parser_next(parser);
        if (!entry) {
            return XN_SLOTS_MISSING_EXTRA;
        }
        packet->extra_count++;
        switch (entry->extra.type) {
        case XEN_NETIF_EXTRA_TYPE_GSO:
            gso = true;
            packet->gso_type = entry->extra.u.gso.type;
            packet->gso_size = entry->extra.u.gso.size;
            break;
        case XEN_NETIF_EXTRA_TYPE_MCAST_ADD:
        case XEN_NETIF_EXTRA_TYPE_MCAST_DEL:
            packet->multicast_type = entry->extra.type;
            memcpy(packet->multicast_address, entry->extra.u.mcast.addr,
                   sizeof(packet->multicast_address));
            break;
        case XEN_NETIF_EXTRA_TYPE_HASH:
            break;
        default:
            return XN_SLOTS_BAD_EXTRA_TYPE;
        }
    } while (entry->extra.flags & XEN_NETIF_EXTRA_FLAG_MORE);

    if (gso && (packet->gso_size == 0 || (packet->gso_type != XEN_NETIF_GSO_TYPE_TCPV4 &&
                                          packet->gso_type != XEN_NETIF_GSO_TYPE_TCPV6))) {
        return XN_SLOTS_BAD_GSO;
    }
    return XN_SLOTS_OK;
}

/*
 * The continuations. Fills slots[1] and up; *ret_head_size is what they leave of the packet for
 * the head. A packet that will be dropped is walked all the same, to know where it ends.
 */
static enum XnSlotsReason parse_continuations(struct Parser *parser, uint32_t *ret_head_size)
{
    struct XnGuestTxPacket *packet = parser->packet;
    uint32_t remaining = packet->size;
    uint32_t count = 1;
    const union XnGuestTxEntry *entry;

    do {
        if (count == XN_GUEST_TX_SLOTS_TOLERATED) {
            return XN_SLOTS_FAR_TOO_MANY;
        }
        entry = parser_next(parser);
        if (!entry) {
            return XN_SLOTS_MISSING_SLOT;
        }
        count++;
        if (entry->request.offset + entry->request.size > (int)XN_PAGE_SIZE) {
            return XN_SLOTS_CROSSES_PAGE;
        }
        if (count > XN_GUEST_TX_SLOTS_MAX) {
            parser_drop(parser, XN_SLOTS_TOO_MANY);
        }
        if (entry->request.size > remaining) {
            parser_drop(parser, XN_SLOTS_SIZE_MISMATCH);
            remaining = 0;
            continue;
        }
        remaining -= entry->request.size;
        if (entry->request.size > 0 && count <= XN_GUEST_TX_SLOTS_MAX) {
            packet->slots[packet->slot_count++] = (struct XnSlot){
                .ref = entry->request.gref,
                .offset = entry->request.offset,
                .size = entry->request.size,
            };
        }
    } while (entry->request.flags & NETTXF_more_data);

    *ret_head_size = remaining;
    return XN_SLOTS_OK;
}

static enum XnSlotsReason parse_packet(struct Parser *parser)
{
    struct XnGuestTxPacket *packet = parser->packet;
    const union XnGuestTxEntry *first = parser_next(parser);
    const netif_tx_request_t *head;
    enum XnSlotsReason reason = XN_SLOTS_OK;
    uint32_t head_size;

    if (!first) {
        return XN_SLOTS_MISSING_SLOT;
    }
    head = &first->request;
    head_size = head->size;
    packet->size = head->size;
    packet->flags = head->flags & (NETTXF_csum_blank | NETTXF_data_validated);
    packet->slot_count = 1;
    if (head->flags & NETTXF_extra_info) {
        reason = parse_extras(parser);
    }
    if (reason != XN_SLOTS_OK || packet->multicast_type != XEN_NETIF_EXTRA_TYPE_NONE) {
        return reason;
    }
    if (packet->size < ETH_HLEN) {
        parser_drop(parser, XN_SLOTS_TOO_SHORT);
    }
    if (head->flags & NETTXF_more_data) {
        reason = parse_continuations(parser, &head_size);
    }
    if (reason == XN_SLOTS_OK && head->offset + head_size > XN_PAGE_SIZE) {
        reason = XN_SLOTS_CROSSES_PAGE;
    }
    packet->slots[0] = (struct XnSlot){
        .ref = head->gref,
        .offset = head->offset,
        .size = (uint16_t)head_size,
    };
    return reason;
}

enum XnSlotsResult slots_parse(const union XnGuestTxEntry entries[XN_RING_SIZE], uint32_t start,
                               uint32_t available, struct XnGuestTxPacket *ret_packet,
                               enum XnSlotsReason *ret_reason)
{
    struct Parser parser = {
        .entries = entries,
        .start = start,
        .available = available,
        .packet = ret_packet,
        .drop = XN_SLOTS_OK,
    };

    ret_packet->entry_count = 0;
    ret_packet->extra_count = 0;
    ret_packet->gso_type = XEN_NETIF_GSO_TYPE_NONE;
    ret_packet->gso_size = 0;
    ret_packet->multicast_type = XEN_NETIF_EXTRA_TYPE_NONE;

    *ret_reason = parse_packet(&parser);
    if (*ret_reason != XN_SLOTS_OK) {
        return XN_SLOTS_BROKEN;
    }
    if (ret_packet->multicast_type != XEN_NETIF_EXTRA_TYPE_NONE) {
        return XN_SLOTS_MULTICAST;
    }
    *ret_reason = parser.drop;
    if (parser.drop != XN_SLOTS_OK) {
        return XN_SLOTS_DROP;
    }
    if (ret_packet->slots[0].size == 0) {
        ret_packet->slot_count--;
        memmove(&ret_packet->slots[0], &ret_packet->slots[1],
                ret_packet->slot_count * sizeof(ret_packet->slots[0]));
    }
    return XN_SLOTS_PACKET;
}

const char *slots_reason_text(enum XnSlotsReason reason)
{
    switch (reason) {
    case XN_SLOTS_OK:
        return "the packet is well-formed";
    case XN_SLOTS_TOO_SHORT:
        return "a packet is shorter than an Ethernet header";
    case XN_SLOTS_TOO_MANY:
        return "a packet has 20 or 21 slots, and 19 are the most that are taken";
    case XN_SLOTS_SIZE_MISMATCH:
        return "the slots of a packet hold more than its size";
    case XN_SLOTS_FAR_TOO_MANY:
        return "a packet has more than 21 slots";
    case XN_SLOTS_CROSSES_PAGE:
        return "a slot reaches beyond the end of its page";
    case XN_SLOTS_MISSING_SLOT:
        return "a packet announces a slot that is not in the ring";
    case XN_SLOTS_MISSING_EXTRA:
        return "a packet announces extra info that is not in the ring";
    case XN_SLOTS_BAD_EXTRA_TYPE:
        return "extra info has a type that does not exist";
    case XN_SLOTS_BAD_GSO:
        return "GSO extra info has no segment size or an unknown type";
    case XN_SLOTS_REASON_MAX:
        break;
    }
    return "unknown reason";
}
