/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-source.c - the next frame for the guest
 *
 * Theory of operation
 *
 * A frame comes from the port, or is the one that was put back because the guest could not have it
 * yet, or is the next segment of a super-frame that this guest cannot take as it is: it never said
 * so, or the frame has a VLAN tag, behind which no guest looks for a blank checksum. Whatever
 * offload the port left to the guest is checked and translated here, once for each frame.
 */
#include <errno.h>

#include "data/queue-private.h"
#include "netif/checksum-fill.h"

#define ETHERTYPE_OFFSET 12u

static bool guest_rx_source_is_tagged(const uint8_t *frame)
{
    return headers_is_vlan(headers_u16(frame + ETHERTYPE_OFFSET));
}

/* Is this a super-frame that the guest must get in segments? */
static bool guest_rx_source_is_cut(const struct XnQueue *queue, const struct virtio_net_hdr *header,
                                   const uint8_t *frame)
{
    const struct XnFeatures *features = &queue->config.features;

    switch (header->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
    case VIRTIO_NET_HDR_GSO_TCPV4:
        return !features->gso_tcpv4 || guest_rx_source_is_tagged(frame);
    case VIRTIO_NET_HDR_GSO_TCPV6:
        return !features->gso_tcpv6 || guest_rx_source_is_tagged(frame);
    default:
        return false;
    }
}

/* The next segment of the super-frame that is held; the last one ends the holding. */
static enum XnGuestRxSource guest_rx_source_segment(struct XnQueue *queue, uint8_t *frame,
                                                    uint32_t *ret_length,
                                                    struct XnGuestRxMeta *ret_meta)
{
    struct XnHeldFrame *held = queue->held;
    struct XnSegment segment = segments_write(&held->segments, held->next_segment, frame);
    uint32_t headers = held->segments.headers.length;

    memcpy(frame + headers, held->bytes + segment.offset, segment.length);
    *ret_length = headers + segment.length;
    *ret_meta = (struct XnGuestRxMeta){.flags = NETRXF_data_validated};
    held->next_segment++;
    if (held->next_segment == held->segments.count) {
        held->length = 0;
    }
    return XN_GUEST_RX_FRAME;
}

static enum XnGuestRxSource guest_rx_source_begin_segments(struct XnQueue *queue, uint8_t *frame,
                                                           uint32_t length, uint32_t size,
                                                           uint32_t *ret_length,
                                                           struct XnGuestRxMeta *ret_meta)
{
    struct XnHeldFrame *held = queue->held;

    queue->held_used = true;
    queue->held_until_ns = 0;
    memcpy(held->bytes, frame, length);
    if (!segments_begin(&held->segments, held->bytes, length, size)) {
        counter_add(&queue->config.counters->guest_rx_drop_bad_header, 1);
        return XN_GUEST_RX_DROPPED;
    }
    if (held->segments.headers.length + MIN(held->segments.size, held->segments.payload) >
        features_guest_rx_frame_max(&queue->config.features)) {
        counter_add(&queue->config.counters->guest_rx_drop_too_big, 1);
        return XN_GUEST_RX_DROPPED;
    }
    held->length = length;
    held->next_segment = 0;
    counter_add(&queue->config.counters->guest_rx_segmented, 1);
    return guest_rx_source_segment(queue, frame, ret_length, ret_meta);
}

/* DHCP clients read the packet before the guest's stack completes its checksum. */
static void guest_rx_source_complete_dhcp(uint8_t *frame, uint32_t length,
                                          struct XnGuestRxMeta *meta)
{
    if ((meta->flags & NETRXF_csum_blank) && meta->gso_type == XEN_NETIF_GSO_TYPE_NONE &&
        checksum_fill_is_dhcp(frame, length) && checksum_fill(frame, length)) {
        meta->flags = NETRXF_data_validated;
    }
}

