/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * headers-test.c - where the headers are, in whole frames, cut ones and odd ones
 */
#include "netif/headers.h"

#include "frame.h"

enum { ROUNDS = 2000 };

static enum XnHeadersDepth walk(const struct Frame *frame, struct XnHeaders *headers)
{
    return headers_walk(frame->bytes, frame->length, headers);
}

static struct Frame *build(const struct FrameSpec *spec)
{
    struct Frame *frame = g_new(struct Frame, 1);

    frame_build(frame, spec);
    return frame;
}

static void assert_l4(const struct Frame *frame, const struct FrameSpec *spec,
                      const struct XnHeaders *headers)
{
    g_assert_cmpuint(headers->vlan_tags, ==, spec->vlan_tags);
    g_assert_cmpuint(headers->ip_version, ==, spec->ip_version);
    g_assert_cmpuint(headers->ip_offset, ==, frame->ip_offset);
    g_assert_cmpuint(headers->ip_end, ==, frame->ip_end);
    g_assert_cmpuint(headers->protocol, ==, spec->protocol);
    g_assert_cmpuint(headers->l4_offset, ==, frame->l4_offset);
    g_assert_cmpuint(headers->length, ==, frame->payload_offset);
    g_assert_false(headers->routed);
}

static void test_every_shape(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct FrameSpec spec = frame_random_spec(i % 2 ? IPPROTO_TCP : IPPROTO_UDP, 100);
        g_autofree struct Frame *frame = build(&spec);
        struct XnHeaders headers;

        g_assert_cmpint(walk(frame, &headers), ==, XN_HEADERS_L4);
        assert_l4(frame, &spec, &headers);
    }
}

/* From memory of just that size, so that a sanitizer sees a byte read too far. */
static void test_every_cut(void)
{
    static const uint16_t extensions[][FRAME_EXTENSIONS_MAX] = {
        {0},
        {FRAME_HOPOPTS},
        {IPPROTO_AH, IPPROTO_DSTOPTS},
        {IPPROTO_FRAGMENT, IPPROTO_DSTOPTS, IPPROTO_ROUTING},
    };

    for (uint32_t i = 0; i < 4 * 2 * 2 * 3; i++) {
        struct FrameSpec spec = {
            .ip_version = i / 12 % 2 ? 4 : 6,
            .vlan_tags = i % 3,
            .service_tags = i % 2,
            .protocol = i / 24 % 2 ? IPPROTO_TCP : IPPROTO_UDP,
            .ip_options = i % 4 * 4,
            .tcp_options = i % 5 * 4,
            .payload = 10,
        };
        g_autofree struct Frame *frame = NULL;
        uint32_t ip_header = 40;

        memcpy(spec.extensions, extensions[i / 3 % 4], sizeof(spec.extensions));
        frame = build(&spec);
        if (spec.ip_version == 4) {
            ip_header = 20;
        }
        for (uint32_t length = 0; length <= frame->length; length++) {
            g_autofree uint8_t *cut = g_memdup2(frame->bytes, MAX(length, 1));
            struct XnHeaders headers;
            enum XnHeadersDepth depth = headers_walk(cut, length, &headers);

            if (length < frame->ip_offset + ip_header) {
                g_assert_cmpint(depth, ==, XN_HEADERS_NONE);
            } else if (length < frame->payload_offset) {
                g_assert_cmpint(depth, ==, XN_HEADERS_IP);
                g_assert_cmpuint(headers.ip_offset, ==, frame->ip_offset);
                g_assert_cmpuint(headers.ip_version, ==, frame->ip_version);
            } else {
                g_assert_cmpint(depth, ==, XN_HEADERS_L4);
                g_assert_cmpuint(headers.needed, ==, 0);
                assert_l4(frame, &spec, &headers);
            }
        }
    }
}

/* Whoever gives as many bytes as were needed each time comes to the end, with none to spare. */
static void test_needed_bytes_lead_on(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct FrameSpec spec = frame_random_spec(i % 2 ? IPPROTO_TCP : IPPROTO_UDP, 100);
        g_autofree struct Frame *frame = build(&spec);
        struct XnHeaders headers;
        uint32_t length = 0;

        while (headers_walk(frame->bytes, length, &headers) != XN_HEADERS_L4) {
            g_assert_cmpuint(headers.needed, >, length);
            g_assert_cmpuint(headers.needed, <=, frame->payload_offset);
            length = headers.needed;
        }
        g_assert_cmpuint(headers.needed, ==, 0);
        g_assert_cmpuint(length, ==, frame->payload_offset);
    }
}

