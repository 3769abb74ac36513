/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-tx-direct.c - frames from a guest straight to its neighbour
 *
 * Theory of operation
 *
 * Where the administrator allows it, a frame whose destination is another guest of this worker on
 * the same bridge is copied by the hypervisor from the one guest's pages to the other's, with one
 * operation for each piece, and never touches an interface of the host. It is a short cut: whatever
 * it cannot do, for whatever reason, goes the ordinary way through the port.
 *
 * The headers come first, with one call for the batch, into our own memory. They say where a frame
 * goes and are checked there, and it is these bytes that the neighbour gets; only what is behind
 * them is copied from guest to guest. So a guest that still writes to its pages changes payload,
 * and never what was checked.
 *
 * The second call copies all frames of the batch that go to neighbours. If an operation in it
 * fails, nothing was published yet: that neighbour's buffers are as unused as before, and all its
 * frames go the ordinary way, which sorts out whose grant was bad. Other neighbours' do not, so
 * that nobody's bad grants make the frames of others overtake each other.
 *
 * A neighbour without room makes the sender wait, since frames that took the other way would be
 * overtaken. But not for long: then its frames go through its interface for a while, and as long as
 * one of them is still on its way there. So a guest that receives nothing takes no more than a few
 * per cent of the time of one that sends.
 *
 * Buffers that frames from the neighbour's interface have waited for are theirs first; else a
 * sender that always has frames would leave them none.
 *
 * A frame that was delivered while an earlier one waits for the port is remembered, since it is
 * answered only after that one.
 */
#include <net/ethernet.h>

#include "base/clock.h"
#include "data/neighbours.h"
#include "data/queue-private.h"

/* How long a sender waits for a neighbour that has no room, and for how long it then does not. */
#define DIRECT_WAIT_NS (30 * XN_NS_PER_MS)
#define DIRECT_DETOUR_NS (1000 * XN_NS_PER_MS)
/* What every interface forwards without segmentation: a VLAN tag on top of Ethernet's MTU. */
#define DIRECT_ORDINARY_MAX (ETH_FRAME_LEN + 4u)

enum XnDirectFate {
    XN_DIRECT_NOT,
    XN_DIRECT_GO,
    /* the neighbour has no room yet */
    XN_DIRECT_WAIT,
};

/* Fetches the first bytes of each frame with one call; the ordinary way needs them too. */
static void guest_tx_direct_fetch(struct XnQueue *queue, struct XnTurn *turn, uint32_t count)
{
    struct XnCopyBatch *copies = &turn->copies;

    copy_batch_reset(copies);
    for (uint32_t i = 0; i < count; i++) {
        struct XnGuestTxSlot *slot = &turn->guest_tx[i];
        const struct XnSlot *piece = &slot->packet.slots[0];

        if (slot->dropped) {
            continue;
        }
        slot->head_page = buffer_pool_take(turn->pool, 1);
        slot->bytes[0] = buffer_pool_page(turn->pool, slot->head_page) + piece->offset;
        slot->first_segment =
            copy_batch_from_guest(copies, queue->config.domid, piece->ref, piece->offset,
                                  MIN(piece->size, XN_HEADER_MAX), slot->head_page);
    }
    if (copies->count == 0) {
        return;
    }
    guest_tx_flush(queue, copies);
    for (uint32_t i = 0; i < count; i++) {
        struct XnGuestTxSlot *slot = &turn->guest_tx[i];

        if (!slot->dropped && copy_batch_succeeded(copies, slot->first_segment, 1)) {
            slot->fetched = MIN(slot->packet.slots[0].size, XN_HEADER_MAX);
        }
    }
}

/* Whether a frame for this neighbour takes the ordinary way now; then no later one overtakes it. */
static bool guest_tx_direct_is_detour(struct XnQueue *neighbour)
{
    if (neighbour->detour_until_ns != 0 && clock_now_ns() >= neighbour->detour_until_ns) {
        neighbour->detour_until_ns = 0;
    }
    neighbour->detour_pending = neighbour->detour_pending || neighbour->detour_until_ns != 0;
    return neighbour->detour_pending;
}

