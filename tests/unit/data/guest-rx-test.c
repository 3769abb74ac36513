/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-test.c - frames from the port to the guest
 */
#include "base/clock.h"
#include "fake-guest.h"

#define CANARY 0xc5

/* Posts `count` more buffers: request i has id i and lends page i of the first XN_RING_SIZE. */
static void post(struct FakeGuest *guest, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = guest->guest_rx.req_prod_pvt++;
        netif_rx_request_t *request = RING_GET_REQUEST(&guest->guest_rx, index);

        memset(guest->pages[index % XN_RING_SIZE], CANARY, XN_PAGE_SIZE);
        *request = (netif_rx_request_t){.id = (uint16_t)index, .gref = index % XN_RING_SIZE};
    }
    RING_PUSH_REQUESTS(&guest->guest_rx);
}

static void send_frame(struct FakeGuest *guest, uint32_t size, uint32_t seed,
                       const struct virtio_net_hdr *header)
{
    static uint8_t frame[FAKE_FRAME_ROOM];

    memset(frame, 0, sizeof(*header));
    if (header) {
        memcpy(frame, header, sizeof(*header));
    }
    for (uint32_t i = 0; i < size; i++) {
        frame[sizeof(*header) + i] = fake_byte(seed, i);
    }
    g_assert_cmpint(write(guest->network, frame, sizeof(*header) + size), ==,
                    (ssize_t)(sizeof(*header) + size));
    guest->queue->guest_rx_ready = true;
    guest->queue->port_drained = false;
}

/* The next frame in the ring: byte-exact, in as few slots as can be, nothing beyond it touched. */
static void expect_frame(struct FakeGuest *guest, uint32_t size, uint32_t seed)
{
    uint32_t slots = (size + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE;

    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t index = guest->guest_rx.rsp_cons++;
        const netif_rx_response_t *response = RING_GET_RESPONSE(&guest->guest_rx, index);
        const uint8_t *page = guest->pages[index % XN_RING_SIZE];
        uint32_t part = MIN(size - slot * XN_PAGE_SIZE, XN_PAGE_SIZE);

        g_assert_cmpint((int32_t)(guest->guest_rx.sring->rsp_prod - index), >, 0);
        g_assert_cmpuint(response->id, ==, (uint16_t)index);
        g_assert_cmpuint(response->offset, ==, 0);
        g_assert_cmpuint(response->flags, ==, slot + 1 < slots ? NETRXF_more_data : 0);
        g_assert_cmpint(response->status, ==, (int)part);
        for (uint32_t i = 0; i < XN_PAGE_SIZE; i++) {
            g_assert_cmpuint(page[i], ==,
                             i < part ? fake_byte(seed, slot * XN_PAGE_SIZE + i) : CANARY);
        }
    }
}

static void expect_nothing(struct FakeGuest *guest)
{
    g_assert_cmpuint(guest->guest_rx.sring->rsp_prod, ==, guest->guest_rx.rsp_cons);
}

