/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-tx-test.c - frames from the guest to the port
 */
#include "base/clock.h"
#include "fake-guest.h"

/* Adds one ring entry; its id is its ring index, so that responses can be checked by position. */
static netif_tx_request_t *post(struct FakeGuest *guest, uint32_t ref, uint32_t offset,
                                uint32_t size, uint16_t flags)
{
    uint32_t index = guest->guest_tx.req_prod_pvt++;
    netif_tx_request_t *request = RING_GET_REQUEST(&guest->guest_tx, index);

    *request = (netif_tx_request_t){.gref = ref,
                                    .offset = (uint16_t)offset,
                                    .flags = flags,
                                    .id = (uint16_t)index,
                                    .size = (uint16_t)size};
    return request;
}

static void publish(struct FakeGuest *guest)
{
    RING_PUSH_REQUESTS(&guest->guest_tx);
    guest->queue->guest_tx_ready = true;
}

/* Fills `size` bytes from the guest's page `ref` on, which may continue in the next pages. */
static void fill(struct FakeGuest *guest, uint32_t ref, uint32_t offset, uint32_t size,
                 uint32_t seed)
{
    for (uint32_t i = 0; i < size; i++) {
        guest->pages[ref + (offset + i) / XN_PAGE_SIZE][(offset + i) % XN_PAGE_SIZE] =
            fake_byte(seed, i);
    }
}

/* Posts a frame laid out as Linux does: from `ref` on, page after page. Returns its entries. */
static uint32_t post_frame(struct FakeGuest *guest, uint32_t ref, uint32_t offset, uint32_t size,
                           uint32_t seed)
{
    uint32_t done = 0, entries = 0;

    fill(guest, ref, offset, size, seed);
    while (done < size) {
        uint32_t in_page = (offset + done) % XN_PAGE_SIZE;
        uint32_t part = MIN(size - done, XN_PAGE_SIZE - in_page);

        post(guest, ref + (offset + done) / XN_PAGE_SIZE, in_page, done == 0 ? size : part,
             done + part < size ? NETTXF_more_data : 0);
        done += part;
        entries++;
    }
    return entries;
}

static void expect_frame(struct FakeGuest *guest, uint32_t size, uint32_t seed)
{
    static uint8_t frame[FAKE_FRAME_ROOM];
    ssize_t length = read(guest->network, frame, sizeof(frame));

    g_assert_cmpint(length, ==, (ssize_t)(size + sizeof(struct virtio_net_hdr)));
    for (uint32_t i = 0; i < size; i++) {
        g_assert_cmpuint(frame[sizeof(struct virtio_net_hdr) + i], ==, fake_byte(seed, i));
    }
}

static void expect_no_frame(struct FakeGuest *guest)
{
    uint8_t byte;

    g_assert_cmpint(read(guest->network, &byte, 1), ==, -1);
    g_assert_cmpint(errno, ==, EAGAIN);
}

/* The next `count` responses have this status and the ids of their positions. */
static void expect_responses(struct FakeGuest *guest, uint32_t count, int16_t status)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = guest->guest_tx.rsp_cons;
        const netif_tx_response_t *response = RING_GET_RESPONSE(&guest->guest_tx, index);

        g_assert_cmpint((int32_t)(guest->guest_tx.sring->rsp_prod - index), >, 0);
        g_assert_cmpint(response->status, ==, status);
        if (status != NETIF_RSP_NULL) {
            g_assert_cmpuint(response->id, ==, (uint16_t)index);
        }
        guest->guest_tx.rsp_cons++;
    }
}

static void expect_no_response(struct FakeGuest *guest)
{
    g_assert_cmpuint(guest->guest_tx.sring->rsp_prod, ==, guest->guest_tx.rsp_cons);
}

static void test_every_length_arrives_with_one_segment_a_slot(void)
{
    struct FakeGuest *guest = fake_guest_new();

    for (uint32_t size = 14; size <= XN_FRAME_MAX; size += size < 9000 ? 1 : 61) {
        uint32_t offset = size % 97;
        uint32_t entries = post_frame(guest, 0, offset, size, size);
        unsigned segments = fake.segments, calls = fake.calls;

        publish(guest);
        g_assert_cmpuint(guest_tx_turn(guest->queue, guest->turn), ==, 1);
        g_assert_false(guest->queue->guest_tx_ready);
        g_assert_cmpuint(fake.segments - segments, ==, entries);
        g_assert_cmpuint(fake.calls - calls, ==, 1);
        expect_frame(guest, size, size);
        expect_responses(guest, entries, NETIF_RSP_OKAY);
        expect_no_response(guest);
    }
    fake_guest_free(guest);
}

