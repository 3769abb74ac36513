/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offload.c - netif offload flags to virtio_net_hdr and back
 */
#include "netif/offload.h"

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

/* The bytes that a walk may read, and what it found so far. Offsets are from the frame's start. */
struct Walk {
    const uint8_t *bytes;
    /* Bytes that are there, and bytes that the whole frame has. */
    uint32_t linear;
    uint32_t size;
    /* A super-frame's length may be missing in its IP header. */
    bool super_frame;

    uint32_t vlan_tags;
    /* 4, 6, or 0 when the frame is not IP. */
    uint32_t ip_version;
    uint32_t ip_offset;
    /* Where the IP packet ends; the frame may be padded. */
    uint32_t ip_end;
    uint8_t protocol;
    uint32_t l4_offset;
    /* Length of all headers. */
    uint32_t length;
};

static uint16_t walk_u16(const struct Walk *walk, uint32_t offset)
{
    return (uint16_t)(walk->bytes[offset] << 8 | walk->bytes[offset + 1]);
}

/* OK when the bytes before `end` can be read. */
static enum XnOffloadResult walk_need(const struct Walk *walk, uint32_t end)
{
    if (end > walk->size || end > XN_HEADER_MAX) {
        return XN_OFFLOAD_BAD;
    }
    return end > walk->linear ? XN_OFFLOAD_NEED_MORE : XN_OFFLOAD_OK;
}

/* Ethernet and VLAN tags: finds the IP version, and where the IP header starts. */
static enum XnOffloadResult walk_ethernet(struct Walk *walk)
{
    uint16_t ether_type;
    enum XnOffloadResult result = walk_need(walk, ETH_HLEN);

    walk->vlan_tags = 0;
    walk->ip_version = 0;
    walk->ip_offset = ETH_HLEN;
    while (result == XN_OFFLOAD_OK) {
        ether_type = walk_u16(walk, walk->ip_offset - 2);
        if (ether_type != ETH_P_8021Q && ether_type != ETH_P_8021AD) {
            walk->ip_version = ether_type == ETH_P_IP ? 4 : ether_type == ETH_P_IPV6 ? 6 : 0;
            break;
        }
        if (walk->vlan_tags == VLAN_TAGS_MAX) {
            break;
        }
        walk->vlan_tags++;
        walk->ip_offset += VLAN_TAG_SIZE;
        result = walk_need(walk, walk->ip_offset);
    }
    return result;
}

/* The IP packet ends at `end`, or with the super-frame if its length field is not `present`. */
static enum XnOffloadResult walk_set_ip_end(struct Walk *walk, uint32_t end, bool present)
{
    walk->ip_end = !present && walk->super_frame ? walk->size : end;
    return walk->ip_end <= walk->size ? XN_OFFLOAD_OK : XN_OFFLOAD_BAD;
}

static enum XnOffloadResult walk_ipv4(struct Walk *walk)
{
    uint32_t ip = walk->ip_offset;
    uint32_t header_length;
    uint32_t total_length;
    enum XnOffloadResult result = walk_need(walk, ip + IPV4_HEADER_MIN);

    if (result != XN_OFFLOAD_OK) {
        return result;
    }
    header_length = (walk->bytes[ip] & 0x0fu) * 4;
    if (walk->bytes[ip] >> 4 != 4 || header_length < IPV4_HEADER_MIN ||
        (walk_u16(walk, ip + 6) & IPV4_FRAGMENT)) {
        return XN_OFFLOAD_BAD;
    }
    total_length = walk_u16(walk, ip + 2);
    walk->protocol = walk->bytes[ip + 9];
    walk->l4_offset = ip + header_length;
    return walk_set_ip_end(walk, ip + total_length, total_length != 0);
}

/* One extension header at l4_offset; OK moves behind it. */
static enum XnOffloadResult walk_ipv6_extension(struct Walk *walk)
{
    uint32_t at = walk->l4_offset;
    uint32_t length;
    enum XnOffloadResult result = walk_need(walk, at + IPV6_EXTENSION_MIN);

    if (result != XN_OFFLOAD_OK) {
        return result;
    }
    switch (walk->protocol) {
    case IPPROTO_FRAGMENT:
        /* A fragment header that says "not fragmented" is fine (RFC 6946). */
        if (walk_u16(walk, at + 2) & IPV6_FRAGMENT) {
            return XN_OFFLOAD_BAD;
        }
        length = IPV6_EXTENSION_MIN;
        break;
    case IPPROTO_AH:
        length = (walk->bytes[at + 1] + 2u) * 4;
        break;
    default:
        length = (walk->bytes[at + 1] + 1u) * 8;
        break;
    }
    walk->protocol = walk->bytes[at];
    walk->l4_offset += length;
    return XN_OFFLOAD_OK;
}

static bool is_ipv6_extension(uint8_t protocol)
{
    return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
           protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_FRAGMENT || protocol == IPPROTO_AH;
}

