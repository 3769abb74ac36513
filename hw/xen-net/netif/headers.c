/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * headers.c - where the headers of a frame are
 */
#include "netif/headers.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/in.h>

#include "netif/checksum.h"

#define VLAN_TAG_SIZE 4u
#define VLAN_TAGS_MAX 2u

#define IPV4_HEADER_MIN 20u
#define IPV4_ADDRESSES 12u
#define IPV4_ADDRESSES_SIZE 8u
/* MF and the offset in the flags word: either makes a packet a fragment. */
#define IPV4_FRAGMENT 0x3fffu

#define IPV6_HEADER 40u
#define IPV6_ADDRESSES 8u
#define IPV6_ADDRESSES_SIZE 32u
/* All extension headers have at least this size. */
#define IPV6_EXTENSION_MIN 8u
#define IPV6_FRAGMENT 0xfff9u

#define TCP_HEADER_MIN 20u
#define TCP_CHECKSUM 16u
#define UDP_HEADER 8u
#define UDP_CHECKSUM 6u

/* The bytes that may be read, and where the walk stands in the frame. */
struct Walk {
    const uint8_t *bytes;
    uint32_t length;
    struct XnHeaders *headers;
    enum XnHeadersDepth depth;
    uint8_t protocol;
    uint32_t offset;
};

/* Are the bytes before `end` there? If not, the walk ends. */
static bool walk_has(struct Walk *walk, uint32_t end)
{
    if (end <= walk->length) {
        return true;
    }
    walk->headers->needed = end;
    return false;
}

bool headers_is_vlan(uint16_t ether_type)
{
    return ether_type == ETH_P_8021Q || ether_type == ETH_P_8021AD;
}

/* The IP version, and where the IP header starts. */
static bool walk_ethernet(struct Walk *walk)
{
    struct XnHeaders *headers = walk->headers;
    uint16_t ether_type;

    walk->offset = ETH_HLEN;
    while (walk_has(walk, walk->offset)) {
        ether_type = headers_u16(walk->bytes + walk->offset - 2);
        if (!headers_is_vlan(ether_type)) {
            headers->ip_version = ether_type == ETH_P_IP ? 4 : ether_type == ETH_P_IPV6 ? 6 : 0;
            headers->ip_offset = walk->offset;
            return headers->ip_version != 0;
        }
        if (headers->vlan_tags == VLAN_TAGS_MAX) {
            return false;
        }
        headers->vlan_tags++;
        walk->offset += VLAN_TAG_SIZE;
    }
    return false;
}

static bool walk_ipv4(struct Walk *walk)
{
    const uint8_t *ip = walk->bytes + walk->offset;
    uint32_t header_length;
    uint32_t total_length;

    if (!walk_has(walk, walk->offset + IPV4_HEADER_MIN)) {
        return false;
    }
    header_length = (ip[0] & 0x0fu) * 4;
    if (ip[0] >> 4 != 4 || header_length < IPV4_HEADER_MIN) {
        return false;
    }
    total_length = headers_u16(ip + 2);
    walk->headers->ip_end = total_length == 0 ? 0 : walk->offset + total_length;
    walk->depth = XN_HEADERS_IP;
    walk->protocol = ip[9];
    walk->offset += header_length;
    return !(headers_u16(ip + 6) & IPV4_FRAGMENT);
}

static bool is_ipv6_extension(uint8_t protocol)
{
    return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
           protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_FRAGMENT || protocol == IPPROTO_AH;
}

/* Goes behind one extension header; false when nothing behind it can be looked at. */
static bool walk_ipv6_extension(struct Walk *walk)
{
    const uint8_t *extension;
    uint32_t length;

    if (!walk_has(walk, walk->offset + IPV6_EXTENSION_MIN)) {
        return false;
    }
    extension = walk->bytes + walk->offset;
    switch (walk->protocol) {
    case IPPROTO_FRAGMENT:
        /* A fragment header that says "not fragmented" is fine (RFC 6946). */
        if (headers_u16(extension + 2) & IPV6_FRAGMENT) {
            return false;
        }
        length = IPV6_EXTENSION_MIN;
        break;
    case IPPROTO_AH:
        length = (extension[1] + 2u) * 4;
        break;
    case IPPROTO_ROUTING:
        if (extension[3] > 0) {
            walk->headers->routed = true;
        }
        length = (extension[1] + 1u) * 8;
        break;
    default:
        length = (extension[1] + 1u) * 8;
        break;
    }
    walk->protocol = extension[0];
    walk->offset += length;
    return true;
}

