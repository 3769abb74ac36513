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

/* X(name, unit, help) */
#define XN_QUEUE_COUNTERS(X)                                                                       \
    X(guest_tx_packets, "packets", "frames taken from the guest and given to the port")            \
    X(guest_tx_bytes, "bytes", "bytes of those frames, Ethernet header included")                  \
    X(guest_tx_slots, "slots", "ring slots with data of those frames")                             \
    X(guest_tx_extras, "slots", "ring slots with extra info (GSO, ...) of those frames")           \
    X(guest_tx_segments, "segments", "grant-copy operations that fetched frames")                  \
    X(guest_tx_copy_calls, "calls", "grant-copy calls that fetched frames")                        \
    X(guest_tx_responses, "slots", "responses written, one for each request")                      \
    X(guest_tx_notifies, "events", "events sent to the guest for responses")                       \
    X(guest_tx_gathered, "packets", "frames whose headers had to be gathered from several slots")  \
    X(guest_tx_port_full, "times", "the port took no more frames; they waited in the ring")        \
    X(guest_tx_drop_bad_size, "packets", "dropped: shorter than an Ethernet header")               \
    X(guest_tx_drop_bad_slots, "packets", "dropped: 20 or 21 slots, or slots beyond the size")     \
    X(guest_tx_multicast, "requests", "changes of the multicast list")                             \
    X(guest_tx_rate_waits, "times", "a frame waited because the rate limit was reached")           \
    X(guest_tx_drop_bad_grant, "packets", "dropped: a grant could not be copied from")             \
    X(guest_tx_drop_bad_header, "packets", "dropped: headers do not match the offload asked for")  \
    X(guest_tx_drop_port, "packets", "dropped: the port refused the frame (down, no memory)")      \
    X(guest_rx_packets, "packets", "frames given to the guest")                                    \
    X(guest_rx_bytes, "bytes", "bytes of those frames, Ethernet header included")                  \
    X(guest_rx_slots, "slots", "ring slots used for those frames, extra info included")            \
    X(guest_rx_slots_minimum, "slots", "the fewest slots those frames could have used")            \
    X(guest_rx_segments, "segments", "grant-copy operations that delivered frames")                \
    X(guest_rx_segments_minimum, "segments", "the fewest operations those frames could have used") \
    X(guest_rx_copy_calls, "calls", "grant-copy calls that delivered frames")                      \
    X(guest_rx_notifies, "events", "events sent to the guest for frames")                          \
    X(guest_rx_no_slots, "times", "a frame waited because the guest had posted too few buffers")   \
    X(guest_rx_rate_waits, "times", "a frame waited because the rate limit was reached")           \
    X(guest_rx_segmented, "packets", "super-frames cut into segments, which the guest got")        \
    X(guest_rx_drop_multicast, "packets", "not given: multicast that the guest did not ask for")   \
    X(guest_rx_drop_queue_full, "packets", "dropped: the queue that the hash says had no buffers") \
    X(guest_rx_drop_bad_grant, "packets", "lost: a grant could not be copied to")                  \
    X(guest_rx_drop_too_big, "packets", "dropped: larger than what the guest can take")            \
    X(guest_rx_drop_bad_header, "packets", "dropped: offload that the guest did not ask for")      \
    X(evtchn_events, "events", "events taken from the guest")                                      \
    X(evtchn_spurious, "events", "events from the guest that brought no work")

struct XnQueueCounters {
#define XN_COUNTER_FIELD(name, unit, help) uint64_t name;
    XN_QUEUE_COUNTERS(XN_COUNTER_FIELD)
#undef XN_COUNTER_FIELD
};

/* One row of the table; offset is that of the field in struct XnQueueCounters. */
struct XnCounterInfo {
    const char *name;
    const char *unit;
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
