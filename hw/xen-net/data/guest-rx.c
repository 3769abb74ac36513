/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx.c - frames from the port to the guest
 *
 * Theory of operation
 *
 * A turn handles batches of up to XN_BATCH_PACKETS frames, each batch in the steps that the
 * functions below follow: room, receive, copy, respond. The port is read only while the guest has
 * posted buffers, so the host's own queue for the interface is the buffer, and it is bounded.
 *
 * How many buffers a frame needs is known only when it has been read. One that needs more than are
 * posted is kept aside (the only frame that a queue ever keeps), the port is not read again, and
 * the guest is asked for an event when enough buffers are there. So a guest that posts few buffers
 * still receives small frames at once.
 */
#include <errno.h>

#include "data/queue-private.h"

/*
 * Buffers that the guest has posted and that are not used: those in the ring, and those that a
 * predecessor of this process took and did not use.
 */
static bool guest_rx_room(struct XnQueue *queue, uint32_t *ret_posted)
{
    const netif_rx_back_ring_t *ring = &queue->guest_rx_ring;

    if (!ring_guest_rx_unconsumed(ring, ret_posted)) {
        queue->broken_reason = "guest_rx ring: more requests than the ring has slots";
        return false;
    }
    *ret_posted += ring->req_cons - ring->rsp_prod_pvt;
    return true;
}

enum XnGuestRxRead {
    XN_GUEST_RX_FRAME,
    /* a frame that cannot be given to this guest: counted, forgotten */
    XN_GUEST_RX_DROPPED,
    XN_GUEST_RX_NONE,
};

/* Puts the next frame to the page-aligned `frame`, with its length and what to tell the guest. */
static enum XnGuestRxRead guest_rx_read(struct XnQueue *queue, uint8_t *frame, uint32_t *ret_length,
                                        struct XnGuestRxMeta *ret_meta)
{
    const struct XnFeatures *features = &queue->config.features;
    struct virtio_net_hdr header;
    struct iovec iov[2] = {
        {.iov_base = &header, .iov_len = sizeof(header)},
        {.iov_base = frame, .iov_len = XN_FRAME_MAX},
    };
    struct XnHeldFrame *held = queue->held;
    ssize_t length;

    if (held->length > 0) {
        memcpy(frame, held->bytes, held->length);
        *ret_length = held->length;
        *ret_meta = held->meta;
        held->length = 0;
        return XN_GUEST_RX_FRAME;
    }
    length = port_queue_receive(queue->config.port, iov, 2);
    if (length < 0) {
        if (length != -EAGAIN) {
            queue->broken_reason = "the port cannot be read any more; was the interface deleted?";
        }
        return XN_GUEST_RX_NONE;
    }
    if (length == 0 || length > features_guest_rx_frame_max(features)) {
        counter_add(&queue->config.counters->guest_rx_drop_too_big, 1);
        return XN_GUEST_RX_DROPPED;
    }
    if (offload_guest_rx_describe(&header, features, frame, (uint32_t)length, ret_meta) !=
        XN_OFFLOAD_OK) {
        counter_add(&queue->config.counters->guest_rx_drop_bad_header, 1);
        return XN_GUEST_RX_DROPPED;
    }
    *ret_length = (uint32_t)length;
    return XN_GUEST_RX_FRAME;
}

/* Keeps a frame aside until the guest has posted as many buffers as it needs. */
static void guest_rx_hold(struct XnQueue *queue, const uint8_t *frame,
                          const struct XnGuestRxSlot *slot)
{
    memcpy(queue->held->bytes, frame, slot->plan.length);
    queue->held->meta = slot->meta;
    queue->held->length = slot->plan.length;
    queue->guest_rx_slots_needed = guest_rx_plan_slots(&slot->plan);
    counter_add(&queue->config.counters->guest_rx_no_slots, 1);
}

/*
 * Adds a frame in the pool's pages from `page` on to the copy batch. It uses the requests from ring
 * index `first` on, which are taken into the journal unless they are there already.
 */
static void guest_rx_plan_copies(struct XnQueue *queue, struct XnTurn *turn,
                                 struct XnGuestRxSlot *slot, uint32_t first, uint32_t page)
{
    netif_rx_back_ring_t *ring = &queue->guest_rx_ring;
    uint32_t end = first + guest_rx_plan_slots(&slot->plan);

    while ((int32_t)(end - ring->req_cons) > 0) {
        journal_take_guest_rx(queue->config.journal, ring);
    }
    slot->first_segment = turn->copies.count;
    for (uint32_t i = 0; i < slot->plan.data_slots; i++) {
        uint32_t index = first + guest_rx_plan_position(&slot->plan, i);

        copy_batch_to_guest(&turn->copies, queue->config.domid,
                            journal_guest_rx(queue->config.journal, index)->gref, 0,
                            guest_rx_plan_size(&slot->plan, i), page + i);
    }
}

/*
 * Receives up to `limit` frames, and keeps in turn->guest_rx[] those that the guest gets; they fit
 * into the `posted` buffers. *ret_kept tells how many that are. Returns how many frames were taken
 * from the port: fewer than could be means that it has no more, or that the guest lacks buffers.
 */
