/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offload-guest-rx-test.c - frames from the port, described for the guest
 */
#include "netif/offload.h"

#include "frame.h"

static const struct XnFeatures NO_FEATURES;
static const struct XnFeatures ALL_FEATURES = {
    .sg = true,
    .gso_tcpv4 = true,
    .gso_tcpv6 = true,
    .csum_ipv4 = true,
    .csum_ipv6 = true,
};

/* Describes a frame in memory of just its size, and writes the bytes back. */
static enum XnOffloadResult describe(const struct virtio_net_hdr *header,
                                     const struct XnFeatures *features, struct Frame *frame,
                                     struct XnGuestRxMeta *meta)
{
    g_autofree uint8_t *bytes = g_memdup2(frame->bytes, frame->length);
    struct XnGuestRxMeta untouched;
    enum XnOffloadResult result;

    memset(&untouched, 0xa5, sizeof(untouched));
    *meta = untouched;
    result = offload_guest_rx_describe(header, features, bytes, frame->length, meta);
    if (result != XN_OFFLOAD_OK) {
        g_assert_cmpint(result, ==, XN_OFFLOAD_BAD);
        g_assert_cmpmem(meta, sizeof(*meta), &untouched, sizeof(untouched));
        g_assert_cmpmem(bytes, frame->length, frame->bytes, frame->length);
    }
    memcpy(frame->bytes, bytes, frame->length);
    return result;
}

static void assert_meta(const struct XnGuestRxMeta *meta, uint16_t flags, uint8_t gso_type,
                        uint16_t gso_size)
{
    g_assert_cmphex(meta->flags, ==, flags);
    g_assert_cmpuint(meta->gso_type, ==, gso_type);
    g_assert_cmpuint(meta->gso_size, ==, gso_size);
}

static struct virtio_net_hdr blank_header_of(const struct Frame *frame)
{
    return (struct virtio_net_hdr){
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
        .csum_start = (uint16_t)frame->l4_offset,
        .csum_offset = (uint16_t)frame_checksum_offset(frame),
    };
}

/* All combinations of what a guest takes. */
static struct XnFeatures combination(unsigned bits)
{
    return features_normalise((struct XnFeatures){
        .sg = true,
        .csum_ipv4 = bits & 1,
        .csum_ipv6 = bits & 2,
        .gso_tcpv4 = bits & 4,
        .gso_tcpv6 = bits & 8,
    });
}

enum { COMBINATIONS = 1 << 4 };

static void test_no_offload(void)
{
    g_autofree struct Frame *frame = g_new(struct Frame, 1);

    frame_build_stack(frame, "4t", 100);
    for (unsigned bits = 0; bits < COMBINATIONS; bits++) {
        struct XnFeatures features = combination(bits);
        struct virtio_net_hdr header = {0};
        struct XnGuestRxMeta meta;

        g_assert_cmpint(describe(&header, &features, frame, &meta), ==, XN_OFFLOAD_OK);
        assert_meta(&meta, 0, 0, 0);
        header.flags = VIRTIO_NET_HDR_F_DATA_VALID;
        g_assert_cmpint(describe(&header, &features, frame, &meta), ==, XN_OFFLOAD_OK);
        assert_meta(&meta, NETRXF_data_validated, 0, 0);
    }
}

/* Shorter than any header, down to one byte. */
static void test_short_frames(void)
{
    g_autofree struct Frame *frame = g_new0(struct Frame, 1);

    for (frame->length = 1; frame->length < 60; frame->length++) {
        struct virtio_net_hdr header = {0};
        struct XnGuestRxMeta meta;

        g_assert_cmpint(describe(&header, &ALL_FEATURES, frame, &meta), ==, XN_OFFLOAD_OK);
        assert_meta(&meta, 0, 0, 0);
    }
}

/*
 * A blank checksum stays blank where the guest will find and complete it. It will not behind a VLAN
 * tag (Linux), nor of an IP version that was not negotiated: there it is completed for it.
 */
