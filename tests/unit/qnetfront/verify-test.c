/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify-test.c - frames are recognised when right, and every kind of damage is found */
#include "../../qnetfront/verify.h"

#include <glib.h>

#define SEED 4711

static struct XnVerify verify;
static uint8_t frame[XN_FRAME_MAX + 1];

static struct XnFrameSpec make_spec(enum XnFrameKind kind, uint32_t length, uint32_t sequence)
{
    struct XnFrameSpec spec = {
        .seed = SEED,
        .sequence = sequence,
        .length = length,
        .kind = kind,
        .target = {2, 0, 0, 0, 0, 2},
        .source = {2, 0, 0, 0, 0, 1},
    };

    return spec;
}

static enum XnVerdict judge(const struct XnFrameSpec *spec)
{
    struct XnFrameMeta meta = frame_meta(spec);

    return verify_frame(&verify, frame, spec->length, &meta);
}

static void test_round_trip_every_length(void)
{
    uint32_t sequence = 0;

    verify_init(&verify, SEED, XN_EXPECT_CSUM_SAME, false);
    for (uint32_t length = XN_FRAME_MIN; length <= XN_FRAME_MAX; length++) {
        struct XnFrameSpec spec = make_spec(length % XN_FRAME_KINDS, length, sequence++);

        spec.csum_blank = length % 7 == 0;
        spec.gso_size = length % 3 ? 0 : 1448;
        frame_spec_settle(&spec);
        frame_build(&spec, frame);
        g_assert_cmpint(judge(&spec), ==, XN_VERDICT_GOOD);
    }
    g_assert_cmpuint(verify.lengths, ==, XN_FRAME_MAX - XN_FRAME_MIN + 1);
    g_assert_cmpuint(verify.gaps, ==, 0);
    g_assert_cmpuint(verify.duplicates + verify.late, ==, 0);
    g_assert_cmpuint(verify.gso, >, 0);
}

static void test_vlan_tags(void)
{
    verify_init(&verify, SEED, XN_EXPECT_CSUM_SAME, false);
    for (unsigned int kind = 0; kind < XN_FRAME_KINDS; kind++) {
        for (unsigned int vlans = 0; vlans <= XN_FRAME_VLANS_MAX; vlans++) {
            struct XnFrameSpec spec = make_spec(kind, 200, kind * 3 + vlans);
            struct XnFrameSpec found;

            spec.vlans = vlans;
            frame_build(&spec, frame);
            g_assert_cmpint(judge(&spec), ==, XN_VERDICT_GOOD);
            g_assert_true(frame_identify(frame, 200, SEED, &found));
            g_assert_cmpuint(found.vlans, ==, vlans);
        }
    }
}

/* No byte can change without being noticed, in frames with and without a label. */
static void test_any_flipped_byte_is_found(void)
{
    static const uint32_t lengths[] = {14, 21, 22, 41, 49, 50, 61, 62, 70, 81, 82, 200};

    for (unsigned int kind = 0; kind < XN_FRAME_KINDS; kind++) {
        for (unsigned int i = 0; i < G_N_ELEMENTS(lengths); i++) {
            struct XnFrameSpec spec = make_spec(kind, lengths[i], 9);

            frame_spec_settle(&spec);
            if (spec.kind != kind) {
                continue;
            }
            frame_build(&spec, frame);
            /* The addresses are whose they are: the receiver takes them from the frame. */
            for (uint32_t at = 12; at < spec.length; at++) {
                verify_init(&verify, SEED, XN_EXPECT_CSUM_SAME, false);
                frame[at] ^= 0x10;
                if (judge(&spec) == XN_VERDICT_GOOD) {
                    g_error("kind %u, length %u: byte %u may change", kind, spec.length, at);
                }
                frame[at] ^= 0x10;
            }
            verify_init(&verify, SEED, XN_EXPECT_CSUM_SAME, false);
            g_assert_cmpint(judge(&spec), ==, XN_VERDICT_GOOD);
        }
    }
}

static void test_shifted_pages_are_found(void)
{
    struct XnFrameSpec spec = make_spec(XN_FRAME_RAW, 20000, 3);

    verify_init(&verify, SEED, XN_EXPECT_CSUM_ANY, false);
    frame_build(&spec, frame);
    memcpy(frame + 8192, frame + 4096, 4096);
    g_assert_cmpint(judge(&spec), ==, XN_VERDICT_CORRUPT);
    g_assert_nonnull(strstr(verify.reason, "byte 8192"));
}

