/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-wait-test.c - frames that wait for buffers of the guest: for how long, and for whose
 */
#include <sys/mman.h>

#include "base/clock.h"
#include "fake-guest.h"

#define DRAIN (10 * XN_NS_PER_S)
#define STALL (60 * XN_NS_PER_S)

/* How often the queue told that its guest's stall began or ended. */
static unsigned stalls_told;

static void stalled(void *opaque)
{
    (void)opaque;
    stalls_told++;
}

static struct FakeGuest *patient(struct FakeGuest *guest)
{
    guest->queue->config.patience =
        (struct XnGuestRxPatience){.drain_ns = DRAIN, .stall_ns = STALL};
    guest->queue->config.stalled = stalled;
    stalls_told = 0;
    return guest;
}

static void post(struct FakeGuest *guest, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = guest->guest_rx.req_prod_pvt++;

        *RING_GET_REQUEST(&guest->guest_rx, index) =
            (netif_rx_request_t){.id = (uint16_t)index, .gref = index % XN_RING_SIZE};
    }
    RING_PUSH_REQUESTS(&guest->guest_rx);
}

static void send_frame(struct FakeGuest *guest, uint32_t size)
{
    static const uint8_t frame[FAKE_FRAME_ROOM];
    size_t length = sizeof(struct virtio_net_hdr) + size;

    g_assert_cmpint(write(guest->network, frame, length), ==, (ssize_t)length);
    guest->queue->guest_rx_ready = true;
    guest->queue->port_drained = false;
}

/* Frames' slots that the guest has got, and forgets. */
static uint32_t take(struct FakeGuest *guest)
{
    uint32_t count = guest->guest_rx.sring->rsp_prod - guest->guest_rx.rsp_cons;

    guest->guest_rx.rsp_cons += count;
    return count;
}

static void turn(struct FakeGuest *guest)
{
    guest->queue->guest_rx_ready = true;
    guest->queue->port_drained = false;
    while (guest->queue->guest_rx_ready) {
        guest_rx_turn(guest->queue, guest->turn);
    }
}

/* As if so much time had gone by. */
static void pass(struct XnQueue *queue, uint64_t ns)
{
    if (queue->guest_rx_waits_since_ns != 0) {
        queue->guest_rx_waits_since_ns -= ns;
    }
    if (queue->guest_rx_stall.barren_ns != 0) {
        queue->guest_rx_stall.barren_ns -= ns;
    }
}

static void test_frame_too_large_for_the_ring_does_not_block_others(void)
{
    struct FakeGuest *guest = patient(fake_guest_new());

    post(guest, 4);
    send_frame(guest, 5 * XN_PAGE_SIZE);
    send_frame(guest, 60);
    turn(guest);
    g_assert_cmpuint(take(guest), ==, 0);
    pass(guest->queue, DRAIN - XN_NS_PER_S);
    turn(guest);
    g_assert_cmpuint(take(guest), ==, 0);
    pass(guest->queue, XN_NS_PER_S);
    turn(guest);
    g_assert_cmpuint(take(guest), ==, 1);
    g_assert_cmpuint(guest->counters.guest_rx_drop_no_slots, ==, 1);
    /* From now on such frames cost no time. */
    send_frame(guest, 6 * XN_PAGE_SIZE);
    send_frame(guest, 2 * XN_PAGE_SIZE);
    turn(guest);
    g_assert_cmpuint(take(guest), ==, 2);
    g_assert_cmpuint(guest->counters.guest_rx_drop_no_slots, ==, 2);
    /* Until the guest has so many buffers. */
    post(guest, 5);
    send_frame(guest, 6 * XN_PAGE_SIZE);
    turn(guest);
    g_assert_cmpuint(take(guest), ==, 6);
    g_assert_cmpuint(stalls_told, ==, 0);
    fake_guest_free(guest);
}