static void test_blank_checksum(gconstpointer stack)
{
    static const uint32_t payloads[] = {0, 1, 2, 1400, 9000};

    for (size_t i = 0; i < G_N_ELEMENTS(payloads); i++) {
        for (unsigned bits = 0; bits < COMBINATIONS; bits++) {
            g_autofree struct Frame *frame = g_new(struct Frame, 1);
            g_autofree struct Frame *before = NULL;
            struct XnFeatures features = combination(bits);
            struct virtio_net_hdr header;
            struct XnGuestRxMeta meta;
            bool stays;

            frame_build_stack(frame, stack, payloads[i]);
            frame_blank_checksum(frame);
            before = g_memdup2(frame, sizeof(*frame));
            header = blank_header_of(frame);
            stays = frame->vlan_tags == 0 &&
                    (frame->ip_version == 4 ? features.csum_ipv4 : features.csum_ipv6);
            g_assert_cmpint(describe(&header, &features, frame, &meta), ==, XN_OFFLOAD_OK);
            if (stays) {
                assert_meta(&meta, NETRXF_data_validated | NETRXF_csum_blank, 0, 0);
            } else {
                assert_meta(&meta, NETRXF_data_validated, 0, 0);
                g_assert_cmphex(frame_l4_sum(frame), ==, 0xffff);
                /* Nothing but the checksum has changed. */
                memcpy(frame->bytes + frame->l4_offset + frame_checksum_offset(frame),
                       before->bytes + frame->l4_offset + frame_checksum_offset(frame), 2);
            }
            g_assert_cmpmem(frame, sizeof(*frame), before, sizeof(*before));
        }
    }
}

/* A blank checksum elsewhere than where the guest looks, as of a packet within a tunnel. */
static void test_checksum_the_guest_would_not_find(void)
{
    static const struct {
        const char *stack;
        uint32_t start;
        uint32_t offset;
    } places[] = {{"4t", 70, 16}, {"4t", 42, 6}, {"4t", 34, 6}, {"4u", 34, 16},
                  {"4i", 34, 2},  {"4i", 34, 6}, {"6i", 54, 6}, {"qqq4t", 46, 16}};

    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autofree struct Frame *frame = g_new(struct Frame, 1);
        g_autofree struct Frame *expected = NULL;
        struct virtio_net_hdr header = {
            .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
            .csum_start = (uint16_t)places[i].start,
            .csum_offset = (uint16_t)places[i].offset,
        };
        struct XnGuestRxMeta meta;

        frame_build_stack(frame, places[i].stack, 200);
        expected = g_memdup2(frame, sizeof(*frame));
        frame_complete_checksum(expected, places[i].start, places[i].offset);
        g_assert_cmpint(describe(&header, &ALL_FEATURES, frame, &meta), ==, XN_OFFLOAD_OK);
        assert_meta(&meta, NETRXF_data_validated, 0, 0);
        g_assert_cmpmem(frame, sizeof(*frame), expected, sizeof(*expected));
    }
}

/* In UDP, 0 means that there is no checksum: a sum of 0 is written as 0xffff. */
static void test_udp_checksum_is_never_zero(gconstpointer stack)
{
    g_autofree struct Frame *frame = g_new(struct Frame, 1);
    struct virtio_net_hdr header;
    struct XnGuestRxMeta meta;

    frame_build_stack(frame, stack, 2);
    frame_blank_checksum(frame);
    /* Payload that makes the sum 0xffff. */
    frame_put16(frame->bytes + frame->payload_offset, 0);
    frame_put16(frame->bytes + frame->payload_offset,
                ~frame_sum(0, frame->bytes + frame->l4_offset, frame->length - frame->l4_offset) &
                    0xffff);
    header = blank_header_of(frame);
    g_assert_cmpint(describe(&header, &NO_FEATURES, frame, &meta), ==, XN_OFFLOAD_OK);
    g_assert_cmphex(frame_get16(frame->bytes + frame->l4_offset + 6), ==, 0xffff);
    g_assert_cmphex(frame_l4_sum(frame), ==, 0xffff);
}

static void test_checksum_outside_the_frame(void)
{
    static const uint16_t numbers[] = {0, 1, 34, 97, 98, 99, 100, 101, 32767, 65534, 65535};
    g_autofree struct Frame *frame = g_new(struct Frame, 1);

    frame_build_stack(frame, "4u", 100 - 42);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        for (size_t j = 0; j < G_N_ELEMENTS(numbers); j++) {
            struct virtio_net_hdr header = {
                .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                .csum_start = numbers[i],
                .csum_offset = numbers[j],
            };
            bool inside = (uint32_t)numbers[i] + numbers[j] + 2 <= 100;
            struct XnGuestRxMeta meta;

            g_assert_cmpint(describe(&header, &ALL_FEATURES, frame, &meta), ==,
                            inside ? XN_OFFLOAD_OK : XN_OFFLOAD_BAD);
        }
    }
}

