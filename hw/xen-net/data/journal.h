/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal.h - private copies of the requests that were taken from the guest and not yet answered
 *
 * A request is copied here when it is consumed and is never read from the ring again. The copy of
 * ring index i stands at i % XN_RING_SIZE; it is of use until its response is written.
 */
#ifndef XN_DATA_JOURNAL_H
#define XN_DATA_JOURNAL_H

#include "netif/ring.h"

struct XnJournal {
    union XnGuestTxEntry guest_tx[XN_RING_SIZE];
    netif_rx_request_t guest_rx[XN_RING_SIZE];
};

static inline union XnGuestTxEntry *journal_guest_tx(struct XnJournal *journal, uint32_t index)
{
    return &journal->guest_tx[index % XN_RING_SIZE];
}

static inline netif_rx_request_t *journal_guest_rx(struct XnJournal *journal, uint32_t index)
{
    return &journal->guest_rx[index % XN_RING_SIZE];
}

#endif