/* Can the neighbour take such a frame directly, and what is it told about it? */
static bool guest_tx_direct_describe(const struct XnGuestTxSlot *slot, struct XnGuestRxSlot *to)
{
    const struct XnQueueConfig *config = &to->queue->config;
    struct virtio_net_hdr header;

    if (to->queue->broken_reason || credit_is_limited(&config->shared->guest_rx_credit) ||
        hash_algorithm(&config->shared->memory->hash) != XEN_NETIF_CTRL_HASH_ALGORITHM_NONE ||
        slot->packet.size > features_guest_rx_frame_max(&config->features) ||
        offload_guest_tx_describe(&slot->packet, slot->bytes[0], slot->fetched, &header) !=
            XN_OFFLOAD_OK ||
        (header.gso_type == VIRTIO_NET_HDR_GSO_NONE && slot->packet.size > DIRECT_ORDINARY_MAX) ||
        !offload_direct_describe(&header, &config->features, slot->bytes[0], slot->fetched,
                                 &to->meta)) {
        return false;
    }
    to->plan = guest_rx_plan(slot->packet.size, &to->meta);
    return true;
}

/*
 * Waits for room in the neighbour's ring for the packet at ring index `start`. False when that took
 * too long.
 */
static bool guest_tx_direct_wait(struct XnQueue *queue, struct XnGuestRxSlot *to, uint32_t start)
{
    struct XnQueue *neighbour = to->queue;
    uint32_t needed = guest_rx_plan_slots(&to->plan);
    uint64_t now = clock_now_ns();

    if (queue->guest_tx_wait_until_ns == 0 || queue->guest_tx_wait_start != start) {
        queue->guest_tx_wait_until_ns = now + DIRECT_WAIT_NS;
        queue->guest_tx_wait_start = start;
    }
    if (now >= queue->guest_tx_wait_until_ns) {
        queue->guest_tx_wait_until_ns = 0;
        neighbour->detour_until_ns = now + DIRECT_DETOUR_NS;
        neighbour->detour_pending = true;
        return false;
    }
    if (neighbour->guest_rx_slots_needed > 0) {
        needed = neighbour->held->length > 0 ? neighbour->guest_rx_slots_needed
                                             : MIN(needed, neighbour->guest_rx_slots_needed);
    }
    counter_add(&queue->config.counters->guest_tx_direct_waits, 1);
    if (!guest_rx_arm(neighbour, needed)) {
        queue->guest_tx_waits_for = neighbour;
        neighbour->guest_rx_waited_for = true;
    }
    return true;
}

/* Have frames of the neighbour's port waited for just these buffers? Then it is their turn. */
static bool guest_tx_direct_yields(struct XnQueue *neighbour, uint32_t posted)
{
    if (neighbour->guest_rx_slots_needed == 0 || posted < neighbour->guest_rx_slots_needed) {
        return false;
    }
    neighbour->guest_rx_ready = true;
    return true;
}

static enum XnDirectFate guest_tx_direct_admit(struct XnQueue *queue, struct XnTurn *turn,
                                               const struct XnGuestTxSlot *slot,
                                               struct XnGuestRxSlot *to, uint32_t start)
{
    uint32_t posted;

    to->queue = NULL;
    if (slot->dropped || slot->fetched < ETH_HLEN) {
        return XN_DIRECT_NOT;
    }
    to->queue = neighbours_find(turn->neighbours, queue, slot->bytes[0]);
    if (!to->queue || guest_tx_direct_is_detour(to->queue) || !guest_tx_direct_describe(slot, to) ||
        !guest_rx_room(to->queue, &posted)) {
        to->queue = NULL;
        return XN_DIRECT_NOT;
    }
    if (guest_tx_direct_yields(to->queue, posted)) {
        return XN_DIRECT_WAIT;
    }
    if (posted >= guest_rx_plan_slots(&to->plan) && to->queue->held->length == 0) {
        return XN_DIRECT_GO;
    }
    if (guest_tx_direct_wait(queue, to, start)) {
        return XN_DIRECT_WAIT;
    }
    to->queue = NULL;
    return XN_DIRECT_NOT;
}

/* Copies `size` bytes of the frame to position `to_offset` of what the neighbour gets. */
static void guest_tx_direct_piece(struct XnTurn *turn, const struct XnGuestRxSlot *to,
                                  uint32_t first, uint32_t position, struct XnCopySource source,
                                  uint32_t size)
{
    uint32_t place = to->meta.headroom + position;

    while (size > 0) {
        uint32_t offset = place % XN_PAGE_SIZE;
        uint32_t part = MIN(size, XN_PAGE_SIZE - offset);
        uint32_t index = first + guest_rx_plan_position(&to->plan, place / XN_PAGE_SIZE);

        copy_batch_between(&turn->copies, &source, to->queue->config.domid,
                           journal_guest_rx(to->queue->config.journal, index)->gref, offset, part);
        source.offset += part;
        place += part;
        size -= part;
    }
}

