/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - what one queue counts
 *
 * One table names every counter; the struct, the list that statistics are printed from and the
 * documentation all come from it. Each counter has one writer, the worker that owns the queue;
 * any thread may read it. Counters only grow, until the queue is destroyed.
 */
#ifndef XN_BASE_COUNTERS_H
#define XN_BASE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * X(name, unit, reason, help). A counter with a reason is one of those into which the drops of its
 * direction are split: its name is the direction, "_drop_" and the reason, and in the metrics all
 * of them are one, qnetback_guest_tx_drop or _guest_rx_drop, with the label "reason".
 */
#define XN_QUEUE_COUNTERS(X)                                                                       \
    X(guest_tx_packets, "packets", NULL, "frames taken from the guest and given to the port")      \
    X(guest_tx_bytes, "bytes", NULL, "bytes of those frames, Ethernet header included")            \
    X(guest_tx_slots, "slots", NULL, "ring slots with data of those frames")                       \
    X(guest_tx_extras, "slots", NULL, "ring slots with extra info (GSO, ...) of those frames")     \
    X(guest_tx_segments, "segments", NULL, "grant-copy operations that fetched frames")            \
    X(guest_tx_copy_calls, "calls", NULL, "grant-copy calls that fetched frames")                  \
    X(guest_tx_responses, "slots", NULL, "responses written, one for each request")                \
    X(guest_tx_notifies, "events", NULL, "events sent to the guest for responses")                 \
    X(guest_tx_gathered, "packets", NULL,                                                          \
      "frames whose headers had to be gathered from several slots")                                \
    X(guest_tx_port_full, "times", NULL, "the port took no more frames; they waited in the ring")  \
    X(guest_tx_direct, "packets", NULL, "frames copied straight to a neighbour")                   \
    X(guest_tx_direct_waits, "times", NULL, "a frame waited because a neighbour had no buffers")   \
    X(guest_tx_drop_bad_size, "packets", "bad_size", "shorter than an Ethernet header")            \
    X(guest_tx_drop_bad_slots, "packets", "bad_slots", "20 or 21 slots, or slots beyond the size") \
    X(guest_tx_multicast, "requests", NULL, "changes of the multicast list")                       \
    X(guest_tx_rate_waits, "times", NULL, "a frame waited because the rate limit was reached")     \
    X(guest_tx_drop_bad_grant, "packets", "bad_grant", "a grant could not be copied from")         \
    X(guest_tx_drop_bad_header, "packets", "bad_header",                                           \
      "headers do not match the offload asked for")                                                \
    X(guest_tx_drop_port, "packets", "port", "the port refused the frame (down, no memory)")       \
    X(guest_tx_drop_admin_down, "packets", "admin_down", "the administrator set the vif down")     \
    X(guest_rx_packets, "packets", NULL, "frames given to the guest")                              \
    X(guest_rx_bytes, "bytes", NULL, "bytes of those frames, Ethernet header included")            \
    X(guest_rx_slots, "slots", NULL, "ring slots used for those frames, extra info included")      \
    X(guest_rx_slots_minimum, "slots", NULL, "the fewest slots those frames could have used")      \
    X(guest_rx_segments, "segments", NULL, "grant-copy operations that delivered frames")          \
    X(guest_rx_segments_minimum, "segments", NULL,                                                 \
      "the fewest operations those frames could have used")                                        \
    X(guest_rx_copy_calls, "calls", NULL, "grant-copy calls that delivered frames")                \
    X(guest_rx_direct, "packets", NULL, "frames that came straight from a neighbour")              \
    X(guest_rx_notifies, "events", NULL, "events sent to the guest for frames")                    \
    X(guest_rx_no_slots, "times", NULL,                                                            \
      "a frame waited because the guest had posted too few buffers")                               \
    X(guest_rx_stalls, "times", NULL, "carrier turned off: the guest took no frame for too long")  \
    X(guest_rx_rate_waits, "times", NULL, "a frame waited because the rate limit was reached")     \
    X(guest_rx_segmented, "packets", NULL, "super-frames cut into segments, which the guest got")  \
    X(guest_rx_drop_multicast, "packets", "multicast", "multicast that the guest did not ask for") \
    X(guest_rx_drop_no_slots, "packets", "no_slots",                                               \
      "the guest posted too few buffers for too long")                                             \
    X(guest_rx_drop_bad_grant, "packets", "bad_grant", "a grant could not be copied to")           \
    X(guest_rx_drop_too_big, "packets", "too_big", "larger than what the guest can take")          \
    X(guest_rx_drop_bad_header, "packets", "bad_header", "offload that the guest did not ask for") \
    X(guest_rx_drop_admin_down, "packets", "admin_down", "the administrator set the vif down")     \
    X(evtchn_events, "events", NULL, "events taken from the guest")                                \
    X(evtchn_spurious, "events", NULL, "events from the guest that brought no work")

struct XnQueueCounters {
#define XN_COUNTER_FIELD(name, unit, reason, help) uint64_t name;
    XN_QUEUE_COUNTERS(XN_COUNTER_FIELD)
#undef XN_COUNTER_FIELD
};

/* One row of the table; offset is that of the field in struct XnQueueCounters. */
struct XnCounterInfo {
    const char *name;
    const char *unit;
    /* Why frames were dropped; NULL: it counts something else. */
    const char *reason;
    const char *help;
    size_t offset;
};

extern const struct XnCounterInfo counters_queue_table[];
extern const size_t counters_queue_table_length;

/* Adds n; only the thread that owns the counter may call this. */
static inline void counter_add(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* Value of the counter that row `info` describes; any thread. */
static inline uint64_t counter_read(const struct XnQueueCounters *counters,
                                    const struct XnCounterInfo *info)
{
    return __atomic_load_n((const uint64_t *)(const void *)((const char *)counters + info->offset),
                           __ATOMIC_RELAXED);
}

#endif
