/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checksum.c - the Internet checksum (RFC 1071)
 *
 * Theory of operation
 *
 * A one's complement sum does not depend on the byte order in which its 16-bit words are read, as
 * long as the result is stored in the same order. So words are added as they lie in memory, two at
 * a time, and the carries are folded in at the end: 64 bits hold those of 2^32 additions.
 */
#include "netif/checksum.h"

#include <string.h>

uint64_t checksum_add(uint64_t sum, const uint8_t *bytes, size_t length)
{
    uint32_t pair;

    for (; length >= sizeof(pair); length -= sizeof(pair), bytes += sizeof(pair)) {
        memcpy(&pair, bytes, sizeof(pair));
        sum += pair;
    }
    if (length > 0) {
        pair = 0;
        memcpy(&pair, bytes, length);
        sum += pair;
    }
    return sum;
}

uint16_t checksum_fold(uint64_t sum)
{
    while (sum > UINT16_MAX) {
        sum = (sum & UINT16_MAX) + (sum >> 16);
    }
    return (uint16_t)sum;
}
