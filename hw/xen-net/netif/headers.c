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
#define UDP_HEADER 8u

/* The bytes that may be read, and where the walk stands in the IP packet. */
struct Walk {
    const uint8_t *bytes;
    uint32_t length;
    struct XnHeaders *headers;
    uint8_t protocol;
    uint32_t offset;
    bool fragment;
};

static bool walk_ethernet(struct Walk *walk)
{
    struct XnHeaders *headers = walk->headers;
    uint16_t ether_type;

    walk->offset = ETH_HLEN;
    for (headers->vlan_tags = 0; walk->offset <= walk->length; headers->vlan_tags++) {
        ether_type = headers_u16(walk->bytes + walk->offset - 2);
        if (ether_type != ETH_P_8021Q && ether_type != ETH_P_8021AD) {
            headers->ip_version = ether_type == ETH_P_IP ? 4 : ether_type == ETH_P_IPV6 ? 6 : 0;
            headers->ip_offset = walk->offset;
            return headers->ip_version != 0;
        }
        if (headers->vlan_tags == VLAN_TAGS_MAX) {
            return false;
        }
        walk->offset += VLAN_TAG_SIZE;
    }
    return false;
}

static bool walk_ipv4(struct Walk *walk)
{
    const uint8_t *ip = walk->bytes + walk->offset;
    uint32_t header_length;
    uint32_t total_length;

    if (walk->offset + IPV4_HEADER_MIN > walk->length) {
        return false;
    }
    header_length = (ip[0] & 0x0fu) * 4;
    if (ip[0] >> 4 != 4 || header_length < IPV4_HEADER_MIN) {
        return false;
    }
    total_length = headers_u16(ip + 2);
    walk->headers->ip_end = total_length == 0 ? 0 : walk->offset + total_length;
    walk->fragment = headers_u16(ip + 6) & IPV4_FRAGMENT;
    walk->protocol = ip[9];
    walk->offset += header_length;
    return true;
}

static bool walk_ipv6(struct Walk *walk)
{
    const uint8_t *ip = walk->bytes + walk->offset;
    uint32_t payload_length;

    if (walk->offset + IPV6_HEADER > walk->length || ip[0] >> 4 != 6) {
        return false;
    }
    payload_length = headers_u16(ip + 4);
    walk->protocol = ip[6];
    walk->offset += IPV6_HEADER;
    walk->headers->ip_end = payload_length == 0 ? 0 : walk->offset + payload_length;
    return true;
}

static bool is_ipv6_extension(uint8_t protocol)
{
    return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
           protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_FRAGMENT || protocol == IPPROTO_AH;
}

/* Each round moves on by 8 bytes or more, so XN_HEADERS_MAX bounds the loop. */
static bool walk_ipv6_extensions(struct Walk *walk)
{
    const uint8_t *extension;
    uint32_t length;

    while (is_ipv6_extension(walk->protocol)) {
        if (walk->offset + IPV6_EXTENSION_MIN > walk->length) {
            return false;
        }
        extension = walk->bytes + walk->offset;
        length = (extension[1] + 1u) * 8;
        if (walk->protocol == IPPROTO_FRAGMENT) {
            /* A fragment header that says "not fragmented" is fine (RFC 6946). */
            walk->fragment = walk->fragment || (headers_u16(extension + 2) & IPV6_FRAGMENT);
            length = IPV6_EXTENSION_MIN;
        } else if (walk->protocol == IPPROTO_AH) {
            length = (extension[1] + 2u) * 4;
        } else if (walk->protocol == IPPROTO_ROUTING && extension[3] > 0) {
            walk->headers->routed = true;
        }
        walk->protocol = extension[0];
        walk->offset += length;
    }
    return true;
}

static bool walk_l4(struct Walk *walk)
{
    struct XnHeaders *headers = walk->headers;
    uint32_t header_length;

    if (walk->fragment) {
        return false;
    }
    if (walk->protocol == IPPROTO_TCP && walk->offset + TCP_HEADER_MIN <= walk->length) {
        header_length = (walk->bytes[walk->offset + 12] >> 4) * 4u;
        if (header_length < TCP_HEADER_MIN) {
            return false;
        }
    } else if (walk->protocol == IPPROTO_UDP) {
        header_length = UDP_HEADER;
    } else {
        return false;
    }
    if (walk->offset + header_length > walk->length ||
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
        .length = length < XN_HEADERS_MAX ? length : XN_HEADERS_MAX,
        .headers = ret_headers,
    };

    *ret_headers = (struct XnHeaders){0};
    if (!walk_ethernet(&walk)) {
        return XN_HEADERS_NONE;
    }
    if (ret_headers->ip_version == 4) {
        if (!walk_ipv4(&walk)) {
            return XN_HEADERS_NONE;
        }
    } else {
        if (!walk_ipv6(&walk)) {
            return XN_HEADERS_NONE;
        }
        if (!walk_ipv6_extensions(&walk)) {
            return XN_HEADERS_IP;
        }
    }
    return walk_l4(&walk) ? XN_HEADERS_L4 : XN_HEADERS_IP;
}

uint64_t headers_pseudo_sum(const struct XnHeaders *headers, const uint8_t *frame, uint32_t length)
{
    bool v4 = headers->ip_version == 4;
    const uint8_t *addresses = frame + headers->ip_offset + (v4 ? IPV4_ADDRESSES : IPV6_ADDRESSES);
    uint64_t sum = (uint64_t)htons(headers->protocol) + htons((uint16_t)length);

    return checksum_add(sum, addresses, v4 ? IPV4_ADDRESSES_SIZE : IPV6_ADDRESSES_SIZE);
}
