/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-source-test.c - the next frame for the guest
 */
#include <arpa/inet.h>

#include "fake-guest.h"
#include "netif/checksum.h"
#include "netif/headers.h"

#define MSS 1000u

/* Ethernet with `tags` VLAN tags, IPv4 and TCP or UDP; returns the length of the headers. */
static uint32_t put_headers(uint8_t *frame, uint32_t tags, uint8_t protocol, uint32_t payload)
{
    uint32_t at = 12, l4_size = protocol == IPPROTO_TCP ? 20 : 8;
    uint8_t *ip;

    memset(frame, 0, 100);
    frame[0] = 0x02;
    for (uint32_t i = 0; i < tags; i++, at += 4) {
        frame[at] = 0x81;
        frame[at + 3] = 5;
    }
    frame[at] = 0x08;
    ip = frame + at + 2;
    ip[0] = 0x45;
    ip[2] = (uint8_t)((20 + l4_size + payload) >> 8);
    ip[3] = (uint8_t)(20 + l4_size + payload);
    ip[8] = 64;
    ip[9] = protocol;
    ip[15] = 1;
    ip[19] = 2;
    ip[20 + 3] = 9;
    if (protocol == IPPROTO_TCP) {
        ip[20 + 12] = 0x50;
    } else {
        ip[20 + 4] = (uint8_t)((8 + payload) >> 8);
        ip[20 + 5] = (uint8_t)(8 + payload);
    }
    return at + 2 + 20 + l4_size;
}

static void write_frame(struct FakeGuest *guest, const struct virtio_net_hdr *header,
                        const uint8_t *frame, uint32_t length)
{
    struct iovec iov[2] = {{(void *)header, sizeof(*header)}, {(void *)frame, length}};

    g_assert_cmpint(writev(guest->network, iov, 2), ==, (ssize_t)(sizeof(*header) + length));
}

/* Is the L4 checksum of an IPv4 frame complete and right? */
static bool checksum_is_right(const uint8_t *frame, uint32_t length)
{
    struct XnHeaders headers;
    uint64_t sum;

    g_assert_cmpint(headers_walk(frame, length, &headers), ==, XN_HEADERS_L4);
    sum = headers_pseudo_sum(&headers, frame, length - headers.l4_offset);
    sum = checksum_add(sum, frame + headers.l4_offset, length - headers.l4_offset);
    return checksum_fold(sum) == 0xffff;
}

/*
 * A super-frame for a guest that cannot take it comes in segments, each whole and with a complete
 * checksum, and putting one back gives the same one again.
 */
static void test_super_frame_comes_in_segments(gconstpointer data)
{
    uint32_t tags = GPOINTER_TO_UINT(data);
    struct FakeGuest *guest = fake_guest_new();
    static uint8_t sent[XN_FRAME_MAX], got[XN_FRAME_MAX], again[XN_FRAME_MAX];
    uint32_t payload = 10 * MSS + 1;
    uint32_t headers = put_headers(sent, tags, IPPROTO_TCP, payload);
    struct virtio_net_hdr header = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                    .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
                                    .gso_size = MSS,
                                    .csum_start = (uint16_t)(headers - 20),
                                    .csum_offset = 16};
    struct XnGuestRxMeta meta;
    uint32_t length, done = 0;

    if (tags == 0) {
        guest->queue->config.features.gso_tcpv4 = false;
    }
    for (uint32_t i = 0; i < payload; i++) {
        sent[headers + i] = fake_byte(1, i);
    }
    write_frame(guest, &header, sent, headers + payload);
    for (uint32_t i = 0; i <= 10; i++) {
        uint32_t part = MIN(payload - done, MSS);

        g_assert_cmpint(guest_rx_source_next(guest->queue, got, &length, &meta), ==,
                        XN_GUEST_RX_FRAME);
        guest_rx_source_put_back(guest->queue, got, length, &meta);
        g_assert_cmpint(guest_rx_source_next(guest->queue, again, &length, &meta), ==,
                        XN_GUEST_RX_FRAME);
        g_assert_cmpmem(got, length, again, length);
        g_assert_cmpuint(length, ==, headers + part);
        g_assert_cmpint(meta.gso_type, ==, XEN_NETIF_GSO_TYPE_NONE);
        g_assert_cmpuint(meta.flags, ==, NETRXF_data_validated);
        g_assert_true(checksum_is_right(got, length));
        for (uint32_t k = 0; k < part; k++) {
            g_assert_cmpuint(got[headers + k], ==, fake_byte(1, done + k));
        }
        done += part;
    }
    g_assert_cmpint(guest_rx_source_next(guest->queue, got, &length, &meta), ==, XN_GUEST_RX_NONE);
    g_assert_cmpuint(guest->counters.guest_rx_segmented, ==, 1);
    fake_guest_free(guest);
}

