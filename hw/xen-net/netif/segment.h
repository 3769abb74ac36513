/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment.h - a TCP super-frame in frames that fit the MTU
 *
 * Theory of operation
 *
 * Not every guest can take a super-frame: some never said that they do segmentation offload, and
 * none looks for the TCP header behind a VLAN tag. For them the super-frame is cut as a NIC would
 * cut it. The payload stays where it is: each segment is a copy of the headers with the fields that
 * differ, written to memory of the caller's, and a range of the super-frame's payload.
 *
 * What differs: IP's length, IPv4's id and checksum, TCP's sequence number and checksum; FIN and
 * PSH belong to the last segment only, CWR to the first (RFC 3168).
 */
#ifndef XN_NETIF_SEGMENT_H
#define XN_NETIF_SEGMENT_H

#include "netif/headers.h"

/*
 * Segments of one super-frame at most: enough for 64 KiB in the smallest segments that TCP stacks
 * use (48 bytes). A port can be fed by another guest, which must not make work for us.
 */
#define XN_SEGMENTS_MAX 1400u

/* A super-frame to be cut; refers to the frame that segments_begin() was given. */
struct XnSegments {
    const uint8_t *frame;
    struct XnHeaders headers;
    /* Payload of the whole, and of each segment but the last, in bytes. */
    uint32_t payload;
    uint32_t size;
    /* Number of segments, 1 ... XN_SEGMENTS_MAX. */
    uint32_t count;
};

/* What follows the headers of one segment: `length` bytes from byte `offset` of the super-frame. */
struct XnSegment {
    uint32_t offset;
    uint32_t length;
};

/*
 * Looks at a super-frame: `length` bytes in linear memory, to be cut into `size` bytes of payload
 * each. False when it cannot be cut: not TCP over IP, a fragment, headers longer than
 * XN_HEADER_MAX, an IPv6 packet with a source route, a length in the IP header that points behind
 * the frame, a size of 0, or more than XN_SEGMENTS_MAX segments. Bytes behind the IP packet
 * (padding) are left out. Any thread, like all of this.
 */
bool segments_begin(struct XnSegments *segments, const uint8_t *frame, uint32_t length,
                    uint32_t size);

/*
 * Writes the headers of segment `index` < count: headers.length bytes, at most XN_HEADER_MAX, with
 * complete checksums. `headers` must not overlap the frame.
 */
struct XnSegment segments_write(const struct XnSegments *segments, uint32_t index,
                                uint8_t *headers);

#endif
