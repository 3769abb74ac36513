/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rings-test.c - the frontend's rings against a backend in memory that can misbehave
 *
 * Pages are "shared" with plain memory: the library's two functions are replaced here.
 */
#include "../../qnetfront/guest-rx.h"
#include "../../qnetfront/guest-tx.h"

#include <glib.h>
#include <stdlib.h>

static uint8_t *shared[16]; /* the page blocks by their first reference / 1000 */
static unsigned int shares;

void *xengntshr_share_pages(xengntshr_handle *handle, uint32_t domid, int count, uint32_t *refs,
                            int writable)
{
    uint8_t *pages = aligned_alloc(XN_PAGE_SIZE, (size_t)count * XN_PAGE_SIZE);

    (void)handle;
    (void)domid;
    (void)writable;
    g_assert_cmpuint(shares, <, G_N_ELEMENTS(shared));
    memset(pages, 0, (size_t)count * XN_PAGE_SIZE);
    shared[shares] = pages;
    for (int i = 0; i < count; i++) {
        refs[i] = shares * 1000 + i;
    }
    shares++;
    return pages;
}

int xengntshr_unshare(xengntshr_handle *handle, void *start, uint32_t count)
{
    (void)handle;
    (void)count;
    free(start);
    return 0;
}

static uint8_t *granted(uint32_t ref)
{
    return shared[ref / 1000] + ref % 1000 * XN_PAGE_SIZE;
}

static struct XnGuestTx guest_tx;
static struct XnGuestRx guest_rx;
static netif_tx_back_ring_t back_tx;
static netif_rx_back_ring_t back_rx;

static void open_rings(void)
{
    struct XnFailure failure = {""};

    shares = 0;
    memset(&guest_tx, 0, sizeof(guest_tx));
    memset(&guest_rx, 0, sizeof(guest_rx));
    g_assert_true(guest_tx_open(&guest_tx, NULL, 0, &failure));
    g_assert_true(guest_rx_open(&guest_rx, NULL, 0, XN_RING_SLOTS, true, &failure));
    BACK_RING_INIT(&back_tx, guest_tx.sring, XN_PAGE_SIZE);
    BACK_RING_INIT(&back_rx, guest_rx.sring, XN_PAGE_SIZE);
}

static void close_rings(void)
{
    guest_tx_close(&guest_tx);
    guest_rx_close(&guest_rx);
}

/* --- guest_tx --- */

static void queue_packet(unsigned int length, uint16_t gso_size)
{
    static uint8_t frame[65536];
    struct XnLayout layout = {.max = XN_GUEST_TX_SLOTS_MAX};
    struct XnSlot slot[XN_LAYOUT_SLOTS];
    struct XnFrameMeta meta = {.csum_blank = gso_size > 0,
                               .gso_type = gso_size ? XEN_NETIF_GSO_TYPE_TCPV4 : 0,
                               .gso_size = gso_size};
    unsigned int count = layout_cut(&layout, length, 0, slot);

    for (unsigned int i = 0; i < length; i++) {
        frame[i] = i * 7;
    }
    guest_tx_queue_copy(&guest_tx, frame, slot, count, &meta);
}

static void answer(uint16_t id, int16_t status)
{
    netif_tx_response_t *response = RING_GET_RESPONSE(&back_tx, back_tx.rsp_prod_pvt);

    back_tx.rsp_prod_pvt++;
    response->id = id;
    response->status = status;
    RING_PUSH_RESPONSES(&back_tx);
}

static netif_tx_request_t next_request(void)
{
    netif_tx_request_t request;

    g_assert_cmpuint(guest_tx.sring->req_prod - back_tx.req_cons, >, 0);
    RING_COPY_REQUEST(&back_tx, back_tx.req_cons, &request);
    back_tx.req_cons++;
    return request;
}

