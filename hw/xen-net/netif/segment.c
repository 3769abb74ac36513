/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment.c - a TCP super-frame in frames that fit the MTU
 */
#include "netif/segment.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "netif/checksum.h"

#define IPV4_LENGTH 2u
#define IPV4_ID 4u
#define IPV4_CHECKSUM 10u
#define IPV6_LENGTH 4u
#define IPV6_HEADER 40u

#define TCP_SEQUENCE 4u
#define TCP_FLAGS 13u
#define TCP_FIN 0x01u
#define TCP_PSH 0x08u
#define TCP_CWR 0x80u

bool segments_begin(struct XnSegments *segments, const uint8_t *frame, uint32_t length,
                    uint32_t size)
{
    struct XnHeaders *headers = &segments->headers;
    uint32_t end;

    if (headers_walk(frame, length, headers) != XN_HEADERS_L4 || headers->protocol != IPPROTO_TCP ||
        headers->routed) {
        return false;
    }
    end = headers_packet_end(headers, length, true);
    if (end == 0 || size == 0) {
        return false;
    }
    segments->frame = frame;
    segments->payload = end - headers->length;
    segments->size = size;
    segments->count = segments->payload == 0 ? 1 : (segments->payload - 1) / segments->size + 1;
    return segments->count <= XN_SEGMENTS_MAX;
}

static void write_u16(uint8_t *field, uint32_t value)
{
    uint16_t network = htons((uint16_t)value);

    memcpy(field, &network, sizeof(network));
}

/* `length`: from the IP header to the end of the segment. */
static void write_ip(const struct XnSegments *segments, uint32_t index, uint32_t length,
                     uint8_t *headers)
{
    uint8_t *ip = headers + segments->headers.ip_offset;
    uint32_t header_length = segments->headers.l4_offset - segments->headers.ip_offset;
    uint16_t sum = 0;

    if (segments->headers.ip_version == 6) {
        write_u16(ip + IPV6_LENGTH, length - IPV6_HEADER);
        return;
    }
    write_u16(ip + IPV4_LENGTH, length);
    write_u16(ip + IPV4_ID, headers_u16(ip + IPV4_ID) + index);
    memcpy(ip + IPV4_CHECKSUM, &sum, sizeof(sum));
    sum = (uint16_t)~checksum_fold(checksum_add(0, ip, header_length));
    memcpy(ip + IPV4_CHECKSUM, &sum, sizeof(sum));
}

static void write_tcp(const struct XnSegments *segments, uint32_t index,
                      const struct XnSegment *segment, uint8_t *headers)
{
    uint32_t header_length = segments->headers.length - segments->headers.l4_offset;
    uint8_t *tcp = headers + segments->headers.l4_offset;
    uint8_t *field = tcp + headers_checksum_offset(&segments->headers);
    uint32_t sequence = htonl(headers_u32(tcp + TCP_SEQUENCE) + index * segments->size);
    uint64_t sum;
    uint16_t folded = 0;

    memcpy(tcp + TCP_SEQUENCE, &sequence, sizeof(sequence));
    if (index > 0) {
        tcp[TCP_FLAGS] &= (uint8_t)~TCP_CWR;
    }
    if (index + 1 < segments->count) {
        tcp[TCP_FLAGS] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
    }
    memcpy(field, &folded, sizeof(folded));
    sum = headers_pseudo_sum(&segments->headers, headers, header_length + segment->length);
    sum = checksum_add(sum, tcp, header_length);
    sum = checksum_add(sum, segments->frame + segment->offset, segment->length);
    folded = (uint16_t)~checksum_fold(sum);
    memcpy(field, &folded, sizeof(folded));
}

struct XnSegment segments_write(const struct XnSegments *segments, uint32_t index, uint8_t *headers)
{
    uint32_t start = index * segments->size;
    uint32_t rest = segments->payload - start;
    struct XnSegment segment = {
        .offset = segments->headers.length + start,
        .length = rest < segments->size ? rest : segments->size,
    };
    uint32_t header_length = segments->headers.length;

    memcpy(headers, segments->frame, header_length);
    write_ip(segments, index, header_length - segments->headers.ip_offset + segment.length,
             headers);
    write_tcp(segments, index, &segment, headers);
    return segment;
}
