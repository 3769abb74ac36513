/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-stall.h - how long frames wait for a guest that posts too few buffers
 *
 * Theory of operation
 *
 * A frame waits until its guest has posted as many buffers as it takes. Some guests never do: one
 * that hangs posts none, one with a small ring fewer than a super-frame needs. So the waiting ends
 * after `drain_ns`: the frame is dropped, and so are all that need as many slots or more, without
 * waiting, until the guest has that many posted once. Smaller frames still go through.
 *
 * When nothing could be given for `stall_ns` and frames were dropped in that time, the guest is
 * stalled: its carrier is to be turned off, so that the host's network stops sending to it, until
 * it posts buffers again. The times are those of Linux's netback. It drops sooner (30 ms) for a
 * frontend without feature-rx-notify, since it would not learn of new buffers; we look for them.
 *
 * Pure: the time is told. One thread, the queue's worker.
 */
#ifndef XN_NETIF_GUEST_RX_STALL_H
#define XN_NETIF_GUEST_RX_STALL_H

#include <stdbool.h>
#include <stdint.h>

/* Defaults, in milliseconds. */
#define XN_GUEST_RX_DRAIN_MS 10000u
#define XN_GUEST_RX_STALL_MS 60000u
/*
 * A frame whose queue was chosen by its hash keeps frames for other queues waiting behind it: not
 * for longer than this.
 */
#define XN_GUEST_RX_DRAIN_STEERED_MS 1000u

/* In nanoseconds; 0: for ever. */
struct XnGuestRxPatience {
    uint64_t drain_ns;
    uint64_t stall_ns;
};

/* Of the ring that lacks buffers. All zero: all is well. */
struct XnGuestRxStall {
    /* Frames that need so many slots or more are not waited for; 0: all are. */
    uint32_t refused;
    /* Since when nothing could be given; 0: something could. */
    uint64_t barren_ns;
    bool stalled;
};

/*
 * A frame that needs `needed` slots still lacks some at `now_ns`, a moment that is not 0. *since_ns
 * is when its waiting began, 0: now. Returns whether it has waited long enough: then it is to be
 * dropped, and guest_rx_stall_refuses() says the same of those like it.
 */
bool guest_rx_stall_waits(struct XnGuestRxStall *stall, uint32_t needed, uint64_t *since_ns,
                          uint64_t now_ns, uint64_t drain_ns);

/* Is a frame that needs `needed` slots, more than are posted, to be dropped at once? */
static inline bool guest_rx_stall_refuses(const struct XnGuestRxStall *stall, uint32_t needed)
{
    return stall->refused != 0 && needed >= stall->refused;
}

/* A refused frame was dropped. Returns whether the guest is stalled from now on. */
bool guest_rx_stall_dropped(struct XnGuestRxStall *stall, uint64_t now_ns, uint64_t stall_ns);

/* A frame was given. */
static inline void guest_rx_stall_given(struct XnGuestRxStall *stall)
{
    stall->barren_ns = 0;
}

/* So many slots are posted. Returns whether the guest was stalled and is not any more. */
static inline bool guest_rx_stall_posted(struct XnGuestRxStall *stall, uint32_t posted)
{
    bool stalled = stall->stalled;

    if (stall->refused == 0 || posted < stall->refused) {
        return false;
    }
    *stall = (struct XnGuestRxStall){0};
    return stalled;
}

#endif