static void test_guest_tx_packet(void)
{
    netif_tx_request_t head;
    netif_tx_request_t second;
    netif_extra_info_t extra;

    open_rings();
    queue_packet(5000, 1448);
    g_assert_cmpuint(guest_tx.sring->req_prod, ==, 0);
    g_assert_true(guest_tx_push(&guest_tx));
    head = next_request();
    g_assert_cmpuint(head.size, ==, 5000);
    g_assert_cmphex(head.flags, ==, NETTXF_csum_blank | NETTXF_extra_info | NETTXF_more_data);
    g_assert_cmpuint(granted(head.gref)[head.offset + 100], ==, (uint8_t)700);
    second = next_request();
    memcpy(&extra, &second, sizeof(extra));
    g_assert_cmpuint(extra.type, ==, XEN_NETIF_EXTRA_TYPE_GSO);
    g_assert_cmpuint(extra.u.gso.size, ==, 1448);
    second = next_request();
    g_assert_cmpuint(second.size, ==, 5000 - 4096);
    g_assert_cmphex(second.flags, ==, 0);

    answer(head.id, NETIF_RSP_OKAY);
    answer(0x7777, NETIF_RSP_NULL);
    g_assert_cmpint(guest_tx_reap(&guest_tx), ==, 2);
    g_assert_cmpuint(guest_tx.counters.answered, ==, 0);
    answer(second.id, NETIF_RSP_OKAY);
    g_assert_true(guest_tx_arm(&guest_tx));
    g_assert_cmpint(guest_tx_reap(&guest_tx), ==, 1);
    g_assert_false(guest_tx_arm(&guest_tx));
    g_assert_cmpuint(guest_tx.counters.answered, ==, 1);
    g_assert_cmpuint(guest_tx.counters.packets_bad, ==, 0);
    g_assert_cmpuint(guest_tx_violations(&guest_tx.counters), ==, 0);
    g_assert_cmpuint(guest_tx.free_count, ==, XN_RING_SLOTS);
    close_rings();
}

static void test_guest_tx_wraps(void)
{
    open_rings();
    for (int round = 0; round < 2000; round++) {
        queue_packet(1 + round * 29 % 60000, round % 3 ? 0 : 1000);
        guest_tx_push(&guest_tx);
        while (back_tx.req_cons != guest_tx.sring->req_prod) {
            unsigned int index = back_tx.req_cons % XN_RING_SLOTS;
            netif_tx_request_t request = next_request();

            answer(request.id, guest_tx.records[index].extra ? NETIF_RSP_NULL : NETIF_RSP_OKAY);
        }
        g_assert_cmpint(guest_tx_reap(&guest_tx), >, 0);
    }
    g_assert_cmpuint(guest_tx.counters.answered, ==, 2000);
    g_assert_cmpuint(guest_tx_violations(&guest_tx.counters), ==, 0);
    g_assert_cmpuint(guest_tx.free_count, ==, XN_RING_SLOTS);
    close_rings();
}

static void test_guest_tx_wrong_answers(void)
{
    netif_tx_request_t request;

    open_rings();
    queue_packet(100, 0);
    guest_tx_push(&guest_tx);
    answer(next_request().id + 1, NETIF_RSP_OKAY);
    guest_tx_reap(&guest_tx);
    g_assert_cmpuint(guest_tx.counters.wrong_id, ==, 1);

    queue_packet(100, 0);
    guest_tx_push(&guest_tx);
    answer(next_request().id, NETIF_RSP_NULL);
    guest_tx_reap(&guest_tx);
    g_assert_cmpuint(guest_tx.counters.wrong_null, ==, 1);

    queue_packet(100, 0);
    guest_tx_push(&guest_tx);
    answer(next_request().id, 7);
    guest_tx_reap(&guest_tx);
    g_assert_cmpuint(guest_tx.counters.strange, ==, 1);

    queue_packet(100, 0);
    guest_tx_push(&guest_tx);
    answer(next_request().id, NETIF_RSP_ERROR);
    guest_tx_reap(&guest_tx);
    g_assert_cmpuint(guest_tx.counters.packets_bad, ==, 3);
    g_assert_cmpuint(guest_tx.counters.error, ==, 1);

    queue_packet(100, 0);
    guest_tx_push(&guest_tx);
    request = next_request();
    ((uint8_t *)RING_GET_RESPONSE(&back_tx, back_tx.rsp_prod_pvt))[11] ^= 1;
    answer(request.id, NETIF_RSP_OKAY);
    guest_tx_reap(&guest_tx);
    g_assert_cmpuint(guest_tx.counters.dirty, ==, 1);

    guest_tx.sring->rsp_prod += 1;
    g_assert_cmpint(guest_tx_reap(&guest_tx), ==, -1);
    close_rings();
}