static void test_many_packets_share_a_copy_call_and_a_notification(void)
{
    struct FakeGuest *guest = fake_guest_new();

    for (uint32_t i = 0; i < XN_BATCH_PACKETS; i++) {
        post_frame(guest, i, 0, 60, i);
    }
    guest->guest_tx.sring->rsp_event = 1;
    publish(guest);
    g_assert_cmpuint(guest_tx_turn(guest->queue, guest->turn), ==, XN_BATCH_PACKETS);
    g_assert_cmpuint(fake.calls, ==, 1);
    g_assert_cmpuint(fake.notifies, ==, 1);
    for (uint32_t i = 0; i < XN_BATCH_PACKETS; i++) {
        expect_frame(guest, 60, i);
    }
    expect_responses(guest, XN_BATCH_PACKETS, NETIF_RSP_OKAY);
    fake_guest_free(guest);
}

static void test_guest_that_asks_for_no_event_gets_none(void)
{
    struct FakeGuest *guest = fake_guest_new();

    post_frame(guest, 0, 0, 60, 0);
    guest->guest_tx.sring->rsp_event = 100;
    publish(guest);
    guest_tx_turn(guest->queue, guest->turn);
    g_assert_cmpuint(fake.notifies, ==, 0);
    fake_guest_free(guest);
}

static void test_turn_is_bounded(void)
{
    struct FakeGuest *guest = fake_guest_new();

    for (uint32_t i = 0; i < 3 * XN_TURN_PACKETS; i++) {
        post_frame(guest, i, 0, 60, i);
    }
    publish(guest);
    g_assert_cmpuint(guest_tx_turn(guest->queue, guest->turn), ==, XN_TURN_PACKETS);
    g_assert_true(guest->queue->guest_tx_ready);
    expect_responses(guest, XN_TURN_PACKETS, NETIF_RSP_OKAY);
    expect_no_response(guest);
    fake_guest_free(guest);
}

