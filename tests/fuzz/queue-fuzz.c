/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue-fuzz.c - one whole queue: any bytes in both rings, any order of events
 *
 * Theory of operation
 *
 * An input is a list of steps: the guest writes to its rings (sensible requests or any bytes at any
 * place, before a turn or while pages are being copied), the network sends a frame or takes some,
 * grants fail, the daemon dies and adopts the queue, and directions get their turns. After each
 * turn: as many responses as requests were taken at most, work within the bounds of a turn, and no
 * byte of our own memory in the guest's pages or in a frame. For that the packet buffers are filled
 * with CANARY bytes before each turn; nothing in an input has that value.
 */
#define FAKE_PAGES 24u
#include "../unit/data/fake-guest.h"
#include "base/clock.h"

#include "fuzz-features.h"

#define CANARY 0xc5
/* So many in a row do not come about by chance: checksums and lengths have less. */
#define CANARY_RUN 8u
#define STEPS_MAX 200u
#define FRAME_BYTES 96u

struct Race {
    bool armed;
    bool guest_rx;
    uint16_t offset;
    uint8_t size;
    uint8_t bytes[16];
};

static struct Race race;

static void clean(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = bytes[i] == CANARY ? 0 : bytes[i];
    }
}

static void read_clean(struct FuzzInput *input, void *bytes, size_t size)
{
    fuzz_bytes(input, bytes, size);
    clean(bytes, size);
}

static void check_clean(const uint8_t *bytes, size_t size, const char *what)
{
    size_t run = 0;

    for (size_t i = 0; i < size; i++) {
        run = bytes[i] == CANARY ? run + 1 : 0;
        if (run >= CANARY_RUN) {
            g_error("our memory shows in %s, at byte %zu", what, i);
        }
    }
}

static void check_guest(const struct FakeGuest *guest)
{
    check_clean(guest->guest_tx_page, XN_PAGE_SIZE, "the guest_tx ring");
    check_clean(guest->guest_rx_page, XN_PAGE_SIZE, "the guest_rx ring");
    check_clean(guest->pages[0], sizeof(guest->pages), "a page of the guest");
}

static void race_strikes(void)
{
    struct FakeGuest *guest = fake.guests[0];
    uint8_t *page = race.guest_rx ? guest->guest_rx_page : guest->guest_tx_page;

    if (race.armed) {
        memcpy(page + race.offset, race.bytes, race.size);
        race.armed = false;
    }
}

static void step_write(struct FuzzInput *input, uint8_t *page)
{
    uint32_t offset = fuzz_range(input, 0, XN_PAGE_SIZE - 1);
    uint32_t size = MIN(XN_PAGE_SIZE - offset, 32u);

    read_clean(input, page + offset, fuzz_range(input, 0, size));
}

static void step_race(struct FuzzInput *input)
{
    race.armed = true;
    race.guest_rx = fuzz_u8(input) & 1;
    race.size = (uint8_t)fuzz_range(input, 1, sizeof(race.bytes));
    race.offset = (uint16_t)fuzz_range(input, 0, XN_PAGE_SIZE - sizeof(race.bytes));
    read_clean(input, race.bytes, sizeof(race.bytes));
}

static void step_post_guest_tx(struct FuzzInput *input, struct FakeGuest *guest)
{
    netif_tx_request_t request;

    read_clean(input, &request, sizeof(request));
    request.gref %= FAKE_PAGES + 2;
    memcpy(RING_GET_REQUEST(&guest->guest_tx, guest->guest_tx.req_prod_pvt), &request,
           sizeof(request));
    guest->guest_tx.req_prod_pvt++;
}

static void step_post_guest_rx(struct FuzzInput *input, struct FakeGuest *guest)
{
    uint32_t count = fuzz_range(input, 1, 64);
    uint32_t ref = fuzz_u8(input);

    for (uint32_t i = 0; i < count; i++) {
        netif_rx_request_t *request =
            RING_GET_REQUEST(&guest->guest_rx, guest->guest_rx.req_prod_pvt);

        request->id = (uint16_t)i;
        request->gref = (ref + i) % (FAKE_PAGES + 2);
        guest->guest_rx.req_prod_pvt++;
    }
    guest->guest_rx.sring->req_prod = guest->guest_rx.req_prod_pvt;
    guest->queue->guest_rx_ready = true;
}

