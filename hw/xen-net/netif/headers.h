/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * headers.h - where the headers of a frame are
 *
 * Theory of operation
 *
 * One walk for all who want to know where things stand: Ethernet, up to two VLAN tags, IPv4 with
 * options or IPv6 with extension headers, TCP or UDP. It goes as deep as the bytes it is given and
 * says how far it came, so a frame that is odd further on still has, say, its IP addresses; and it
 * says how many bytes the next step would need, so that whoever has only the first part of a frame
 * can gather more. It judges no length against that of the frame, which headers_packet_end() does.
 */
#ifndef XN_NETIF_HEADERS_H
#define XN_NETIF_HEADERS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that are looked at, at most. A chain of headers beyond it counts as cut off. */
#define XN_HEADER_MAX 256u

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
    /*
     * Not 0: the walk ended for lack of bytes, and needs the first `needed` ones to go on. That may
     * be more than the frame has, or than XN_HEADER_MAX.
     */
    uint32_t needed;
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
 * Where the IP packet ends in its frame of `length` bytes, after a walk that found one; 0 when its
 * length is not possible. A super-frame may be too long for the length field, and then has 0 in it
 * and ends where the frame does; another packet may not (`super_frame`).
 */
uint32_t headers_packet_end(const struct XnHeaders *headers, uint32_t length, bool super_frame);

/* The addresses in the IP header of `frame`, source first, and how many bytes they are together. */
const uint8_t *headers_addresses(const struct XnHeaders *headers, const uint8_t *frame,
                                 uint32_t *ret_size);

/* Where the checksum of TCP or UDP is, from l4_offset on. */
uint32_t headers_checksum_offset(const struct XnHeaders *headers);

/*
 * The sum over the pseudo-header of TCP or UDP (protocol), for `length` bytes of L4 header and
 * payload; not folded. `frame` has the IP header that *headers describes.
 */
uint64_t headers_pseudo_sum(const struct XnHeaders *headers, const uint8_t *frame, uint32_t length);

/* Does a VLAN tag follow this Ethernet type? */
bool headers_is_vlan(uint16_t ether_type);

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
