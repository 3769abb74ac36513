/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offload.c - netif offload flags to virtio_net_hdr and back
 */
#include "netif/offload.h"

#include <netinet/in.h>

#include "netif/checksum-fill.h"
#include "netif/checksum.h"

/*
 * All headers of a frame of `size` bytes, of which `linear` are at hand. OK means a whole TCP or
 * UDP header that belongs to no fragment, of a packet that ends within the frame.
 */
static enum XnOffloadResult find_headers(const uint8_t *bytes, uint32_t linear, uint32_t size,
                                         bool super_frame, struct XnHeaders *ret_headers)
{
    enum XnHeadersDepth depth = headers_walk(bytes, linear, ret_headers);

    if (depth != XN_HEADERS_NONE && headers_packet_end(ret_headers, size, super_frame) == 0) {
        return XN_OFFLOAD_BAD;
    }
    if (depth == XN_HEADERS_L4) {
        return XN_OFFLOAD_OK;
    }
    return ret_headers->needed > 0 && ret_headers->needed <= size &&
                   ret_headers->needed <= XN_HEADER_MAX
               ? XN_OFFLOAD_NEED_MORE
               : XN_OFFLOAD_BAD;
}

static bool is_super_frame_of(const struct XnHeaders *headers, uint8_t gso_type)
{
    return headers->protocol == IPPROTO_TCP &&
           headers->ip_version == (gso_type == XEN_NETIF_GSO_TYPE_TCPV4 ? 4 : 6);
}

/*
 * The sum over the pseudo-header, as a super-frame must carry it: the kernel's segmentation
 * subtracts everything behind the IP header from it, padding included, and adds what each segment
 * has.
 */
static void write_pseudo_header_sum(const struct XnHeaders *headers, uint8_t *frame, uint32_t size)
{
    uint16_t sum = checksum_fold(headers_pseudo_sum(headers, frame, size - headers->l4_offset));

    memcpy(frame + headers->l4_offset + headers_checksum_offset(headers), &sum, sizeof(sum));
}

enum XnOffloadResult offload_guest_tx_describe(const struct XnGuestTxPacket *packet,
                                               uint8_t *headers, uint32_t linear,
                                               struct virtio_net_hdr *ret_header)
{
    bool blank = packet->flags & NETTXF_csum_blank;
    bool gso = packet->gso_type != XEN_NETIF_GSO_TYPE_NONE;
    struct virtio_net_hdr header = {.gso_type = VIRTIO_NET_HDR_GSO_NONE};
    struct XnHeaders found;
    enum XnOffloadResult result;

    if (!blank && !gso) {
        if (packet->flags & NETTXF_data_validated) {
            header.flags = VIRTIO_NET_HDR_F_DATA_VALID;
        }
        *ret_header = header;
        return XN_OFFLOAD_OK;
    }

    result = find_headers(headers, linear, packet->size, gso, &found);
    if (result != XN_OFFLOAD_OK) {
        return result;
    }
    if (gso && !is_super_frame_of(&found, packet->gso_type)) {
        return XN_OFFLOAD_BAD;
    }
    if (!blank) {
        write_pseudo_header_sum(&found, headers, packet->size);
    }
    header.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
    header.csum_start = (uint16_t)found.l4_offset;
    header.csum_offset = (uint16_t)headers_checksum_offset(&found);
    header.hdr_len = (uint16_t)found.length;
    /* What fits one segment is an ordinary frame, and the port need not know more. */
    if (gso && packet->size - found.length > packet->gso_size) {
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
static bool guest_takes_blank(const struct virtio_net_hdr *header, const struct XnHeaders *found,
                              const struct XnFeatures *features)
{
    return found->vlan_tags == 0 &&
           (found->ip_version == 4 ? features->csum_ipv4 : features->csum_ipv6) &&
           header->csum_start == found->l4_offset &&
           header->csum_offset == headers_checksum_offset(found);
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
    struct XnHeaders found;
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

    walked = find_headers(frame, length, length, false, &found) == XN_OFFLOAD_OK;
    meta.flags = NETRXF_data_validated;
    if (meta.gso_type != XEN_NETIF_GSO_TYPE_NONE) {
        if (!walked || !is_super_frame_of(&found, meta.gso_type)) {
            return XN_OFFLOAD_BAD;
        }
        /* Guests insist that a super-frame's checksum is blank (xenvif), or repair it (Linux). */
        if (!blank) {
            write_pseudo_header_sum(&found, frame, length);
        }
        meta.flags |= NETRXF_csum_blank;
    } else if (walked && guest_takes_blank(header, &found, features)) {
        meta.flags |= NETRXF_csum_blank;
    } else {
        complete_checksum(frame, length, header->csum_start, header->csum_offset);
    }
    *ret_meta = meta;
    return XN_OFFLOAD_OK;
}

bool offload_direct_describe(const struct virtio_net_hdr *header, const struct XnFeatures *features,
                             const uint8_t *headers, uint32_t linear,
                             struct XnGuestRxMeta *ret_meta)
{
    struct XnGuestRxMeta meta = {.headroom = features->guest_rx_headroom};
    struct XnHeaders found;

    if (describe_gso(header, features, &meta) != XN_OFFLOAD_OK) {
        return false;
    }
    if (!(header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)) {
        meta.flags = header->flags & VIRTIO_NET_HDR_F_DATA_VALID ? NETRXF_data_validated : 0;
        *ret_meta = meta;
        return true;
    }
    if (headers_walk(headers, linear, &found) != XN_HEADERS_L4 ||
        !guest_takes_blank(header, &found, features) || checksum_fill_is_dhcp(headers, linear)) {
        return false;
    }
    meta.flags = NETRXF_csum_blank | NETRXF_data_validated;
    *ret_meta = meta;
    return true;
}