static void test_three_vlan_tags_are_too_many(void)
{
    struct FrameSpec spec = {.vlan_tags = 3, .ip_version = 4, .protocol = IPPROTO_TCP};
    g_autofree struct Frame *frame = build(&spec);
    struct XnHeaders headers;

    g_assert_cmpint(walk(frame, &headers), ==, XN_HEADERS_NONE);
}

static void test_other_ether_types(void)
{
    static const uint16_t types[] = {0, 46, 1500, 0x0806, 0x8847, 0x9100, 0x0801, 0xffff};
    struct FrameSpec spec = {.ip_version = 4, .protocol = IPPROTO_TCP};
    g_autofree struct Frame *frame = build(&spec);
    struct XnHeaders headers;

    for (uint32_t i = 0; i < G_N_ELEMENTS(types); i++) {
        frame_put16(frame->bytes + 12, types[i]);
        g_assert_cmpint(walk(frame, &headers), ==, XN_HEADERS_NONE);
        g_assert_cmpuint(headers.needed, ==, 0);
    }
}

static void test_vlan_types(void)
{
    for (uint32_t type = 0; type <= UINT16_MAX; type++) {
        g_assert_true(headers_is_vlan((uint16_t)type) == (type == 0x8100 || type == 0x88a8));
    }
}

/* A byte of a frame that is changed, and how far the walk comes then. */
struct Change {
    const char *what;
    uint32_t ip_version;
    uint16_t extension;
    /* Of the IP header, or of what follows it if `l4` is set. */
    bool l4;
    uint32_t offset;
    uint8_t value;
    enum XnHeadersDepth depth;
};

static const struct Change changes[] = {
    {"version 6 in IPv4", 4, 0, false, 0, 0x65, XN_HEADERS_NONE},
    {"version 4 in IPv6", 6, 0, false, 0, 0x45, XN_HEADERS_NONE},
    {"4 words of IPv4 header", 4, 0, false, 0, 0x44, XN_HEADERS_NONE},
    {"0 words of IPv4 header", 4, 0, false, 0, 0x40, XN_HEADERS_NONE},
    {"more fragments", 4, 0, false, 6, 0x20, XN_HEADERS_IP},
    {"fragment offset, low", 4, 0, false, 7, 0x01, XN_HEADERS_IP},
    {"fragment offset, high", 4, 0, false, 6, 0x10, XN_HEADERS_IP},
    {"may be fragmented", 4, 0, false, 6, 0x00, XN_HEADERS_L4},
    {"reserved bit", 4, 0, false, 6, 0x80, XN_HEADERS_L4},
    {"ICMP", 4, 0, false, 9, 1, XN_HEADERS_IP},
    {"AH in IPv4", 4, 0, false, 9, 51, XN_HEADERS_IP},
    {"ICMPv6", 6, 0, false, 6, 58, XN_HEADERS_IP},
    {"ESP", 6, 0, false, 6, 50, XN_HEADERS_IP},
    {"no next header", 6, 0, false, 6, 59, XN_HEADERS_IP},
    {"fragment offset", 6, IPPROTO_FRAGMENT, true, 3, 0x08, XN_HEADERS_IP},
    {"more fragments", 6, IPPROTO_FRAGMENT, true, 3, 0x01, XN_HEADERS_IP},
    {"reserved bits", 6, IPPROTO_FRAGMENT, true, 3, 0x06, XN_HEADERS_L4},
    {"too long an extension", 6, IPPROTO_DSTOPTS, true, 1, 255, XN_HEADERS_IP},
    {"too long an AH", 6, IPPROTO_AH, true, 1, 255, XN_HEADERS_IP},
    {"TCP header of 16 bytes", 4, 0, true, 12, 0x40, XN_HEADERS_IP},
    {"TCP header of 0 bytes", 6, 0, true, 12, 0x00, XN_HEADERS_IP},
    {"TCP header longer than the packet", 4, 0, true, 12, 0xf0, XN_HEADERS_IP},
};

