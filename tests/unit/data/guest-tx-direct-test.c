/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-tx-direct-test.c - frames from a guest straight to its neighbour
 */
#include "../netif/frame.h"
#include "base/clock.h"
#include "fake-guest.h"

#define BRIDGE 4u
#define CANARY 0xc5

/* Two guests on one bridge; the first sends. */
struct Pair {
    struct FakeGuest *sender;
    struct FakeGuest *receiver;
};

static void settle(struct FakeGuest *guest, uint32_t bridge)
{
    struct XnQueue *queue = guest->queue;

    neighbours_remove(guest->turn->neighbours, queue);
    queue->config.place =
        (struct XnNeighbourPlace){.bridge = bridge, .mac = {0, 0x16, 0x3e, 0, 0, guest->domid}};
    neighbours_add(guest->turn->neighbours, queue);
}

static struct Pair pair_new(void)
{
    struct Pair pair = {.sender = fake_guest_new()};

    pair.receiver = fake_guest_add(1, pair.sender->turn);
    settle(pair.sender, BRIDGE);
    settle(pair.receiver, BRIDGE);
    return pair;
}

static void pair_free(struct Pair *pair)
{
    fake_guest_free(pair->receiver);
    fake_guest_free(pair->sender);
}

static void post_buffers(struct FakeGuest *guest, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = guest->guest_rx.req_prod_pvt++;

        memset(guest->pages[index % XN_RING_SIZE], CANARY, XN_PAGE_SIZE);
        *RING_GET_REQUEST(&guest->guest_rx, index) =
            (netif_rx_request_t){.id = (uint16_t)index, .gref = index % XN_RING_SIZE};
    }
    RING_PUSH_REQUESTS(&guest->guest_rx);
}

static void make_frame(const struct FakeGuest *to, uint8_t *frame, uint32_t size, uint32_t seed)
{
    for (uint32_t i = 0; i < size; i++) {
        frame[i] = fake_byte(seed, i);
    }
    memcpy(frame, to->queue->config.place.mac, 6);
}

/* Posts a frame whose pieces begin at `offset` of page `ref`, and extras of GSO when asked to. */
static uint32_t send_bytes(struct FakeGuest *guest, const uint8_t *frame, uint32_t size,
                           uint32_t ref, uint32_t offset, uint16_t flags, uint16_t gso_size)
{
    uint32_t done = 0, entries = 0;

    while (done < size) {
        uint32_t in_page = (offset + done) % XN_PAGE_SIZE;
        uint32_t part = MIN(size - done, XN_PAGE_SIZE - in_page);
        uint32_t page = ref + (offset + done) / XN_PAGE_SIZE;
        uint32_t index = guest->guest_tx.req_prod_pvt++;

        memcpy(guest->pages[page] + in_page, frame + done, part);
        *RING_GET_REQUEST(&guest->guest_tx, index) = (netif_tx_request_t){
            .gref = page,
            .offset = (uint16_t)in_page,
            .id = (uint16_t)index,
            .size = (uint16_t)(done == 0 ? size : part),
            .flags =
                (uint16_t)((done == 0 ? flags : 0) | (done + part < size ? NETTXF_more_data : 0) |
                           (done == 0 && gso_size ? NETTXF_extra_info : 0))};
        entries++;
        if (done == 0 && gso_size) {
            netif_extra_info_t extra = {.type = XEN_NETIF_EXTRA_TYPE_GSO};

            extra.u.gso.type = XEN_NETIF_GSO_TYPE_TCPV4;
            extra.u.gso.size = gso_size;
            memcpy(RING_GET_REQUEST(&guest->guest_tx, guest->guest_tx.req_prod_pvt++), &extra,
                   sizeof(extra));
            entries++;
        }
        done += part;
    }
    RING_PUSH_REQUESTS(&guest->guest_tx);
    guest->queue->guest_tx_ready = true;
    return entries;
}