static void guest_tx_direct_plan(struct XnQueue *queue, struct XnTurn *turn,
                                 struct XnGuestTxSlot *slot, struct XnGuestRxSlot *to)
{
    uint32_t first = guest_rx_take(to);
    uint32_t position = slot->fetched;
    struct XnCopySource source = {.page = slot->head_page, .offset = slot->packet.slots[0].offset};

    slot->first_segment = turn->copies.count;
    guest_tx_direct_piece(turn, to, first, 0, source, slot->fetched);
    source.foreign = true;
    source.domid = queue->config.domid;
    for (uint32_t k = 0; k < slot->packet.slot_count; k++) {
        const struct XnSlot *piece = &slot->packet.slots[k];
        uint32_t done = k == 0 ? slot->fetched : 0;

        source.ref = piece->ref;
        source.offset = piece->offset + done;
        guest_tx_direct_piece(turn, to, first, position, source, piece->size - done);
        position += piece->size - done;
    }
    slot->segment_count = turn->copies.count - slot->first_segment;
    for (uint32_t i = 0; i < to->plan.data_slots; i++) {
        to->segments[i] = XN_NO_SEGMENT;
    }
}

static void guest_tx_direct_count(struct XnQueue *queue, const struct XnGuestTxSlot *slot,
                                  struct XnQueue *neighbour)
{
    counter_add(&queue->config.counters->guest_tx_direct, 1);
    counter_add(&neighbour->config.counters->guest_rx_direct, 1);
    guest_tx_count(queue, slot);
}

/* The requests that were taken of this neighbour's are as good as before. */
static void guest_tx_direct_undo(struct XnTurn *turn, uint32_t count, struct XnQueue *neighbour)
{
    neighbour->guest_rx_next = neighbour->guest_rx_ring.rsp_prod_pvt;
    for (uint32_t i = 0; i < count; i++) {
        if (turn->guest_rx[i].queue == neighbour) {
            turn->guest_rx[i].queue = NULL;
        }
    }
}

/* A neighbour gets all of its frames or none, since the others would overtake those that failed. */
static void guest_tx_direct_check(struct XnTurn *turn, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct XnGuestTxSlot *slot = &turn->guest_tx[i];
        struct XnQueue *neighbour = turn->guest_rx[i].queue;

        if (neighbour &&
            !copy_batch_succeeded(&turn->copies, slot->first_segment, slot->segment_count)) {
            guest_tx_direct_undo(turn, count, neighbour);
        }
    }
}

/* The neighbours' requests are answered, and each is told once. */
static void guest_tx_direct_finish(struct XnQueue *queue, struct XnTurn *turn, uint32_t count)
{
    uint32_t start = queue->guest_tx_ring.rsp_prod_pvt;

    for (uint32_t i = 0; i < count; i++) {
        struct XnGuestTxSlot *slot = &turn->guest_tx[i];
        const struct XnGuestRxSlot *to = &turn->guest_rx[i];

        if (to->queue) {
            guest_rx_answer(turn, to);
            guest_tx_direct_count(queue, slot, to->queue);
            to->queue->spurious_events = 0;
            to->queue->event_since_work = false;
            slot->dropped = true;
            queue->guest_tx_delivered[start % XN_RING_SIZE] = true;
        }
        start += slot->packet.entry_count;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (turn->guest_rx[i].queue) {
            guest_rx_publish(turn->guest_rx[i].queue);
        }
    }
}

uint32_t guest_tx_direct(struct XnQueue *queue, struct XnTurn *turn, uint32_t count)
{
    uint32_t start = queue->guest_tx_ring.rsp_prod_pvt;
    struct XnCopyBatch *copies = &turn->copies;

    queue->guest_tx_waits_for = NULL;
    if (!neighbours_has_any(turn->neighbours, queue) || queue->config.static_pages) {
        return count;
    }
    guest_tx_direct_fetch(queue, turn, count);
    copy_batch_reset(copies);
    for (uint32_t i = 0; i < count; i++) {
        struct XnGuestTxSlot *slot = &turn->guest_tx[i];
        struct XnGuestRxSlot *to = &turn->guest_rx[i];

        switch (guest_tx_direct_admit(queue, turn, slot, to, start)) {
        case XN_DIRECT_NOT:
            break;
        case XN_DIRECT_GO:
            guest_tx_direct_plan(queue, turn, slot, to);
            break;
        case XN_DIRECT_WAIT:
            count = i;
            break;
        }
        start += slot->packet.entry_count;
    }
    if (copies->count == 0) {
        return count;
    }
    guest_tx_flush(queue, copies);
    guest_tx_direct_check(turn, count);
    guest_tx_direct_finish(queue, turn, count);
    return count;
}