static void test_full_port_loses_no_frame_and_no_response(void)
{
    struct FakeGuest *guest = fake_guest_new();
    uint32_t answered = 0, received = 0, count = XN_RING_SIZE;
    int small = 1;

    setsockopt(guest->port.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    for (uint32_t i = 0; i < count; i++) {
        post_frame(guest, i, 100, 1000, i);
    }
    publish(guest);
    while (received < count) {
        guest_tx_turn(guest->queue, guest->turn);
        answered = guest->guest_tx.sring->rsp_prod;
        while (received < answered) {
            expect_frame(guest, 1000, received++);
        }
        if (guest->queue->guest_tx_port_full) {
            g_assert_false(guest->queue->guest_tx_ready);
            guest->queue->guest_tx_port_full = false;
            guest->queue->guest_tx_ready = true;
        }
    }
    g_assert_cmpuint(guest->counters.guest_tx_port_full, >, 0);
    expect_responses(guest, count, NETIF_RSP_OKAY);
    expect_no_frame(guest);
    fake_guest_free(guest);
}

static void test_failed_segment_costs_only_its_packet(gconstpointer data)
{
    uint32_t bad = GPOINTER_TO_UINT(data);
    struct FakeGuest *guest = fake_guest_new();

    for (uint32_t i = 0; i < 3; i++) {
        post_frame(guest, i * 10, 0, 3 * XN_PAGE_SIZE, i);
    }
    fake.failing_segment = (int)bad;
    publish(guest);
    guest_tx_turn(guest->queue, guest->turn);
    for (uint32_t i = 0; i < 3; i++) {
        if (i == bad / 3) {
            expect_responses(guest, 3, NETIF_RSP_ERROR);
        } else {
            expect_frame(guest, 3 * XN_PAGE_SIZE, i);
            expect_responses(guest, 3, NETIF_RSP_OKAY);
        }
    }
    expect_no_frame(guest);
    g_assert_cmpuint(guest->counters.guest_tx_drop_bad_grant, ==, 1);
    fake_guest_free(guest);
}

static void test_failed_call_answers_every_packet_with_an_error(void)
{
    struct FakeGuest *guest = fake_guest_new();

    fake.call_fails = true;
    post_frame(guest, 0, 0, 60, 0);
    post_frame(guest, 1, 0, 60, 1);
    publish(guest);
    guest_tx_turn(guest->queue, guest->turn);
    expect_responses(guest, 2, NETIF_RSP_ERROR);
    expect_no_frame(guest);
    fake_guest_free(guest);
}

static void test_packets_before_a_broken_one_are_sent_and_answered(void)
{
    struct FakeGuest *guest = fake_guest_new();

    post_frame(guest, 0, 0, 60, 0);
    post_frame(guest, 1, 0, 60, 1);
    post(guest, 2, XN_PAGE_SIZE - 10, 60, 0);
    post_frame(guest, 3, 0, 60, 3);
    publish(guest);
    guest_tx_turn(guest->queue, guest->turn);
    expect_frame(guest, 60, 0);
    expect_frame(guest, 60, 1);
    expect_no_frame(guest);
    expect_responses(guest, 2, NETIF_RSP_OKAY);
    expect_no_response(guest);
    g_assert_nonnull(guest->queue->broken_reason);
    fake_guest_free(guest);
}

static void test_impossible_index_breaks_the_ring(gconstpointer data)
{
    struct FakeGuest *guest = fake_guest_new();

    guest->guest_tx.sring->req_prod = GPOINTER_TO_UINT(data);
    guest->queue->guest_tx_ready = true;
    g_assert_cmpuint(guest_tx_turn(guest->queue, guest->turn), ==, 0);
    g_assert_nonnull(guest->queue->broken_reason);
    expect_no_response(guest);
    fake_guest_free(guest);
}

static void test_extra_is_answered_with_null_behind_its_head(void)
{
    struct FakeGuest *guest = fake_guest_new();
    netif_extra_info_t *extra;

    fill(guest, 0, 0, 60, 5);
    post(guest, 0, 0, 60, NETTXF_extra_info);
    extra = (void *)post(guest, 0, 0, 0, 0);
    *extra = (netif_extra_info_t){.type = XEN_NETIF_EXTRA_TYPE_HASH};
    publish(guest);
    guest_tx_turn(guest->queue, guest->turn);
    expect_frame(guest, 60, 5);
    expect_responses(guest, 1, NETIF_RSP_OKAY);
    expect_responses(guest, 1, NETIF_RSP_NULL);
    expect_no_response(guest);
    g_assert_cmpuint(guest->counters.guest_tx_slots, ==, 1);
    g_assert_cmpuint(guest->counters.guest_tx_extras, ==, 1);
    fake_guest_free(guest);
}

/* A TCP segment with a blank checksum whose headers stand in slots of one byte each (XSA-423). */
static void test_headers_in_tiny_slots_are_gathered(void)
{
    static const uint8_t headers[54] = {
        [12] = 0x08, [14] = 0x45, [17] = 100 - 14, [23] = 6, [46] = 0x50,
    };
    struct FakeGuest *guest = fake_guest_new();
    uint8_t frame[200];
    struct virtio_net_hdr header;

    fill(guest, 0, 0, 100, 9);
    memcpy(guest->pages[0], headers, sizeof(headers));
    for (uint32_t i = 0; i < 17; i++) {
        post(guest, 0, i, i == 0 ? 100 : 1, NETTXF_more_data | (i == 0 ? NETTXF_csum_blank : 0));
    }
    post(guest, 0, 17, 83, 0);
    publish(guest);
    guest_tx_turn(guest->queue, guest->turn);
    g_assert_cmpint(read(guest->network, frame, sizeof(frame)), ==, 110);
    g_assert_cmpmem(frame + sizeof(header), 100, guest->pages[0], 100);
    memcpy(&header, frame, sizeof(header));
    g_assert_cmpuint(header.flags, ==, VIRTIO_NET_HDR_F_NEEDS_CSUM);
    g_assert_cmpuint(header.csum_start, ==, 34);
    g_assert_cmpuint(header.csum_offset, ==, 16);
    g_assert_cmpuint(header.hdr_len, ==, 54);
    expect_responses(guest, 18, NETIF_RSP_OKAY);
    g_assert_cmpuint(guest->counters.guest_tx_gathered, ==, 1);
    fake_guest_free(guest);
}

/* Static grants need no copy call, wherever they stand among the slots of a frame of any size. */
static void test_static_grants_need_no_copy_call(gconstpointer data)
{
    struct FakeGuest *guest = fake_guest_new();
    g_autofree struct XnStaticPages *table = fake_static_pages_new();
    uint32_t mask = GPOINTER_TO_UINT(data) & 0xff;
    uint32_t slots = GPOINTER_TO_UINT(data) >> 8;
    unsigned copied = 0;

    for (uint32_t i = 0; i < slots; i++) {
        if (mask & (1u << i % 8)) {
            fake_guest_add_static(guest, table, i, XEN_NETIF_CTRLF_GREF_readonly);
        } else {
            copied++;
        }
    }
    post_frame(guest, 0, 0, slots * XN_PAGE_SIZE - 1, 3);
    publish(guest);
    g_assert_cmpuint(guest_tx_turn(guest->queue, guest->turn), ==, 1);
    expect_frame(guest, slots * XN_PAGE_SIZE - 1, 3);
    expect_responses(guest, slots, NETIF_RSP_OKAY);
    g_assert_cmpuint(fake.segments, ==, copied);
    g_assert_cmpuint(fake.calls, ==, copied > 0);
    fake_guest_free(guest);
}

/* Indices are the guest's to choose: the limit holds wherever they start. */
static void test_rate_limit_holds_at_every_index(void)
{
    static const uint32_t indices[] = {0x7fffff00, 0x80000000, 0x80000001, 0xffffff80, 0xffffffff};

    for (guint i = 0; i < G_N_ELEMENTS(indices); i++) {
        struct FakeGuest *guest = fake_guest_new();
        struct XnQueueConfig config = guest->queue->config;
        struct XnCreditRate rate = {.bytes = 2 * 65536, .interval_us = 3600000000};

        queue_destroy(guest->queue);
        guest->guest_tx.sring->req_prod = guest->guest_tx.sring->rsp_prod = indices[i];
        guest->guest_tx.req_prod_pvt = guest->guest_tx.rsp_cons = indices[i];
        guest->queue = queue_create(&config, NULL);
        credit_set(&guest->shared.guest_tx_credit, &rate, clock_now_ns());
        for (uint32_t frame = 0; frame < 3; frame++) {
            post_frame(guest, 32 * frame, 0, 65535, frame);
        }
        publish(guest);
        guest_tx_turn(guest->queue, guest->turn);
        g_assert_cmpuint(guest->counters.guest_tx_packets, ==, 2);
        g_assert_cmpuint(guest->queue->guest_tx_credit_ns, >, 0);
        fake_guest_free(guest);
    }
}

/* A frame waits for credit, and pays once. */
static void test_rate_limit_holds_frames_in_the_ring(void)
{
    struct FakeGuest *guest = fake_guest_new();
    struct XnCreditRate rate = {.bytes = 2 * 65536, .interval_us = 3600000000};

    credit_set(&guest->shared.guest_tx_credit, &rate, clock_now_ns());
    for (uint32_t i = 0; i < 3; i++) {
        post_frame(guest, i * 16, 0, XN_FRAME_MAX, i);
    }
    publish(guest);
    guest_tx_turn(guest->queue, guest->turn);
    g_assert_false(guest->queue->guest_tx_ready);
    g_assert_cmpuint(guest->queue->guest_tx_credit_ns, >, 0);
    expect_frame(guest, XN_FRAME_MAX, 0);
    expect_frame(guest, XN_FRAME_MAX, 1);
    expect_no_frame(guest);
    g_assert_cmpuint(guest->counters.guest_tx_rate_waits, ==, 1);
    rate.bytes = 0;
    credit_set(&guest->shared.guest_tx_credit, &rate, clock_now_ns());
    guest->queue->guest_tx_ready = true;
    guest_tx_turn(guest->queue, guest->turn);
    expect_frame(guest, XN_FRAME_MAX, 2);
    expect_responses(guest, 48, NETIF_RSP_OKAY);
    fake_guest_free(guest);
}

static void post_multicast(struct FakeGuest *guest, uint8_t type, uint8_t last)
{
    netif_extra_info_t *extra;

    post(guest, 0, 0, 0, NETTXF_extra_info);
    extra = (void *)post(guest, 0, 0, 0, 0);
    *extra =
        (netif_extra_info_t){.type = type, .u.mcast.addr = {0x01, 0x00, 0x5e, 0x00, 0x00, last}};
}

/* 64 addresses, the 65th is refused; deleting never is; each is a head and a NULL. */
static void test_multicast_requests_are_answered(void)
{
    struct FakeGuest *guest = fake_guest_new();

    for (uint32_t i = 0; i < XN_MCAST_MAX + 2; i++) {
        uint8_t type =
            i <= XN_MCAST_MAX ? XEN_NETIF_EXTRA_TYPE_MCAST_ADD : XEN_NETIF_EXTRA_TYPE_MCAST_DEL;

        post_multicast(guest, type, (uint8_t)i);
    }
    publish(guest);
    while (guest->queue->guest_tx_ready) {
        guest_tx_turn(guest->queue, guest->turn);
    }
    for (uint32_t i = 0; i < XN_MCAST_MAX + 2; i++) {
        expect_responses(guest, 1, i == XN_MCAST_MAX ? NETIF_RSP_ERROR : NETIF_RSP_OKAY);
        expect_responses(guest, 1, NETIF_RSP_NULL);
    }
    expect_no_response(guest);
    expect_no_frame(guest);
    g_assert_cmpuint(fake.calls, ==, 0);
    fake_guest_free(guest);
}

/*
 * A process that died after writing responses and before publishing them: nothing is lost, though
 * the responses lie over the requests.
 */
static void test_successor_goes_on_from_the_journal(void)
{
    struct FakeGuest *guest = fake_guest_new();

    for (uint32_t i = 0; i < 4; i++) {
        post_frame(guest, i, 0, 60, i);
    }
    publish(guest);
    while (guest->queue->guest_tx_ring.req_cons != 3) {
        journal_take_guest_tx(&guest->journal, &guest->queue->guest_tx_ring);
    }
    for (uint32_t i = 0; i < 3; i++) {
        ring_guest_tx_respond(&guest->queue->guest_tx_ring, 0xdead, NETIF_RSP_ERROR);
    }
    fake_guest_adopt(guest);
    guest_tx_turn(guest->queue, guest->turn);
    for (uint32_t i = 0; i < 4; i++) {
        expect_frame(guest, 60, i);
    }
    expect_responses(guest, 4, NETIF_RSP_OKAY);
    g_assert_null(guest->queue->broken_reason);
    fake_guest_free(guest);
}

/* The journal of another ring is not believed: the ring's own indices are. */
static void test_successor_does_not_believe_a_journal_that_does_not_fit(gconstpointer data)
{
    struct FakeGuest *guest = fake_guest_new();

    memset(&guest->journal, 0xee, sizeof(guest->journal));
    guest->journal.guest_tx_consumed = GPOINTER_TO_UINT(data);
    for (uint32_t i = 0; i < 4; i++) {
        post_frame(guest, i, 0, 60, i);
    }
    publish(guest);
    fake_guest_adopt(guest);
    guest_tx_turn(guest->queue, guest->turn);
    for (uint32_t i = 0; i < 4; i++) {
        expect_frame(guest, 60, i);
    }
    expect_responses(guest, 4, NETIF_RSP_OKAY);
    fake_guest_free(guest);
}

static void test_drop_behind_a_full_port_is_counted_once(void)
{
    struct FakeGuest *guest = fake_guest_new();
    static uint8_t frame[FAKE_FRAME_ROOM];
    uint32_t entries = 0;

    while (guest->counters.guest_tx_port_full == 0) {
        entries = post_frame(guest, 0, 0, 60000, 1);
        publish(guest);
        guest_tx_turn(guest->queue, guest->turn);
        guest->guest_tx.rsp_cons = guest->guest_tx.sring->rsp_prod;
    }
    post(guest, 20, 0, 5, 0);
    for (int i = 0; i < 3; i++) {
        publish(guest);
        guest->queue->guest_tx_port_full = false;
        guest_tx_turn(guest->queue, guest->turn);
    }
    expect_no_response(guest);
    while (read(guest->network, frame, sizeof(frame)) > 0) {
    }
    publish(guest);
    guest->queue->guest_tx_port_full = false;
    guest_tx_turn(guest->queue, guest->turn);
    expect_responses(guest, entries, NETIF_RSP_OKAY);
    expect_responses(guest, 1, NETIF_RSP_ERROR);
    g_assert_cmpuint(guest->counters.guest_tx_drop_bad_size, ==, 1);
    fake_guest_free(guest);
}

int main(int argc, char **argv)
{
    static const uint32_t impossible[] = {257, 1u << 31, UINT32_MAX};
    static const uint32_t foreign[] = {5, 256, 257, 1u << 31, UINT32_MAX};

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/data/guest-tx/every-length-arrives-with-one-segment-a-slot",
                    test_every_length_arrives_with_one_segment_a_slot);
    g_test_add_func("/data/guest-tx/many-packets-share-a-copy-call-and-a-notification",
                    test_many_packets_share_a_copy_call_and_a_notification);
    g_test_add_func("/data/guest-tx/guest-that-asks-for-no-event-gets-none",
                    test_guest_that_asks_for_no_event_gets_none);
    g_test_add_func("/data/guest-tx/turn-is-bounded", test_turn_is_bounded);
    g_test_add_func("/data/guest-tx/full-port-loses-no-frame-and-no-response",
                    test_full_port_loses_no_frame_and_no_response);
    for (uint32_t i = 0; i < 9; i++) {
        g_autofree char *name =
            g_strdup_printf("/data/guest-tx/failed-segment-costs-only-its-packet/%u", i);

        g_test_add_data_func(name, GUINT_TO_POINTER(i), test_failed_segment_costs_only_its_packet);
    }
    g_test_add_func("/data/guest-tx/failed-call-answers-every-packet-with-an-error",
                    test_failed_call_answers_every_packet_with_an_error);
    g_test_add_func("/data/guest-tx/packets-before-a-broken-one-are-sent-and-answered",
                    test_packets_before_a_broken_one_are_sent_and_answered);
    for (size_t i = 0; i < G_N_ELEMENTS(impossible); i++) {
        g_autofree char *name =
            g_strdup_printf("/data/guest-tx/impossible-index-breaks-the-ring/%#x", impossible[i]);

        g_test_add_data_func(name, GUINT_TO_POINTER(impossible[i]),
                             test_impossible_index_breaks_the_ring);
    }
    g_test_add_func("/data/guest-tx/extra-is-answered-with-null-behind-its-head",
                    test_extra_is_answered_with_null_behind_its_head);
    g_test_add_func("/data/guest-tx/headers-in-tiny-slots-are-gathered",
                    test_headers_in_tiny_slots_are_gathered);
    for (uint32_t slots = 4; slots <= 16; slots *= 2) {
        for (uint32_t mask = 1; mask < 256; mask += 2) {
            g_autofree char *name = g_strdup_printf(
                "/data/guest-tx/static-grants-need-no-copy-call/%u-slots-%#x", slots, mask);

            g_test_add_data_func(name, GUINT_TO_POINTER(slots << 8 | mask),
                                 test_static_grants_need_no_copy_call);
        }
    }
    g_test_add_func("/data/guest-tx/rate-limit-holds-frames-in-the-ring",
                    test_rate_limit_holds_frames_in_the_ring);
    g_test_add_func("/data/guest-tx/rate-limit-holds-at-every-index",
                    test_rate_limit_holds_at_every_index);
    g_test_add_func("/data/guest-tx/multicast-requests-are-answered",
                    test_multicast_requests_are_answered);
    g_test_add_func("/data/guest-tx/successor-goes-on-from-the-journal",
                    test_successor_goes_on_from_the_journal);
    for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++) {
        g_autofree char *name = g_strdup_printf(
            "/data/guest-tx/successor-does-not-believe-a-journal-that-does-not-fit/%#x",
            foreign[i]);

        g_test_add_data_func(name, GUINT_TO_POINTER(foreign[i]),
                             test_successor_does_not_believe_a_journal_that_does_not_fit);
    }
    g_test_add_func("/data/guest-tx/drop-behind-a-full-port-is-counted-once",
                    test_drop_behind_a_full_port_is_counted_once);
    return g_test_run();
}