static uint32_t send_frame(struct Pair *pair, uint32_t size, uint32_t ref, uint32_t offset,
                           uint32_t seed)
{
    uint8_t frame[XN_FRAME_MAX];

    make_frame(pair->receiver, frame, size, seed);
    return send_bytes(pair->sender, frame, size, ref, offset, 0, 0);
}

static void expect_responses(struct FakeGuest *guest, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = guest->guest_tx.rsp_cons++;

        g_assert_cmpint((int32_t)(guest->guest_tx.sring->rsp_prod - index), >, 0);
        g_assert_cmpint(RING_GET_RESPONSE(&guest->guest_tx, index)->status, !=, NETIF_RSP_ERROR);
    }
    g_assert_cmpuint(guest->guest_tx.sring->rsp_prod, ==, guest->guest_tx.rsp_cons);
}

/* The next frame in the receiver's ring, as few slots as can be; nothing beyond it is touched. */
static void expect_bytes(struct FakeGuest *guest, const uint8_t *frame, uint32_t size,
                         uint16_t flags, uint16_t gso_size)
{
    uint32_t done = 0;

    while (done < size) {
        uint32_t index = guest->guest_rx.rsp_cons++;
        const netif_rx_response_t *response = RING_GET_RESPONSE(&guest->guest_rx, index);
        const uint8_t *page = guest->pages[index % XN_RING_SIZE];
        uint32_t part = MIN(size - done, XN_PAGE_SIZE);

        g_assert_cmpint((int32_t)(guest->guest_rx.sring->rsp_prod - index), >, 0);
        g_assert_cmpuint(response->id, ==, (uint16_t)index);
        g_assert_cmpint(response->status, ==, (int)part);
        g_assert_cmpuint(response->flags, ==,
                         (done == 0 ? flags : 0) | (done + part < size ? NETRXF_more_data : 0) |
                             (done == 0 && gso_size ? NETRXF_extra_info : 0));
        g_assert_cmpmem(page, part, frame + done, part);
        for (uint32_t i = part; i < XN_PAGE_SIZE; i++) {
            g_assert_cmpuint(page[i], ==, CANARY);
        }
        if (done == 0 && gso_size) {
            netif_extra_info_t extra;

            memcpy(&extra, RING_GET_RESPONSE(&guest->guest_rx, guest->guest_rx.rsp_cons++),
                   sizeof(extra));
            g_assert_cmpuint(extra.type, ==, XEN_NETIF_EXTRA_TYPE_GSO);
            g_assert_cmpuint(extra.u.gso.size, ==, gso_size);
        }
        done += part;
    }
}

static void expect_frame(struct Pair *pair, uint32_t size, uint32_t seed)
{
    uint8_t frame[XN_FRAME_MAX];

    make_frame(pair->receiver, frame, size, seed);
    expect_bytes(pair->receiver, frame, size, 0, 0);
}

static void expect_nothing(struct FakeGuest *guest)
{
    g_assert_cmpuint(guest->guest_rx.sring->rsp_prod, ==, guest->guest_rx.rsp_cons);
}

/* How many frames came out of the sender's port. */
static uint32_t from_port(struct FakeGuest *guest)
{
    static uint8_t frame[FAKE_FRAME_ROOM];
    uint32_t count = 0;

    while (read(guest->network, frame, sizeof(frame)) > 0) {
        count++;
    }
    return count;
}

static void turn(struct Pair *pair)
{
    guest_tx_turn(pair->sender->queue, pair->sender->turn);
    g_assert_null(pair->sender->queue->broken_reason);
}

static void test_every_ordinary_length_arrives_by_neighbour_alone(void)
{
    struct Pair pair = pair_new();

    for (uint32_t size = 14; size <= 1518; size++) {
        uint32_t offset = (size * 37u) % (XN_PAGE_SIZE - 14);
        uint32_t entries;

        post_buffers(pair.receiver, 2);
        entries = send_frame(&pair, size, 1, offset, size);
        turn(&pair);
        g_assert_false(pair.sender->queue->guest_tx_ready);
        expect_frame(&pair, size, size);
        expect_nothing(pair.receiver);
        expect_responses(pair.sender, entries);
        post_buffers(pair.receiver, 0);
        pair.receiver->guest_rx.rsp_cons = pair.receiver->guest_rx.sring->rsp_prod;
        if (RING_FREE_REQUESTS(&pair.receiver->guest_rx) < 4) {
            pair_free(&pair);
            pair = pair_new();
        }
    }
    g_assert_cmpuint(from_port(pair.sender), ==, 0);
    pair_free(&pair);
}

