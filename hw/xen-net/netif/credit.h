/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * credit.h - how much a vif may send or receive: a token bucket
 *
 * Theory of operation
 *
 * The toolstack writes rate = "<bytes>,<microseconds>". The kernel's netback hands the bytes out
 * once per interval, per queue, in whole timer ticks; here they trickle in continuously, for the
 * vif as a whole, so that the rate is kept at any interval and any frame size. As with the kernel,
 * unused credit adds up to the bytes of one interval or 128 KiB, whichever is more; a frame of any
 * size fits.
 *
 * The bucket is one number: the moment at which it was, or will be, empty. Credit is the time that
 * has passed since. Taking a frame's bytes moves that moment on by the time which they take at the
 * rate, with one compare-and-swap, so that all queues of a vif may share a bucket without a lock.
 * Times are kept in sixteenths of a nanosecond, lest the rounding of small frames adds up.
 */
#ifndef XN_NETIF_CREDIT_H
#define XN_NETIF_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

/* Credit that can add up at least; more than the largest frame. */
#define XN_CREDIT_BURST_MIN 131072u

/* bytes == 0: unlimited. Otherwise both are at least 1. */
struct XnCreditRate {
    uint64_t bytes;
    uint64_t interval_us;
};

struct XnCredit {
    /* 0: unlimited. */
    double time_per_byte;
    /* Credit that can add up. */
    int64_t burst;
    /* When the bucket was or will be empty. */
    uint64_t empty;
};

/*
 * Reads a rate: two decimal numbers with a comma between them, nothing else. If it is anything
 * else, or one number is 0 or has more than 64 bits, the rate is unlimited, and *ret_reason (else
 * NULL) is the second half of a sentence that begins with the value: a guest is not cut off by a
 * mistake. Returns whether the text was good.
 */
bool credit_parse(const char *text, struct XnCreditRate *ret_rate, const char **ret_reason);

/*
 * Sets the rate, with the credit of one interval. While other threads take from the bucket, a few
 * frames may still be counted by the old rate. Times are those of one clock, as everywhere here.
 */
void credit_set(struct XnCredit *credit, const struct XnCreditRate *rate, uint64_t now_ns);

/* Whether there is a limit at all; spares reading the clock. Any thread. */
static inline bool credit_is_limited(const struct XnCredit *credit)
{
    double time_per_byte;

    __atomic_load(&credit->time_per_byte, &time_per_byte, __ATOMIC_RELAXED);
    return time_per_byte > 0;
}

/*
 * Takes `bytes` if that much credit is there. If not, takes nothing, returns false, and
 * *ret_ready_ns is the moment from which on it would be, if nobody else takes any. Any thread.
 */
bool credit_take(struct XnCredit *credit, uint32_t bytes, uint64_t now_ns, uint64_t *ret_ready_ns);

#endif
