/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-tx.c - frames from the guest to the port
 *
 * Theory of operation
 *
 * A turn handles batches of up to XN_BATCH_PACKETS packets, each batch in the steps that the
 * functions below follow: collect, parse, copy, send, respond. A step is done for the whole batch
 * before the next begins.
 *
 * Nothing of a batch outlives it. When the port is full, the packets not sent stay unanswered in
 * the journal, and are parsed and copied afresh once the port is writable: the guest's ring is the
 * queue. So a response says that its frame is out of the guest's pages for good, and responses are
 * strictly in the order of the requests.
 *
 * A packet that cannot be sent is answered with an error and counted; a ring that makes no sense
 * is no longer served, after the packets before the damage have been sent and answered.
 */
#include <errno.h>

#include "base/clock.h"
#include "data/queue-private.h"
#include "trace.h"

/* Copies all requests that the guest has posted into the journal. */
static bool guest_tx_collect(struct XnQueue *queue)
{
    netif_tx_back_ring_t *ring = &queue->guest_tx_ring;
    uint32_t count;

    if (!ring_guest_tx_unconsumed(ring, &count)) {
        queue->broken_reason = "guest_tx ring: more requests than the ring has slots";
        return false;
    }
    for (; count > 0; count--) {
        journal_take_guest_tx(queue->config.journal, ring);
    }
    return true;
}

static uint64_t *guest_tx_drop_counter(struct XnQueueCounters *counters, enum XnSlotsReason reason)
{
    switch (reason) {
    case XN_SLOTS_TOO_SHORT:
        return &counters->guest_tx_drop_bad_size;
    default:
        return &counters->guest_tx_drop_bad_slots;
    }
}

/* It is counted when it is answered: while the port is full, packets are parsed again. */
static void guest_tx_drop(struct XnGuestTxSlot *slot, int16_t status, uint64_t *counter)
{
    slot->dropped = true;
    slot->status = status;
    slot->drop_counter = counter;
}

/*
 * Has the packet at ring index `start` paid for its bytes? One that is parsed again because the
 * port was full does not pay twice. What was paid for lies within the ring; an index elsewhere is
 * from long ago, and no reason to let a guest that has wrapped its indices send for nothing.
 */
static bool guest_tx_pay(struct XnQueue *queue, const struct XnGuestTxPacket *packet,
                         uint32_t start)
{
    struct XnCredit *credit = &queue->config.shared->guest_tx_credit;
    uint32_t answered = queue->guest_tx_ring.rsp_prod_pvt;
    uint32_t paid = queue->guest_tx_paid - answered;

    if ((paid <= XN_RING_SIZE && start - answered < paid) || !credit_is_limited(credit)) {
        return true;
    }
    if (!credit_take(credit, packet->size, clock_now_ns(), &queue->guest_tx_credit_ns)) {
        counter_add(&queue->config.counters->guest_tx_rate_waits, 1);
        return false;
    }
    queue->guest_tx_paid = start + packet->entry_count;
    return true;
}

/* Parses up to `limit` packets of the journal into turn->guest_tx[]; returns how many. */
static uint32_t guest_tx_parse(struct XnQueue *queue, struct XnTurn *turn, uint32_t limit)
{
    uint32_t start = queue->guest_tx_ring.rsp_prod_pvt;
    uint32_t count = 0;

    while (count < limit && start != queue->guest_tx_ring.req_cons) {
        struct XnGuestTxSlot *slot = &turn->guest_tx[count];
        enum XnSlotsReason reason;
        enum XnSlotsResult result =
            slots_parse(queue->config.journal->guest_tx, start,
                        queue->guest_tx_ring.req_cons - start, &slot->packet, &reason);

        if (result == XN_SLOTS_BROKEN) {
            queue->broken_reason = slots_reason_text(reason);
            break;
        }
        slot->dropped = result != XN_SLOTS_PACKET;
        slot->status = NETIF_RSP_OKAY;
        slot->fetched = 0;
        slot->drop_counter = NULL;
        if (queue->guest_tx_delivered[start % XN_RING_SIZE]) {
            slot->dropped = true;
        }
        if (result == XN_SLOTS_PACKET && !guest_tx_pay(queue, &slot->packet, start)) {
            break;
        }
        if (result == XN_SLOTS_DROP) {
            guest_tx_drop(slot, NETIF_RSP_ERROR,
                          guest_tx_drop_counter(queue->config.counters, reason));
        }
        start += slot->packet.entry_count;
        count++;
    }
    trace_guest_tx_parsed(queue, queue->config.domid, queue->config.index, count);
    return count;
}