/* GSO first, then the hash, and only the last says that no other follows. */
static void test_guest_tx_extras(void)
{
    struct XnFrameMeta meta = {.csum_blank = true,
                               .gso_type = XEN_NETIF_GSO_TYPE_TCPV6,
                               .gso_size = 1428,
                               .hash = {true, _XEN_NETIF_CTRL_HASH_TYPE_IPV6_TCP, 0x12345678}};
    static const uint8_t value[] = {0x78, 0x56, 0x34, 0x12};
    struct XnSlot slot = {.size = 100};
    netif_tx_request_t request;
    netif_extra_info_t extra;
    uint8_t frame[100] = {0};

    open_rings();
    guest_tx_queue_copy(&guest_tx, frame, &slot, 1, &meta);
    g_assert_cmpuint(guest_tx.counters.extras, ==, 2);
    guest_tx_push(&guest_tx);
    request = next_request();
    g_assert_cmphex(request.flags, ==, NETTXF_csum_blank | NETTXF_extra_info);
    request = next_request();
    memcpy(&extra, &request, sizeof(extra));
    g_assert_cmpuint(extra.type, ==, XEN_NETIF_EXTRA_TYPE_GSO);
    g_assert_cmpuint(extra.flags, ==, XEN_NETIF_EXTRA_FLAG_MORE);
    g_assert_cmpuint(extra.u.gso.size, ==, 1428);
    request = next_request();
    memcpy(&extra, &request, sizeof(extra));
    g_assert_cmpuint(extra.type, ==, XEN_NETIF_EXTRA_TYPE_HASH);
    g_assert_cmpuint(extra.flags, ==, 0);
    g_assert_cmpuint(extra.u.hash.type, ==, _XEN_NETIF_CTRL_HASH_TYPE_IPV6_TCP);
    g_assert_cmpuint(extra.u.hash.algorithm, ==, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ);
    g_assert_cmpmem(extra.u.hash.value, 4, value, 4);
    close_rings();
}

static void test_guest_tx_habits(void)
{
    open_rings();
    guest_tx.limit = 16;
    guest_tx.small_ids = true;
    for (unsigned int i = 0; i < 1000; i++) {
        g_assert_cmpuint(guest_tx_room(&guest_tx), ==, 16 - i % 16);
        queue_packet(60, 0);
        guest_tx_push(&guest_tx);
        if (i % 16 == 15) {
            g_assert_cmpuint(guest_tx_room(&guest_tx), ==, 0);
            for (unsigned int k = 0; k < 16; k++) {
                uint16_t id = next_request().id;

                g_assert_cmpuint(id, <, XN_RING_SLOTS);
                answer(id, NETIF_RSP_OKAY);
            }
            g_assert_cmpint(guest_tx_reap(&guest_tx), ==, 16);
        }
    }
    g_assert_cmpuint(guest_tx_violations(&guest_tx.counters), ==, 0);
    close_rings();
}

/* --- guest_rx --- */

/* Answers the next posted buffer with @status bytes of data. */
static netif_rx_response_t *respond(uint16_t flags, int16_t status)
{
    netif_rx_request_t request;
    netif_rx_response_t *response;

    RING_COPY_REQUEST(&back_rx, back_rx.req_cons, &request);
    back_rx.req_cons++;
    if (status > 0) {
        memset(granted(request.gref), 0x11, status);
    }
    response = RING_GET_RESPONSE(&back_rx, back_rx.rsp_prod_pvt);
    back_rx.rsp_prod_pvt++;
    *response = (netif_rx_response_t){.id = request.id, .flags = flags, .status = status};
    return response;
}

static void respond_extra(uint8_t type, uint8_t flags)
{
    netif_extra_info_t extra = {.type = type, .flags = flags};

    extra.u.gso.size = 1448;
    extra.u.gso.type = XEN_NETIF_GSO_TYPE_TCPV4;
    memcpy(respond(0, 0), &extra, sizeof(extra));
}

static int receive(struct XnGuestRxPacket *packet)
{
    int got;

    RING_PUSH_RESPONSES(&back_rx);
    got = guest_rx_receive(&guest_rx, packet);
    if (got > 0) {
        guest_rx_repost(&guest_rx, packet);
        guest_rx_push(&guest_rx);
    }
    return got;
}