static void test_guest_without_buffers_stalls_and_comes_back(void)
{
    struct FakeGuest *guest = patient(fake_guest_new());

    for (int i = 0; i < 100; i++) {
        send_frame(guest, 60);
    }
    turn(guest);
    g_assert_cmpuint(guest->counters.guest_rx_drop_no_slots, ==, 0);
    pass(guest->queue, DRAIN);
    turn(guest);
    g_assert_cmpuint(guest->counters.guest_rx_drop_no_slots, ==, 100);
    g_assert_cmpuint(stalls_told, ==, 0);
    pass(guest->queue, STALL - DRAIN);
    send_frame(guest, 60);
    turn(guest);
    g_assert_cmpuint(stalls_told, ==, 1);
    g_assert_cmpuint(guest->shared.guest_rx_stalled, ==, 1);
    g_assert_cmpuint(guest->counters.guest_rx_stalls, ==, 1);
    /* The worker looks from time to time. */
    turn(guest);
    g_assert_cmpuint(stalls_told, ==, 1);
    post(guest, 1);
    turn(guest);
    g_assert_cmpuint(stalls_told, ==, 2);
    g_assert_cmpuint(guest->shared.guest_rx_stalled, ==, 0);
    send_frame(guest, 60);
    turn(guest);
    g_assert_cmpuint(take(guest), ==, 1);
    fake_guest_free(guest);
}

/* Pages of the memory for held frames that are in use. */
static unsigned held_pages(const struct XnQueue *queue)
{
    unsigned char resident[sizeof(*queue->held) / XN_PAGE_SIZE + 1];
    unsigned count = 0;

    g_assert_cmpint(mincore(queue->held, sizeof(*queue->held), resident), ==, 0);
    for (size_t i = 0; i < sizeof(resident); i++) {
        count += resident[i] & 1;
    }
    return count;
}

static void test_memory_of_held_frames_is_given_back(void)
{
    struct FakeGuest *guest = patient(fake_guest_new());
    uint64_t now = 77;

    post(guest, 1);
    g_assert_cmpuint(queue_trim(guest->queue, now), ==, 0);
    send_frame(guest, XN_FRAME_MAX);
    turn(guest);
    g_assert_cmpuint(held_pages(guest->queue), >=, 16);
    /* Not while it is held, */
    g_assert_cmpuint(queue_trim(guest->queue, now), ==, 0);
    post(guest, 16);
    turn(guest);
    g_assert_cmpuint(take(guest), ==, 16);
    /* nor at once. */
    g_assert_cmpuint(queue_trim(guest->queue, now), ==, now + XN_NS_PER_S);
    g_assert_cmpuint(queue_trim(guest->queue, now + XN_NS_PER_S - 1), ==, now + XN_NS_PER_S);
    g_assert_cmpuint(held_pages(guest->queue), >=, 16);
    g_assert_cmpuint(queue_trim(guest->queue, now + XN_NS_PER_S), ==, 0);
    g_assert_cmpuint(held_pages(guest->queue), ==, 1);
    g_assert_cmpuint(queue_trim(guest->queue, now + XN_NS_PER_S), ==, 0);
    fake_guest_free(guest);
}

/* --- two queues, and frames that go where their hash says
 * ----------------------------------------- */

struct Steered {
    struct FakeGuest *guests[2];
    /* One guest, of which the second has only rings: the first's vif. */
    struct XnVifShared *shared;
};

static struct Steered steered_new(void)
{
    struct Steered vif;
    struct XnHash *hash;
    uint32_t second = 1;

    for (int i = 0; i < 2; i++) {
        vif.guests[i] = patient(i == 0 ? fake_guest_new() : fake_guest_add(1, vif.guests[0]->turn));
        vif.guests[i]->queue->config.index = (uint32_t)i;
    }
    vif.shared = &vif.guests[0]->shared;
    vif.guests[1]->queue->config.shared = vif.shared;
    hash = &vif.guests[0]->memory.hash;
    hash_init(hash, 2);
    hash_set_algorithm(hash, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ);
    hash_set_types(hash, XEN_NETIF_CTRL_HASH_TYPE_IPV4);
    hash_set_mapping_size(hash, 1);
    hash_set_mapping(hash, (const uint8_t *)&second, 1, 0);
    for (int i = 0; i < 2; i++) {
        vif.shared->steered[i] = vif.guests[i]->queue;
    }
    return vif;
}