/* Adds what is needed behind those bytes of the first slot that are at hand. */
static void guest_tx_fetch_rest(struct XnQueue *queue, struct XnTurn *turn,
                                struct XnGuestTxSlot *slot)
{
    const struct XnSlot *piece = &slot->packet.slots[0];

    if (slot->fetched < piece->size) {
        copy_batch_from_guest(&turn->copies, queue->config.domid, piece->ref,
                              piece->offset + slot->fetched, piece->size - slot->fetched,
                              slot->head_page);
        slot->segment_count++;
    }
}

/* Adds what is needed to have the bytes of the packet's slot `k` at hand. */
static void guest_tx_fetch(struct XnQueue *queue, struct XnTurn *turn, struct XnGuestTxSlot *slot,
                           uint32_t k)
{
    const struct XnSlot *piece = &slot->packet.slots[k];
    uint8_t *mapped = static_pages_find(queue->config.static_pages, piece->ref, false);
    uint32_t page;

    if (mapped && slot->packet.size >= XN_STATIC_PAGES_IN_PLACE_MIN) {
        slot->bytes[k] = mapped + piece->offset;
        slot->in_place = true;
        return;
    }
    if (k == 0 && slot->fetched > 0) {
        guest_tx_fetch_rest(queue, turn, slot);
        return;
    }
    page = buffer_pool_take(turn->pool, 1);
    slot->bytes[k] = buffer_pool_page(turn->pool, page) + piece->offset;
    if (mapped) {
        memcpy(slot->bytes[k], mapped + piece->offset, piece->size);
        return;
    }
    copy_batch_from_guest(&turn->copies, queue->config.domid, piece->ref, piece->offset,
                          piece->size, page);
    slot->segment_count++;
}

void guest_tx_flush(struct XnQueue *queue, struct XnCopyBatch *copies)
{
    if (copies->count > 0) {
        copy_batch_flush(copies);
        counter_add(&queue->config.counters->guest_tx_copy_calls, 1);
        counter_add(&queue->config.counters->guest_tx_segments, copies->count);
    }
}

/* Fetches the packets' bytes with one call. */
static void guest_tx_copy(struct XnQueue *queue, struct XnTurn *turn, uint32_t count)
{
    struct XnCopyBatch *copies = &turn->copies;

    copy_batch_reset(copies);
    for (uint32_t i = 0; i < count; i++) {
        struct XnGuestTxSlot *slot = &turn->guest_tx[i];

        if (slot->dropped) {
            continue;
        }
        slot->in_place = false;
        slot->first_segment = copies->count;
        slot->segment_count = 0;
        for (uint32_t k = 0; k < slot->packet.slot_count; k++) {
            guest_tx_fetch(queue, turn, slot, k);
        }
    }
    guest_tx_flush(queue, copies);
}

/* The frame's bytes where they are; pieces that touch are one. Returns the pieces. */
static int guest_tx_gather_list(const struct XnGuestTxSlot *slot, struct iovec *iov)
{
    int count = 0;

    iov[0] = (struct iovec){0};
    for (uint32_t k = 0; k < slot->packet.slot_count; k++) {
        uint8_t *bytes = slot->bytes[k];
        size_t size = slot->packet.slots[k].size;

        if (count > 0 && (uint8_t *)iov[count - 1].iov_base + iov[count - 1].iov_len == bytes) {
            iov[count - 1].iov_len += size;
        } else {
            iov[count].iov_base = bytes;
            iov[count].iov_len = size;
            count++;
        }
    }
    return count;
}

/*
 * Makes the first bytes of the frame one piece, in `headers`: for a guest that has spread its
 * headers over slots, or that can still write to them. iov[0] is free on entry, the frame's pieces
 * are iov[1] ... iov[*count]. Returns the length of the new first piece, which is iov[0].
 */