static void test_other_seed_is_found(void)
{
    struct XnFrameSpec spec = make_spec(XN_FRAME_UDP4, 100, 3);

    verify_init(&verify, SEED + 1, XN_EXPECT_CSUM_ANY, false);
    frame_build(&spec, frame);
    g_assert_cmpint(judge(&spec), ==, XN_VERDICT_CORRUPT);
}

static void test_checksums(void)
{
    for (unsigned int kind = XN_FRAME_UDP4; kind < XN_FRAME_KINDS; kind++) {
        struct XnFrameSpec spec = make_spec(kind, 300, 3);
        unsigned int field = frame_checksum_offset(kind, 0);
        struct XnFrameMeta meta;

        spec.csum_blank = true;
        frame_build(&spec, frame);
        meta = frame_meta(&spec);
        g_assert_true(meta.csum_blank);

        verify_init(&verify, SEED, XN_EXPECT_CSUM_ANY, false);
        g_assert_cmpint(verify_frame(&verify, frame, 300, &meta), ==, XN_VERDICT_GOOD);
        frame[field + 1] ^= 1;
        g_assert_cmpint(verify_frame(&verify, frame, 300, &meta), ==, XN_VERDICT_CHECKSUM);
        frame[field + 1] ^= 1;

        /* The flag was lost, the field is still blank. */
        meta.csum_blank = false;
        g_assert_cmpint(verify_frame(&verify, frame, 300, &meta), ==, XN_VERDICT_CHECKSUM);

        /* Completed on the way: right where that is allowed. */
        frame_set_checksum(&spec, frame, false);
        g_assert_cmpint(verify_frame(&verify, frame, 300, &meta), ==, XN_VERDICT_GOOD);
        verify_init(&verify, SEED, XN_EXPECT_CSUM_SAME, false);
        g_assert_cmpint(verify_frame(&verify, frame, 300, &meta), ==, XN_VERDICT_META);
    }
}

static void test_blank_that_was_complete(void)
{
    struct XnFrameSpec spec = make_spec(XN_FRAME_TCP4, 300, 3);
    struct XnFrameMeta meta = {.csum_blank = true, .data_validated = true};

    verify_init(&verify, SEED, XN_EXPECT_CSUM_ANY, false);
    frame_build(&spec, frame);
    frame_set_checksum(&spec, frame, true);
    g_assert_cmpint(verify_frame(&verify, frame, 300, &meta), ==, XN_VERDICT_META);
}

static void test_gso_data(void)
{
    struct XnFrameSpec spec = make_spec(XN_FRAME_TCP6, 9000, 3);
    struct XnFrameMeta meta;

    spec.gso_size = 1428;
    frame_spec_settle(&spec);
    frame_build(&spec, frame);
    meta = frame_meta(&spec);
    g_assert_cmpuint(meta.gso_type, ==, XEN_NETIF_GSO_TYPE_TCPV6);
    verify_init(&verify, SEED, XN_EXPECT_CSUM_ANY, false);
    g_assert_cmpint(verify_frame(&verify, frame, 9000, &meta), ==, XN_VERDICT_GOOD);
    meta.gso_size = 1448;
    g_assert_cmpint(verify_frame(&verify, frame, 9000, &meta), ==, XN_VERDICT_META);
    meta.gso_size = 1428;
    meta.gso_type = XEN_NETIF_GSO_TYPE_TCPV4;
    g_assert_cmpint(verify_frame(&verify, frame, 9000, &meta), ==, XN_VERDICT_META);
    meta = (struct XnFrameMeta){.csum_blank = true, .data_validated = true};
    g_assert_cmpint(verify_frame(&verify, frame, 9000, &meta), ==, XN_VERDICT_META);
}

static void receive_sequence(uint32_t sequence)
{
    struct XnFrameSpec spec = make_spec(XN_FRAME_RAW, 60, sequence);

    frame_build(&spec, frame);
    g_assert_cmpint(judge(&spec), ==, XN_VERDICT_GOOD);
}

static void test_sequence(void)
{
    verify_init(&verify, SEED, XN_EXPECT_CSUM_ANY, false);
    receive_sequence(100);
    receive_sequence(101);
    g_assert_cmpuint(verify.gaps + verify.duplicates + verify.late, ==, 0);
    receive_sequence(105);
    g_assert_cmpuint(verify.gaps, ==, 3);
    receive_sequence(103);
    g_assert_cmpuint(verify.gaps, ==, 2);
    g_assert_cmpuint(verify.late, ==, 1);
    receive_sequence(103);
    receive_sequence(105);
    g_assert_cmpuint(verify.duplicates, ==, 2);
    g_assert_cmpuint(verify.gaps, ==, 2);
}

