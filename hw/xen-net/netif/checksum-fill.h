/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checksum-fill.h - complete checksums for guests that cannot complete them
 *
 * Some guests take blank checksums and then forward, filter or read the packet as if it were whole,
 * FreeBSD as a router among them (FreeBSD bug 154428): they get complete ones, always where the vif
 * says so (rx-csum=fill, feature-no-csum-offload), and in DHCP for everyone, whose clients read
 * packets before the guest's stack completes them.
 */
#ifndef XN_NETIF_CHECKSUM_FILL_H
#define XN_NETIF_CHECKSUM_FILL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes the complete TCP or UDP checksum of a frame of `length` bytes, found by a walk of its own;
 * what stood in the field does not matter. False, and the frame untouched, when it has none to be
 * completed: not TCP or UDP over IP, a fragment, headers longer than XN_HEADER_MAX, a length in a
 * header that is 0 or points behind the frame, an IPv6 packet with a source route. The caller asks
 * only for frames whose checksum is blank: on others this would hide damage. Any thread.
 */
bool checksum_fill(uint8_t *frame, uint32_t length);

/*
 * Whether the first `length` bytes of a frame say UDP to a port of DHCP (67, 68) or DHCPv6 (546,
 * 547). Any thread.
 */
bool checksum_fill_is_dhcp(const uint8_t *frame, uint32_t length);

#endif