static uint32_t guest_tx_linearise(struct iovec *iov, int *count, uint8_t *headers)
{
    uint32_t length = 0;
    int piece = 1;

    while (piece <= *count && length < XN_HEADER_MAX) {
        size_t size = MIN(iov[piece].iov_len, XN_HEADER_MAX - length);

        memcpy(headers + length, iov[piece].iov_base, size);
        length += (uint32_t)size;
        iov[piece].iov_base = (uint8_t *)iov[piece].iov_base + size;
        iov[piece].iov_len -= size;
        if (iov[piece].iov_len == 0) {
            piece++;
        }
    }
    memmove(&iov[1], &iov[piece], (size_t)(*count - piece + 1) * sizeof(iov[0]));
    *count -= piece - 1;
    iov[0].iov_base = headers;
    iov[0].iov_len = length;
    return length;
}

void guest_tx_count(struct XnQueue *queue, const struct XnGuestTxSlot *slot)
{
    struct XnQueueCounters *counters = queue->config.counters;
    const struct XnGuestTxPacket *packet = &slot->packet;

    counter_add(&counters->guest_tx_packets, 1);
    counter_add(&counters->guest_tx_bytes, packet->size);
    counter_add(&counters->guest_tx_slots, packet->entry_count - packet->extra_count);
    counter_add(&counters->guest_tx_extras, packet->extra_count);
}

/* Gives one frame to the port. Returns false when the port is full. */
static bool guest_tx_send(struct XnQueue *queue, struct XnGuestTxSlot *slot)
{
    struct XnQueueCounters *counters = queue->config.counters;
    const struct XnGuestTxPacket *packet = &slot->packet;
    enum XnOffloadResult result = XN_OFFLOAD_NEED_MORE;
    uint8_t headers[XN_HEADER_MAX];
    struct virtio_net_hdr header;
    /* the header, linearised headers, and the pieces */
    struct iovec iov[2 + XN_GUEST_TX_SLOTS_MAX];
    struct iovec *frame = &iov[2];
    int count = guest_tx_gather_list(slot, frame);
    int error;

    if (!slot->in_place) {
        result = offload_guest_tx_describe(packet, frame[0].iov_base, (uint32_t)frame[0].iov_len,
                                           &header);
    }
    if (result == XN_OFFLOAD_NEED_MORE) {
        uint32_t linear;

        frame = &iov[1];
        linear = guest_tx_linearise(frame, &count, headers);
        count++;
        counter_add(&counters->guest_tx_gathered, 1);
        result = offload_guest_tx_describe(packet, headers, linear, &header);
    }
    if (result != XN_OFFLOAD_OK) {
        guest_tx_drop(slot, NETIF_RSP_ERROR, &counters->guest_tx_drop_bad_header);
        return true;
    }
    frame[-1].iov_base = &header;
    frame[-1].iov_len = sizeof(header);
    error = port_queue_send(queue->config.port, &frame[-1], count + 1);
    if (error == EAGAIN) {
        counter_add(&counters->guest_tx_port_full, 1);
        return false;
    }
    if (error != 0) {
        guest_tx_drop(slot, NETIF_RSP_DROPPED, &counters->guest_tx_drop_port);
        return true;
    }
    guest_tx_count(queue, slot);
    return true;
}

/* Changes the multicast list as the guest asks. */
static void guest_tx_change_multicast(struct XnQueue *queue, struct XnGuestTxSlot *slot)
{
    struct XnMcast *mcast = &queue->config.shared->memory->mcast;

    if (slot->packet.multicast_type == XEN_NETIF_EXTRA_TYPE_MCAST_DEL) {
        mcast_delete(mcast, slot->packet.multicast_address);
    } else if (!mcast_add(mcast, slot->packet.multicast_address)) {
        slot->status = NETIF_RSP_ERROR;
    }
    counter_add(&queue->config.counters->guest_tx_multicast, 1);
}

