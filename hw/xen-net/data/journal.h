/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal.h - private copies of the requests that were taken from the guest and not yet answered
 *
 * Theory of operation
 *
 * A request is copied here when it is consumed and is never read from the ring again. The copy of
 * ring index i stands at i % XN_RING_SIZE; it is of use until its response is published.
 *
 * The journal is all the state of a queue that is not in the ring itself. A response overwrites the
 * request in whose slot it is written, so a process that dies between writing responses and
 * publishing them leaves requests that can be read nowhere else. Its successor attaches to the
 * ring at the published responses and deals with everything from there to `*_consumed` again, from
 * the journal: at worst a frame is sent twice. Nothing is written for that alone.
 *
 * The copy is complete before the index that covers it moves.
 */
#ifndef XN_DATA_JOURNAL_H
#define XN_DATA_JOURNAL_H

#include "netif/ring.h"

struct XnJournal {
    /* indices behind the last request that was copied */
    uint32_t guest_tx_consumed;
    uint32_t guest_rx_consumed;
    union XnGuestTxEntry guest_tx[XN_RING_SIZE];
    netif_rx_request_t guest_rx[XN_RING_SIZE];
};

static inline const union XnGuestTxEntry *journal_guest_tx(const struct XnJournal *journal,
                                                           uint32_t index)
{
    return &journal->guest_tx[index % XN_RING_SIZE];
}

static inline const netif_rx_request_t *journal_guest_rx(const struct XnJournal *journal,
                                                         uint32_t index)
{
    return &journal->guest_rx[index % XN_RING_SIZE];
}

/* Moves the next guest_tx request from the ring to the journal. */
static inline void journal_take_guest_tx(struct XnJournal *journal, netif_tx_back_ring_t *ring)
{
    ring_guest_tx_consume(ring, &journal->guest_tx[ring->req_cons % XN_RING_SIZE]);
    __atomic_store_n(&journal->guest_tx_consumed, ring->req_cons, __ATOMIC_RELEASE);
}

/* Moves the next guest_rx request from the ring to the journal. */
static inline void journal_take_guest_rx(struct XnJournal *journal, netif_rx_back_ring_t *ring)
{
    ring_guest_rx_consume(ring, &journal->guest_rx[ring->req_cons % XN_RING_SIZE]);
    __atomic_store_n(&journal->guest_rx_consumed, ring->req_cons, __ATOMIC_RELEASE);
}

#endif