static void test_guest_rx_packets(void)
{
    struct XnGuestRxPacket packet;

    open_rings();
    g_assert_cmpint(receive(&packet), ==, 0);
    for (int round = 0; round < 500; round++) {
        respond(NETRXF_data_validated | NETRXF_csum_blank | NETRXF_extra_info | NETRXF_more_data,
                4096);
        respond_extra(XEN_NETIF_EXTRA_TYPE_GSO, 0);
        respond(NETRXF_more_data, 4096);
        respond(0, 10);
        g_assert_cmpint(receive(&packet), ==, 1);
        g_assert_cmpuint(packet.length, ==, 8202);
        g_assert_cmpuint(packet.parts, ==, 3);
        g_assert_cmpuint(packet.slots, ==, 4);
        g_assert_cmpuint(packet.meta.gso_size, ==, 1448);
        g_assert_true(packet.meta.csum_blank);
        g_assert_false(packet.bad);
        respond(0, 60);
        g_assert_cmpint(receive(&packet), ==, 1);
        g_assert_cmpuint(packet.length, ==, 60);
        g_assert_cmpint(receive(&packet), ==, 0);
    }
    g_assert_cmpuint(guest_rx_violations(&guest_rx.counters), ==, 0);
    g_assert_cmpuint(guest_rx.counters.slots_most, ==, 4);
    g_assert_cmpuint(guest_rx.counters.length_most, ==, 8202);
    close_rings();
}

static void test_guest_rx_wrong_answers(void)
{
    struct XnGuestRxCounters *counters = &guest_rx.counters;
    struct XnGuestRxPacket packet;

    open_rings();
    respond(NETRXF_more_data, 2000);
    respond(0, 2000);
    receive(&packet);
    g_assert_cmpuint(counters->slots_excess, ==, 1);
    g_assert_cmpuint(counters->slots_unfilled, ==, 1);

    respond(NETRXF_more_data, 4095);
    respond(0, 2);
    receive(&packet);
    g_assert_cmpuint(counters->slots_excess, ==, 1);
    g_assert_cmpuint(counters->slots_unfilled, ==, 2);

    respond(0, -1);
    receive(&packet);
    g_assert_cmpuint(counters->errors, ==, 1);
    g_assert_true(packet.bad);

    respond(0, 60)->id ^= 1;
    receive(&packet);
    g_assert_cmpuint(counters->wrong_id, ==, 1);

    respond(NETRXF_csum_blank, 60);
    respond(NETRXF_gso_prefix, 60);
    receive(&packet);
    receive(&packet);
    g_assert_cmpuint(counters->wrong_flags, ==, 2);

    respond(0, 0);
    receive(&packet);
    respond(0, 4096)->offset = 1;
    receive(&packet);
    g_assert_cmpuint(counters->wrong_size, ==, 2);

    respond(NETRXF_extra_info, 60);
    respond_extra(9, 0);
    receive(&packet);
    g_assert_cmpuint(counters->wrong_extra, ==, 1);

    respond(NETRXF_more_data, 4096);
    g_assert_cmpint(receive(&packet), ==, 0);
    g_assert_cmpuint(counters->partial, ==, 1);
    respond(0, 1);
    g_assert_cmpint(receive(&packet), ==, 1);
    close_rings();
}

static void respond_hash(uint8_t type, uint8_t algorithm, uint8_t flags)
{
    netif_extra_info_t extra = {.type = XEN_NETIF_EXTRA_TYPE_HASH, .flags = flags};

    extra.u.hash.type = type;
    extra.u.hash.algorithm = algorithm;
    memcpy(extra.u.hash.value, "\x78\x56\x34\x92", 4);
    memcpy(respond(0, 0), &extra, sizeof(extra));
}

