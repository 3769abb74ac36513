/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checksum-fill.c - complete checksums for guests that cannot complete them
 */
#include "netif/checksum-fill.h"

#include <netinet/in.h>
#include <string.h>

#include "netif/checksum.h"
#include "netif/headers.h"

#define UDP_LENGTH 4u
#define UDP_HEADER 8u

/*
 * Bytes of TCP or UDP that the checksum covers; 0 when the headers are at odds with the frame. UDP
 * has a length of its own, which may be less than IP's.
 */
static uint32_t covered_length(const struct XnHeaders *headers, const uint8_t *frame,
                               uint32_t length)
{
    uint32_t ip_end = headers_packet_end(headers, length, false);
    uint32_t ip_payload = ip_end - headers->l4_offset;
    uint32_t udp_length;

    if (ip_end == 0) {
        return 0;
    }
    if (headers->protocol == IPPROTO_TCP) {
        return ip_payload;
    }
    udp_length = headers_u16(frame + headers->l4_offset + UDP_LENGTH);
    return udp_length >= UDP_HEADER && udp_length <= ip_payload ? udp_length : 0;
}

bool checksum_fill(uint8_t *frame, uint32_t length)
{
    struct XnHeaders headers;
    uint8_t *field;
    uint32_t covered;
    uint64_t sum;
    uint16_t folded = 0;

    if (headers_walk(frame, length, &headers) != XN_HEADERS_L4 || headers.routed) {
        return false;
    }
    covered = covered_length(&headers, frame, length);
    if (covered == 0) {
        return false;
    }
    field = frame + headers.l4_offset + headers_checksum_offset(&headers);
    memcpy(field, &folded, sizeof(folded));
    sum = headers_pseudo_sum(&headers, frame, covered);
    folded = (uint16_t)~checksum_fold(checksum_add(sum, frame + headers.l4_offset, covered));
    /* 0 would mean "none" in UDP; in one's complement 0xffff is the same number. */
    if (folded == 0 && headers.protocol == IPPROTO_UDP) {
        folded = UINT16_MAX;
    }
    memcpy(field, &folded, sizeof(folded));
    return true;
}

bool checksum_fill_is_dhcp(const uint8_t *frame, uint32_t length)
{
    struct XnHeaders headers;
    uint16_t port;

    if (headers_walk(frame, length, &headers) != XN_HEADERS_L4 || headers.protocol != IPPROTO_UDP) {
        return false;
    }
    port = headers_u16(frame + headers.l4_offset + 2);
    return port == 67 || port == 68 || port == 546 || port == 547;
}