static void test_super_frames_arrive_with_their_offloads(void)
{
    static const uint32_t payloads[] = {2000, 4096, 20000, 60000, 65400};
    static const uint32_t offsets[] = {0, 1, 2, 1000, 3900};

    for (size_t i = 0; i < G_N_ELEMENTS(payloads); i++) {
        for (size_t j = 0; j < G_N_ELEMENTS(offsets); j++) {
            struct Pair pair = pair_new();
            struct FrameSpec spec = {
                .ip_version = 4, .protocol = IPPROTO_TCP, .payload = payloads[i]};
            g_autofree struct Frame *frame = g_new0(struct Frame, 1);
            uint32_t entries;

            frame_build(frame, &spec);
            memcpy(frame->bytes, pair.receiver->queue->config.place.mac, 6);
            post_buffers(pair.receiver, 64);
            entries = send_bytes(pair.sender, frame->bytes, frame->length, 3, offsets[j],
                                 NETTXF_csum_blank | NETTXF_data_validated, 1448);
            turn(&pair);
            expect_bytes(pair.receiver, frame->bytes, frame->length,
                         NETRXF_csum_blank | NETRXF_data_validated, 1448);
            expect_nothing(pair.receiver);
            expect_responses(pair.sender, entries);
            g_assert_cmpuint(pair.sender->counters.guest_tx_direct, ==, 1);
            g_assert_cmpuint(pair.receiver->counters.guest_rx_direct, ==, 1);
            pair_free(&pair);
        }
    }
}

struct Otherwise {
    const char *name;
    void (*make)(struct Pair *pair);
};

static void make_other_bridge(struct Pair *pair)
{
    settle(pair->receiver, BRIDGE + 1);
}

static void make_no_bridge(struct Pair *pair)
{
    settle(pair->receiver, 0);
}

static void make_rate_limited(struct Pair *pair)
{
    static const struct XnCreditRate rate = {.bytes = 100000, .interval_us = 1000};

    credit_set(&pair->receiver->shared.guest_rx_credit, &rate, 1);
}

static void make_broken(struct Pair *pair)
{
    pair->receiver->queue->broken_reason = "test";
}

static void make_hashed(struct Pair *pair)
{
    hash_set_algorithm(&pair->receiver->memory.hash, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ);
}

static void make_detour(struct Pair *pair)
{
    pair->receiver->queue->detour_pending = true;
}

static void make_first_segment_fail(struct Pair *pair)
{
    (void)pair;
    fake.failing_segment = 0;
}

static void make_receiver_grant_bad(struct Pair *pair)
{
    for (uint32_t i = 0; i < 8; i++) {
        RING_GET_REQUEST(&pair->receiver->guest_rx, i)->gref = FAKE_PAGES + 1;
    }
}

static void test_otherwise_the_port_gets_the_frame(gconstpointer data)
{
    const struct Otherwise *otherwise = data;
    struct Pair pair = pair_new();
    uint32_t entries;

    post_buffers(pair.receiver, 8);
    otherwise->make(&pair);
    entries = send_frame(&pair, 600, 0, 100, 1);
    turn(&pair);
    expect_nothing(pair.receiver);
    if (fake.failing_segment < 0) {
        g_assert_cmpuint(from_port(pair.sender), ==, 1);
        expect_responses(pair.sender, entries);
    }
    g_assert_cmpuint(pair.sender->counters.guest_tx_direct, ==, 0);
    pair_free(&pair);
}

