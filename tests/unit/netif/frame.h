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

#define FRAME_EXTENSIONS_MAX 40u
/* Hop-by-hop options, whose own number ends the list of extensions. */
#define FRAME_HOPOPTS (0x100u | IPPROTO_HOPOPTS)
/* Added to an extension: 2048 bytes of it. */
#define FRAME_LONG 0x200u
#define FRAME_HEADERS_MAX 4096u
#define FRAME_SIZE_MAX (65535u + FRAME_HEADERS_MAX)

struct FrameSpec {
    uint32_t vlan_tags;
    /* Bit i: tag i, from the outside, is a service tag (802.1ad). */
    uint32_t service_tags;
    /* 4 or 6 */
    uint32_t ip_version;
    /* IPv4: bytes of options, a multiple of 4, at most 40 */
    uint32_t ip_options;
    /* IPv6: extension headers in their order, 0 ends the list */
    uint16_t extensions[FRAME_EXTENSIONS_MAX];
    /* Extensions are as short as they can be, not of random length. */
    bool short_extensions;
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
    uint32_t vlan_tags;
    uint32_t ip_version;
    uint32_t ip_offset;
    uint32_t ip_end;
    /* The last IPv6 fragment header, if there is one. */
    uint32_t fragment_offset;
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

/* Bytes that the checksum of TCP or UDP covers. UDP has a length of its own. */
static uint32_t frame_l4_length(const struct Frame *frame)
{
    return frame->protocol == IPPROTO_UDP ? frame_get16(frame->bytes + frame->l4_offset + 4)
                                          : frame->ip_end - frame->l4_offset;
}

static uint32_t frame_pseudo_sum(const struct Frame *frame)
{
    uint32_t length = frame_l4_length(frame);
    uint8_t tail[] = {0, frame->protocol, (uint8_t)(length >> 8), (uint8_t)length};
    const uint8_t *ip = frame->bytes + frame->ip_offset;
    uint32_t sum = frame->ip_version == 4 ? frame_sum(0, ip + 12, 8) : frame_sum(0, ip + 8, 32);

    return frame_sum(sum, tail, sizeof(tail));
}

/* The sum of pseudo-header, L4 header and payload: 0xffff if the checksum in there is right. */
G_GNUC_UNUSED static uint32_t frame_l4_sum(const struct Frame *frame)
{
    return frame_sum(frame_pseudo_sum(frame), frame->bytes + frame->l4_offset,
                     frame_l4_length(frame));
}

static uint32_t frame_checksum_offset(const struct Frame *frame)
{
    return frame->protocol == IPPROTO_TCP ? 16 : 6;
}

G_GNUC_UNUSED static uint8_t *frame_checksum_field(struct Frame *frame)
{
    return frame->bytes + frame->l4_offset + frame_checksum_offset(frame);
}

/* A blank checksum: the field holds the pseudo-header's sum. */
G_GNUC_UNUSED static void frame_blank_checksum(struct Frame *frame)
{
    frame_put16(frame_checksum_field(frame), frame_pseudo_sum(frame));
}

/* What becomes of a blank checksum where virtio_net_hdr points. */
G_GNUC_UNUSED static void frame_complete_checksum(struct Frame *frame, uint32_t start,
                                                  uint32_t offset)
{
    frame_put16(frame->bytes + start + offset,
                ~frame_sum(0, frame->bytes + start, frame->length - start));
}

/* Writes the lengths of IP and UDP, after a test has changed where the packet ends. */
static void frame_set_lengths(struct Frame *frame)
{
    uint8_t *ip = frame->bytes + frame->ip_offset;

    if (frame->ip_version == 4) {
        frame_put16(ip + 2, frame->ip_end - frame->ip_offset);
    } else {
        frame_put16(ip + 4, frame->ip_end - frame->ip_offset - 40);
    }
    if (frame->protocol == IPPROTO_UDP) {
        frame_put16(frame->bytes + frame->l4_offset + 4, frame->ip_end - frame->l4_offset);
    }
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

/* Appends one extension header and returns where it is. */
static uint8_t *frame_append_extension(struct Frame *frame, const struct FrameSpec *spec,
                                       uint16_t type)
{
    uint8_t *header = frame->bytes + frame->length;
    uint32_t units = spec->short_extensions ? 0 : (uint32_t)g_test_rand_int_range(0, 3);

    if (type == IPPROTO_FRAGMENT) {
        frame->fragment_offset = frame->length;
        header[1] = 0;
        frame_put16(header + 2, 0);
        frame->length += 8;
    } else if (type == IPPROTO_AH) {
        /* In units of 4 bytes, less 2. */
        header[1] = (uint8_t)(units * 2 + 4);
        frame->length += units * 8 + 24;
    } else {
        units = type & FRAME_LONG ? 255 : units;
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
        *next = (uint8_t)spec->extensions[i];
        next = frame_append_extension(frame, spec, spec->extensions[i]);
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
        frame->length += 8;
    }
}

/* Fills all of `frame`, also behind the frame's end. */
G_GNUC_UNUSED static void frame_build(struct Frame *frame, const struct FrameSpec *spec)
{
    uint8_t *ip;

    memset(frame, 0, sizeof(*frame));
    frame_random(frame->bytes, FRAME_HEADERS_MAX + spec->payload + spec->padding);
    frame->vlan_tags = spec->vlan_tags;
    frame->ip_version = spec->ip_version;
    frame->protocol = spec->protocol;
    frame->length = 12;
    for (uint32_t i = 0; i < spec->vlan_tags; i++) {
        frame_put16(frame->bytes + frame->length, spec->service_tags >> i & 1 ? 0x88a8 : 0x8100);
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
    frame_set_lengths(frame);
    frame->length += spec->padding;
    frame_complete(frame);
}

/* One of the shapes that TCP and UDP come in. */
G_GNUC_UNUSED static struct FrameSpec frame_random_spec(uint8_t protocol, uint32_t payload_max)
{
    static const uint16_t types[] = {
        FRAME_HOPOPTS, IPPROTO_ROUTING, IPPROTO_DSTOPTS, IPPROTO_FRAGMENT, IPPROTO_AH,
    };
    struct FrameSpec spec = {
        .vlan_tags = (uint32_t)g_test_rand_int_range(0, 3),
        .service_tags = (uint32_t)g_test_rand_int_range(0, 4),
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
        for (int i = 0; i < extensions; i++) {
            spec.extensions[i] = types[g_test_rand_int_range(0, G_N_ELEMENTS(types))];
        }
    }
    if (protocol == IPPROTO_TCP) {
        spec.tcp_options = (uint32_t)g_test_rand_int_range(0, 11) * 4;
    }
    return spec;
}

/*
 * Stacks of headers whose checksum may be left blank. One letter for each header, in order:
 *   q s    VLAN tag 0x8100, service tag 0x88a8
 *   4 o    IPv4; each o behind it is 4 bytes of options
 *   6      IPv6; behind it
 *   h H d r a f
 *          hop-by-hop options, such of 2048 bytes, destination options, routing, authentication
 *          header, fragment header of a whole packet
 *   t T    TCP, TCP with 40 bytes of options
 *   u i    UDP, ICMP
 */
G_GNUC_UNUSED static const char *const FRAME_STACKS[] = {
    "4t",      "4T",         "4u",   "4ot",  "4oooooooooot", "4oooooooooou", "6t",   "6T",
    "6u",      "6ht",        "6du",  "6rt",  "6at",          "6ft",          "6fu",  "6hdt",
    "6hdrafT", "6hhhhhhhhu", "q4t",  "q4u",  "q6t",          "q6u",          "s4t",  "s6hu",
    "sq4t",    "sq4u",       "sq6t", "sq6u", "qq4T",         "qq6du",        "ss4u", "sq6hdrafT",
};

static uint16_t frame_extension_of(char letter)
{
    switch (letter) {
    case 'h':
        return FRAME_HOPOPTS;
    case 'H':
        return FRAME_HOPOPTS | FRAME_LONG;
    case 'd':
        return IPPROTO_DSTOPTS;
    case 'r':
        return IPPROTO_ROUTING;
    case 'a':
        return IPPROTO_AH;
    case 'f':
        return IPPROTO_FRAGMENT;
    default:
        g_assert_not_reached();
    }
}

/* A frame with such a stack, whose headers are as short as the stack says. */
G_GNUC_UNUSED static void frame_build_stack(struct Frame *frame, const char *stack,
                                            uint32_t payload)
{
    struct FrameSpec spec = {.short_extensions = true, .payload = payload};
    uint32_t extensions = 0;

    for (; *stack; stack++) {
        switch (*stack) {
        case 's':
            spec.service_tags |= 1u << spec.vlan_tags;
            spec.vlan_tags++;
            break;
        case 'q':
            spec.vlan_tags++;
            break;
        case '4':
            spec.ip_version = 4;
            break;
        case '6':
            spec.ip_version = 6;
            break;
        case 'o':
            spec.ip_options += 4;
            break;
        case 'T':
            spec.tcp_options = 40;
            spec.protocol = IPPROTO_TCP;
            break;
        case 't':
            spec.protocol = IPPROTO_TCP;
            break;
        case 'u':
            spec.protocol = IPPROTO_UDP;
            break;
        case 'i':
            spec.protocol = IPPROTO_ICMP;
            break;
        default:
            g_assert(extensions < FRAME_EXTENSIONS_MAX);
            spec.extensions[extensions++] = frame_extension_of(*stack);
            break;
        }
    }
    frame_build(frame, &spec);
}

#endif
