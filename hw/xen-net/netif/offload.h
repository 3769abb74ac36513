/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offload.h - netif offload flags to virtio_net_hdr and back
 *
 * Theory of operation
 *
 * netif says "checksum blank" and "TCP super-frame"; virtio_net_hdr wants to know where the
 * checksum starts and how long the headers are. So the headers are walked (headers.h), in the bytes
 * that are at hand; the caller gathers more when a guest has spread its headers over slots
 * (XSA-423).
 */
#ifndef XN_NETIF_OFFLOAD_H
#define XN_NETIF_OFFLOAD_H

#include <linux/virtio_net.h>
#include <stddef.h>

#include "netif/features.h"
#include "netif/guest-rx-plan.h"
#include "netif/headers.h"
#include "netif/slots.h"

enum XnOffloadResult {
    XN_OFFLOAD_OK,
    /* Fewer bytes than the headers have were given, and the frame has more: gather and retry. */
    XN_OFFLOAD_NEED_MORE,
    /* The headers do not fit what the flags claim, or are cut short by the end of the frame. */
    XN_OFFLOAD_BAD,
};

/*
 * Fills *ret_header for a packet from the guest. `headers` are the first `linear` bytes of the
 * frame, in private memory; the TCP checksum in them is replaced by the pseudo-header's sum where
 * a super-frame came without NETTXF_csum_blank (as the kernel's netback does). hdr_len is the true
 * length of all headers; it is set whenever the walk was needed (csum_blank or GSO), else 0.
 * A super-frame whose payload fits one segment is described as an ordinary frame. BAD: the frame is
 * not what the flags claim (not TCP or UDP over IP, another IP version, a fragment, more than two
 * VLAN tags), or a length in a header contradicts the frame's. On NEED_MORE and BAD *ret_header and
 * `headers` are untouched.
 */
enum XnOffloadResult offload_guest_tx_describe(const struct XnGuestTxPacket *packet,
                                               uint8_t *headers, uint32_t linear,
                                               struct virtio_net_hdr *ret_header);

/*
 * Fills *ret_meta for a frame of `length` bytes that the port gave with *header. A checksum that
 * the guest would not complete is completed inside `frame`: guests look for TCP or UDP with a walk
 * like ours but without VLAN tags, and take blank checksums only of the IP versions in *features.
 * BAD when the header asks for what was not negotiated (GSO type), points outside the frame, or
 * calls a frame a TCP super-frame that is none. On BAD *ret_meta and `frame` are untouched.
 */
enum XnOffloadResult offload_guest_rx_describe(const struct virtio_net_hdr *header,
                                               const struct XnFeatures *features, uint8_t *frame,
                                               uint32_t length, struct XnGuestRxMeta *ret_meta);

/*
 * The same for a frame that *header describes and that goes to the guest as it is, of which only
 * the first `linear` bytes are at hand. False when something in the frame would have to be
 * completed, or the guest cannot take such a frame; then it goes through the port.
 */
bool offload_direct_describe(const struct virtio_net_hdr *header, const struct XnFeatures *features,
                             const uint8_t *headers, uint32_t linear,
                             struct XnGuestRxMeta *ret_meta);

#endif