static void test_blank_checksum_goes_only_to_who_takes_it(void)
{
    struct Pair pair = pair_new();
    struct FrameSpec spec = {.ip_version = 4, .protocol = IPPROTO_TCP, .payload = 300};
    g_autofree struct Frame *frame = g_new0(struct Frame, 1);

    pair.receiver->queue->config.features.csum_ipv4 = false;
    pair.receiver->queue->config.features.gso_tcpv4 = false;
    frame_build(frame, &spec);
    memcpy(frame->bytes, pair.receiver->queue->config.place.mac, 6);
    post_buffers(pair.receiver, 8);
    send_bytes(pair.sender, frame->bytes, frame->length, 0, 0, NETTXF_csum_blank, 0);
    turn(&pair);
    expect_nothing(pair.receiver);
    g_assert_cmpuint(from_port(pair.sender), ==, 1);
    pair_free(&pair);
}

static void test_failed_copy_uses_up_no_buffer(void)
{
    struct Pair pair = pair_new();
    uint32_t entries;

    post_buffers(pair.receiver, 8);
    entries = send_frame(&pair, 1000, 0, 0, 1);
    pair.sender->queue->config.domid = FAKE_DOMID;
    /* the header succeeds, the rest does not: it would be the second segment of the second call */
    fake.failing_segment = 1;
    turn(&pair);
    expect_nothing(pair.receiver);
    g_assert_cmpuint(from_port(pair.sender), ==, 1);
    expect_responses(pair.sender, entries);
    fake.failing_segment = -1;
    entries = send_frame(&pair, 1000, 0, 0, 2);
    turn(&pair);
    expect_frame(&pair, 1000, 2);
    expect_responses(pair.sender, entries);
    pair_free(&pair);
}

/* `data`: where the one whose grants are bad stands in a batch of four frames, of which two are
 * his. */
static void test_bad_grants_of_one_neighbour_concern_no_other(gconstpointer data)
{
    uint32_t bad = GPOINTER_TO_UINT(data);
    struct Pair pair = pair_new();
    struct Pair other = {.sender = pair.sender, .receiver = fake_guest_add(2, pair.sender->turn)};
    uint32_t entries = 0;

    settle(other.receiver, BRIDGE);
    post_buffers(pair.receiver, 4);
    post_buffers(other.receiver, 4);
    /* of his first frame, or of his second */
    RING_GET_REQUEST(&other.receiver->guest_rx, bad)->gref = FAKE_PAGES + 1;
    for (uint32_t i = 0; i < 4; i++) {
        entries += send_frame(i % 2 == 0 ? &other : &pair, 600, i, 100, i);
    }
    turn(&pair);
    expect_frame(&pair, 600, 1);
    expect_frame(&pair, 600, 3);
    expect_nothing(pair.receiver);
    expect_nothing(other.receiver);
    g_assert_cmpuint(from_port(pair.sender), ==, 2);
    expect_responses(pair.sender, entries);
    fake_guest_free(other.receiver);
    pair_free(&pair);
}

static void test_neighbour_without_room_is_waited_for(void)
{
    struct Pair pair = pair_new();
    uint32_t entries = send_frame(&pair, 700, 0, 0, 5);

    turn(&pair);
    g_assert_true(pair.sender->queue->guest_tx_waits_for == pair.receiver->queue);
    g_assert_false(pair.sender->queue->guest_tx_ready);
    g_assert_cmpuint(from_port(pair.sender), ==, 0);
    g_assert_cmpuint(pair.receiver->guest_rx.sring->req_event, ==, 1);
    post_buffers(pair.receiver, 1);
    pair.sender->queue->guest_tx_ready = true;
    turn(&pair);
    expect_frame(&pair, 700, 5);
    expect_responses(pair.sender, entries);
    pair_free(&pair);
}