static void step_network_sends(struct FuzzInput *input, struct FakeGuest *guest)
{
    static uint8_t frame[FAKE_FRAME_ROOM];
    uint32_t length = fuzz_range(input, 14, XN_FRAME_MAX);
    uint32_t given = MIN(FRAME_BYTES, length + (uint32_t)sizeof(struct virtio_net_hdr));

    memset(frame, 0x11, sizeof(frame));
    read_clean(input, frame, given);
    if (write(guest->network, frame, length + sizeof(struct virtio_net_hdr)) < 0) {
        g_assert(errno == EAGAIN);
    }
    guest->queue->guest_rx_ready = true;
}

/* A frame that the network gets is no longer than a frame, and is the guest's alone. */
static void step_network_takes(struct FuzzInput *input, struct FakeGuest *guest)
{
    static uint8_t frame[FAKE_FRAME_ROOM];

    for (uint32_t i = fuzz_range(input, 1, 64); i > 0; i--) {
        ssize_t length = read(guest->network, frame, sizeof(frame));

        if (length < 0) {
            break;
        }
        g_assert(length >= (ssize_t)sizeof(struct virtio_net_hdr) + 14);
        check_clean(frame, (size_t)length, "a frame");
    }
    if (guest->queue->guest_tx_port_full) {
        guest->queue->guest_tx_port_full = false;
        guest->queue->guest_tx_ready = true;
    }
}

static void step_features(struct FuzzInput *input, struct FakeGuest *guest)
{
    uint8_t bits = fuzz_u8(input);
    struct XnFeatures features = fuzz_features(bits);

    queue_set_features(guest->queue, &features);
    if (bits & 64) {
        hash_set_algorithm(&guest->memory.hash, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ);
        hash_set_types(&guest->memory.hash, bits & XN_HASH_TYPES);
    }
    mcast_set_filter(&guest->memory.mcast, bits & 128);
}

static void step_credit(struct FuzzInput *input, struct FakeGuest *guest)
{
    struct XnCreditRate rate = {.bytes = fuzz_u16(input), .interval_us = 50000};

    credit_set(&guest->shared.guest_tx_credit, &rate, clock_now_ns());
    credit_set(&guest->shared.guest_rx_credit, &rate, clock_now_ns());
}

/* The rings stay as they are; the journal may have been damaged. */
static bool step_adopt(struct FuzzInput *input, struct FakeGuest *guest)
{
    struct XnQueueConfig config = guest->queue->config;
    uint32_t damage = fuzz_range(input, 0, 2 * sizeof(struct XnJournal));

    if (damage < sizeof(struct XnJournal)) {
        read_clean(input, (uint8_t *)&guest->journal + damage,
                   MIN(16u, sizeof(struct XnJournal) - damage));
    }
    config.adopted = true;
    config.journal_adopted = true;
    neighbours_remove(guest->turn->neighbours, guest->queue);
    queue_destroy(guest->queue);
    guest->queue = queue_create(&config, NULL);
    if (guest->queue) {
        guest->queue->guest_tx_ready = true;
        guest->queue->guest_rx_ready = true;
        neighbours_add(guest->turn->neighbours, guest->queue);
    }
    return guest->queue != NULL;
}

/* A neighbour on the same bridge comes, or they part. */
static void step_settle(struct FakeGuest *guest, uint8_t bits)
{
    static const uint8_t mac[2][6] = {{2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 1}};

    if (!fake.guests[1]) {
        fake_guest_add(1, guest->turn);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct XnQueue *queue = fake.guests[i]->queue;

        neighbours_remove(guest->turn->neighbours, queue);
        queue->config.place.bridge = bits >> i & 1;
        memcpy(queue->config.place.mac, mac[i], sizeof(mac[i]));
        neighbours_add(guest->turn->neighbours, queue);
    }
}

