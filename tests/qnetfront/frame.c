/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame.c - frames of which every byte follows from a seed, a sequence number and a length */
#include "frame.h"

#include "checksum.h"

#include <endian.h>

#define ETHERTYPE_RAW 0x88b5 /* IEEE 802 local experimental */
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_VLAN 0x8100
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define LABEL_MAGIC 0x71
#define LABEL_CSUM_BLANK 0x01

const char *const xn_frame_kind_name[XN_FRAME_KINDS] = {
    [XN_FRAME_RAW] = "raw",   [XN_FRAME_UDP4] = "udp4", [XN_FRAME_TCP4] = "tcp4",
    [XN_FRAME_UDP6] = "udp6", [XN_FRAME_TCP6] = "tcp6",
};

/* Addresses reserved for benchmarks (RFC 2544, RFC 5180): no host answers them by accident. The
 * flow's number goes into the last byte but one of the source. */
static const uint8_t ipv4_source[4] = {198, 18, 0, 1};
static const uint8_t ipv4_target[4] = {198, 18, 0, 2};
static const uint8_t ipv6_source[16] = {0x20, 0x01, 0, 2, [15] = 1};
static const uint8_t ipv6_target[16] = {0x20, 0x01, 0, 2, [15] = 2};
/* First bytes of the source MAC of a frame without a label: locally administered. */
static const uint8_t unlabelled_prefix[2] = {0x02, 0x71};

static uint8_t *flow_byte(uint8_t *address, bool ipv6)
{
    return address + (ipv6 ? 14 : 2);
}

static void put16(uint8_t *p, uint16_t value)
{
    value = htobe16(value);
    memcpy(p, &value, sizeof(value));
}

static void put32(uint8_t *p, uint32_t value)
{
    value = htobe32(value);
    memcpy(p, &value, sizeof(value));
}

static uint16_t get16(const uint8_t *p)
{
    uint16_t value;

    memcpy(&value, p, sizeof(value));
    return be16toh(value);
}

static uint32_t get32(const uint8_t *p)
{
    uint32_t value;

    memcpy(&value, p, sizeof(value));
    return be32toh(value);
}

static bool kind_is_tcp(enum XnFrameKind kind)
{
    return kind == XN_FRAME_TCP4 || kind == XN_FRAME_TCP6;
}

static bool kind_is_ipv6(enum XnFrameKind kind)
{
    return kind == XN_FRAME_UDP6 || kind == XN_FRAME_TCP6;
}

unsigned int frame_checksum_start(enum XnFrameKind kind, unsigned int vlans)
{
    if (kind == XN_FRAME_RAW) {
        return 0;
    }
    return 14 + 4 * vlans + (kind_is_ipv6(kind) ? 40 : 20);
}

unsigned int frame_checksum_offset(enum XnFrameKind kind, unsigned int vlans)
{
    if (kind == XN_FRAME_RAW) {
        return 0;
    }
    return frame_checksum_start(kind, vlans) + (kind_is_tcp(kind) ? 16 : 6);
}

unsigned int frame_header_length(enum XnFrameKind kind, unsigned int vlans)
{
    if (kind == XN_FRAME_RAW) {
        return 14 + 4 * vlans;
    }
    return frame_checksum_start(kind, vlans) + (kind_is_tcp(kind) ? 20 : 8);
}

void frame_spec_settle(struct XnFrameSpec *spec)
{
    if (spec->length < frame_header_length(XN_FRAME_RAW, spec->vlans)) {
        spec->vlans = 0;
    }
    if (spec->length < frame_header_length(spec->kind, spec->vlans)) {
        spec->kind = XN_FRAME_RAW;
    }
    if (!kind_is_tcp(spec->kind) ||
        spec->length - frame_header_length(spec->kind, spec->vlans) <= spec->gso_size) {
        spec->gso_size = 0;
    }
    if (spec->gso_size) {
        spec->csum_blank = true;
    }
    if (spec->kind == XN_FRAME_RAW) {
        spec->csum_blank = false;
        spec->flow = 0;
    }
}

static bool spec_has_label(const struct XnFrameSpec *spec)
{
    return spec->length >= frame_header_length(spec->kind, spec->vlans) + XN_FRAME_LABEL;
}

/* A different start for each frame and a step that no shift by whole pages maps onto itself: data
 * of another frame, or of another place in this one, does not pass for the right data. */
