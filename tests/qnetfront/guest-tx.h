/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-tx.h - the producer of the guest_tx ring (guest to backend)
 *
 * Theory of operation: each of 256 granted pages belongs to at most one request. A request's id is
 * its page number with a generation in the upper bits, so that an answer given twice, or to an
 * older request, shows (unless small ids are wanted). What was written in each ring slot is kept in
 * a record of our own, and answers are held against it: in order, one each, the id echoed, NULL for
 * extras. One thread.
 */
#ifndef QNETFRONT_GUEST_TX_H
#define QNETFRONT_GUEST_TX_H

#include "fail.h"
#include "layout.h"
#include "ring.h"

#include <xengnttab.h>

/* Data slots, and the GSO and hash extras, of the largest well-formed packet. */
#define XN_GUEST_TX_ROOM (XN_LAYOUT_SLOTS + 2)
/* The same for a frontend that uses one data slot. */
#define XN_GUEST_TX_ROOM_ONE 3

struct XnGuestTxCounters {
    uint64_t packets; /* queued */
    uint64_t bytes;
    uint64_t slots; /* ring slots, extras included */
    uint64_t extras;
    uint64_t answered; /* packets of which every slot is answered */
    uint64_t packets_bad; /* answered packets with a status other than OKAY */
    uint64_t okay; /* answers by status */
    uint64_t error;
    uint64_t dropped;
    uint64_t null;
    uint64_t strange; /* any other status */
    uint64_t wrong_id; /* not the id of the request in this position */
    uint64_t wrong_null; /* NULL for a data slot, or something else for an extra */
    uint64_t dirty; /* the unused bytes of an answer's slot changed */
    uint64_t notifies; /* events sent */
    uint64_t pushes;
};

struct XnGuestTxRecord {
    netif_tx_request_t request; /* as written: an extra's bytes too */
    bool extra;
    bool last; /* of its packet */
    int32_t page; /* to be given back when answered, -1: none */
};

struct XnGuestTx {
    xengntshr_handle *gntshr;
    netif_tx_front_ring_t ring;
    netif_tx_sring_t *sring;
    uint32_t ring_ref;
    uint8_t *pages; /* XN_RING_SLOTS of them, shared read-only */
    uint32_t refs[XN_RING_SLOTS];
    uint16_t free_pages[XN_RING_SLOTS]; /* a stack */
    unsigned int free_count;
    uint16_t generation;
    unsigned int limit; /* slots under way at most, 0: the ring's */
    bool small_ids; /* the page's number alone */
    bool packet_bad; /* a slot of the packet being answered was refused */
    struct XnGuestTxRecord records[XN_RING_SLOTS];
    struct XnGuestTxCounters counters;
};

/* Shares the ring page and the data pages with @backend. Counters go on over a reconnect. */
bool guest_tx_open(struct XnGuestTx *guest_tx, xengntshr_handle *gntshr, uint32_t backend,
                   struct XnFailure *failure);

/* Ends the sharing. Harmless if not open. */
void guest_tx_close(struct XnGuestTx *guest_tx);

/* Slots that can be queued now. */
unsigned int guest_tx_room(const struct XnGuestTx *guest_tx);

/* Requests without an answer. */
unsigned int guest_tx_unanswered(const struct XnGuestTx *guest_tx);

/* The @index-th page that the next packet will use, for filling it in place. */
uint8_t *guest_tx_next_page(const struct XnGuestTx *guest_tx, unsigned int index);

/* Queues a packet whose bytes stand in the next @count pages at the places @slot tells. The caller
 * has checked guest_tx_room(). Nothing is visible to the backend before guest_tx_push(). */
void guest_tx_queue(struct XnGuestTx *guest_tx, const struct XnSlot *slot, unsigned int count,
                    const struct XnFrameMeta *meta);

/* Copies @frame into the next pages and queues it. */
void guest_tx_queue_copy(struct XnGuestTx *guest_tx, const uint8_t *frame,
                         const struct XnSlot *slot, unsigned int count,
                         const struct XnFrameMeta *meta);

/* Puts one request as it is, right or wrong, in the next ring slot (for hostile modes). */
void guest_tx_queue_raw(struct XnGuestTx *guest_tx, const netif_tx_request_t *request, bool extra,
                        bool last);

/* Publishes what is queued. True if the backend asked for an event. */
bool guest_tx_push(struct XnGuestTx *guest_tx);

/* Takes the answers that are there and returns their number; -1 if the backend's index is
 * impossible. */
int guest_tx_reap(struct XnGuestTx *guest_tx);

/* Asks for an event when about half of what is unanswered is answered. True if answers came
 * meanwhile and guest_tx_reap() has to be called again. */
bool guest_tx_arm(struct XnGuestTx *guest_tx);

/* Answers that no correct backend gives. */
uint64_t guest_tx_violations(const struct XnGuestTxCounters *counters);

#endif
