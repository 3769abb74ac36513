/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.h - time as the data path reads it
 */
#ifndef XN_BASE_CLOCK_H
#define XN_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define XN_NS_PER_MS 1000000ull
#define XN_NS_PER_S 1000000000ull

/* Nanoseconds of a clock that never goes back; any thread. */
static inline uint64_t clock_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * XN_NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