static void fill_payload(const struct XnFrameSpec *spec, uint8_t *p, size_t length)
{
    uint64_t word = ((uint64_t)spec->seed << 32 | spec->sequence) * 0x9e3779b97f4a7c15u;
    uint64_t mixed;

    word ^= (uint64_t)spec->length << 24;
    for (; length >= sizeof(word); length -= sizeof(word), p += sizeof(word)) {
        word += 0xd1342543de82ef95u;
        mixed = word ^ word >> 29;
        memcpy(p, &mixed, sizeof(mixed));
    }
    if (length) {
        word += 0xd1342543de82ef95u;
        mixed = word ^ word >> 29;
        memcpy(p, &mixed, length);
    }
}

static void put_ethernet(const struct XnFrameSpec *spec, uint8_t *frame)
{
    static const uint16_t types[XN_FRAME_KINDS] = {ETHERTYPE_RAW, ETHERTYPE_IPV4, ETHERTYPE_IPV4,
                                                   ETHERTYPE_IPV6, ETHERTYPE_IPV6};
    uint8_t *p = frame + 12;

    memcpy(frame, spec->target, 6);
    if (spec_has_label(spec)) {
        memcpy(frame + 6, spec->source, 6);
    } else {
        memcpy(frame + 6, unlabelled_prefix, sizeof(unlabelled_prefix));
        put32(frame + 8, spec->sequence);
    }
    for (unsigned int i = 0; i < spec->vlans; i++, p += 4) {
        put16(p, ETHERTYPE_VLAN);
        put16(p + 2, 1 + i);
    }
    put16(p, types[spec->kind]);
}

static void put_ip(const struct XnFrameSpec *spec, uint8_t *p, uint32_t l4_length)
{
    uint8_t protocol = kind_is_tcp(spec->kind) ? PROTOCOL_TCP : PROTOCOL_UDP;

    if (kind_is_ipv6(spec->kind)) {
        put32(p, 6u << 28);
        put16(p + 4, l4_length);
        p[6] = protocol;
        p[7] = 64;
        memcpy(p + 8, ipv6_source, 16);
        *flow_byte(p + 8, true) = spec->flow;
        memcpy(p + 24, ipv6_target, 16);
        return;
    }
    put16(p, 0x4500);
    put16(p + 2, 20 + l4_length);
    put16(p + 4, spec->sequence);
    put16(p + 6, 0x4000);
    p[8] = 64;
    p[9] = protocol;
    put16(p + 10, 0);
    memcpy(p + 12, ipv4_source, 4);
    *flow_byte(p + 12, false) = spec->flow;
    memcpy(p + 16, ipv4_target, 4);
    put16(p + 10, ~checksum_fold(checksum_add(0, p, 20)));
}

static void put_l4(const struct XnFrameSpec *spec, uint8_t *p, uint32_t l4_length)
{
    put16(p, 7000 + spec->flow);
    put16(p + 2, 6999);
    if (kind_is_tcp(spec->kind)) {
        put32(p + 4, spec->sequence);
        put32(p + 8, spec->seed);
        put16(p + 12, 5 << 12 | 0x10);
        put16(p + 14, 0xffff);
        put32(p + 16, 0);
    } else {
        put16(p + 4, l4_length);
        put16(p + 6, 0);
    }
}

void frame_set_checksum(const struct XnFrameSpec *spec, uint8_t *frame, bool blank)
{
    unsigned int start = frame_checksum_start(spec->kind, spec->vlans);
    uint8_t *field = frame + frame_checksum_offset(spec->kind, spec->vlans);
    bool ipv6 = kind_is_ipv6(spec->kind);
    bool tcp = kind_is_tcp(spec->kind);
    uint32_t l4_length = spec->length - start;
    uint8_t source[16];
    uint64_t sum;
    uint16_t value;

    if (spec->kind == XN_FRAME_RAW) {
        return;
    }
    memcpy(source, ipv6 ? ipv6_source : ipv4_source, ipv6 ? 16 : 4);
    *flow_byte(source, ipv6) = spec->flow;
    sum = checksum_pseudo(source, ipv6 ? ipv6_target : ipv4_target, ipv6 ? 16 : 4,
                          tcp ? PROTOCOL_TCP : PROTOCOL_UDP, l4_length);
    if (blank) {
        put16(field, checksum_fold(sum));
        return;
    }
    put16(field, 0);
    value = ~checksum_fold(checksum_add(sum, frame + start, l4_length));
    /* Zero means "none" in UDP, and Linux completes TCP's checksum in the same way. */
    put16(field, value ? value : 0xffff);
}