static void test_change(gconstpointer data)
{
    const struct Change *change = data;
    struct FrameSpec spec = {
        .ip_version = change->ip_version,
        .extensions = {change->extension},
        .protocol = IPPROTO_TCP,
        .payload = 8,
        .padding = 100,
    };
    g_autofree struct Frame *frame = build(&spec);
    uint32_t header = change->ip_version == 4 ? 20 : 40;
    struct XnHeaders headers;

    g_assert_cmpint(walk(frame, &headers), ==, XN_HEADERS_L4);
    frame->bytes[frame->ip_offset + (change->l4 ? header : 0) + change->offset] = change->value;
    g_assert_cmpint(walk(frame, &headers), ==, change->depth);
    g_assert_true(change->depth == XN_HEADERS_NONE || headers.ip_offset == frame->ip_offset);
}

static void test_source_route(void)
{
    struct FrameSpec spec = {
        .ip_version = 6,
        .extensions = {IPPROTO_ROUTING, IPPROTO_DSTOPTS},
        .protocol = IPPROTO_TCP,
        .payload = 8,
    };
    g_autofree struct Frame *frame = build(&spec);
    struct XnHeaders headers;

    frame->bytes[frame->ip_offset + 40 + 3] = 1;
    g_assert_cmpint(walk(frame, &headers), ==, XN_HEADERS_L4);
    g_assert_true(headers.routed);
}

/* Extensions of 8 bytes up to `chain`, then TCP; in all they may be XN_HEADER_MAX bytes. */
static void test_longest_chain(void)
{
    for (uint32_t chain = 160; chain <= 400; chain += 8) {
        uint8_t bytes[600] = {0};
        bool fits = 14 + 40 + chain + 20 <= XN_HEADER_MAX;
        struct XnHeaders headers;

        frame_put16(bytes + 12, 0x86dd);
        bytes[14] = 0x60;
        frame_put16(bytes + 18, chain + 20);
        bytes[20] = IPPROTO_DSTOPTS;
        for (uint32_t at = 0; at < chain; at += 8) {
            bytes[54 + at] = at + 8 < chain ? IPPROTO_DSTOPTS : IPPROTO_TCP;
        }
        bytes[54 + chain + 12] = 0x50;
        g_assert_cmpint(headers_walk(bytes, sizeof(bytes), &headers), ==,
                        fits ? XN_HEADERS_L4 : XN_HEADERS_IP);
        g_assert_true(!fits || headers.l4_offset == 54 + chain);
        g_assert_true(fits == (headers.needed == 0));
        g_assert_true(fits || headers.needed > XN_HEADER_MAX);
    }
}

/* What the IP header says about its length, and what becomes of it. */
static void test_ip_end(gconstpointer data)
{
    uint32_t version = GPOINTER_TO_UINT(data);
    struct FrameSpec spec = {.ip_version = version, .protocol = IPPROTO_UDP, .payload = 100};
    g_autofree struct Frame *frame = build(&spec);
    uint8_t *field = frame->bytes + frame->ip_offset + (version == 4 ? 2 : 4);
    uint32_t origin = frame->ip_offset + (version == 4 ? 0 : 40);
    uint32_t headers_end = frame->payload_offset - origin;
    struct XnHeaders headers;

    frame_put16(field, 0);
    g_assert_cmpint(walk(frame, &headers), ==, XN_HEADERS_L4);
    g_assert_cmpuint(headers.ip_end, ==, 0);
    g_assert_cmpuint(headers_packet_end(&headers, frame->length, false), ==, 0);
    g_assert_cmpuint(headers_packet_end(&headers, frame->length, true), ==, frame->length);

    frame_put16(field, headers_end - 1);
    g_assert_cmpint(walk(frame, &headers), ==, XN_HEADERS_IP);
    frame_put16(field, headers_end);
    g_assert_cmpint(walk(frame, &headers), ==, XN_HEADERS_L4);
    g_assert_cmpuint(headers.ip_end, ==, frame->payload_offset);
    for (uint32_t super_frame = 0; super_frame <= 1; super_frame++) {
        uint32_t end = headers.ip_end;

        g_assert_cmpuint(headers_packet_end(&headers, end - 1, super_frame), ==, 0);
        g_assert_cmpuint(headers_packet_end(&headers, end, super_frame), ==, end);
        g_assert_cmpuint(headers_packet_end(&headers, end + 1, super_frame), ==, end);
    }

    frame_put16(field, 0xffff);
    g_assert_cmpint(walk(frame, &headers), ==, XN_HEADERS_L4);
    g_assert_cmpuint(headers.ip_end, ==, origin + 0xffff);
}

