/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checksum-fill-test.c - complete checksums, written by us and checked by a naive sum
 */
#include "netif/checksum-fill.h"

#include "frame.h"

enum { ROUNDS = 2000 };

static struct Frame *build(const struct FrameSpec *spec)
{
    struct Frame *frame = g_new(struct Frame, 1);

    frame_build(frame, spec);
    return frame;
}

/* The call leaves every byte alone. */
static void assert_refused(const struct Frame *frame, uint32_t length)
{
    g_autofree struct Frame *copy = g_memdup2(frame, sizeof(*frame));

    g_assert_false(checksum_fill(copy->bytes, length));
    g_assert_cmpmem(copy->bytes, sizeof(copy->bytes), frame->bytes, sizeof(frame->bytes));
}

/* Whatever stood in the field, every byte of the frame is as its sender would have made it. */
static void test_every_shape(gconstpointer data)
{
    uint8_t protocol = (uint8_t)GPOINTER_TO_UINT(data);

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct FrameSpec spec = frame_random_spec(protocol, i % 100 == 0 ? 9000 : 300);
        g_autofree struct Frame *frame = build(&spec);
        g_autofree struct Frame *blank = g_memdup2(frame, sizeof(*frame));

        g_assert_cmphex(frame_l4_sum(frame), ==, 0xffff);
        frame_random(frame_checksum_field(blank), i % 3 == 0 ? 0 : 2);
        g_assert_true(checksum_fill(blank->bytes, blank->length));
        g_assert_cmpmem(blank->bytes, blank->length, frame->bytes, frame->length);
    }
}

static void test_largest_packet(void)
{
    struct FrameSpec spec = {.ip_version = 4, .protocol = IPPROTO_UDP, .payload = 65535 - 28};
    g_autofree struct Frame *frame = build(&spec);

    frame_put16(frame_checksum_field(frame), 0);
    g_assert_true(checksum_fill(frame->bytes, frame->length));
    g_assert_cmphex(frame_l4_sum(frame), ==, 0xffff);
}

/* A payload for which the sum comes out as 0: UDP then says 0xffff, since 0 means "no checksum". */
static void test_zero(gconstpointer data)
{
    uint8_t protocol = (uint8_t)GPOINTER_TO_UINT(data);
    struct FrameSpec spec = {.ip_version = 6, .protocol = protocol, .payload = 32};
    g_autofree struct Frame *frame = build(&spec);
    uint8_t *payload = frame->bytes + frame->payload_offset;
    uint8_t *field = frame_checksum_field(frame);

    frame_put16(payload, 0);
    frame_put16(field, 0);
    frame_put16(payload, ~frame_l4_sum(frame));
    g_assert_cmphex(frame_l4_sum(frame), ==, 0xffff);
    g_assert_true(checksum_fill(frame->bytes, frame->length));
    g_assert_cmphex(frame_get16(field), ==, protocol == IPPROTO_UDP ? 0xffff : 0);
    g_assert_cmphex(frame_l4_sum(frame), ==, 0xffff);
}

/* UDP's own length may leave out the end of the packet, but may not go beyond it. */
static void test_udp_length(void)
{
    struct FrameSpec spec = {.ip_version = 4, .protocol = IPPROTO_UDP, .payload = 41};
    g_autofree struct Frame *frame = build(&spec);
    uint8_t *length = frame->bytes + frame->l4_offset + 4;

    for (uint32_t value = 0; value < 70; value++) {
        frame_put16(length, value);
        frame_put16(frame_checksum_field(frame), 0x1234);
        if (value < 8 || value > 49) {
            assert_refused(frame, frame->length);
        } else {
            g_assert_true(checksum_fill(frame->bytes, frame->length));
            g_assert_cmphex(frame_l4_sum(frame), ==, 0xffff);
        }
    }
    frame_put16(length, 0xffff);
    assert_refused(frame, frame->length);
}

static void test_ip_length(gconstpointer data)
{
    uint32_t version = GPOINTER_TO_UINT(data);
    struct FrameSpec spec = {.ip_version = version, .protocol = IPPROTO_TCP, .payload = 10};
    g_autofree struct Frame *frame = build(&spec);
    uint8_t *field = frame->bytes + frame->ip_offset + (version == 4 ? 2 : 4);
    uint32_t right = frame_get16(field);

    assert_refused(frame, frame->length - 1);
    frame_put16(field, right + 1);
    assert_refused(frame, frame->length);
    frame_put16(field, 0);
    assert_refused(frame, frame->length);
    frame_put16(field, right - 1);
    g_assert_true(checksum_fill(frame->bytes, frame->length));
    frame->ip_end--;
    g_assert_cmphex(frame_l4_sum(frame), ==, 0xffff);
}