static void steered_free(struct Steered *vif)
{
    fake_guest_free(vif->guests[1]);
    fake_guest_free(vif->guests[0]);
}

/* Everything goes to queue 1, whose guest has few buffers; frames come through queue 0's port. */
static void test_full_ring_of_another_queue_loses_nothing(void)
{
    struct Steered vif = steered_new();
    struct FakeGuest *from = vif.guests[0], *to = vif.guests[1];
    uint32_t got = 0;

    post(to, 3);
    for (int i = 0; i < 50; i++) {
        send_frame(from, 2 * XN_PAGE_SIZE);
    }
    for (int i = 0; i < 200 && got < 100; i++) {
        turn(from);
        got += take(to);
        post(to, 1);
        /* The event is asked for in the ring that lacks buffers. */
        g_assert_true(from->queue->guest_rx_waits_for == NULL ||
                      from->queue->guest_rx_waits_for == to->queue);
    }
    g_assert_cmpuint(got, ==, 100);
    g_assert_cmpuint(to->counters.guest_rx_packets, ==, 50);
    g_assert_cmpuint(to->counters.guest_rx_drop_no_slots, ==, 0);
    steered_free(&vif);
}

static void test_dead_ring_does_not_hold_up_the_others(void)
{
    struct Steered vif = steered_new();
    struct FakeGuest *from = vif.guests[0], *dead = vif.guests[1];

    post(from, 8);
    send_frame(from, 60);
    turn(from);
    g_assert_cmpuint(take(from), ==, 0);
    g_assert_true(from->queue->guest_rx_waits_for == dead->queue);
    pass(from->queue, XN_GUEST_RX_DRAIN_STEERED_MS * XN_NS_PER_MS);
    turn(from);
    g_assert_cmpuint(dead->counters.guest_rx_drop_no_slots, ==, 1);
    g_assert_cmpuint(from->counters.guest_rx_drop_no_slots, ==, 0);
    /* No time is lost with the next one; one that has no types of hashes goes its own way. */
    send_frame(from, 60);
    turn(from);
    g_assert_cmpuint(dead->counters.guest_rx_drop_no_slots, ==, 2);
    hash_set_types(&from->memory.hash, 0);
    send_frame(from, 60);
    turn(from);
    g_assert_cmpuint(take(from), ==, 1);
    /* The stall is that of the ring, not of the port. */
    hash_set_types(&from->memory.hash, XEN_NETIF_CTRL_HASH_TYPE_IPV4);
    pass(dead->queue, STALL);
    send_frame(from, 60);
    turn(from);
    g_assert_cmpuint(vif.shared->guest_rx_stalled, ==, 2);
    g_assert_true(dead->queue->guest_rx_ready);
    post(dead, 1);
    turn(dead);
    g_assert_cmpuint(vif.shared->guest_rx_stalled, ==, 0);
    steered_free(&vif);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/data/guest-rx-wait/frame-too-large-for-the-ring-does-not-block-others",
                    test_frame_too_large_for_the_ring_does_not_block_others);
    g_test_add_func("/data/guest-rx-wait/guest-without-buffers-stalls-and-comes-back",
                    test_guest_without_buffers_stalls_and_comes_back);
    g_test_add_func("/data/guest-rx-wait/memory-of-held-frames-is-given-back",
                    test_memory_of_held_frames_is_given_back);
    g_test_add_func("/data/guest-rx-wait/full-ring-of-another-queue-loses-nothing",
                    test_full_ring_of_another_queue_loses_nothing);
    g_test_add_func("/data/guest-rx-wait/dead-ring-does-not-hold-up-the-others",
                    test_dead_ring_does_not_hold_up_the_others);
    return g_test_run();
}
