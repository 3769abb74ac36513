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
 * still receives small frames at once. The waiting has an end (netif/guest-rx-stall.h).
 *
 * With steering by hash (struct XnVifShared) the ring that a frame waits for may be another queue's
 * than that whose port it came through. It is the latter that waits, and keeps the frame.
 */
#include "base/clock.h"
#include "data/queue-private.h"
#include "trace.h"

bool guest_rx_room(struct XnQueue *queue, uint32_t *ret_posted)
{
    const netif_rx_back_ring_t *ring = &queue->guest_rx_ring;

    if (!ring_guest_rx_unconsumed(ring, ret_posted)) {
        queue->broken_reason = "guest_rx ring: more requests than the ring has slots";
        return false;
    }
    *ret_posted += ring->req_cons - queue->guest_rx_next;
    return true;
}

bool guest_rx_arm(struct XnQueue *queue, uint32_t needed)
{
    uint32_t taken = queue->guest_rx_ring.req_cons - queue->guest_rx_next;

    return needed <= taken || ring_guest_rx_arm(&queue->guest_rx_ring, needed - taken);
}

/*
 * Which queue the frame goes to; tells the guest the frame's hash if it has asked for that. A guest
 * that has named no types of frames has asked for nothing.
 */
static struct XnQueue *guest_rx_steer(struct XnQueue *queue, const uint8_t *frame, uint32_t length,
                                      struct XnGuestRxMeta *meta)
{
    const struct XnVifShared *shared = queue->config.shared;
    struct XnQueue *steered;
    struct XnHashResult hash;

    if (!hash_is_wanted(&shared->memory->hash)) {
        return queue;
    }
    hash = hash_frame(&shared->memory->hash, frame, MIN(length, XN_HEADER_MAX));
    if (hash.found) {
        meta->hash = hash_extra(&hash);
    }
    steered = shared->steered[hash_queue(&shared->memory->hash, hash.value)];
    return steered && !steered->broken_reason ? steered : queue;
}

/* Brings data slot `i` of a frame, which lies in our page `page`, to the guest's page `ref`. */
static void guest_rx_deliver(struct XnTurn *turn, struct XnGuestRxSlot *slot, uint32_t i,
                             uint32_t ref, uint32_t page)
{
    const struct XnQueueConfig *config = &slot->queue->config;
    uint8_t *mapped = static_pages_find(config->static_pages, ref, true);
    uint32_t offset = guest_rx_plan_offset(&slot->plan, i);
    uint32_t size = guest_rx_plan_size(&slot->plan, i);

    if (mapped) {
        memcpy(mapped + offset, buffer_pool_page(turn->pool, page) + offset, size);
        slot->segments[i] = XN_NO_SEGMENT;
    } else {
        slot->segments[i] =
            (uint16_t)copy_batch_to_guest(&turn->copies, config->domid, ref, offset, size, page);
    }
}

uint32_t guest_rx_take(struct XnGuestRxSlot *slot)
{
    struct XnQueue *queue = slot->queue;
    netif_rx_back_ring_t *ring = &queue->guest_rx_ring;
    uint32_t first = queue->guest_rx_next;

    queue->guest_rx_next += guest_rx_plan_slots(&slot->plan);
    while ((int32_t)(queue->guest_rx_next - ring->req_cons) > 0) {
        journal_take_guest_rx(queue->config.journal, ring);
    }
    return first;
}

/* Delivers a frame that lies in the pool's pages from `page` on, to the next requests. */
static void guest_rx_plan_copies(struct XnTurn *turn, struct XnGuestRxSlot *slot, uint32_t page)
{
    struct XnQueue *queue = slot->queue;
    uint32_t first = guest_rx_take(slot);

    for (uint32_t i = 0; i < slot->plan.data_slots; i++) {
        uint32_t index = first + guest_rx_plan_position(&slot->plan, i);

        guest_rx_deliver(turn, slot, i, journal_guest_rx(queue->config.journal, index)->gref,
                         page + i);
    }
}

enum XnGuestRxFate {
    XN_GUEST_RX_KEEP,
    XN_GUEST_RX_DROP,
    /* put back: the guest cannot have it now */
    XN_GUEST_RX_WAIT,
};