void frame_build(const struct XnFrameSpec *spec, uint8_t *frame)
{
    unsigned int header = frame_header_length(spec->kind, spec->vlans);
    unsigned int start = frame_checksum_start(spec->kind, spec->vlans);
    uint8_t *payload = frame + header;

    put_ethernet(spec, frame);
    if (start) {
        put_ip(spec, frame + 14 + 4 * spec->vlans, spec->length - start);
        put_l4(spec, frame + start, spec->length - start);
    }
    fill_payload(spec, payload, spec->length - header);
    if (spec_has_label(spec)) {
        payload[1] = spec->csum_blank ? LABEL_CSUM_BLANK : 0;
        put16(payload + 2, spec->gso_size);
        put32(payload + 4, spec->sequence);
        payload[0] = LABEL_MAGIC;
        /* In a frame of nothing but a label, nothing else would tell a changed number. */
        for (unsigned int i = 1; i < XN_FRAME_LABEL; i++) {
            payload[0] ^= payload[i];
        }
    }
    frame_set_checksum(spec, frame, spec->csum_blank);
}

static bool identify_ip(const uint8_t *p, size_t length, bool ipv6, struct XnFrameSpec *spec)
{
    unsigned int size = ipv6 ? 16 : 4;
    unsigned int at = ipv6 ? 8 : 12;
    uint8_t source[16];
    uint8_t protocol;

    if (length < at + 2 * size) {
        return false;
    }
    memcpy(source, p + at, size);
    spec->flow = *flow_byte(source, ipv6);
    *flow_byte(source, ipv6) = 0;
    if (memcmp(source, ipv6 ? ipv6_source : ipv4_source, size) != 0 ||
        memcmp(p + at + size, ipv6 ? ipv6_target : ipv4_target, size) != 0) {
        return false;
    }
    protocol = p[ipv6 ? 6 : 9];
    if (protocol == PROTOCOL_TCP) {
        spec->kind = ipv6 ? XN_FRAME_TCP6 : XN_FRAME_TCP4;
    } else {
        spec->kind = ipv6 ? XN_FRAME_UDP6 : XN_FRAME_UDP4;
    }
    return true;
}

bool frame_identify(const uint8_t *frame, size_t length, uint32_t seed, struct XnFrameSpec *spec)
{
    size_t offset = 12;
    unsigned int header;
    uint16_t type;

    memset(spec, 0, sizeof(*spec));
    if (length < XN_FRAME_MIN || length > XN_FRAME_MAX) {
        return false;
    }
    type = get16(frame + offset);
    while (type == ETHERTYPE_VLAN && spec->vlans < XN_FRAME_VLANS_MAX && offset + 6 <= length) {
        spec->vlans++;
        offset += 4;
        type = get16(frame + offset);
    }
    offset += 2;
    if (type == ETHERTYPE_RAW) {
        spec->kind = XN_FRAME_RAW;
    } else if (type == ETHERTYPE_IPV4 || type == ETHERTYPE_IPV6) {
        if (!identify_ip(frame + offset, length - offset, type == ETHERTYPE_IPV6, spec)) {
            return false;
        }
    } else {
        return false;
    }
    spec->seed = seed;
    spec->length = length;
    memcpy(spec->target, frame, 6);
    memcpy(spec->source, frame + 6, 6);
    header = frame_header_length(spec->kind, spec->vlans);
    if (length < header) {
        return false;
    }
    if (spec_has_label(spec)) {
        spec->csum_blank = frame[header + 1] & LABEL_CSUM_BLANK;
        spec->gso_size = get16(frame + header + 2);
        spec->sequence = get32(frame + header + 4);
        return true;
    }
    spec->sequence = get32(frame + 8);
    return memcmp(frame + 6, unlabelled_prefix, sizeof(unlabelled_prefix)) == 0;
}

struct XnFrameMeta frame_meta(const struct XnFrameSpec *spec)
{
    struct XnFrameMeta meta = {.csum_blank = spec->csum_blank, .data_validated = spec->csum_blank};

    if (spec->gso_size) {
        meta.gso_size = spec->gso_size;
        meta.gso_type =
            kind_is_ipv6(spec->kind) ? XEN_NETIF_GSO_TYPE_TCPV6 : XEN_NETIF_GSO_TYPE_TCPV4;
    }
    return meta;
}