/* Sends the packets in order until the port is full; returns how many are done with. */
static uint32_t guest_tx_send_all(struct XnQueue *queue, struct XnTurn *turn, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct XnGuestTxSlot *slot = &turn->guest_tx[i];

        if (slot->packet.multicast_type != XEN_NETIF_EXTRA_TYPE_NONE) {
            guest_tx_change_multicast(queue, slot);
        }
        if (slot->dropped) {
            continue;
        }
        if (vif_shared_is_down(queue->config.shared)) {
            guest_tx_drop(slot, NETIF_RSP_DROPPED,
                          &queue->config.counters->guest_tx_drop_admin_down);
            continue;
        }
        if (!copy_batch_succeeded(&turn->copies, slot->first_segment, slot->segment_count)) {
            guest_tx_drop(slot, NETIF_RSP_ERROR, &queue->config.counters->guest_tx_drop_bad_grant);
            continue;
        }
        if (!guest_tx_send(queue, slot)) {
            queue->guest_tx_port_full = true;
            trace_guest_tx_port_full(queue, queue->config.domid, queue->config.index);
            return i;
        }
    }
    return count;
}

/* Answers every ring entry of the first `count` packets, publishes, and tells the guest once. */
static void guest_tx_respond(struct XnQueue *queue, struct XnTurn *turn, uint32_t count)
{
    netif_tx_back_ring_t *ring = &queue->guest_tx_ring;
    uint32_t first = ring->rsp_prod_pvt;
    bool notify;

    for (uint32_t i = 0; i < count; i++) {
        const struct XnGuestTxSlot *slot = &turn->guest_tx[i];

        queue->guest_tx_delivered[ring->rsp_prod_pvt % XN_RING_SIZE] = false;
        if (slot->drop_counter) {
            counter_add(slot->drop_counter, 1);
        }
        if (slot->status == NETIF_RSP_ERROR) {
            trace_guest_tx_error(queue, queue->config.domid, queue->config.index,
                                 slot->packet.size);
        }
        for (uint32_t k = 0; k < slot->packet.entry_count; k++) {
            if (k >= 1 && k <= slot->packet.extra_count) {
                ring_guest_tx_respond(ring, 0, NETIF_RSP_NULL);
            } else {
                uint16_t id =
                    journal_guest_tx(queue->config.journal, ring->rsp_prod_pvt)->request.id;

                ring_guest_tx_respond(ring, id, slot->status);
            }
        }
    }
    if (ring->rsp_prod_pvt == first) {
        return;
    }
    counter_add(&queue->config.counters->guest_tx_responses, ring->rsp_prod_pvt - first);
    notify = ring_guest_tx_push(ring);
    trace_guest_tx_responded(queue, queue->config.domid, queue->config.index,
                             ring->rsp_prod_pvt - first, notify);
    if (notify) {
        evtchn_notify(queue->config.evtchn, queue->config.guest_tx_channel);
        counter_add(&queue->config.counters->guest_tx_notifies, 1);
    }
}

uint32_t guest_tx_turn(struct XnQueue *queue, struct XnTurn *turn)
{
    netif_tx_back_ring_t *ring = &queue->guest_tx_ring;
    uint32_t done = 0;

    while (queue->guest_tx_ready && done < XN_TURN_PACKETS) {
        uint32_t count, sent;

        queue->guest_tx_credit_ns = 0;
        if (!guest_tx_collect(queue)) {
            break;
        }
        buffer_pool_reset(turn->pool);
        count = guest_tx_parse(queue, turn, MIN(XN_BATCH_PACKETS, XN_TURN_PACKETS - done));
        count = guest_tx_direct(queue, turn, count);
        guest_tx_copy(queue, turn, count);
        sent = guest_tx_send_all(queue, turn, count);
        guest_tx_respond(queue, turn, sent);
        done += sent;
        if (queue->broken_reason) {
            break;
        }
        if (queue->guest_tx_port_full) {
            /* Whatever else there is to wait for is asked again when the port takes frames. */
            queue->guest_tx_credit_ns = 0;
            queue->guest_tx_waits_for = NULL;
        }
        if (queue->guest_tx_port_full || queue->guest_tx_credit_ns != 0 ||
            queue->guest_tx_waits_for ||
            (ring->rsp_prod_pvt == ring->req_cons && !ring_guest_tx_arm(ring, 1))) {
            queue->guest_tx_ready = false;
        }
        if (sent == 0) {
            break;
        }
    }
    return done;
}