static enum XnOffloadResult walk_ipv6(struct Walk *walk)
{
    uint32_t ip = walk->ip_offset;
    uint32_t payload_length;
    enum XnOffloadResult result = walk_need(walk, ip + IPV6_HEADER);

    if (result != XN_OFFLOAD_OK) {
        return result;
    }
    if (walk->bytes[ip] >> 4 != 6) {
        return XN_OFFLOAD_BAD;
    }
    payload_length = walk_u16(walk, ip + 4);
    walk->protocol = walk->bytes[ip + 6];
    walk->l4_offset = ip + IPV6_HEADER;
    result = walk_set_ip_end(walk, walk->l4_offset + payload_length, payload_length != 0);
    /* Each round moves on by 8 bytes or more, so XN_HEADER_MAX bounds the loop. */
    while (result == XN_OFFLOAD_OK && is_ipv6_extension(walk->protocol)) {
        result = walk_ipv6_extension(walk);
    }
    return result;
}

static enum XnOffloadResult walk_tcp(struct Walk *walk)
{
    uint32_t header_length;
    enum XnOffloadResult result = walk_need(walk, walk->l4_offset + TCP_HEADER_MIN);

    if (result != XN_OFFLOAD_OK) {
        return result;
    }
    header_length = (walk->bytes[walk->l4_offset + 12] >> 4) * 4u;
    if (header_length < TCP_HEADER_MIN) {
        return XN_OFFLOAD_BAD;
    }
    walk->length = walk->l4_offset + header_length;
    return walk_need(walk, walk->length);
}

/* All headers of a frame; OK means a whole TCP or UDP header that belongs to no fragment. */
static enum XnOffloadResult walk_headers(struct Walk *walk)
{
    enum XnOffloadResult result = walk_ethernet(walk);

    if (result != XN_OFFLOAD_OK) {
        return result;
    }
    switch (walk->ip_version) {
    case 4:
        result = walk_ipv4(walk);
        break;
    case 6:
        result = walk_ipv6(walk);
        break;
    default:
        return XN_OFFLOAD_BAD;
    }
    if (result != XN_OFFLOAD_OK) {
        return result;
    }
    switch (walk->protocol) {
    case IPPROTO_TCP:
        result = walk_tcp(walk);
        break;
    case IPPROTO_UDP:
        walk->length = walk->l4_offset + UDP_HEADER;
        result = walk_need(walk, walk->length);
        break;
    default:
        return XN_OFFLOAD_BAD;
    }
    if (result != XN_OFFLOAD_OK) {
        return result;
    }
    return walk->length <= walk->ip_end ? XN_OFFLOAD_OK : XN_OFFLOAD_BAD;
}

static uint16_t walk_checksum_offset(const struct Walk *walk)
{
    return walk->protocol == IPPROTO_TCP ? TCP_CHECKSUM : UDP_CHECKSUM;
}

static bool is_super_frame_of(const struct Walk *walk, uint8_t gso_type)
{
    return walk->protocol == IPPROTO_TCP &&
           walk->ip_version == (gso_type == XEN_NETIF_GSO_TYPE_TCPV4 ? 4 : 6);
}

/*
 * The sum over the pseudo-header, as a super-frame must carry it: the kernel's segmentation
 * subtracts everything behind the IP header from it, padding included, and adds what each segment
 * has.
 */
static void write_pseudo_header_sum(const struct Walk *walk, uint8_t *frame)
{
    bool v4 = walk->ip_version == 4;
    uint32_t addresses = walk->ip_offset + (v4 ? IPV4_ADDRESSES : IPV6_ADDRESSES);
    uint64_t sum = htons(IPPROTO_TCP);
    uint16_t folded;

    sum += htons((uint16_t)(walk->size - walk->l4_offset));
    sum = checksum_add(sum, frame + addresses, v4 ? IPV4_ADDRESSES_SIZE : IPV6_ADDRESSES_SIZE);
    folded = checksum_fold(sum);
    memcpy(frame + walk->l4_offset + TCP_CHECKSUM, &folded, sizeof(folded));
}

enum XnOffloadResult offload_guest_tx_describe(const struct XnGuestTxPacket *packet,
                                               uint8_t *headers, uint32_t linear,
                                               struct virtio_net_hdr *ret_header)
{
    bool blank = packet->flags & NETTXF_csum_blank;
    bool gso = packet->gso_type != XEN_NETIF_GSO_TYPE_NONE;
    struct virtio_net_hdr header = {.gso_type = VIRTIO_NET_HDR_GSO_NONE};
    struct Walk walk = {
        .bytes = headers,
        .linear = linear,
        .size = packet->size,
        .super_frame = gso,
    };
    enum XnOffloadResult result;

    if (!blank && !gso) {
        if (packet->flags & NETTXF_data_validated) {
            header.flags = VIRTIO_NET_HDR_F_DATA_VALID;
        }
        *ret_header = header;
        return XN_OFFLOAD_OK;
    }

