/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checksum.h - the Internet checksum (RFC 1071)
 */
#ifndef XN_NETIF_CHECKSUM_H
#define XN_NETIF_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Adds `length` bytes to the 16-bit one's complement sum `sum` (0 to begin with), as if they
 * started at an even offset; the result is not folded and not inverted.
 */
uint64_t checksum_add(uint64_t sum, const uint8_t *bytes, size_t length);

/* Folds a sum to 16 bits, in network order when stored as it is; not inverted. */
uint16_t checksum_fold(uint64_t sum);

#endif