static void test_super_frame_stays_whole_for_a_guest_that_takes_it(void)
{
    struct FakeGuest *guest = fake_guest_new();
    static uint8_t sent[XN_FRAME_MAX], got[XN_FRAME_MAX];
    uint32_t headers = put_headers(sent, 0, IPPROTO_TCP, 5000);
    struct virtio_net_hdr header = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                    .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
                                    .gso_size = MSS,
                                    .csum_start = 34,
                                    .csum_offset = 16};
    struct XnGuestRxMeta meta;
    uint32_t length;

    write_frame(guest, &header, sent, headers + 5000);
    g_assert_cmpint(guest_rx_source_next(guest->queue, got, &length, &meta), ==, XN_GUEST_RX_FRAME);
    g_assert_cmpmem(got, length, sent, headers + 5000);
    g_assert_cmpint(meta.gso_type, ==, XEN_NETIF_GSO_TYPE_TCPV4);
    fake_guest_free(guest);
}

/* DHCP is complete for everyone, other UDP is left blank for those who can complete it. */
static void test_checksum_of_dhcp_is_complete(gconstpointer data)
{
    uint16_t port = (uint16_t)GPOINTER_TO_UINT(data);
    bool dhcp = port == 67 || port == 68;
    struct FakeGuest *guest = fake_guest_new();
    uint8_t sent[1000], got[XN_FRAME_MAX];
    uint32_t headers = put_headers(sent, 0, IPPROTO_UDP, 300);
    struct virtio_net_hdr header = {
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 6};
    struct XnGuestRxMeta meta;
    uint32_t length;

    memset(sent + headers, 0x5a, 300);
    sent[36] = (uint8_t)(port >> 8);
    sent[37] = (uint8_t)port;
    write_frame(guest, &header, sent, headers + 300);
    g_assert_cmpint(guest_rx_source_next(guest->queue, got, &length, &meta), ==, XN_GUEST_RX_FRAME);
    g_assert_cmpint(checksum_is_right(got, length), ==, dhcp);
    g_assert_cmpuint(meta.flags, ==,
                     dhcp ? NETRXF_data_validated : NETRXF_data_validated | NETRXF_csum_blank);
    fake_guest_free(guest);
}

static void test_multicast_is_filtered_as_the_guest_asked(void)
{
    struct FakeGuest *guest = fake_guest_new();
    static const uint8_t wanted[6] = {0x01, 0, 0x5e, 0, 0, 1};
    static const uint8_t unwanted[6] = {0x01, 0, 0x5e, 0, 0, 2};
    uint8_t sent[60] = {0}, got[XN_FRAME_MAX];
    struct virtio_net_hdr header = {0};
    struct XnGuestRxMeta meta;
    uint32_t length;

    g_assert_true(mcast_add(&guest->memory.mcast, wanted));
    for (int filter = 0; filter <= 1; filter++) {
        mcast_set_filter(&guest->memory.mcast, filter);
        memcpy(sent, wanted, sizeof(wanted));
        write_frame(guest, &header, sent, sizeof(sent));
        memcpy(sent, unwanted, sizeof(unwanted));
        write_frame(guest, &header, sent, sizeof(sent));
        g_assert_cmpint(guest_rx_source_next(guest->queue, got, &length, &meta), ==,
                        XN_GUEST_RX_FRAME);
        g_assert_cmpint(guest_rx_source_next(guest->queue, got, &length, &meta), ==,
                        filter ? XN_GUEST_RX_DROPPED : XN_GUEST_RX_FRAME);
    }
    g_assert_cmpuint(guest->counters.guest_rx_drop_multicast, ==, 1);
    fake_guest_free(guest);
}