static uint32_t guest_rx_receive(struct XnQueue *queue, struct XnTurn *turn, uint32_t limit,
                                 uint32_t posted, uint32_t *ret_kept)
{
    uint32_t next = queue->guest_rx_ring.rsp_prod_pvt;
    uint32_t taken = 0, kept = 0;

    buffer_pool_reset(turn->pool);
    copy_batch_reset(&turn->copies);
    while (taken < limit) {
        struct XnGuestRxSlot *slot = &turn->guest_rx[kept];
        uint32_t page = buffer_pool_take(turn->pool, XN_FRAME_PAGES);
        uint8_t *frame = buffer_pool_page(turn->pool, page);
        enum XnGuestRxRead result;
        uint32_t length;

        if (posted == 0) {
            queue->guest_rx_slots_needed = 1;
            break;
        }
        result = guest_rx_read(queue, frame, &length, &slot->meta);
        if (result == XN_GUEST_RX_NONE) {
            queue->guest_rx_ready = false;
            break;
        }
        taken++;
        if (result == XN_GUEST_RX_DROPPED) {
            buffer_pool_trim(turn->pool, page);
            continue;
        }
        slot->plan = guest_rx_plan(length, &slot->meta);
        if (guest_rx_plan_slots(&slot->plan) > posted) {
            guest_rx_hold(queue, frame, slot);
            break;
        }
        guest_rx_plan_copies(queue, turn, slot, next, page);
        buffer_pool_trim(turn->pool, page + slot->plan.data_slots);
        next += guest_rx_plan_slots(&slot->plan);
        posted -= guest_rx_plan_slots(&slot->plan);
        kept++;
    }
    *ret_kept = kept;
    return taken;
}

static void guest_rx_copy(struct XnQueue *queue, struct XnTurn *turn)
{
    if (turn->copies.count > 0) {
        copy_batch_flush(&turn->copies);
        counter_add(&queue->config.counters->guest_rx_copy_calls, 1);
        counter_add(&queue->config.counters->guest_rx_segments, turn->copies.count);
    }
}

static void guest_rx_count(struct XnQueue *queue, const struct XnTurn *turn,
                           const struct XnGuestRxSlot *slot)
{
    struct XnQueueCounters *counters = queue->config.counters;
    uint32_t minimum = (slot->plan.length + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE;

    if (!copy_batch_succeeded(&turn->copies, slot->first_segment, slot->plan.data_slots)) {
        counter_add(&counters->guest_rx_drop_bad_grant, 1);
        return;
    }
    counter_add(&counters->guest_rx_packets, 1);
    counter_add(&counters->guest_rx_bytes, slot->plan.length);
    counter_add(&counters->guest_rx_slots, guest_rx_plan_slots(&slot->plan));
    counter_add(&counters->guest_rx_slots_minimum,
                minimum + (slot->meta.gso_type != XEN_NETIF_GSO_TYPE_NONE));
    counter_add(&counters->guest_rx_segments_minimum, minimum);
}

/*
 * Answers the requests of `count` frames, publishes, and tells the guest once. A slot whose copy
 * failed carries the error; the guest then drops that frame.
 */
static void guest_rx_respond(struct XnQueue *queue, struct XnTurn *turn, uint32_t count)
{
    netif_rx_back_ring_t *ring = &queue->guest_rx_ring;

    for (uint32_t i = 0; i < count; i++) {
        const struct XnGuestRxSlot *slot = &turn->guest_rx[i];

        for (uint32_t position = 0; position < guest_rx_plan_slots(&slot->plan); position++) {
            uint16_t id = journal_guest_rx(queue->config.journal, ring->rsp_prod_pvt)->id;
            union XnGuestRxEntry entry =
                guest_rx_plan_entry(&slot->plan, &slot->meta, position, id);
            bool is_extra = position >= 1 && position <= slot->plan.extra_slots;

            if (!is_extra) {
                uint32_t data = position == 0 ? 0 : position - slot->plan.extra_slots;
                int16_t status = turn->copies.segments[slot->first_segment + data].status;

                if (status != GNTST_okay) {
                    entry.response.status = status;
                }
            }
            ring_guest_rx_respond(ring, &entry);
        }
        guest_rx_count(queue, turn, slot);
    }
    if (count > 0 && ring_guest_rx_push(ring)) {
        evtchn_notify(queue->config.evtchn, queue->config.guest_rx_channel);
        counter_add(&queue->config.counters->guest_rx_notifies, 1);
    }
}

uint32_t guest_rx_turn(struct XnQueue *queue, struct XnTurn *turn)
{
    uint32_t done = 0;

    while (queue->guest_rx_ready && done < XN_TURN_PACKETS) {
        uint32_t posted, kept;

        if (!guest_rx_room(queue, &posted)) {
            break;
        }
        if (posted < queue->guest_rx_slots_needed) {
            /* Buffers that come in just now are seen in the next turn, not in a loop here. */
            queue->guest_rx_ready =
                ring_guest_rx_arm(&queue->guest_rx_ring, queue->guest_rx_slots_needed);
            break;
        }
        queue->guest_rx_slots_needed = 0;
        done += guest_rx_receive(queue, turn, MIN(XN_BATCH_PACKETS, XN_TURN_PACKETS - done), posted,
                                 &kept);
        guest_rx_copy(queue, turn);
        guest_rx_respond(queue, turn, kept);
        if (queue->broken_reason) {
            break;
        }
    }
    return done;
}
