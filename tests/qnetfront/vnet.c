/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vnet.c - translation between netif's flags and virtio_net_hdr */
#include "vnet.h"

#include <endian.h>
#include <linux/if_ether.h>
#include <netinet/in.h>

#define VLANS_MAX 2
#define EXTENSIONS_MAX 8

static unsigned int get16(const uint8_t *p)
{
    return p[0] << 8 | p[1];
}

static bool walk_l4(const uint8_t *frame, unsigned int available, unsigned int l4,
                    unsigned int protocol, struct XnHeaders *headers)
{
    headers->l4 = l4;
    if (protocol == IPPROTO_TCP && available >= l4 + 20) {
        headers->csum = 16;
        headers->length = l4 + (frame[l4 + 12] >> 4) * 4;
        return true;
    }
    if (protocol == IPPROTO_UDP && available >= l4 + 8) {
        headers->csum = 6;
        headers->length = l4 + 8;
        return true;
    }
    return false;
}

static bool walk_ipv6(const uint8_t *frame, unsigned int available, unsigned int at,
                      struct XnHeaders *headers)
{
    unsigned int next;

    if (available < at + 40) {
        return false;
    }
    next = frame[at + 6];
    at += 40;
    for (unsigned int i = 0; i < EXTENSIONS_MAX; i++) {
        if (next != IPPROTO_HOPOPTS && next != IPPROTO_ROUTING && next != IPPROTO_DSTOPTS) {
            return walk_l4(frame, available, at, next, headers);
        }
        if (available < at + 8) {
            return false;
        }
        next = frame[at];
        at += (frame[at + 1] + 1) * 8;
    }
    return false;
}

bool vnet_walk_headers(const uint8_t *frame, unsigned int available, struct XnHeaders *headers)
{
    unsigned int at = 12;
    unsigned int type;

    if (available < ETH_HLEN) {
        return false;
    }
    type = get16(frame + at);
    for (unsigned int i = 0; i < VLANS_MAX; i++) {
        if (type != ETH_P_8021Q && type != ETH_P_8021AD) {
            break;
        }
        at += 4;
        if (available < at + 2) {
            return false;
        }
        type = get16(frame + at);
    }
    at += 2;
    if (type == ETH_P_IPV6) {
        return walk_ipv6(frame, available, at, headers);
    }
    if (type != ETH_P_IP || available < at + 20) {
        return false;
    }
    return walk_l4(frame, available, at + (frame[at] & 15) * 4, frame[at + 9], headers);
}

bool vnet_from_meta(const struct XnFrameMeta *meta, const uint8_t *frame, unsigned int available,
                    struct virtio_net_hdr *header)
{
    struct XnHeaders headers;

    memset(header, 0, sizeof(*header));
    if (!meta->csum_blank) {
        header->flags = meta->data_validated ? VIRTIO_NET_HDR_F_DATA_VALID : 0;
        return meta->gso_size == 0;
    }
    if (!vnet_walk_headers(frame, available, &headers)) {
        return false;
    }
    header->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
    header->csum_start = headers.l4;
    header->csum_offset = headers.csum;
    if (meta->gso_size) {
        header->gso_type = meta->gso_type == XEN_NETIF_GSO_TYPE_TCPV6 ? VIRTIO_NET_HDR_GSO_TCPV6
                                                                      : VIRTIO_NET_HDR_GSO_TCPV4;
        header->gso_size = meta->gso_size;
        header->hdr_len = headers.length;
    }
    return true;
}

bool vnet_to_meta(const struct virtio_net_hdr *header, struct XnFrameMeta *meta)
{
    memset(meta, 0, sizeof(*meta));
    meta->csum_blank = header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM;
    meta->data_validated =
        header->flags & (VIRTIO_NET_HDR_F_NEEDS_CSUM | VIRTIO_NET_HDR_F_DATA_VALID);
    switch (header->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
    case VIRTIO_NET_HDR_GSO_NONE:
        return true;
    case VIRTIO_NET_HDR_GSO_TCPV4:
        meta->gso_type = XEN_NETIF_GSO_TYPE_TCPV4;
        break;
    case VIRTIO_NET_HDR_GSO_TCPV6:
        meta->gso_type = XEN_NETIF_GSO_TYPE_TCPV6;
        break;
    default:
        return false;
    }
    meta->gso_size = header->gso_size;
    return true;
}