static void turn(struct FakeGuest *guest, bool guest_rx)
{
    struct XnQueue *queue = guest->queue;
    const struct XnCopyBatch *copies = &guest->turn->copies;
    uint32_t done;

    if (queue->broken_reason || !(guest_rx ? queue->guest_rx_ready : queue->guest_tx_ready)) {
        return;
    }
    memset(guest->turn->pool->pages, CANARY, XN_BUFFER_POOL_PAGES * XN_PAGE_SIZE);
    fake.calls = 0;
    done = guest_rx ? guest_rx_turn(queue, guest->turn) : guest_tx_turn(queue, guest->turn);
    g_assert(done <= XN_TURN_PACKETS);
    g_assert(fake.calls <= 3 * XN_TURN_PACKETS);
    g_assert(copies->count <= XN_COPY_BATCH_SEGMENTS);
    g_assert(guest->turn->pool->used <= XN_BUFFER_POOL_PAGES);
    g_assert(queue->guest_tx_ring.req_cons - queue->guest_tx_ring.rsp_prod_pvt <= XN_RING_SIZE);
    g_assert(queue->guest_rx_ring.req_cons - queue->guest_rx_ring.rsp_prod_pvt <= XN_RING_SIZE);
    g_assert(guest->journal.guest_tx_consumed == queue->guest_tx_ring.req_cons);
    g_assert(guest->journal.guest_rx_consumed == queue->guest_rx_ring.req_cons);
    check_guest(guest);
    if (fake.guests[1]) {
        check_guest(fake.guests[1]);
    }
}

static bool step(struct FuzzInput *input, struct FakeGuest *guest, struct XnStaticPages *table)
{
    switch (fuzz_u8(input) % 20) {
    case 0:
        step_write(input, guest->guest_tx_page);
        break;
    case 1:
        step_write(input, guest->guest_rx_page);
        break;
    case 2:
        step_write(input, guest->pages[fuzz_u8(input) % FAKE_PAGES]);
        break;
    case 3:
        step_race(input);
        break;
    case 4:
    case 5:
        step_post_guest_tx(input, guest);
        break;
    case 6:
        guest->guest_tx.sring->req_prod = guest->guest_tx.req_prod_pvt;
        guest->queue->guest_tx_ready = !guest->queue->guest_tx_port_full;
        break;
    case 7:
        guest->guest_tx.sring->req_prod = fuzz_u32(input);
        guest->queue->guest_tx_ready = !guest->queue->guest_tx_port_full;
        break;
    case 8:
        guest->guest_rx.sring->req_prod = fuzz_u32(input);
        guest->queue->guest_rx_ready = true;
        break;
    case 9:
        step_post_guest_rx(input, guest);
        if (fake.guests[1] && fuzz_u8(input) & 1) {
            step_post_guest_rx(input, fake.guests[1]);
        }
        break;
    case 10:
        step_network_sends(input, guest);
        break;
    case 11:
        step_network_takes(input, guest);
        break;
    case 12:
        step_features(input, guest);
        break;
    case 13:
        fake.call_fails = fuzz_u8(input) & 1;
        fake.failing_segment = (int)fuzz_u8(input) - 1;
        break;
    case 14:
        step_credit(input, guest);
        break;
    case 15:
        return step_adopt(input, guest);
    case 16:
        if (table->grants.count < FAKE_PAGES) {
            uint32_t ref = fuzz_u8(input) % FAKE_PAGES;

            if (static_grant_find(&table->grants, ref) == XN_STATIC_GRANT_NONE) {
                fake_guest_add_static(guest, table, ref,
                                      fuzz_u8(input) & XEN_NETIF_CTRLF_GREF_readonly);
            }
        }
        break;
    case 17:
        turn(fake.guests[1] && fuzz_u8(input) & 1 ? fake.guests[1] : guest, true);
        break;
    case 18:
        step_settle(guest, fuzz_u8(input));
        break;
    default:
        turn(guest, false);
        break;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct FuzzInput input = {data, size};
    struct FakeGuest *guest = fake_guest_new();
    struct XnStaticPages *table = fake_static_pages_new();

    race.armed = false;
    fake.during_copy = race_strikes;
    memset(guest->queue->held, CANARY, sizeof(*guest->queue->held));
    guest->queue->held->length = 0;
    for (uint32_t i = 0; input.left > 0 && i < STEPS_MAX; i++) {
        if (!step(&input, guest, table)) {
            break;
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        if (fake.guests[i] && fake.guests[i]->queue) {
            neighbours_remove(guest->turn->neighbours, fake.guests[i]->queue);
        }
    }
    if (fake.guests[1]) {
        fake_guest_free(fake.guests[1]);
    }
    fake_guest_free(guest);
    g_free(table);
    return 0;
}
