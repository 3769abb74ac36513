/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vnet.h - translation between netif's flags and virtio_net_hdr */
#ifndef QNETFRONT_VNET_H
#define QNETFRONT_VNET_H

#include "ring.h"

#include <linux/virtio_net.h>

/* Where the headers of a frame end and its checksum stands; offsets from the frame's start. */
struct XnHeaders {
    unsigned int l4; /* L4 header, where checksummed bytes begin */
    unsigned int csum; /* the checksum field, relative to l4 */
    unsigned int length; /* of all headers together */
};

/* Walks Ethernet, VLAN tags, IPv4 or IPv6 with extension headers to TCP or UDP. @available bytes
 * are contiguous. False if there is no such header or it is cut off. */
bool vnet_walk_headers(const uint8_t *frame, unsigned int available, struct XnHeaders *headers);

/* Fills @header from @meta for a frame whose first @available bytes are at @frame. False if the
 * flags want a checksum or segments and the frame has no place for them. */
bool vnet_from_meta(const struct XnFrameMeta *meta, const uint8_t *frame, unsigned int available,
                    struct virtio_net_hdr *header);

/* The reverse, as Linux's netfront sets the flags. False for a GSO type that netif lacks. */
bool vnet_to_meta(const struct virtio_net_hdr *header, struct XnFrameMeta *meta);

#endif