static void test_refused_as_a_whole(void)
{
    struct FrameSpec spec = {.ip_version = 4, .protocol = 1, .payload = 64};
    g_autofree struct Frame *frame = build(&spec);

    assert_refused(frame, frame->length);
    for (uint32_t length = 0; length < 34; length++) {
        assert_refused(frame, length);
    }
    /* A fragment. */
    spec.protocol = IPPROTO_UDP;
    frame_build(frame, &spec);
    frame_put16(frame->bytes + frame->ip_offset + 6, 0x2000);
    assert_refused(frame, frame->length);
    /* ARP. */
    frame_put16(frame->bytes + 12, 0x0806);
    assert_refused(frame, frame->length);
    /* A source route: the last destination is elsewhere. */
    spec = (struct FrameSpec){
        .ip_version = 6,
        .extensions = {IPPROTO_ROUTING},
        .protocol = IPPROTO_TCP,
    };
    frame_build(frame, &spec);
    frame->bytes[frame->ip_offset + 43] = 1;
    assert_refused(frame, frame->length);
}

static bool is_dhcp(const struct FrameSpec *spec, uint32_t source, uint32_t destination)
{
    g_autofree struct Frame *frame = build(spec);

    frame_put16(frame->bytes + frame->l4_offset, source);
    frame_put16(frame->bytes + frame->l4_offset + 2, destination);
    /* The first bytes are enough. */
    g_assert_true(checksum_fill_is_dhcp(frame->bytes, frame->payload_offset) ==
                  checksum_fill_is_dhcp(frame->bytes, frame->length));
    return checksum_fill_is_dhcp(frame->bytes, frame->length);
}

static void test_dhcp_ports(void)
{
    for (uint32_t port = 0; port <= 0xffff; port = port < 600 ? port + 1 : port * 2 + 3) {
        struct FrameSpec spec = frame_random_spec(IPPROTO_UDP, 20);
        bool expected = port == 67 || port == 68 || port == 546 || port == 547;

        g_assert_true(is_dhcp(&spec, 1234, port) == expected);
        g_assert_false(is_dhcp(&spec, port, 1234));
        spec.protocol = IPPROTO_TCP;
        g_assert_false(is_dhcp(&spec, 1234, port));
    }
}

static void test_dhcp_cut_or_other(void)
{
    struct FrameSpec spec = {.ip_version = 4, .protocol = IPPROTO_UDP, .payload = 300};
    g_autofree struct Frame *frame = build(&spec);

    frame_put16(frame->bytes + frame->l4_offset + 2, 67);
    for (uint32_t length = 0; length < frame->payload_offset; length++) {
        g_assert_false(checksum_fill_is_dhcp(frame->bytes, length));
    }
    g_assert_true(checksum_fill_is_dhcp(frame->bytes, frame->payload_offset));
    frame->bytes[12] = 0;
    g_assert_false(checksum_fill_is_dhcp(frame->bytes, frame->length));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/checksum-fill/every-shape/tcp", GUINT_TO_POINTER(IPPROTO_TCP),
                         test_every_shape);
    g_test_add_data_func("/checksum-fill/every-shape/udp", GUINT_TO_POINTER(IPPROTO_UDP),
                         test_every_shape);
    g_test_add_func("/checksum-fill/largest-packet", test_largest_packet);
    g_test_add_data_func("/checksum-fill/zero/tcp", GUINT_TO_POINTER(IPPROTO_TCP), test_zero);
    g_test_add_data_func("/checksum-fill/zero/udp", GUINT_TO_POINTER(IPPROTO_UDP), test_zero);
    g_test_add_func("/checksum-fill/udp-length", test_udp_length);
    g_test_add_data_func("/checksum-fill/ip-length/ipv4", GUINT_TO_POINTER(4), test_ip_length);
    g_test_add_data_func("/checksum-fill/ip-length/ipv6", GUINT_TO_POINTER(6), test_ip_length);
    g_test_add_func("/checksum-fill/refused", test_refused_as_a_whole);
    g_test_add_func("/checksum-fill/dhcp/ports", test_dhcp_ports);
    g_test_add_func("/checksum-fill/dhcp/cut-or-other", test_dhcp_cut_or_other);
    return g_test_run();
}