static void test_nobody_waits_long(void)
{
    struct Pair pair = pair_new();
    uint32_t entries = send_frame(&pair, 700, 0, 0, 5);

    turn(&pair);
    pair.sender->queue->guest_tx_wait_until_ns = 1;
    pair.sender->queue->guest_tx_ready = true;
    turn(&pair);
    g_assert_cmpuint(from_port(pair.sender), ==, 1);
    expect_responses(pair.sender, entries);
    /* Buffers alone do not end the detour: frames are on their way through the port. */
    post_buffers(pair.receiver, 8);
    entries = send_frame(&pair, 700, 0, 0, 6);
    turn(&pair);
    g_assert_cmpuint(from_port(pair.sender), ==, 1);
    expect_responses(pair.sender, entries);
    pair.receiver->queue->detour_until_ns = 1;
    pair.receiver->queue->guest_rx_ready = true;
    pair.receiver->queue->port_drained = false;
    guest_rx_turn(pair.receiver->queue, pair.sender->turn);
    entries = send_frame(&pair, 700, 0, 0, 7);
    turn(&pair);
    expect_frame(&pair, 700, 7);
    expect_responses(pair.sender, entries);
    pair_free(&pair);
}

/* Frames that went through the port during a detour are not overtaken when its time is over. */
static void test_detour_ends_only_behind_its_last_frame(void)
{
    struct Pair pair = pair_new();

    post_buffers(pair.receiver, 8);
    pair.receiver->queue->detour_until_ns = UINT64_MAX;
    send_frame(&pair, 700, 0, 0, 1);
    turn(&pair);
    g_assert_cmpuint(from_port(pair.sender), ==, 1);
    pair.receiver->queue->detour_until_ns = 1;
    send_frame(&pair, 700, 0, 0, 2);
    turn(&pair);
    expect_nothing(pair.receiver);
    g_assert_cmpuint(from_port(pair.sender), ==, 1);
    pair_free(&pair);
}

static void test_delivered_once_while_an_earlier_frame_waits_for_the_port(void)
{
    struct Pair pair = pair_new();
    static uint8_t frame[60000];
    uint32_t entries = 0, before;

    /* frames to nobody, until the port is full */
    while (pair.sender->counters.guest_tx_port_full == 0) {
        memset(frame, 0xee, sizeof(frame));
        before = send_bytes(pair.sender, frame, sizeof(frame), 0, 0, 0, 0);
        turn(&pair);
        if (pair.sender->counters.guest_tx_port_full == 0) {
            expect_responses(pair.sender, before);
        } else {
            entries += before;
        }
    }
    post_buffers(pair.receiver, 8);
    entries += send_frame(&pair, 500, 40, 0, 9);
    pair.sender->queue->guest_tx_port_full = false;
    turn(&pair);
    expect_frame(&pair, 500, 9);
    expect_responses(pair.sender, 0);
    g_assert_cmpuint(from_port(pair.sender), >, 0);
    pair.sender->queue->guest_tx_port_full = false;
    pair.sender->queue->guest_tx_ready = true;
    turn(&pair);
    expect_nothing(pair.receiver);
    expect_responses(pair.sender, entries);
    g_assert_cmpuint(pair.sender->counters.guest_tx_direct, ==, 1);
    pair_free(&pair);
}

/* Frames to nobody, until the sender's port is full. */
static void fill_port(struct Pair *pair)
{
    static uint8_t frame[60000];

    memset(frame, 0xee, sizeof(frame));
    while (!pair->sender->queue->guest_tx_port_full) {
        send_bytes(pair->sender, frame, sizeof(frame), 0, 0, 0, 0);
        turn(pair);
    }
}

static void wait_for_neighbour_too(struct Pair *pair)
{
    send_frame(pair, 500, 40, 0, 9);
}

static void wait_for_credit_too(struct Pair *pair)
{
    static const struct XnCreditRate rate = {.bytes = 1, .interval_us = 1000000};
    struct XnQueue *queue = pair->sender->queue;

    queue->guest_tx_paid = queue->guest_tx_ring.req_cons;
    credit_set(&pair->sender->shared.guest_tx_credit, &rate, clock_now_ns());
    send_frame(pair, 500, 40, 0, 9);
}

/* Else the worker would be woken for what has come, and could do nothing about it, again and again.
 */
