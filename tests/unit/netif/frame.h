/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame.h - frames for tests, built from a description, and a checksum that is slow and obvious
 *
 * Everything that the description leaves open is random, out of GTest's seed: addresses, ports,
 * numbers, options, payload. The frame's checksums are complete.
 */
#ifndef XN_TESTS_UNIT_NETIF_FRAME_H
#define XN_TESTS_UNIT_NETIF_FRAME_H

#include <glib.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FRAME_EXTENSIONS_MAX 4u
#define FRAME_SIZE_MAX (65535u + 4096u)

struct FrameSpec {
    /* An outer 802.1ad tag if there are two. */
    uint32_t vlan_tags;
    /* 4 or 6 */
    uint32_t ip_version;
    /* IPv4: bytes of options, a multiple of 4, at most 40 */
    uint32_t ip_options;
    /* IPv6: extension headers in their order, 0 ends the list */
    uint8_t extensions[FRAME_EXTENSIONS_MAX];
    /* IPPROTO_TCP, IPPROTO_UDP, or another, which is all payload */
    uint8_t protocol;
    uint32_t tcp_options;
    uint8_t tcp_flags;
    uint32_t payload;
    /* Bytes behind the IP packet. */
    uint32_t padding;
};

struct Frame {
    uint32_t length;
    uint32_t ip_version;
    uint32_t ip_offset;
    uint32_t ip_end;
    uint8_t protocol;
    uint32_t l4_offset;
    uint32_t payload_offset;
    uint8_t bytes[FRAME_SIZE_MAX];
};

G_GNUC_UNUSED static void frame_random(uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (uint8_t)g_test_rand_int();
    }
}

G_GNUC_UNUSED static void frame_put16(uint8_t *field, uint32_t value)
{
    field[0] = (uint8_t)(value >> 8);
    field[1] = (uint8_t)value;
}

G_GNUC_UNUSED static uint32_t frame_get16(const uint8_t *field)
{
    return (uint32_t)field[0] << 8 | field[1];
}

/* RFC 1071 the textbook way; the bytes start at an even offset. Host order. */
G_GNUC_UNUSED static uint32_t frame_sum(uint32_t sum, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
        if (sum > 0xffff) {
            sum -= 0xffff;
        }
    }
    return sum;
}

/* The sum of pseudo-header, L4 header and payload: 0xffff if the checksum in there is right. */
G_GNUC_UNUSED static uint32_t frame_l4_sum(const struct Frame *frame)
{
    const uint8_t *ip = frame->bytes + frame->ip_offset;
    uint32_t length = frame->ip_end - frame->l4_offset;
    uint32_t sum = 0;

    if (frame->protocol == IPPROTO_UDP) {
        length = frame_get16(frame->bytes + frame->l4_offset + 4);
    }
    sum = frame->ip_version == 4 ? frame_sum(0, ip + 12, 8) : frame_sum(0, ip + 8, 32);
    sum += frame->protocol + length;
    sum = sum > 0xffff ? sum - 0xffff : sum;
    return frame_sum(sum, frame->bytes + frame->l4_offset, length);
}

G_GNUC_UNUSED static uint8_t *frame_checksum_field(struct Frame *frame)
{
    return frame->bytes + frame->l4_offset + (frame->protocol == IPPROTO_TCP ? 16 : 6);
}

/* Writes the checksums of IPv4, TCP and UDP, after a test has changed something. */
G_GNUC_UNUSED static void frame_complete(struct Frame *frame)
{
    uint8_t *ip = frame->bytes + frame->ip_offset;
    uint8_t *field;

    if (frame->ip_version == 4) {
        frame_put16(ip + 10, 0);
        frame_put16(ip + 10, ~frame_sum(0, ip, (ip[0] & 0x0fu) * 4));
    }
    if (frame->protocol == IPPROTO_TCP || frame->protocol == IPPROTO_UDP) {
        field = frame_checksum_field(frame);
        frame_put16(field, 0);
        frame_put16(field, ~frame_l4_sum(frame));
        if (frame->protocol == IPPROTO_UDP && frame_get16(field) == 0) {
            frame_put16(field, 0xffff);
        }
    }
}

/* Appends one extension header of random length and returns where it is. */
static uint8_t *frame_append_extension(struct Frame *frame, uint8_t type)
{
    uint8_t *header = frame->bytes + frame->length;
    uint32_t units = (uint32_t)g_test_rand_int_range(0, 3);

    if (type == IPPROTO_FRAGMENT) {
        header[1] = 0;
        frame_put16(header + 2, 0);
        frame->length += 8;
    } else if (type == IPPROTO_AH) {
        /* In units of 4 bytes, less 2. */
        header[1] = (uint8_t)(units * 2 + 4);
        frame->length += units * 8 + 24;
    } else {
        header[1] = (uint8_t)units;
        header[3] = 0;
        frame->length += units * 8 + 8;
    }
    return header;
}