static void guest_rx_tell_stall(struct XnQueue *queue)
{
    const struct XnQueueConfig *config = &queue->config;
    uint32_t bit = 1u << config->index;

    if (queue->guest_rx_stall.stalled) {
        __atomic_fetch_or(&config->shared->guest_rx_stalled, bit, __ATOMIC_RELAXED);
        counter_add(&config->counters->guest_rx_stalls, 1);
        /* It may be another queue's turn; this one has to be looked at for buffers from now on. */
        queue->guest_rx_ready = true;
    } else {
        __atomic_fetch_and(&config->shared->guest_rx_stalled, ~bit, __ATOMIC_RELAXED);
    }
    trace_guest_rx_stall(queue, config->domid, config->index, queue->guest_rx_stall.stalled);
    config->stalled(config->opaque);
}

/* Like guest_rx_room(), for a frame that wants to go there. */
static bool guest_rx_look(struct XnQueue *queue, uint32_t *ret_posted)
{
    if (!guest_rx_room(queue, ret_posted)) {
        return false;
    }
    if (guest_rx_stall_posted(&queue->guest_rx_stall, *ret_posted)) {
        guest_rx_tell_stall(queue);
    }
    return true;
}

/* Drops a frame for which the guest has posted too few buffers for too long. */
static void guest_rx_refuse(struct XnQueue *queue)
{
    const struct XnQueueConfig *config = &queue->config;

    counter_add(&config->counters->guest_rx_drop_no_slots, 1);
    if (guest_rx_stall_dropped(&queue->guest_rx_stall, clock_now_ns(), config->patience.stall_ns)) {
        guest_rx_tell_stall(queue);
    }
}

/* Can the guest have this frame now? */
static enum XnGuestRxFate guest_rx_admit(struct XnQueue *queue, struct XnGuestRxSlot *slot)
{
    struct XnCredit *credit = &queue->config.shared->guest_rx_credit;
    uint32_t needed = guest_rx_plan_slots(&slot->plan);
    uint32_t posted;

    if (!guest_rx_look(slot->queue, &posted)) {
        return XN_GUEST_RX_DROP;
    }
    if (posted < needed && guest_rx_stall_refuses(&slot->queue->guest_rx_stall, needed)) {
        guest_rx_refuse(slot->queue);
        return XN_GUEST_RX_DROP;
    }
    if (posted < needed) {
        queue->guest_rx_slots_needed = needed;
        queue->guest_rx_waits_for = slot->queue;
        counter_add(&slot->queue->config.counters->guest_rx_no_slots, 1);
        trace_guest_rx_no_slots(slot->queue, slot->queue->config.domid, slot->queue->config.index,
                                needed);
        return XN_GUEST_RX_WAIT;
    }
    if (credit_is_limited(credit) &&
        !credit_take(credit, slot->plan.length, clock_now_ns(), &queue->guest_rx_credit_ns)) {
        counter_add(&queue->config.counters->guest_rx_rate_waits, 1);
        return XN_GUEST_RX_WAIT;
    }
    return XN_GUEST_RX_KEEP;
}

/* At the start of a batch, what was used is what was answered. */
static void guest_rx_begin(struct XnQueue *queue, struct XnTurn *turn)
{
    struct XnQueue *const *steered = queue->config.shared->steered;

    buffer_pool_reset(turn->pool);
    copy_batch_reset(&turn->copies);
    queue->guest_rx_next = queue->guest_rx_ring.rsp_prod_pvt;
    for (uint32_t i = 0; i < XN_VIF_QUEUES_MAX && steered[i]; i++) {
        steered[i]->guest_rx_next = steered[i]->guest_rx_ring.rsp_prod_pvt;
    }
}

/*
 * Receives up to `limit` frames, and keeps in turn->guest_rx[] those that the guest gets. *ret_kept
 * tells how many that are. Returns how many frames were taken from the port: fewer than could be
 * means that it has no more, or that the guest cannot have the next one yet.
 */