static void test_full_port_is_all_that_is_waited_for(gconstpointer also)
{
    struct Pair pair = pair_new();
    struct XnQueue *queue = pair.sender->queue;

    fill_port(&pair);
    ((void (*)(struct Pair *))also)(&pair);
    queue->guest_tx_port_full = false;
    turn(&pair);
    g_assert_true(queue->guest_tx_port_full);
    g_assert_false(queue->guest_tx_ready);
    g_assert_null(queue->guest_tx_waits_for);
    g_assert_cmpuint(queue->guest_tx_credit_ns, ==, 0);
    g_assert_cmpuint(from_port(pair.sender), >, 0);
    queue->guest_tx_port_full = false;
    queue->guest_tx_ready = true;
    turn(&pair);
    g_assert_true(queue->guest_tx_waits_for == pair.receiver->queue ||
                  queue->guest_tx_credit_ns != 0);
    pair_free(&pair);
}

/* A frame for the receiver comes through its port, and it looks for it. */
static void receive_from_port(struct Pair *pair, uint32_t size)
{
    uint8_t bytes[FAKE_FRAME_ROOM] = {0};
    size_t length = sizeof(struct virtio_net_hdr) + size;

    if (size > 0) {
        g_assert_cmpint(write(pair->receiver->network, bytes, length), ==, (ssize_t)length);
    }
    pair->receiver->queue->guest_rx_ready = true;
    guest_rx_turn(pair->receiver->queue, pair->receiver->turn);
}