static void test_every_length_takes_the_minimum_of_slots_and_segments(void)
{
    struct FakeGuest *guest = fake_guest_new();

    for (uint32_t size = 14; size <= XN_FRAME_MAX; size += size < 9000 ? 1 : 61) {
        uint32_t slots = (size + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE;
        unsigned segments = fake.segments, calls = fake.calls;

        post(guest, slots);
        send_frame(guest, size, size, NULL);
        g_assert_cmpuint(guest_rx_turn(guest->queue, guest->turn), ==, 1);
        g_assert_cmpuint(fake.segments - segments, ==, slots);
        g_assert_cmpuint(fake.calls - calls, ==, 1);
        expect_frame(guest, size, size);
        expect_nothing(guest);
    }
    g_assert_cmpuint(guest->counters.guest_rx_slots, ==, guest->counters.guest_rx_slots_minimum);
    g_assert_cmpuint(guest->counters.guest_rx_segments, ==,
                     guest->counters.guest_rx_segments_minimum);
    fake_guest_free(guest);
}

static void test_many_frames_share_a_copy_call_and_a_notification(void)
{
    struct FakeGuest *guest = fake_guest_new();

    post(guest, XN_RING_SIZE);
    for (uint32_t i = 0; i < XN_BATCH_PACKETS; i++) {
        send_frame(guest, 60, i, NULL);
    }
    guest->guest_rx.sring->rsp_event = 1;
    g_assert_cmpuint(guest_rx_turn(guest->queue, guest->turn), ==, XN_BATCH_PACKETS);
    g_assert_false(guest->queue->guest_rx_ready);
    g_assert_cmpuint(fake.calls, ==, 1);
    g_assert_cmpuint(fake.notifies, ==, 1);
    for (uint32_t i = 0; i < XN_BATCH_PACKETS; i++) {
        expect_frame(guest, 60, i);
    }
    fake_guest_free(guest);
}

/* While frames come one by one, no read is made in vain; the port is asked again when epoll says
 * so. */
static void test_sparse_port_is_read_once(void)
{
    struct FakeGuest *guest = fake_guest_new();

    post(guest, XN_RING_SIZE);
    send_frame(guest, 60, 1, NULL);
    send_frame(guest, 60, 2, NULL);
    guest->queue->port_sparse = true;
    g_assert_cmpuint(guest_rx_turn(guest->queue, guest->turn), ==, 1);
    g_assert_false(guest->queue->guest_rx_ready);
    expect_frame(guest, 60, 1);
    /* an event from the guest is no reason to read */
    guest->queue->guest_rx_ready = true;
    g_assert_cmpuint(guest_rx_turn(guest->queue, guest->turn), ==, 0);
    g_assert_false(guest->queue->guest_rx_ready);
    expect_nothing(guest);
    guest->queue->port_drained = false;
    guest->queue->guest_rx_ready = true;
    g_assert_cmpuint(guest_rx_turn(guest->queue, guest->turn), ==, 1);
    expect_frame(guest, 60, 2);
    fake_guest_free(guest);
}

static void test_turn_is_bounded(void)
{
    struct FakeGuest *guest = fake_guest_new();

    post(guest, XN_RING_SIZE);
    for (uint32_t i = 0; i < 2 * XN_TURN_PACKETS; i++) {
        send_frame(guest, 60, i, NULL);
    }
    g_assert_cmpuint(guest_rx_turn(guest->queue, guest->turn), ==, XN_TURN_PACKETS);
    g_assert_true(guest->queue->guest_rx_ready);
    fake_guest_free(guest);
}

static void test_without_buffers_the_port_is_not_read(void)
{
    struct FakeGuest *guest = fake_guest_new();

    send_frame(guest, 60, 1, NULL);
    guest_rx_turn(guest->queue, guest->turn);
    guest_rx_turn(guest->queue, guest->turn);
    g_assert_false(guest->queue->guest_rx_ready);
    g_assert_cmpuint(guest->queue->guest_rx_slots_needed, ==, 1);
    g_assert_cmpuint(guest->queue->held->length, ==, 0);
    g_assert_cmpuint(guest->guest_rx.sring->req_event, ==, 1);
    post(guest, 1);
    guest->queue->guest_rx_ready = true;
    guest->queue->port_drained = false;
    guest_rx_turn(guest->queue, guest->turn);
    expect_frame(guest, 60, 1);
    fake_guest_free(guest);
}

static void test_frame_waits_for_as_many_buffers_as_it_needs(void)
{
    struct FakeGuest *guest = fake_guest_new();

    post(guest, 5);
    send_frame(guest, 60, 1, NULL);
    send_frame(guest, 5 * XN_PAGE_SIZE, 2, NULL);
    send_frame(guest, 60, 3, NULL);
    guest_rx_turn(guest->queue, guest->turn);
    guest_rx_turn(guest->queue, guest->turn);
    g_assert_false(guest->queue->guest_rx_ready);
    expect_frame(guest, 60, 1);
    expect_nothing(guest);
    g_assert_cmpuint(guest->counters.guest_rx_no_slots, ==, 1);
    /* one consumed, five needed: the event comes with the sixth */
    g_assert_cmpuint(guest->guest_rx.sring->req_event, ==, 6);
    post(guest, 2);
    guest->queue->guest_rx_ready = true;
    guest->queue->port_drained = false;
    guest_rx_turn(guest->queue, guest->turn);
    expect_frame(guest, 5 * XN_PAGE_SIZE, 2);
    expect_frame(guest, 60, 3);
    expect_nothing(guest);
    fake_guest_free(guest);
}

static void test_failed_segment_marks_only_its_slot(gconstpointer data)
{
    uint32_t bad = GPOINTER_TO_UINT(data);
    struct FakeGuest *guest = fake_guest_new();

    post(guest, 4);
    send_frame(guest, 3 * XN_PAGE_SIZE, 1, NULL);
    send_frame(guest, 60, 2, NULL);
    fake.failing_segment = (int)bad;
    guest_rx_turn(guest->queue, guest->turn);
    g_assert_cmpuint(guest->guest_rx.sring->rsp_prod, ==, 4);
    for (uint32_t i = 0; i < 4; i++) {
        int16_t status = RING_GET_RESPONSE(&guest->guest_rx, i)->status;

        g_assert_cmpint(status, ==, i == bad ? GNTST_bad_gntref : i < 3 ? (int)XN_PAGE_SIZE : 60);
    }
    g_assert_cmpuint(guest->counters.guest_rx_drop_bad_grant, ==, 1);
    g_assert_cmpuint(guest->counters.guest_rx_packets, ==, 1);
    fake_guest_free(guest);
}

static void test_frame_beyond_what_the_guest_takes_is_dropped(void)
{
    struct FakeGuest *guest = fake_guest_new();

    guest->queue->config.features = (struct XnFeatures){0};
    post(guest, 8);
    send_frame(guest, XN_PAGE_SIZE + 1, 1, NULL);
    send_frame(guest, XN_PAGE_SIZE, 2, NULL);
    guest_rx_turn(guest->queue, guest->turn);
    expect_frame(guest, XN_PAGE_SIZE, 2);
    expect_nothing(guest);
    g_assert_cmpuint(guest->counters.guest_rx_drop_too_big, ==, 1);
    fake_guest_free(guest);
}

static void test_offload_that_was_not_negotiated_is_dropped(void)
{
    struct FakeGuest *guest = fake_guest_new();
    struct virtio_net_hdr header = {.gso_type = VIRTIO_NET_HDR_GSO_UDP, .gso_size = 1000};

    post(guest, 8);
    send_frame(guest, 3000, 1, &header);
    guest_rx_turn(guest->queue, guest->turn);
    expect_nothing(guest);
    g_assert_cmpuint(guest->counters.guest_rx_drop_bad_header, ==, 1);
    fake_guest_free(guest);
}

static void test_deleted_port_is_reported(void)
{
    struct FakeGuest *guest = fake_guest_new();
    int saved = guest->port.fd;

    post(guest, 8);
    guest->port.fd = -1;
    guest->queue->guest_rx_ready = true;
    guest->queue->port_drained = false;
    guest_rx_turn(guest->queue, guest->turn);
    g_assert_nonnull(guest->queue->broken_reason);
    guest->port.fd = saved;
    fake_guest_free(guest);
}

static void test_impossible_index_breaks_the_ring(gconstpointer data)
{
    struct FakeGuest *guest = fake_guest_new();

    guest->guest_rx.sring->req_prod = GPOINTER_TO_UINT(data);
    guest->queue->guest_rx_ready = true;
    guest->queue->port_drained = false;
    g_assert_cmpuint(guest_rx_turn(guest->queue, guest->turn), ==, 0);
    g_assert_nonnull(guest->queue->broken_reason);
    expect_nothing(guest);
    fake_guest_free(guest);
}

/* Static grants are written to directly; read-only ones are no use for that. */
static void test_static_grants_need_no_copy_call(gconstpointer data)
{
    struct FakeGuest *guest = fake_guest_new();
    g_autofree struct XnStaticPages *table = fake_static_pages_new();
    uint32_t mask = GPOINTER_TO_UINT(data);
    unsigned copied = 4;

    for (uint32_t i = 0; i < 4; i++) {
        if (mask & (1u << i)) {
            bool readonly = i == 3;

            fake_guest_add_static(guest, table, i, readonly ? XEN_NETIF_CTRLF_GREF_readonly : 0);
            copied -= readonly ? 0 : 1;
        }
    }
    post(guest, 4);
    send_frame(guest, 4 * XN_PAGE_SIZE - 7, 3, NULL);
    guest_rx_turn(guest->queue, guest->turn);
    expect_frame(guest, 4 * XN_PAGE_SIZE - 7, 3);
    g_assert_cmpuint(fake.segments, ==, copied);
    fake_guest_free(guest);
}

static void test_rate_limit_keeps_one_frame_and_leaves_the_rest(void)
{
    struct FakeGuest *guest = fake_guest_new();
    struct XnCreditRate rate = {.bytes = 2 * 65536, .interval_us = 3600000000};

    credit_set(&guest->shared.guest_rx_credit, &rate, clock_now_ns());
    post(guest, XN_RING_SIZE);
    for (uint32_t i = 0; i < 4; i++) {
        send_frame(guest, XN_FRAME_MAX, i, NULL);
    }
    guest_rx_turn(guest->queue, guest->turn);
    g_assert_false(guest->queue->guest_rx_ready);
    g_assert_cmpuint(guest->queue->guest_rx_credit_ns, >, 0);
    expect_frame(guest, XN_FRAME_MAX, 0);
    expect_frame(guest, XN_FRAME_MAX, 1);
    expect_nothing(guest);
    rate.bytes = 0;
    credit_set(&guest->shared.guest_rx_credit, &rate, clock_now_ns());
    guest->queue->guest_rx_credit_ns = 1;
    guest->queue->guest_rx_ready = true;
    guest->queue->port_drained = false;
    guest_rx_turn(guest->queue, guest->turn);
    expect_frame(guest, XN_FRAME_MAX, 2);
    expect_frame(guest, XN_FRAME_MAX, 3);
    fake_guest_free(guest);
}

/* Headroom is left free in the first slot, and no byte of it is touched. */
static void test_headroom_is_left_free(void)
{
    static const uint32_t sizes[] = {60, 1514, 3840, 3841, 9014};
    struct FakeGuest *guest = fake_guest_new();
    uint32_t headroom = 256;

    guest->queue->config.features.guest_rx_headroom = (uint16_t)headroom;
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        uint32_t slots = (headroom + sizes[i] + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE;
        uint32_t done = 0;

        post(guest, slots + 1);
        send_frame(guest, sizes[i], (uint32_t)i, NULL);
        guest_rx_turn(guest->queue, guest->turn);
        for (uint32_t slot = 0; slot <= slots; slot++) {
            uint32_t index = guest->guest_rx.rsp_cons++;
            const netif_rx_response_t *response = RING_GET_RESPONSE(&guest->guest_rx, index);
            const uint8_t *page = guest->pages[index % XN_RING_SIZE];
            uint32_t start = slot == 0 ? headroom : 0;

            if (slot == 1) {
                g_assert_cmpuint(((const netif_extra_info_t *)response)->type, ==,
                                 XN_EXTRA_TYPE_XDP);
                continue;
            }
            g_assert_cmpuint(response->offset, ==, start);
            for (uint32_t k = 0; k < start; k++) {
                g_assert_cmpuint(page[k], ==, CANARY);
            }
            for (int k = 0; k < response->status; k++) {
                g_assert_cmpuint(page[start + (uint32_t)k], ==,
                                 fake_byte((uint32_t)i, done + (uint32_t)k));
            }
            done += (uint32_t)response->status;
        }
        g_assert_cmpuint(done, ==, sizes[i]);
        expect_nothing(guest);
    }
    fake_guest_free(guest);
}

/*
 * A process that died after writing responses and before publishing them: the buffers are used
 * again, though the responses lie over the requests.
 */
static void test_successor_uses_the_buffers_of_the_journal(void)
{
    struct FakeGuest *guest = fake_guest_new();

    post(guest, 4);
    for (uint32_t i = 0; i < 2; i++) {
        union XnGuestRxEntry entry = {.response = {.id = 0xdead, .status = -1}};

        journal_take_guest_rx(&guest->journal, &guest->queue->guest_rx_ring);
        ring_guest_rx_respond(&guest->queue->guest_rx_ring, &entry);
    }
    fake_guest_adopt(guest);
    send_frame(guest, 3 * XN_PAGE_SIZE, 1, NULL);
    send_frame(guest, 60, 2, NULL);
    guest_rx_turn(guest->queue, guest->turn);
    expect_frame(guest, 3 * XN_PAGE_SIZE, 1);
    expect_frame(guest, 60, 2);
    expect_nothing(guest);
    fake_guest_free(guest);
}

int main(int argc, char **argv)
{
    static const uint32_t impossible[] = {257, 1u << 31, UINT32_MAX};

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/data/guest-rx/every-length-takes-the-minimum-of-slots-and-segments",
                    test_every_length_takes_the_minimum_of_slots_and_segments);
    g_test_add_func("/data/guest-rx/many-frames-share-a-copy-call-and-a-notification",
                    test_many_frames_share_a_copy_call_and_a_notification);
    g_test_add_func("/data/guest-rx/sparse-port-is-read-once", test_sparse_port_is_read_once);
    g_test_add_func("/data/guest-rx/turn-is-bounded", test_turn_is_bounded);
    g_test_add_func("/data/guest-rx/without-buffers-the-port-is-not-read",
                    test_without_buffers_the_port_is_not_read);
    g_test_add_func("/data/guest-rx/frame-waits-for-as-many-buffers-as-it-needs",
                    test_frame_waits_for_as_many_buffers_as_it_needs);
    for (uint32_t i = 0; i < 4; i++) {
        g_autofree char *name =
            g_strdup_printf("/data/guest-rx/failed-segment-marks-only-its-slot/%u", i);

        g_test_add_data_func(name, GUINT_TO_POINTER(i), test_failed_segment_marks_only_its_slot);
    }
    g_test_add_func("/data/guest-rx/frame-beyond-what-the-guest-takes-is-dropped",
                    test_frame_beyond_what_the_guest_takes_is_dropped);
    g_test_add_func("/data/guest-rx/offload-that-was-not-negotiated-is-dropped",
                    test_offload_that_was_not_negotiated_is_dropped);
    g_test_add_func("/data/guest-rx/deleted-port-is-reported", test_deleted_port_is_reported);
    for (size_t i = 0; i < G_N_ELEMENTS(impossible); i++) {
        g_autofree char *name =
            g_strdup_printf("/data/guest-rx/impossible-index-breaks-the-ring/%#x", impossible[i]);

        g_test_add_data_func(name, GUINT_TO_POINTER(impossible[i]),
                             test_impossible_index_breaks_the_ring);
    }
    for (uint32_t mask = 1; mask < 16; mask++) {
        g_autofree char *name =
            g_strdup_printf("/data/guest-rx/static-grants-need-no-copy-call/%#x", mask);

        g_test_add_data_func(name, GUINT_TO_POINTER(mask), test_static_grants_need_no_copy_call);
    }
    g_test_add_func("/data/guest-rx/rate-limit-keeps-one-frame-and-leaves-the-rest",
                    test_rate_limit_keeps_one_frame_and_leaves_the_rest);
    g_test_add_func("/data/guest-rx/headroom-is-left-free", test_headroom_is_left_free);
    g_test_add_func("/data/guest-rx/successor-uses-the-buffers-of-the-journal",
                    test_successor_uses_the_buffers_of_the_journal);
    return g_test_run();
}
