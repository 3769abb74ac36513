/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * naive-checksum.h - the Internet checksum in the textbook's way, for tests to compare with
 */
#ifndef TESTS_NETIF_NAIVE_CHECKSUM_H
#define TESTS_NETIF_NAIVE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Adds big-endian words to `sum` (0 to begin with), one carry at a time. Result in host order. */
static inline uint32_t naive_sum(uint32_t sum, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
        if (sum > 0xffff) {
            sum -= 0xffff;
        }
    }
    return sum;
}

#endif