static void test_random_bytes_stay_inside(void)
{
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t length = (uint32_t)g_test_rand_int_range(1, 300);
        g_autofree uint8_t *bytes = g_malloc(length);
        struct XnHeaders headers;

        frame_random(bytes, length);
        if (length >= 15) {
            frame_put16(bytes + 12, i % 2 ? 0x0800 : 0x86dd);
            bytes[14] = i % 2 ? 0x45 : 0x60;
        }
        if (length >= 24) {
            bytes[20] = (uint8_t[]){IPPROTO_ROUTING, IPPROTO_AH, IPPROTO_TCP, 0}[i / 2 % 4];
            bytes[23] = IPPROTO_TCP;
        }
        if (headers_walk(bytes, length, &headers) == XN_HEADERS_L4) {
            g_assert_cmpuint(headers.needed, ==, 0);
            g_assert_cmpuint(headers.ip_offset, <, headers.l4_offset);
            g_assert_cmpuint(headers.l4_offset, <, headers.length);
            g_assert_cmpuint(headers.length, <=, MIN(length, XN_HEADER_MAX));
            g_assert_true(headers.ip_end == 0 || headers.length <= headers.ip_end);
        }
    }
}

/* The whole sum with the complete checksum in it is 0xffff. */
static void test_pseudo_sum(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct FrameSpec spec = frame_random_spec(i % 2 ? IPPROTO_TCP : IPPROTO_UDP, 100);
        g_autofree struct Frame *frame = build(&spec);
        uint32_t covered = frame->ip_end - frame->l4_offset;
        struct XnHeaders headers;
        uint64_t sum;

        g_assert_cmpint(walk(frame, &headers), ==, XN_HEADERS_L4);
        sum = headers_pseudo_sum(&headers, frame->bytes, covered);
        while (sum > 0xffff) {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        g_assert_cmphex(frame_sum(ntohs((uint16_t)sum), frame->bytes + frame->l4_offset, covered),
                        ==, 0xffff);
    }
}

/* Where RFC 791, 8200, 9293 and 768 put them. */
static void test_addresses_and_checksum(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct FrameSpec spec = frame_random_spec(i % 2 ? IPPROTO_TCP : IPPROTO_UDP, 100);
        g_autofree struct Frame *frame = build(&spec);
        struct XnHeaders headers;
        uint32_t size;

        g_assert_cmpint(walk(frame, &headers), ==, XN_HEADERS_L4);
        g_assert_true(headers_addresses(&headers, frame->bytes, &size) ==
                      frame->bytes + frame->ip_offset + (spec.ip_version == 4 ? 12 : 8));
        g_assert_cmpuint(size, ==, spec.ip_version == 4 ? 8 : 32);
        g_assert_true(frame->bytes + headers.l4_offset + headers_checksum_offset(&headers) ==
                      frame_checksum_field(frame));
    }
}

static void test_fields(void)
{
    static const uint8_t bytes[] = {0x81, 0x02, 0xf3, 0x04};

    g_assert_cmphex(headers_u16(bytes), ==, 0x8102);
    g_assert_cmphex(headers_u16(bytes + 2), ==, 0xf304);
    g_assert_cmphex(headers_u32(bytes), ==, 0x8102f304);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/headers/every-shape", test_every_shape);
    g_test_add_func("/headers/every-cut", test_every_cut);
    g_test_add_func("/headers/needed-bytes-lead-on", test_needed_bytes_lead_on);
    g_test_add_func("/headers/three-vlan-tags", test_three_vlan_tags_are_too_many);
    g_test_add_func("/headers/other-ether-types", test_other_ether_types);
    g_test_add_func("/headers/vlan-types", test_vlan_types);
    for (uint32_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        g_autofree char *path = g_strdup_printf("/headers/change/%u: %s", i, changes[i].what);

        g_test_add_data_func(path, &changes[i], test_change);
    }
    g_test_add_func("/headers/source-route", test_source_route);
    g_test_add_func("/headers/longest-chain", test_longest_chain);
    g_test_add_data_func("/headers/ip-end/ipv4", GUINT_TO_POINTER(4), test_ip_end);
    g_test_add_data_func("/headers/ip-end/ipv6", GUINT_TO_POINTER(6), test_ip_end);
    g_test_add_func("/headers/random-bytes", test_random_bytes_stay_inside);
    g_test_add_func("/headers/pseudo-sum", test_pseudo_sum);
    g_test_add_func("/headers/addresses-and-checksum", test_addresses_and_checksum);
    g_test_add_func("/headers/fields", test_fields);
    return g_test_run();
}