static bool walk_ipv6(struct Walk *walk)
{
    const uint8_t *ip = walk->bytes + walk->offset;
    uint32_t payload_length;

    if (!walk_has(walk, walk->offset + IPV6_HEADER) || ip[0] >> 4 != 6) {
        return false;
    }
    payload_length = headers_u16(ip + 4);
    walk->protocol = ip[6];
    walk->offset += IPV6_HEADER;
    walk->headers->ip_end = payload_length == 0 ? 0 : walk->offset + payload_length;
    walk->depth = XN_HEADERS_IP;
    /* Each round moves on by 8 bytes or more, so XN_HEADER_MAX bounds the loop. */
    while (is_ipv6_extension(walk->protocol)) {
        if (!walk_ipv6_extension(walk)) {
            return false;
        }
    }
    return true;
}

/* The IP header and what belongs to it; false when TCP or UDP cannot be found behind it. */
static bool walk_ip(struct Walk *walk)
{
    return walk->headers->ip_version == 4 ? walk_ipv4(walk) : walk_ipv6(walk);
}

static bool walk_tcp_or_udp(struct Walk *walk)
{
    struct XnHeaders *headers = walk->headers;
    uint32_t header_length;

    switch (walk->protocol) {
    case IPPROTO_TCP:
        if (!walk_has(walk, walk->offset + TCP_HEADER_MIN)) {
            return false;
        }
        header_length = (walk->bytes[walk->offset + 12] >> 4) * 4u;
        if (header_length < TCP_HEADER_MIN) {
            return false;
        }
        break;
    case IPPROTO_UDP:
        header_length = UDP_HEADER;
        break;
    default:
        return false;
    }
    if (!walk_has(walk, walk->offset + header_length) ||
        (headers->ip_end != 0 && walk->offset + header_length > headers->ip_end)) {
        return false;
    }
    headers->protocol = walk->protocol;
    headers->l4_offset = walk->offset;
    headers->length = walk->offset + header_length;
    return true;
}

enum XnHeadersDepth headers_walk(const uint8_t *bytes, uint32_t length,
                                 struct XnHeaders *ret_headers)
{
    struct Walk walk = {
        .bytes = bytes,
        .length = length < XN_HEADER_MAX ? length : XN_HEADER_MAX,
        .headers = ret_headers,
    };

    *ret_headers = (struct XnHeaders){0};
    if (walk_ethernet(&walk) && walk_ip(&walk) && walk_tcp_or_udp(&walk)) {
        walk.depth = XN_HEADERS_L4;
    }
    return walk.depth;
}

uint32_t headers_packet_end(const struct XnHeaders *headers, uint32_t length, bool super_frame)
{
    if (headers->ip_end == 0 && super_frame) {
        return length;
    }
    return headers->ip_end <= length ? headers->ip_end : 0;
}

const uint8_t *headers_addresses(const struct XnHeaders *headers, const uint8_t *frame,
                                 uint32_t *ret_size)
{
    const uint8_t *ip = frame + headers->ip_offset;

    if (headers->ip_version == 4) {
        *ret_size = IPV4_ADDRESSES_SIZE;
        return ip + IPV4_ADDRESSES;
    }
    *ret_size = IPV6_ADDRESSES_SIZE;
    return ip + IPV6_ADDRESSES;
}

uint32_t headers_checksum_offset(const struct XnHeaders *headers)
{
    return headers->protocol == IPPROTO_TCP ? TCP_CHECKSUM : UDP_CHECKSUM;
}

uint64_t headers_pseudo_sum(const struct XnHeaders *headers, const uint8_t *frame, uint32_t length)
{
    uint64_t sum = (uint64_t)htons(headers->protocol) + htons((uint16_t)length);
    uint32_t size;
    const uint8_t *addresses = headers_addresses(headers, frame, &size);

    return checksum_add(sum, addresses, size);
}