/* Every GSO type that there is, and some that are not, against everything a guest may take. */
static void test_every_gso_type(void)
{
    g_autofree struct Frame *v4 = g_new(struct Frame, 1);
    g_autofree struct Frame *v6 = g_new(struct Frame, 1);

    frame_build_stack(v4, "4t", 20000);
    frame_build_stack(v6, "6t", 20000);
    for (unsigned bits = 0; bits < COMBINATIONS; bits++) {
        for (unsigned type = 0; type <= 0xff; type++) {
            struct XnFeatures features = combination(bits);
            bool is_v6 = (type & 0x7f) == VIRTIO_NET_HDR_GSO_TCPV6;
            struct Frame *frame = is_v6 ? v6 : v4;
            struct virtio_net_hdr header = blank_header_of(frame);
            struct XnGuestRxMeta meta;
            enum XnOffloadResult result;

            header.gso_type = (uint8_t)type;
            header.gso_size = 1400;
            frame_blank_checksum(frame);
            result = describe(&header, &features, frame, &meta);
            switch (type & 0x7f) {
            case VIRTIO_NET_HDR_GSO_NONE:
                g_assert_cmpint(result, ==, XN_OFFLOAD_OK);
                g_assert_cmpuint(meta.gso_type, ==, XEN_NETIF_GSO_TYPE_NONE);
                g_assert_cmpuint(meta.gso_size, ==, 0);
                break;
            case VIRTIO_NET_HDR_GSO_TCPV4:
            case VIRTIO_NET_HDR_GSO_TCPV6:
                if (!(is_v6 ? features.gso_tcpv6 : features.gso_tcpv4)) {
                    g_assert_cmpint(result, ==, XN_OFFLOAD_BAD);
                    break;
                }
                g_assert_cmpint(result, ==, XN_OFFLOAD_OK);
                assert_meta(&meta, NETRXF_data_validated | NETRXF_csum_blank,
                            is_v6 ? XEN_NETIF_GSO_TYPE_TCPV6 : XEN_NETIF_GSO_TYPE_TCPV4, 1400);
                header.gso_size = 0;
                g_assert_cmpint(describe(&header, &features, frame, &meta), ==, XN_OFFLOAD_BAD);
                break;
            default:
                g_assert_cmpint(result, ==, XN_OFFLOAD_BAD);
                break;
            }
        }
    }
}

/* Guests expect a blank checksum in each super-frame; one from LRO hardware has none. */
static void test_super_frame_without_blank_checksum(gconstpointer stack)
{
    g_autofree struct Frame *frame = g_new(struct Frame, 1);
    struct virtio_net_hdr header = {.gso_size = 1400};
    struct XnGuestRxMeta meta;

    frame_build_stack(frame, stack, 30000);
    header.gso_type = frame->ip_version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;
    if (frame->protocol != IPPROTO_TCP) {
        g_assert_cmpint(describe(&header, &ALL_FEATURES, frame, &meta), ==, XN_OFFLOAD_BAD);
        return;
    }
    g_assert_cmpint(describe(&header, &ALL_FEATURES, frame, &meta), ==, XN_OFFLOAD_OK);
    g_assert_cmphex(meta.flags, ==, NETRXF_data_validated | NETRXF_csum_blank);
    g_assert_cmphex(frame_get16(frame->bytes + frame->l4_offset + 16), ==, frame_pseudo_sum(frame));
    header.gso_type ^= VIRTIO_NET_HDR_GSO_TCPV4 ^ VIRTIO_NET_HDR_GSO_TCPV6;
    g_assert_cmpint(describe(&header, &ALL_FEATURES, frame, &meta), ==, XN_OFFLOAD_BAD);
}

static void test_super_frame_that_is_none(gconstpointer stack)
{
    g_autofree struct Frame *frame = g_new(struct Frame, 1);
    struct virtio_net_hdr header;
    struct XnGuestRxMeta meta;

    frame_build_stack(frame, stack, 5000);
    header = blank_header_of(frame);
    header.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
    header.gso_size = 1400;
    g_assert_cmpint(describe(&header, &ALL_FEATURES, frame, &meta), ==, XN_OFFLOAD_BAD);
}

