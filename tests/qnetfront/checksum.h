/* SPDX-License-Identifier: GPL-2.0-or-later */
/* checksum.h - the Internet checksum (RFC 1071) over byte strings */
#ifndef QNETFRONT_CHECKSUM_H
#define QNETFRONT_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Adds @length bytes, taken as big-endian 16-bit words, to @sum. All strings but the last have an
 * even length. */
uint64_t checksum_add(uint64_t sum, const void *data, size_t length);

/* Folds @sum to 16 bits in host order, not complemented. */
uint16_t checksum_fold(uint64_t sum);

/* Sum of the pseudo-header of TCP or UDP over IPv4 (@address_length 4) or IPv6 (16). */
uint64_t checksum_pseudo(const uint8_t *source, const uint8_t *destination, size_t address_length,
                         uint8_t protocol, uint32_t l4_length);

#endif