/* `data`: the length of a frame that came through the port, and waits. */
static void test_buffers_are_first_for_who_waited_first(gconstpointer data)
{
    uint32_t size = GPOINTER_TO_UINT(data);
    uint32_t needed = (size + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE;
    struct Pair pair = pair_new();
    struct XnQueue *queue = pair.sender->queue;

    post_buffers(pair.receiver, needed - 1);
    receive_from_port(&pair, size);
    g_assert_cmpuint(pair.receiver->queue->guest_rx_slots_needed, ==, needed);
    send_frame(&pair, 700, 0, 0, 5);
    turn(&pair);
    g_assert_true(queue->guest_tx_waits_for == pair.receiver->queue);
    g_assert_false(queue->guest_tx_ready);

    post_buffers(pair.receiver, 1);
    queue->guest_tx_ready = true;
    turn(&pair);
    expect_nothing(pair.receiver);
    g_assert_true(queue->guest_tx_ready);
    g_assert_true(pair.receiver->queue->guest_rx_ready);
    receive_from_port(&pair, 0);
    g_assert_cmpuint(pair.receiver->counters.guest_rx_packets, ==, 1);
    g_assert_cmpuint(pair.receiver->counters.guest_rx_direct, ==, 0);

    post_buffers(pair.receiver, 1);
    receive_from_port(&pair, 0);
    turn(&pair);
    g_assert_cmpuint(pair.receiver->counters.guest_rx_direct, ==, 1);
    pair_free(&pair);
}

static void test_taken_buffers_count_when_an_event_is_asked_for(void)
{
    struct Pair pair = pair_new();

    post_buffers(pair.receiver, 2);
    send_frame(&pair, 1000, 0, 0, 1);
    send_frame(&pair, 1000, 1, 0, 1);
    /* the second frame's payload: of the copies to the receiver, the last */
    fake.failing_segment = 3;
    turn(&pair);
    g_assert_cmpuint(pair.receiver->queue->guest_rx_ring.req_cons, ==, 2);
    fake.failing_segment = -1;
    receive_from_port(&pair, 3 * XN_PAGE_SIZE);
    g_assert_cmpuint(pair.receiver->guest_rx.sring->req_event, ==, 3);
    post_buffers(pair.receiver, 1);
    receive_from_port(&pair, 0);
    g_assert_cmpuint(pair.receiver->counters.guest_rx_packets, ==, 1);
    pair_free(&pair);
}

static void test_of_two_with_one_address_the_first_is_found_until_it_leaves(void)
{
    struct Pair pair = pair_new();
    struct FakeGuest *third = fake_guest_add(2, pair.sender->turn);

    third->queue->config.place = pair.receiver->queue->config.place;
    neighbours_add(pair.sender->turn->neighbours, third->queue);
    post_buffers(pair.receiver, 8);
    post_buffers(third, 8);
    send_frame(&pair, 100, 0, 0, 3);
    turn(&pair);
    expect_frame(&pair, 100, 3);
    expect_nothing(third);
    neighbours_remove(pair.sender->turn->neighbours, pair.receiver->queue);
    g_assert_true(neighbours_find(pair.sender->turn->neighbours, pair.sender->queue,
                                  third->queue->config.place.mac) == third->queue);
    neighbours_remove(pair.sender->turn->neighbours, third->queue);
    g_assert_null(neighbours_find(pair.sender->turn->neighbours, pair.sender->queue,
                                  third->queue->config.place.mac));
    fake_guest_free(third);
    pair_free(&pair);
}

int main(int argc, char **argv)
{
    static const struct Otherwise otherwise[] = {
        {"another bridge", make_other_bridge},
        {"no bridge", make_no_bridge},
        {"a rate limit", make_rate_limited},
        {"a broken neighbour", make_broken},
        {"a neighbour that wants hashes", make_hashed},
        {"a detour", make_detour},
        {"a sender's bad grant", make_first_segment_fail},
        {"a receiver's bad grant", make_receiver_grant_bad},
    };

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/guest-tx-direct/every ordinary length",
                    test_every_ordinary_length_arrives_by_neighbour_alone);
    g_test_add_func("/guest-tx-direct/super-frames keep their offloads",
                    test_super_frames_arrive_with_their_offloads);
    for (size_t i = 0; i < G_N_ELEMENTS(otherwise); i++) {
        g_autofree char *path =
            g_strconcat("/guest-tx-direct/through the port: ", otherwise[i].name, NULL);

        g_test_add_data_func(path, &otherwise[i], test_otherwise_the_port_gets_the_frame);
    }
    g_test_add_func("/guest-tx-direct/a blank checksum goes only to who takes it",
                    test_blank_checksum_goes_only_to_who_takes_it);
    g_test_add_func("/guest-tx-direct/a failed copy uses up no buffer",
                    test_failed_copy_uses_up_no_buffer);
    g_test_add_data_func("/guest-tx-direct/bad grants concern no other neighbour: the first",
                         GUINT_TO_POINTER(0), test_bad_grants_of_one_neighbour_concern_no_other);
    g_test_add_data_func("/guest-tx-direct/bad grants concern no other neighbour: the second",
                         GUINT_TO_POINTER(1), test_bad_grants_of_one_neighbour_concern_no_other);
    g_test_add_func("/guest-tx-direct/a neighbour without room is waited for",
                    test_neighbour_without_room_is_waited_for);
    g_test_add_func("/guest-tx-direct/nobody waits long", test_nobody_waits_long);
    g_test_add_func("/guest-tx-direct/a detour ends only behind its last frame",
                    test_detour_ends_only_behind_its_last_frame);
    g_test_add_func("/guest-tx-direct/delivered once while an earlier frame waits for the port",
                    test_delivered_once_while_an_earlier_frame_waits_for_the_port);
    g_test_add_data_func("/guest-tx-direct/a full port is all that is waited for: not credit",
                         wait_for_credit_too, test_full_port_is_all_that_is_waited_for);
    g_test_add_data_func("/guest-tx-direct/a full port is all that is waited for: not a neighbour",
                         wait_for_neighbour_too, test_full_port_is_all_that_is_waited_for);
    g_test_add_data_func("/guest-tx-direct/buffers are first for who waited first: one",
                         GUINT_TO_POINTER(1000), test_buffers_are_first_for_who_waited_first);
    g_test_add_data_func("/guest-tx-direct/buffers are first for who waited first: many",
                         GUINT_TO_POINTER(20000), test_buffers_are_first_for_who_waited_first);
    g_test_add_func("/guest-tx-direct/taken buffers count when an event is asked for",
                    test_taken_buffers_count_when_an_event_is_asked_for);
    g_test_add_func("/guest-tx-direct/of two with one address the first is found until it leaves",
                    test_of_two_with_one_address_the_first_is_found_until_it_leaves);
    return g_test_run();
}