static void receive_flow(unsigned int flow, uint32_t sequence)
{
    struct XnFrameSpec spec = make_spec(XN_FRAME_TCP6, 200, sequence);

    spec.flow = flow;
    frame_build(&spec, frame);
    g_assert_cmpint(judge(&spec), ==, XN_VERDICT_GOOD);
}

/* Several queues: each flow keeps its order, the flows among each other do not. */
static void test_flows(void)
{
    verify_init(&verify, SEED, XN_EXPECT_CSUM_ANY, true);
    receive_flow(255, 3);
    receive_flow(1, 0);
    receive_flow(1, 1);
    receive_flow(0, 4);
    g_assert_cmpuint(verify.gaps, ==, 1);
    receive_flow(255, 5);
    g_assert_cmpuint(verify.late + verify.duplicates, ==, 0);
    receive_flow(0, 2);
    g_assert_cmpuint(verify.late, ==, 1);
    g_assert_cmpuint(verify.gaps, ==, 0);
    receive_flow(1, 1);
    g_assert_cmpuint(verify.duplicates, ==, 1);
}

static void test_foreign_frames(void)
{
    struct XnFrameMeta meta = {0};

    verify_init(&verify, SEED, XN_EXPECT_CSUM_ANY, false);
    memset(frame, 0x33, 100);
    g_assert_cmpint(verify_frame(&verify, frame, 100, &meta), ==, XN_VERDICT_FOREIGN);
    frame[12] = 0x08;
    frame[13] = 0x06;
    g_assert_cmpint(verify_frame(&verify, frame, 42, &meta), ==, XN_VERDICT_FOREIGN);
    frame[13] = 0x00;
    g_assert_cmpint(verify_frame(&verify, frame, 100, &meta), ==, XN_VERDICT_FOREIGN);
    g_assert_cmpint(verify_frame(&verify, frame, 20, &meta), ==, XN_VERDICT_FOREIGN);
    g_assert_cmpint(verify_frame(&verify, frame, 13, &meta), ==, XN_VERDICT_FOREIGN);
    g_assert_cmpuint(verify_bad(&verify), ==, 0);
}

static void test_settled_specs(void)
{
    struct XnFrameSpec spec = make_spec(XN_FRAME_TCP4, 53, 0);

    frame_spec_settle(&spec);
    g_assert_cmpint(spec.kind, ==, XN_FRAME_RAW);
    spec = make_spec(XN_FRAME_TCP4, 54 + 1448, 0);
    spec.gso_size = 1448;
    frame_spec_settle(&spec);
    g_assert_cmpuint(spec.gso_size, ==, 0);
    spec = make_spec(XN_FRAME_TCP4, 54 + 1449, 0);
    spec.gso_size = 1448;
    frame_spec_settle(&spec);
    g_assert_cmpuint(spec.gso_size, ==, 1448);
    g_assert_true(spec.csum_blank);
    spec = make_spec(XN_FRAME_RAW, 14, 0);
    spec.vlans = 2;
    spec.csum_blank = true;
    frame_spec_settle(&spec);
    g_assert_cmpuint(spec.vlans, ==, 0);
    g_assert_false(spec.csum_blank);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/qnetfront/verify/round-trip-every-length", test_round_trip_every_length);
    g_test_add_func("/qnetfront/verify/vlan-tags", test_vlan_tags);
    g_test_add_func("/qnetfront/verify/any-flipped-byte", test_any_flipped_byte_is_found);
    g_test_add_func("/qnetfront/verify/shifted-pages", test_shifted_pages_are_found);
    g_test_add_func("/qnetfront/verify/other-seed", test_other_seed_is_found);
    g_test_add_func("/qnetfront/verify/checksums", test_checksums);
    g_test_add_func("/qnetfront/verify/blank-that-was-complete", test_blank_that_was_complete);
    g_test_add_func("/qnetfront/verify/gso-data", test_gso_data);
    g_test_add_func("/qnetfront/verify/sequence", test_sequence);
    g_test_add_func("/qnetfront/verify/flows", test_flows);
    g_test_add_func("/qnetfront/verify/foreign-frames", test_foreign_frames);
    g_test_add_func("/qnetfront/verify/settled-specs", test_settled_specs);
    return g_test_run();
}