static void test_guest_rx_hash(void)
{
    struct XnGuestRxCounters *counters = &guest_rx.counters;
    struct XnGuestRxPacket packet;

    open_rings();
    respond(NETRXF_data_validated | NETRXF_csum_blank | NETRXF_extra_info, 100);
    respond_extra(XEN_NETIF_EXTRA_TYPE_GSO, XEN_NETIF_EXTRA_FLAG_MORE);
    respond_hash(_XEN_NETIF_CTRL_HASH_TYPE_IPV4_TCP, 1, 0);
    g_assert_cmpint(receive(&packet), ==, 1);
    g_assert_true(packet.meta.hash.found);
    g_assert_cmpuint(packet.meta.hash.type, ==, _XEN_NETIF_CTRL_HASH_TYPE_IPV4_TCP);
    g_assert_cmphex(packet.meta.hash.value, ==, 0x92345678);
    g_assert_cmpuint(packet.meta.gso_size, ==, 1448);
    g_assert_cmpuint(counters->wrong_extra, ==, 0);

    respond(0, 100);
    g_assert_cmpint(receive(&packet), ==, 1);
    g_assert_false(packet.meta.hash.found);

    /* An unknown type, an unknown algorithm, two of them. */
    respond(NETRXF_extra_info, 100);
    respond_hash(4, 1, 0);
    receive(&packet);
    g_assert_cmpuint(counters->wrong_extra, ==, 1);
    respond(NETRXF_extra_info, 100);
    respond_hash(0, 0, 0);
    receive(&packet);
    g_assert_cmpuint(counters->wrong_extra, ==, 2);
    respond(NETRXF_extra_info, 100);
    respond_hash(0, 1, XEN_NETIF_EXTRA_FLAG_MORE);
    respond_hash(0, 1, 0);
    receive(&packet);
    g_assert_cmpuint(counters->wrong_extra, ==, 3);
    close_rings();
}

/* Buffers that are given back 200 at a time. */
static void test_guest_rx_refill(void)
{
    struct XnGuestRxPacket packet;

    open_rings();
    guest_rx.refill = 200;
    guest_rx.small_ids = true;
    for (unsigned int i = 1; i <= 2000; i++) {
        respond(0, 60);
        g_assert_cmpint(receive(&packet), ==, 1);
        g_assert_cmpuint(guest_rx.sring->req_prod - guest_rx.sring->rsp_prod, ==,
                         XN_RING_SLOTS - i % 200);
    }
    g_assert_cmpuint(guest_rx_violations(&guest_rx.counters), ==, 0);
    close_rings();
}

static void test_guest_rx_canary(void)
{
    struct XnGuestRxPacket packet;
    netif_rx_response_t *response;

    open_rings();
    for (unsigned int at = 60; at < XN_PAGE_SIZE; at += 4035) {
        unsigned int before = guest_rx.counters.canary;
        uint32_t ref = RING_GET_REQUEST(&back_rx, back_rx.req_cons)->gref;

        response = respond(0, 60);
        granted(ref)[at] ^= 1;
        g_assert_cmpint(response->status, ==, 60);
        receive(&packet);
        g_assert_cmpuint(guest_rx.counters.canary, ==, before + 1);
    }
    close_rings();
}

static void test_guest_rx_impossible_index(void)
{
    struct XnGuestRxPacket packet;

    open_rings();
    guest_rx.sring->rsp_prod = XN_RING_SLOTS + 1;
    g_assert_cmpint(guest_rx_receive(&guest_rx, &packet), ==, -1);
    close_rings();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/qnetfront/guest-tx/packet", test_guest_tx_packet);
    g_test_add_func("/qnetfront/guest-tx/wraps", test_guest_tx_wraps);
    g_test_add_func("/qnetfront/guest-tx/wrong-answers", test_guest_tx_wrong_answers);
    g_test_add_func("/qnetfront/guest-tx/extras", test_guest_tx_extras);
    g_test_add_func("/qnetfront/guest-tx/habits", test_guest_tx_habits);
    g_test_add_func("/qnetfront/guest-rx/packets", test_guest_rx_packets);
    g_test_add_func("/qnetfront/guest-rx/wrong-answers", test_guest_rx_wrong_answers);
    g_test_add_func("/qnetfront/guest-rx/hash", test_guest_rx_hash);
    g_test_add_func("/qnetfront/guest-rx/refill", test_guest_rx_refill);
    g_test_add_func("/qnetfront/guest-rx/canary", test_guest_rx_canary);
    g_test_add_func("/qnetfront/guest-rx/impossible-index", test_guest_rx_impossible_index);
    return g_test_run();
}