    result = walk_headers(&walk);
    if (result != XN_OFFLOAD_OK) {
        return result;
    }
    if (gso && !is_super_frame_of(&walk, packet->gso_type)) {
        return XN_OFFLOAD_BAD;
    }
    if (!blank) {
        write_pseudo_header_sum(&walk, headers);
    }
    header.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
    header.csum_start = (uint16_t)walk.l4_offset;
    header.csum_offset = walk_checksum_offset(&walk);
    header.hdr_len = (uint16_t)walk.length;
    /* What fits one segment is an ordinary frame, and the port need not know more. */
    if (gso && walk.size - walk.length > packet->gso_size) {
        header.gso_type = packet->gso_type == XEN_NETIF_GSO_TYPE_TCPV4 ? VIRTIO_NET_HDR_GSO_TCPV4
                                                                       : VIRTIO_NET_HDR_GSO_TCPV6;
        header.gso_size = packet->gso_size;
    }
    *ret_header = header;
    return XN_OFFLOAD_OK;
}

/* The segmentation that *header asks for, in the words of netif; BAD when not negotiated. */
static enum XnOffloadResult describe_gso(const struct virtio_net_hdr *header,
                                         const struct XnFeatures *features,
                                         struct XnGuestRxMeta *meta)
{
    switch (header->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
    case VIRTIO_NET_HDR_GSO_NONE:
        meta->gso_type = XEN_NETIF_GSO_TYPE_NONE;
        return XN_OFFLOAD_OK;
    case VIRTIO_NET_HDR_GSO_TCPV4:
        if (!features->gso_tcpv4) {
            return XN_OFFLOAD_BAD;
        }
        meta->gso_type = XEN_NETIF_GSO_TYPE_TCPV4;
        break;
    case VIRTIO_NET_HDR_GSO_TCPV6:
        if (!features->gso_tcpv6) {
            return XN_OFFLOAD_BAD;
        }
        meta->gso_type = XEN_NETIF_GSO_TYPE_TCPV6;
        break;
    default:
        return XN_OFFLOAD_BAD;
    }
    meta->gso_size = header->gso_size;
    return header->gso_size > 0 ? XN_OFFLOAD_OK : XN_OFFLOAD_BAD;
}

/*
 * Whether the guest completes this blank checksum: it looks for it with a walk of its own, which
 * knows no VLAN tags (Linux drops a tagged frame with a blank checksum).
 */
static bool guest_takes_blank(const struct virtio_net_hdr *header, const struct Walk *walk,
                              bool walked, const struct XnFeatures *features)
{
    return walked && walk->vlan_tags == 0 &&
           (walk->ip_version == 4 ? features->csum_ipv4 : features->csum_ipv6) &&
           header->csum_start == walk->l4_offset &&
           header->csum_offset == walk_checksum_offset(walk);
}

/* The checksum field holds the pseudo-header's sum already. 0 would mean "none" in UDP. */
static void complete_checksum(uint8_t *frame, uint32_t length, uint32_t start, uint32_t offset)
{
    uint16_t sum = (uint16_t)~checksum_fold(checksum_add(0, frame + start, length - start));

    if (sum == 0) {
        sum = 0xffff;
    }
    memcpy(frame + start + offset, &sum, sizeof(sum));
}

enum XnOffloadResult offload_guest_rx_describe(const struct virtio_net_hdr *header,
                                               const struct XnFeatures *features, uint8_t *frame,
                                               uint32_t length, struct XnGuestRxMeta *ret_meta)
{
    bool blank = header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM;
    struct XnGuestRxMeta meta = {0};
    struct Walk walk = {.bytes = frame, .linear = length, .size = length};
    bool walked;

    if (describe_gso(header, features, &meta) != XN_OFFLOAD_OK) {
        return XN_OFFLOAD_BAD;
    }
    if (!blank && meta.gso_type == XEN_NETIF_GSO_TYPE_NONE) {
        meta.flags = header->flags & VIRTIO_NET_HDR_F_DATA_VALID ? NETRXF_data_validated : 0;
        *ret_meta = meta;
        return XN_OFFLOAD_OK;
    }
    if (blank && header->csum_start + header->csum_offset + sizeof(uint16_t) > length) {
        return XN_OFFLOAD_BAD;
    }

    walked = walk_headers(&walk) == XN_OFFLOAD_OK;
    meta.flags = NETRXF_data_validated;
    if (meta.gso_type != XEN_NETIF_GSO_TYPE_NONE) {
        if (!walked || !is_super_frame_of(&walk, meta.gso_type)) {
            return XN_OFFLOAD_BAD;
        }
        /* Guests insist that a super-frame's checksum is blank (xenvif), or repair it (Linux). */
        if (!blank) {
            write_pseudo_header_sum(&walk, frame);
        }
        meta.flags |= NETRXF_csum_blank;
    } else if (guest_takes_blank(header, &walk, walked, features)) {
        meta.flags |= NETRXF_csum_blank;
    } else {
        complete_checksum(frame, length, header->csum_start, header->csum_offset);
    }
    *ret_meta = meta;
    return XN_OFFLOAD_OK;
}
