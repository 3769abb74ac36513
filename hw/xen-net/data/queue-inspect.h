/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue-inspect.h - what a queue is doing at the moment, for people
 *
 * By way of worker_inspect_queue() and worker_kick_queue(), since a served queue is its worker's.
 */
#ifndef XN_DATA_QUEUE_INSPECT_H
#define XN_DATA_QUEUE_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "netif/ring.h"

struct XnQueueView {
    struct XnRingView guest_tx;
    struct XnRingView guest_rx;
    /* Why a ring is no longer served, a constant string; NULL while all is well. */
    const char *broken_reason;
    /* guest_tx: the port takes no more; there is no credit; a neighbour has no room. */
    bool guest_tx_port_full;
    bool guest_tx_no_credit;
    bool guest_tx_waits_for_neighbour;
    /* guest_rx: buffers that the guest must post before it is served on, 0 = it is served. */
    uint32_t guest_rx_slots_needed;
    bool guest_rx_no_credit;
    /* Bytes of the frame that waits for buffers or credit, or is given in segments; 0 = none. */
    uint32_t guest_rx_held;
    /* The guest's event channels are masked: its queue is busy, or its events bring no work. */
    bool guest_tx_masked;
    bool guest_rx_masked;
    /* Events in a row that brought no work. */
    uint32_t spurious_events;
};

struct XnQueue;

/* On the worker that serves the queue. */
void queue_inspect(const struct XnQueue *queue, struct XnQueueView *ret_view);

/*
 * Has both directions looked at afresh, and tells the guest to look as well: what an event that got
 * lost, on either side, would have done. On the worker that serves the queue.
 */
void queue_kick(struct XnQueue *queue);

#endif
