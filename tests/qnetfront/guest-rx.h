/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx.h - the consumer of the guest_rx ring (backend to guest)
 *
 * Theory of operation: a fixed number of granted pages are posted as requests; which page stands in
 * which ring position is kept in a record of our own, because an answer counts by its position, and
 * an extra's answer has no id. With the canary on, a page is filled with a known byte before it is
 * posted, so that a byte written beyond the data shows. One thread.
 */
#ifndef QNETFRONT_GUEST_RX_H
#define QNETFRONT_GUEST_RX_H

#include "fail.h"
#include "ring.h"

#include <xengnttab.h>

/* A frame of 65535 bytes takes 16 slots; a backend that does not coalesce may take more. */
#define XN_GUEST_RX_PARTS 64

struct XnGuestRxCounters {
    uint64_t packets;
    uint64_t bytes;
    uint64_t slots; /* answers, extras included */
    uint64_t extras;
    uint64_t slots_most; /* of one packet */
    uint64_t length_most; /* the longest packet */
    uint64_t slots_excess; /* packets with more (or fewer) slots than their length needs */
    uint64_t slots_unfilled; /* slots with less than a page before the packet's last */
    uint64_t errors; /* answers with a negative status */
    uint64_t wrong_id; /* not the id of the request in this position */
    uint64_t wrong_flags; /* undefined or contradictory flags, or set in the wrong slot */
    uint64_t wrong_size; /* status 0, or beyond the page */
    uint64_t wrong_extra; /* type, padding or chain of an extra */
    uint64_t wrong_headroom; /* other than agreed on, or not where the extra says */
    uint64_t canary; /* pages with a byte changed outside the data */
    uint64_t partial; /* times that the backend published an unfinished packet */
    uint64_t notifies;
    uint64_t pushes;
};

struct XnGuestRxPart {
    const uint8_t *data;
    uint32_t length;
};

/* One received packet; the data stay until guest_rx_repost(). */
struct XnGuestRxPacket {
    struct XnGuestRxPart part[XN_GUEST_RX_PARTS];
    unsigned int parts;
    unsigned int slots;
    unsigned int extras;
    uint32_t length;
    uint16_t headroom; /* free bytes before the data of the first part */
    bool bad; /* an error status or a malformed chain: the data are not to be used */
    struct XnFrameMeta meta;
    uint16_t page[XN_RING_SLOTS]; /* by slot */
};

struct XnGuestRx {
    xengntshr_handle *gntshr;
    netif_rx_front_ring_t ring;
    netif_rx_sring_t *sring;
    uint32_t ring_ref;
    uint8_t *pages;
    unsigned int buffers; /* pages, all posted unless in the caller's hands */
    bool canary;
    uint16_t headroom; /* that each packet must have */
    uint16_t generation;
    bool small_ids; /* the page's number alone */
    unsigned int refill; /* pages given back are posted when there are so many; 0: at once */
    unsigned int held_count;
    uint16_t held[XN_RING_SLOTS]; /* pages given back and not posted yet */
    uint32_t refs[XN_RING_SLOTS];
    uint16_t posted_id[XN_RING_SLOTS]; /* by ring position */
    uint16_t posted_page[XN_RING_SLOTS];
    struct XnGuestRxCounters counters;
};

/* Shares the ring and @buffers pages (0..XN_RING_SLOTS) with @backend, writable, and queues all of
 * them as requests. Counters go on over a reconnect. */
bool guest_rx_open(struct XnGuestRx *guest_rx, xengntshr_handle *gntshr, uint32_t backend,
                   unsigned int buffers, bool canary, struct XnFailure *failure);
void guest_rx_close(struct XnGuestRx *guest_rx);

/* Takes one whole packet: 1, or 0 if none is there, or -1 if the backend's index is impossible. */
int guest_rx_receive(struct XnGuestRx *guest_rx, struct XnGuestRxPacket *packet);

/* Gives the packet's pages back and queues them as requests. */
void guest_rx_repost(struct XnGuestRx *guest_rx, const struct XnGuestRxPacket *packet);

/* Publishes the queued requests. True if the backend asked for an event. */
bool guest_rx_push(struct XnGuestRx *guest_rx);

/* Asks for an event with the next answer. True if one came meanwhile. */
bool guest_rx_arm(struct XnGuestRx *guest_rx);

/* Slots that a packet, with its headroom, takes with full coalesce. */
unsigned int guest_rx_slots_needed(uint32_t length, unsigned int extras);

/* What no correct backend does. */
uint64_t guest_rx_violations(const struct XnGuestRxCounters *counters);

#endif