/* A frame from the port. */
static enum XnGuestRxSource guest_rx_source_port(struct XnQueue *queue, uint8_t *frame,
                                                 uint32_t *ret_length,
                                                 struct XnGuestRxMeta *ret_meta)
{
    const struct XnFeatures *features = &queue->config.features;
    struct XnQueueCounters *counters = queue->config.counters;
    struct virtio_net_hdr header;
    struct iovec iov[2] = {
        {.iov_base = &header, .iov_len = sizeof(header)},
        {.iov_base = frame, .iov_len = XN_FRAME_MAX},
    };
    ssize_t length;

    if (queue->port_drained) {
        return XN_GUEST_RX_NONE;
    }
    length = port_queue_receive(queue->config.port, iov, 2);
    queue->port_drained = length < 0 || (queue->port_sparse && !queue->detour_pending);
    if (length < 0) {
        if (length != -EAGAIN) {
            queue->broken_reason = "the port cannot be read any more; was the interface deleted?";
        }
        return XN_GUEST_RX_NONE;
    }
    if (length < ETHERTYPE_OFFSET + 2 || length > XN_FRAME_MAX) {
        counter_add(&counters->guest_rx_drop_bad_header, 1);
        return XN_GUEST_RX_DROPPED;
    }
    if (vif_shared_is_down(queue->config.shared)) {
        counter_add(&counters->guest_rx_drop_admin_down, 1);
        return XN_GUEST_RX_DROPPED;
    }
    if (!mcast_pass(&queue->config.shared->memory->mcast, frame)) {
        counter_add(&counters->guest_rx_drop_multicast, 1);
        return XN_GUEST_RX_DROPPED;
    }
    if (guest_rx_source_is_cut(queue, &header, frame)) {
        return guest_rx_source_begin_segments(queue, frame, (uint32_t)length, header.gso_size,
                                              ret_length, ret_meta);
    }
    if (length > features_guest_rx_frame_max(features)) {
        counter_add(&counters->guest_rx_drop_too_big, 1);
        return XN_GUEST_RX_DROPPED;
    }
    if (offload_guest_rx_describe(&header, features, frame, (uint32_t)length, ret_meta) !=
        XN_OFFLOAD_OK) {
        counter_add(&counters->guest_rx_drop_bad_header, 1);
        return XN_GUEST_RX_DROPPED;
    }
    guest_rx_source_complete_dhcp(frame, (uint32_t)length, ret_meta);
    *ret_length = (uint32_t)length;
    return XN_GUEST_RX_FRAME;
}

enum XnGuestRxSource guest_rx_source_next(struct XnQueue *queue, uint8_t *frame,
                                          uint32_t *ret_length, struct XnGuestRxMeta *ret_meta)
{
    struct XnHeldFrame *held = queue->held;
    enum XnGuestRxSource result;

    if (held->length == 0) {
        held->segments.count = 0;
        result = guest_rx_source_port(queue, frame, ret_length, ret_meta);
    } else if (held->segments.count > 0) {
        result = guest_rx_source_segment(queue, frame, ret_length, ret_meta);
    } else {
        memcpy(frame, held->bytes, held->length);
        *ret_length = held->length;
        *ret_meta = held->meta;
        held->length = 0;
        return XN_GUEST_RX_FRAME;
    }
    if (result == XN_GUEST_RX_FRAME) {
        ret_meta->headroom = queue->config.features.guest_rx_headroom;
    }
    return result;
}

void guest_rx_source_put_back(struct XnQueue *queue, const uint8_t *frame, uint32_t length,
                              const struct XnGuestRxMeta *meta)
{
    struct XnHeldFrame *held = queue->held;

    if (held->segments.count > 0) {
        held->next_segment--;
        held->length = held->segments.headers.length;
        return;
    }
    queue->held_used = true;
    queue->held_until_ns = 0;
    memcpy(held->bytes, frame, length);
    held->length = length;
    held->meta = *meta;
}
