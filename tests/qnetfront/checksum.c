/* SPDX-License-Identifier: GPL-2.0-or-later */
/* checksum.c - the Internet checksum (RFC 1071) over byte strings */
#include "checksum.h"

#include <endian.h>
#include <string.h>

uint64_t checksum_add(uint64_t sum, const void *data, size_t length)
{
    const uint8_t *p = data;
    uint64_t native = 0;

    /* The sum is the same in either byte order but for a swap at the end, so 32-bit words are added
     * as the machine reads them. 2^32 words fit before the accumulator could overflow. */
    for (; length >= 4; length -= 4, p += 4) {
        uint32_t word;

        memcpy(&word, p, sizeof(word));
        native += word;
    }
    if (length >= 2) {
        uint16_t word;

        memcpy(&word, p, sizeof(word));
        native += word;
        p += 2;
        length -= 2;
    }
    if (length) {
        uint8_t pair[2] = {*p, 0};
        uint16_t word;

        memcpy(&word, pair, sizeof(word));
        native += word;
    }
    return sum + be16toh(checksum_fold(native));
}

uint16_t checksum_fold(uint64_t sum)
{
    while (sum >> 16) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return sum;
}

uint64_t checksum_pseudo(const uint8_t *source, const uint8_t *destination, size_t address_length,
                         uint8_t protocol, uint32_t l4_length)
{
    uint64_t sum = checksum_add(0, source, address_length);

    sum = checksum_add(sum, destination, address_length);
    return sum + protocol + (l4_length >> 16) + (l4_length & 0xffff);
}