static void frame_append_ipv6(struct Frame *frame, const struct FrameSpec *spec)
{
    uint8_t *ip = frame->bytes + frame->length;
    uint8_t *next = ip + 6;

    ip[0] = 0x60;
    frame->length += 40;
    for (uint32_t i = 0; i < FRAME_EXTENSIONS_MAX && spec->extensions[i] != 0; i++) {
        *next = spec->extensions[i];
        next = frame_append_extension(frame, spec->extensions[i]);
    }
    *next = spec->protocol;
}

static void frame_append_l4(struct Frame *frame, const struct FrameSpec *spec)
{
    uint8_t *l4 = frame->bytes + frame->length;

    if (spec->protocol == IPPROTO_TCP) {
        l4[12] = (uint8_t)((20 + spec->tcp_options) / 4 << 4);
        l4[13] = spec->tcp_flags;
        frame->length += 20 + spec->tcp_options;
    } else if (spec->protocol == IPPROTO_UDP) {
        frame_put16(l4 + 4, 8 + spec->payload);
        frame->length += 8;
    }
}

/* Fills all of `frame`, also behind the frame's end. */
G_GNUC_UNUSED static void frame_build(struct Frame *frame, const struct FrameSpec *spec)
{
    uint8_t *ip;

    frame_random(frame->bytes, 1024 + spec->payload + spec->padding);
    frame->ip_version = spec->ip_version;
    frame->protocol = spec->protocol;
    frame->length = 12;
    for (uint32_t i = 0; i < spec->vlan_tags; i++) {
        frame_put16(frame->bytes + frame->length, i + 1 < spec->vlan_tags ? 0x88a8 : 0x8100);
        frame->length += 4;
    }
    frame_put16(frame->bytes + frame->length, spec->ip_version == 4 ? 0x0800 : 0x86dd);
    frame->length += 2;
    frame->ip_offset = frame->length;
    ip = frame->bytes + frame->ip_offset;
    if (spec->ip_version == 4) {
        ip[0] = (uint8_t)(0x40 + (20 + spec->ip_options) / 4);
        frame_put16(ip + 6, 0x4000);
        ip[9] = spec->protocol;
        frame->length += 20 + spec->ip_options;
    } else {
        frame_append_ipv6(frame, spec);
    }
    frame->l4_offset = frame->length;
    frame_append_l4(frame, spec);
    frame->payload_offset = frame->length;
    frame->length += spec->payload;
    frame->ip_end = frame->length;
    if (spec->ip_version == 4) {
        frame_put16(ip + 2, frame->ip_end - frame->ip_offset);
    } else {
        frame_put16(ip + 4, frame->ip_end - frame->ip_offset - 40);
    }
    frame->length += spec->padding;
    frame_complete(frame);
}

/* One of the shapes that TCP and UDP come in. */
G_GNUC_UNUSED static struct FrameSpec frame_random_spec(uint8_t protocol, uint32_t payload_max)
{
    static const uint8_t types[] = {
        IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_DSTOPTS, IPPROTO_FRAGMENT, IPPROTO_AH,
    };
    struct FrameSpec spec = {
        .vlan_tags = (uint32_t)g_test_rand_int_range(0, 3),
        .ip_version = g_test_rand_bit() ? 4 : 6,
        .protocol = protocol,
        .tcp_flags = (uint8_t)g_test_rand_int(),
        .payload = (uint32_t)g_test_rand_int_range(0, (gint32)payload_max + 1),
        .padding = g_test_rand_bit() ? 0 : (uint32_t)g_test_rand_int_range(0, 50),
    };
    int extensions = g_test_rand_int_range(0, 4);

    if (spec.ip_version == 4) {
        spec.ip_options = (uint32_t)g_test_rand_int_range(0, 11) * 4;
    } else {
        /* Hop-by-hop options are number 0, which ends the list here: the others will do. */
        for (int i = 0; i < extensions; i++) {
            spec.extensions[i] = types[g_test_rand_int_range(1, G_N_ELEMENTS(types))];
        }
    }
    if (protocol == IPPROTO_TCP) {
        spec.tcp_options = (uint32_t)g_test_rand_int_range(0, 11) * 4;
    }
    return spec;
}

#endif