/*
 * Another guest chooses the size of the segments, and the frame may have been on its way since this
 * one took super-frames. One without scatter-gather must get nothing that needs a second slot.
 */
static void test_segments_of_more_than_a_slot_are_dropped_without_sg(void)
{
    static const struct {
        uint32_t mss;
        uint32_t headroom;
        bool fits;
    } cases[] = {{4096 - 54, 0, true},
                 {4096 - 53, 0, false},
                 {4096 - 54 - 256, 256, true},
                 {4096 - 53 - 256, 256, false},
                 {30000, 0, false}};
    static uint8_t sent[XN_FRAME_MAX], got[XN_FRAME_MAX];

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct FakeGuest *guest = fake_guest_new();
        uint32_t headers = put_headers(sent, 0, IPPROTO_TCP, 60000);
        struct virtio_net_hdr header = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                        .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
                                        .gso_size = (uint16_t)cases[i].mss,
                                        .csum_start = (uint16_t)(headers - 20),
                                        .csum_offset = 16};
        struct XnGuestRxMeta meta;
        uint32_t length;

        guest->queue->config.features =
            (struct XnFeatures){.guest_rx_headroom = (uint16_t)cases[i].headroom};
        write_frame(guest, &header, sent, headers + 60000);
        g_assert_cmpint(guest_rx_source_next(guest->queue, got, &length, &meta), ==,
                        cases[i].fits ? XN_GUEST_RX_FRAME : XN_GUEST_RX_DROPPED);
        g_assert_cmpuint(guest->counters.guest_rx_drop_too_big, ==, cases[i].fits ? 0 : 1);
        if (!cases[i].fits) {
            g_assert_cmpint(guest_rx_source_next(guest->queue, got, &length, &meta), ==,
                            XN_GUEST_RX_NONE);
        }
        fake_guest_free(guest);
    }
}

int main(int argc, char **argv)
{
    static const uint32_t ports[] = {53, 66, 67, 68, 69};

    g_test_init(&argc, &argv, NULL);
    for (uint32_t tags = 0; tags <= 2; tags++) {
        g_autofree char *name =
            g_strdup_printf("/data/guest-rx-source/super-frame-comes-in-segments/%u-tags", tags);

        g_test_add_data_func(name, GUINT_TO_POINTER(tags), test_super_frame_comes_in_segments);
    }
    g_test_add_func("/data/guest-rx-source/super-frame-stays-whole-for-a-guest-that-takes-it",
                    test_super_frame_stays_whole_for_a_guest_that_takes_it);
    for (size_t i = 0; i < G_N_ELEMENTS(ports); i++) {
        g_autofree char *name =
            g_strdup_printf("/data/guest-rx-source/checksum-of-dhcp-is-complete/%u", ports[i]);

        g_test_add_data_func(name, GUINT_TO_POINTER(ports[i]), test_checksum_of_dhcp_is_complete);
    }
    g_test_add_func("/data/guest-rx-source/multicast-is-filtered-as-the-guest-asked",
                    test_multicast_is_filtered_as_the_guest_asked);
    g_test_add_func("/data/guest-rx-source/segments-of-more-than-a-slot-are-dropped-without-sg",
                    test_segments_of_more_than_a_slot_are_dropped_without_sg);
    return g_test_run();
}
