/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue-inspect.c - what a queue is doing at the moment, for people
 */
#include "data/queue-inspect.h"

#include "data/queue-private.h"

void queue_inspect(const struct XnQueue *queue, struct XnQueueView *ret_view)
{
    *ret_view = (struct XnQueueView){
        .guest_tx = ring_guest_tx_view(&queue->guest_tx_ring),
        .guest_rx = ring_guest_rx_view(&queue->guest_rx_ring),
        .broken_reason = queue->broken_reason,
        .guest_tx_port_full = queue->guest_tx_port_full,
        .guest_tx_no_credit = queue->guest_tx_credit_ns != 0,
        .guest_tx_waits_for_neighbour = queue->guest_tx_waits_for != NULL,
        .guest_rx_slots_needed = queue->guest_rx_slots_needed,
        .guest_rx_no_credit = queue->guest_rx_credit_ns != 0,
        .guest_rx_held = queue->held->length,
        .guest_tx_masked = queue->guest_tx_masked,
        .guest_rx_masked = queue->guest_rx_masked,
        .spurious_events = queue->spurious_events,
    };
}

void queue_kick(struct XnQueue *queue)
{
    if (queue->broken_reason) {
        return;
    }
    queue->guest_tx_ready = true;
    queue->guest_rx_ready = true;
    queue->guest_tx_port_full = false;
    queue->spurious_events = 0;
    evtchn_notify(queue->config.evtchn, queue->config.guest_tx_channel);
    if (queue->config.guest_rx_channel != queue->config.guest_tx_channel) {
        evtchn_notify(queue->config.evtchn, queue->config.guest_rx_channel);
    }
}