static uint32_t guest_rx_receive(struct XnQueue *queue, struct XnTurn *turn, uint32_t limit,
                                 uint32_t *ret_kept)
{
    uint32_t headroom = queue->config.features.guest_rx_headroom;
    uint32_t taken = 0, kept = 0;

    while (taken < limit) {
        struct XnGuestRxSlot *slot = &turn->guest_rx[kept];
        uint32_t page = buffer_pool_take(turn->pool, XN_FRAME_PAGES);
        uint8_t *frame = buffer_pool_page(turn->pool, page) + headroom;
        enum XnGuestRxSource source;
        enum XnGuestRxFate fate = XN_GUEST_RX_DROP;
        uint32_t length;

        source = guest_rx_source_next(queue, frame, &length, &slot->meta);
        if (source == XN_GUEST_RX_NONE) {
            queue->guest_rx_ready = false;
            queue->detour_pending = false;
            break;
        }
        if (source == XN_GUEST_RX_FRAME) {
            slot->queue = guest_rx_steer(queue, frame, length, &slot->meta);
            slot->plan = guest_rx_plan(length, &slot->meta);
            fate = guest_rx_admit(queue, slot);
        }
        if (fate == XN_GUEST_RX_WAIT) {
            guest_rx_source_put_back(queue, frame, length, &slot->meta);
            break;
        }
        taken++;
        if (fate == XN_GUEST_RX_DROP) {
            buffer_pool_trim(turn->pool, page);
            continue;
        }
        guest_rx_plan_copies(turn, slot, page);
        buffer_pool_trim(turn->pool, page + slot->plan.data_slots);
        kept++;
    }
    *ret_kept = kept;
    trace_guest_rx_received(queue, queue->config.domid, queue->config.index, taken);
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

/* How data slot `i` of a frame fared: GNTST_*. */
static int16_t guest_rx_status(const struct XnTurn *turn, const struct XnGuestRxSlot *slot,
                               uint32_t i)
{
    if (slot->segments[i] == XN_NO_SEGMENT) {
        return GNTST_okay;
    }
    return turn->copies.segments[slot->segments[i]].status;
}

static bool guest_rx_succeeded(const struct XnTurn *turn, const struct XnGuestRxSlot *slot)
{
    for (uint32_t i = 0; i < slot->plan.data_slots; i++) {
        if (guest_rx_status(turn, slot, i) != GNTST_okay) {
            return false;
        }
    }
    return true;
}

static void guest_rx_count(const struct XnTurn *turn, const struct XnGuestRxSlot *slot)
{
    struct XnQueueCounters *counters = slot->queue->config.counters;
    uint32_t minimum = (slot->meta.headroom + slot->plan.length + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE;

    if (!guest_rx_succeeded(turn, slot)) {
        counter_add(&counters->guest_rx_drop_bad_grant, 1);
        return;
    }
    guest_rx_stall_given(&slot->queue->guest_rx_stall);
    /* What the guest's event brought, when it is another queue's turn. */
    slot->queue->event_since_work = false;
    slot->queue->spurious_events = 0;
    counter_add(&counters->guest_rx_packets, 1);
    counter_add(&counters->guest_rx_bytes, slot->plan.length);
    counter_add(&counters->guest_rx_slots, guest_rx_plan_slots(&slot->plan));
    counter_add(&counters->guest_rx_slots_minimum,
                minimum + (slot->meta.gso_type != XEN_NETIF_GSO_TYPE_NONE) +
                    (slot->meta.hash.type != XEN_NETIF_EXTRA_TYPE_NONE) +
                    (slot->meta.headroom != 0));
    counter_add(&counters->guest_rx_segments_minimum, minimum);
}

/*
 * Answers the requests of one frame. A slot whose copy failed carries the error; the guest then
 * drops that frame.
 */
static void guest_rx_respond(const struct XnTurn *turn, const struct XnGuestRxSlot *slot)
{
    netif_rx_back_ring_t *ring = &slot->queue->guest_rx_ring;

    for (uint32_t position = 0; position < guest_rx_plan_slots(&slot->plan); position++) {
        uint16_t id = journal_guest_rx(slot->queue->config.journal, ring->rsp_prod_pvt)->id;
        union XnGuestRxEntry entry = guest_rx_plan_entry(&slot->plan, &slot->meta, position, id);
        bool is_extra = position >= 1 && position <= slot->plan.extra_slots;

        if (!is_extra) {
            uint32_t data = position == 0 ? 0 : position - slot->plan.extra_slots;
            int16_t status = guest_rx_status(turn, slot, data);

            if (status != GNTST_okay) {
                entry.response.status = status;
            }
        }
        ring_guest_rx_respond(ring, &entry);
    }
}

void guest_rx_answer(const struct XnTurn *turn, const struct XnGuestRxSlot *slot)
{
    guest_rx_respond(turn, slot);
    guest_rx_count(turn, slot);
}

void guest_rx_publish(struct XnQueue *queue)
{
    bool notify = ring_guest_rx_push(&queue->guest_rx_ring);

    trace_guest_rx_published(queue, queue->config.domid, queue->config.index, notify);
    if (notify) {
        evtchn_notify(queue->config.evtchn, queue->config.guest_rx_channel);
        counter_add(&queue->config.counters->guest_rx_notifies, 1);
    }
}

static void guest_rx_finish(struct XnQueue *queue, struct XnTurn *turn, uint32_t count)
{
    struct XnQueue *const *steered = queue->config.shared->steered;

    for (uint32_t i = 0; i < count; i++) {
        guest_rx_answer(turn, &turn->guest_rx[i]);
    }
    if (count == 0) {
        return;
    }
    if (!steered[0]) {
        guest_rx_publish(queue);
    }
    for (uint32_t i = 0; i < XN_VIF_QUEUES_MAX && steered[i]; i++) {
        guest_rx_publish(steered[i]);
    }
}

static void guest_rx_stop_waiting(struct XnQueue *queue)
{
    queue->guest_rx_slots_needed = 0;
    queue->guest_rx_waits_for = NULL;
    queue->guest_rx_waits_since_ns = 0;
}

/* How long a frame of this queue waits for buffers. */
static uint64_t guest_rx_drain_ns(const struct XnQueue *queue)
{
    uint64_t drain_ns = queue->config.patience.drain_ns;

    if (drain_ns > XN_GUEST_RX_DRAIN_STEERED_MS * XN_NS_PER_MS &&
        queue->config.shared->steered[0]) {
        return XN_GUEST_RX_DRAIN_STEERED_MS * XN_NS_PER_MS;
    }
    return drain_ns;
}

/* Has the queue to wait for buffers? Then an event is asked for. */
static bool guest_rx_waits_for_slots(struct XnQueue *queue)
{
    struct XnQueue *ring = queue->guest_rx_waits_for ? queue->guest_rx_waits_for : queue;
    struct XnGuestRxStall *stall = &ring->guest_rx_stall;
    uint32_t posted;

    if (!guest_rx_look(ring, &posted)) {
        guest_rx_stop_waiting(queue);
        return ring == queue;
    }
    if (posted == 0 && !queue->config.shared->steered[0] && !guest_rx_stall_refuses(stall, 1)) {
        queue->guest_rx_slots_needed = MAX(queue->guest_rx_slots_needed, 1);
    }
    if (posted >= queue->guest_rx_slots_needed ||
        guest_rx_stall_waits(stall, queue->guest_rx_slots_needed, &queue->guest_rx_waits_since_ns,
                             clock_now_ns(), guest_rx_drain_ns(queue))) {
        guest_rx_stop_waiting(queue);
        return false;
    }
    /* Buffers that come in just now are seen in the next turn, not in a loop here. */
    queue->guest_rx_ready = guest_rx_arm(ring, queue->guest_rx_slots_needed);
    return true;
}

/* Whether the direction has to wait: for credit, or for buffers. */
static bool guest_rx_waits(struct XnQueue *queue)
{
    if (queue->guest_rx_credit_ns != 0 && clock_now_ns() < queue->guest_rx_credit_ns) {
        queue->guest_rx_ready = false;
        return true;
    }
    queue->guest_rx_credit_ns = 0;
    return guest_rx_waits_for_slots(queue);
}

uint32_t guest_rx_turn(struct XnQueue *queue, struct XnTurn *turn)
{
    uint32_t done = 0;

    while (queue->guest_rx_ready && done < XN_TURN_PACKETS) {
        uint32_t kept;

        guest_rx_begin(queue, turn);
        if (guest_rx_waits(queue)) {
            break;
        }
        done += guest_rx_receive(queue, turn, MIN(XN_BATCH_PACKETS, XN_TURN_PACKETS - done), &kept);
        guest_rx_copy(queue, turn);
        guest_rx_finish(queue, turn, kept);
        if (queue->broken_reason) {
            break;
        }
    }
    return done;
}