static void test_super_frame_with_a_bad_header(void)
{
    g_autofree struct Frame *frame = g_new(struct Frame, 1);
    struct virtio_net_hdr header;
    struct XnGuestRxMeta meta;

    frame_build_stack(frame, "4t", 5000);
    header = blank_header_of(frame);
    header.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
    header.gso_size = 1400;
    g_assert_cmpint(describe(&header, &ALL_FEATURES, frame, &meta), ==, XN_OFFLOAD_OK);
    frame_put16(frame->bytes + frame->l4_offset + 12, 0x4000);
    g_assert_cmpint(describe(&header, &ALL_FEATURES, frame, &meta), ==, XN_OFFLOAD_BAD);
}

/*
 * What one guest sends, another receives: with all features what the sender said, with none a frame
 * with a valid checksum.
 */
static void test_guest_to_guest(gconstpointer stack)
{
    for (int gso = 0; gso <= 1; gso++) {
        g_autofree struct Frame *frame = g_new(struct Frame, 1);
        struct XnGuestTxPacket packet = {.flags = NETTXF_csum_blank | NETTXF_data_validated};
        struct virtio_net_hdr header;
        struct XnGuestRxMeta meta;

        frame_build_stack(frame, stack, 5000);
        frame_blank_checksum(frame);
        packet.size = frame->length;
        if (gso && frame->protocol == IPPROTO_TCP) {
            packet.gso_type =
                frame->ip_version == 4 ? XEN_NETIF_GSO_TYPE_TCPV4 : XEN_NETIF_GSO_TYPE_TCPV6;
            packet.gso_size = 1400;
        }
        g_assert_cmpint(offload_guest_tx_describe(&packet, frame->bytes, frame->length, &header),
                        ==, XN_OFFLOAD_OK);
        if (frame->vlan_tags == 0 || packet.gso_type) {
            g_assert_cmpint(describe(&header, &ALL_FEATURES, frame, &meta), ==, XN_OFFLOAD_OK);
            assert_meta(&meta, NETRXF_data_validated | NETRXF_csum_blank, packet.gso_type,
                        packet.gso_size);
        }
        g_assert_cmpint(describe(&header, &NO_FEATURES, frame, &meta), ==,
                        packet.gso_type ? XN_OFFLOAD_BAD : XN_OFFLOAD_OK);
        if (!packet.gso_type) {
            assert_meta(&meta, NETRXF_data_validated, 0, 0);
            g_assert_cmphex(frame_l4_sum(frame), ==, 0xffff);
        }
    }
}

static void add_for_each(const char *name, GTestDataFunc test, const char *const *stacks,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        g_autofree char *path = g_strdup_printf("/offload/guest_rx/%s/%s", name, stacks[i]);

        g_test_add_data_func(path, stacks[i], test);
    }
}

#define ADD_FOR_EACH(name, test, stacks) add_for_each(name, test, stacks, G_N_ELEMENTS(stacks))

int main(int argc, char **argv)
{
    static const char *const udp_stacks[] = {"4u", "6u", "q4u", "sq6u", "6hdu"};
    static const char *const no_ipv4_tcp[] = {"4i", "4u", "6t", "6u", "qqq4t", "6Ht"};

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/offload/guest_rx/no-offload", test_no_offload);
    g_test_add_func("/offload/guest_rx/short-frames", test_short_frames);
    ADD_FOR_EACH("blank-checksum", test_blank_checksum, FRAME_STACKS);
    g_test_add_func("/offload/guest_rx/checksum-the-guest-would-not-find",
                    test_checksum_the_guest_would_not_find);
    ADD_FOR_EACH("udp-checksum-is-never-zero", test_udp_checksum_is_never_zero, udp_stacks);
    g_test_add_func("/offload/guest_rx/checksum-outside-the-frame",
                    test_checksum_outside_the_frame);
    g_test_add_func("/offload/guest_rx/every-gso-type", test_every_gso_type);
    ADD_FOR_EACH("super-frame-without-blank-checksum", test_super_frame_without_blank_checksum,
                 FRAME_STACKS);
    ADD_FOR_EACH("super-frame-that-is-none", test_super_frame_that_is_none, no_ipv4_tcp);
    g_test_add_func("/offload/guest_rx/super-frame-with-a-bad-header",
                    test_super_frame_with_a_bad_header);
    ADD_FOR_EACH("guest-to-guest", test_guest_to_guest, FRAME_STACKS);
    return g_test_run();
}
