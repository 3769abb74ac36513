/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mcast.h - which multicast frames the guest wants
 *
 * Theory of operation
 *
 * The guest adds and deletes addresses by extra infos in guest_tx, on any of its queues; frames for
 * it are filtered in guest_rx, on any queue; and the filter is switched by a key in xenstore. So
 * all three may happen in different threads at once. An address has 48 bits: with a count of how
 * often it was added it is one 64-bit word, and every operation is a load or a compare-and-swap. No
 * order is promised between queues, nor needed.
 *
 * An address that was added twice must be deleted twice, as with the kernel's netback, but takes
 * one place only. (Two queues that add it at the same moment may use two.)
 */
#ifndef XN_NETIF_MCAST_H
#define XN_NETIF_MCAST_H

#include <stdbool.h>
#include <stdint.h>

/* Addresses of one vif, as many as the kernel's netback takes. */
#define XN_MCAST_MAX 64u

/* All zero: no address, filter off. */
struct XnMcast {
    /* request-multicast-control of the frontend */
    bool filter;
    /* The address in the lower 48 bits, in the upper 16 how often it was added; 0: free. */
    uint64_t addresses[XN_MCAST_MAX];
};

/* Forgets all addresses and switches the filter off, for a new connection. No other thread. */
void mcast_init(struct XnMcast *mcast);

/* Switches the filter; the addresses stay, with it off too (netif.h). Any thread. */
void mcast_set_filter(struct XnMcast *mcast, bool on);

/* Adds an address of 6 bytes. False, to be answered with an error, when 64 others are there. */
bool mcast_add(struct XnMcast *mcast, const uint8_t *address);

/* Deletes an address. One that is not there is as good as deleted: this cannot fail. */
void mcast_delete(struct XnMcast *mcast, const uint8_t *address);

/*
 * Whether the guest wants the frame with this destination address: unicast and broadcast always,
 * multicast if the filter is off or the address was added. Any thread.
 */
bool mcast_pass(const struct XnMcast *mcast, const uint8_t *destination);

#endif
