/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * headers.h - where the headers of a frame are
 *
 * Theory of operation
 *
 * One walk for all who only want to know where things stand: Ethernet, up to two VLAN tags, IPv4
 * with options or IPv6 with extension headers, TCP or UDP. It goes as deep as the bytes it is given
 * and says how far it came, so a frame that is odd further on still has, say, its IP addresses. It
 * judges no length against that of the frame: the caller may have only the first part of it.
 */
#ifndef XN_NETIF_HEADERS_H
#define XN_NETIF_HEADERS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that are looked at, at most. A chain of headers beyond it counts as cut off. */
#define XN_HEADERS_MAX 256u

enum XnHeadersDepth {
    /* Not IP, more than two VLAN tags, or an IP header that is broken or cut off. */
    XN_HEADERS_NONE,
    /* A whole IP header; behind it no whole TCP or UDP header, or only a fragment. */
    XN_HEADERS_IP,
    /* A whole TCP or UDP header too, of a packet that is no fragment. */
    XN_HEADERS_L4,
};

/* All offsets are from the start of the frame. */
struct XnHeaders {
    /* Everything but NONE: 0 ... 2; 4 or 6; where the IP header starts. */
    uint32_t vlan_tags;
    uint32_t ip_version;
    uint32_t ip_offset;
    /* Where the IP packet ends as its header says (the frame may be padded); 0 when it says 0. */
    uint32_t ip_end;
    /* An IPv6 routing header still has a way to go: the last destination is not in the header. */
    bool routed;
    /* Only L4: IPPROTO_TCP or IPPROTO_UDP, where its header starts, and where the payload does. */
    uint8_t protocol;
    uint32_t l4_offset;
    uint32_t length;
};

/* Walks the first `length` bytes of a frame. Any thread. */
enum XnHeadersDepth headers_walk(const uint8_t *bytes, uint32_t length,
                                 struct XnHeaders *ret_headers);

/*
 * The sum over the pseudo-header of TCP or UDP (protocol), for `length` bytes of L4 header and
 * payload; not folded. `frame` has the IP header that *headers describes.
 */
uint64_t headers_pseudo_sum(const struct XnHeaders *headers, const uint8_t *frame, uint32_t length);

/* A 16-bit field in network order, and a 32-bit one. */
static inline uint16_t headers_u16(const uint8_t *field)
{
    return (uint16_t)(field[0] << 8 | field[1]);
}

static inline uint32_t headers_u32(const uint8_t *field)
{
    return (uint32_t)headers_u16(field) << 16 | headers_u16(field + 2);
}

#endif
