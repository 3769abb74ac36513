/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring-test.c - the shared rings over a page that plays the guest
 *
 * What holds for both rings is written once and instantiated for each.
 */
#include "netif/ring.h"

#include <glib.h>

/* Indices where counters wrap, or change sign, within a ring's length. */
static const RING_IDX BASES[] = {0,           1,           255,         256,
                                 0x7fffff80u, 0xffffff00u, 0xffffff80u, 0xffffffffu};

static uint8_t page[XN_PAGE_SIZE] __attribute__((aligned(XN_PAGE_SIZE)));
static netif_tx_sring_t *const guest_tx_shared = (netif_tx_sring_t *)(void *)page;
static netif_rx_sring_t *const guest_rx_shared = (netif_rx_sring_t *)(void *)page;

#define FOR_EACH_BASE(base)             \
    for (size_t base##_i = 0, base = 0; \
         base##_i < G_N_ELEMENTS(BASES) && (base = BASES[base##_i], true); base##_i++)

#define DEFINE_RING_TESTS(side, netif_name)                                                      \
    static netif_name##_back_ring_t attach_##side(RING_IDX base)                                 \
    {                                                                                            \
        netif_name##_back_ring_t ring;                                                           \
                                                                                                 \
        memset(page, 0, sizeof(page));                                                           \
        side##_shared->req_prod = base;                                                          \
        side##_shared->rsp_prod = base;                                                          \
        g_assert_true(ring_##side##_attach(&ring, page));                                        \
        return ring;                                                                             \
    }                                                                                            \
                                                                                                 \
    /* After kexec the guest's new kernel finds its rings where the old one left them. */        \
    static void test_##side##_attach_continues_at_rsp_prod(void)                                 \
    {                                                                                            \
        FOR_EACH_BASE(base)                                                                      \
        {                                                                                        \
            for (uint32_t posted = 0; posted <= XN_RING_SIZE; posted++) {                        \
                netif_name##_back_ring_t ring;                                                   \
                uint32_t count = 0;                                                              \
                                                                                                 \
                side##_shared->rsp_prod = (RING_IDX)base;                                        \
                side##_shared->req_prod = (RING_IDX)base + posted;                               \
                g_assert_true(ring_##side##_attach(&ring, page));                                \
                g_assert_cmpuint(ring.req_cons, ==, base);                                       \
                g_assert_cmpuint(ring.rsp_prod_pvt, ==, base);                                   \
                g_assert_cmpuint(RING_SIZE(&ring), ==, XN_RING_SIZE);                            \
                g_assert_true(ring_##side##_unconsumed(&ring, &count));                          \
                g_assert_cmpuint(count, ==, posted);                                             \
            }                                                                                    \
        }                                                                                        \
    }                                                                                            \
                                                                                                 \
    static void test_##side##_impossible_indices_are_refused(void)                               \
    {                                                                                            \
        static const RING_IDX distances[] = {257, 258, 1u << 16, 1u << 31, 0x80000001u, -2, -1}; \
                                                                                                 \
        FOR_EACH_BASE(base)                                                                      \
        {                                                                                        \
            for (size_t i = 0; i < G_N_ELEMENTS(distances); i++) {                               \
                netif_name##_back_ring_t ring = attach_##side((RING_IDX)base);                   \
                uint32_t count = 4711;                                                           \
                                                                                                 \
                side##_shared->req_prod = (RING_IDX)base + distances[i];                         \
                g_assert_false(ring_##side##_unconsumed(&ring, &count));                         \
                g_assert_cmpuint(count, ==, 4711);                                               \
                g_assert_false(ring_##side##_attach(&ring, page));                               \
            }                                                                                    \
        }                                                                                        \
    }                                                                                            \
                                                                                                 \
    /* Taken but not yet answered requests count too: their slots are not free for the guest. */ \
    static void test_##side##_unanswered_requests_count(void)                                    \
    {                                                                                            \
        FOR_EACH_BASE(base)                                                                      \
        {                                                                                        \
            netif_name##_back_ring_t ring = attach_##side((RING_IDX)base);                       \
            uint32_t count = 4711;                                                               \
                                                                                                 \
            ring.req_cons += 10;                                                                 \
            side##_shared->req_prod = (RING_IDX)base + 256;                                      \
            g_assert_true(ring_##side##_unconsumed(&ring, &count));                              \
            g_assert_cmpuint(count, ==, 246);                                                    \
            side##_shared->req_prod = (RING_IDX)base + 257;                                      \
            g_assert_false(ring_##side##_unconsumed(&ring, &count));                             \
            /* A guest that takes requests back, below what we consumed. */                      \
            side##_shared->req_prod = (RING_IDX)base + 9;                                        \
            g_assert_false(ring_##side##_unconsumed(&ring, &count));                             \
            g_assert_cmpuint(count, ==, 246);                                                    \
        }                                                                                        \
    }                                                                                            \
                                                                                                 \
    static void test_##side##_arm_looks_again(void)                                              \
    {                                                                                            \
        FOR_EACH_BASE(base)                                                                      \
        {                                                                                        \
            for (uint32_t wanted = 1; wanted <= XN_RING_SIZE; wanted += 51) {                    \
                for (uint32_t posted = 0; posted <= XN_RING_SIZE; posted++) {                    \
                    netif_name##_back_ring_t ring = attach_##side((RING_IDX)base);               \
                                                                                                 \
                    side##_shared->req_prod = (RING_IDX)base + posted;                           \
                    g_assert_cmpint(ring_##side##_arm(&ring, wanted), ==, posted >= wanted);     \
                    g_assert_cmpuint(side##_shared->req_event, ==, (RING_IDX)base + wanted);     \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
    }                                                                                            \
                                                                                                 \
    /* The guest asks for an event with the response that makes rsp_prod equal to rsp_event. */  \
    static void test_##side##_push_notifies_when_asked(void)                                     \
    {                                                                                            \
        FOR_EACH_BASE(base)                                                                      \
        {                                                                                        \
            for (uint32_t responses = 0; responses <= 5; responses++) {                          \
                for (uint32_t event = 0; event <= 8; event++) {                                  \
                    netif_name##_back_ring_t ring = attach_##side((RING_IDX)base);               \
                                                                                                 \
                    side##_shared->rsp_event = (RING_IDX)base + event;                           \
                    ring.rsp_prod_pvt += responses;                                              \
                    g_assert_cmpint(ring_##side##_push(&ring), ==,                               \
                                    event >= 1 && event <= responses);                           \
                    g_assert_cmpuint(side##_shared->rsp_prod, ==, (RING_IDX)base + responses);   \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
    }                                                                                            \
                                                                                                 \
    static void add_##side##_tests(void)                                                         \
    {                                                                                            \
        g_test_add_func("/ring/" #side "/attach-continues-at-rsp-prod",                          \
                        test_##side##_attach_continues_at_rsp_prod);                             \
        g_test_add_func("/ring/" #side "/impossible-indices-are-refused",                        \
                        test_##side##_impossible_indices_are_refused);                           \
        g_test_add_func("/ring/" #side "/unanswered-requests-count",                             \
                        test_##side##_unanswered_requests_count);                                \
        g_test_add_func("/ring/" #side "/arm-looks-again", test_##side##_arm_looks_again);       \
        g_test_add_func("/ring/" #side "/push-notifies-when-asked",                              \
                        test_##side##_push_notifies_when_asked);                                 \
    }

DEFINE_RING_TESTS(guest_tx, netif_tx)
DEFINE_RING_TESTS(guest_rx, netif_rx)

static void test_guest_tx_consume_copies_in_order(void)
{
    FOR_EACH_BASE(base)
    {
        netif_tx_back_ring_t ring = attach_guest_tx((RING_IDX)base);

        for (uint32_t i = 0; i < XN_RING_SIZE; i++) {
            guest_tx_shared->ring[(base + i) % XN_RING_SIZE].req = (netif_tx_request_t){
                .gref = i * 3, .offset = 7, .flags = 2, .id = (uint16_t)(i + 1000), .size = 60};
        }
        for (uint32_t i = 0; i < XN_RING_SIZE; i++) {
            union XnGuestTxEntry entry;
            netif_tx_request_t *shared = &guest_tx_shared->ring[(base + i) % XN_RING_SIZE].req;

            ring_guest_tx_consume(&ring, &entry);
            /* The guest changes its mind: too late. */
            memset(shared, 0xee, sizeof(*shared));
            g_assert_cmpuint(entry.request.gref, ==, i * 3);
            g_assert_cmpuint(entry.request.offset, ==, 7);
            g_assert_cmpuint(entry.request.flags, ==, 2);
            g_assert_cmpuint(entry.request.id, ==, i + 1000);
            g_assert_cmpuint(entry.request.size, ==, 60);
            g_assert_cmpuint(ring.req_cons, ==, (RING_IDX)(base + i + 1));
        }
    }
}

static void test_guest_rx_consume_copies_in_order(void)
{
    FOR_EACH_BASE(base)
    {
        netif_rx_back_ring_t ring = attach_guest_rx((RING_IDX)base);

        for (uint32_t i = 0; i < XN_RING_SIZE; i++) {
            guest_rx_shared->ring[(base + i) % XN_RING_SIZE].req =
                (netif_rx_request_t){.id = (uint16_t)(i + 1000), .gref = i * 3};
        }
        for (uint32_t i = 0; i < XN_RING_SIZE; i++) {
            netif_rx_request_t request;
            netif_rx_request_t *shared = &guest_rx_shared->ring[(base + i) % XN_RING_SIZE].req;

            ring_guest_rx_consume(&ring, &request);
            memset(shared, 0xee, sizeof(*shared));
            g_assert_cmpuint(request.gref, ==, i * 3);
            g_assert_cmpuint(request.id, ==, i + 1000);
            g_assert_cmpuint(ring.req_cons, ==, (RING_IDX)(base + i + 1));
        }
    }
}

static void test_guest_tx_responses_appear_with_the_push(void)
{
    static const int16_t statuses[] = {NETIF_RSP_OKAY, NETIF_RSP_NULL, NETIF_RSP_ERROR,
                                       NETIF_RSP_DROPPED};

    FOR_EACH_BASE(base)
    {
        netif_tx_back_ring_t ring = attach_guest_tx((RING_IDX)base);

        for (uint32_t i = 0; i < G_N_ELEMENTS(statuses); i++) {
            ring_guest_tx_respond(&ring, (uint16_t)(0xfffe + i), statuses[i]);
        }
        g_assert_cmpuint(guest_tx_shared->rsp_prod, ==, base);
        ring_guest_tx_push(&ring);
        g_assert_cmpuint(guest_tx_shared->rsp_prod, ==, (RING_IDX)(base + G_N_ELEMENTS(statuses)));
        for (uint32_t i = 0; i < G_N_ELEMENTS(statuses); i++) {
            netif_tx_response_t *response = &guest_tx_shared->ring[(base + i) % XN_RING_SIZE].rsp;

            g_assert_cmphex(response->id, ==, (uint16_t)(0xfffe + i));
            g_assert_cmpint(response->status, ==, statuses[i]);
        }
    }
}

static void test_guest_rx_responses_appear_with_the_push(void)
{
    FOR_EACH_BASE(base)
    {
        netif_rx_back_ring_t ring = attach_guest_rx((RING_IDX)base);
        union XnGuestRxEntry entries[3] = {
            {.response = {.id = 1, .flags = NETRXF_extra_info | NETRXF_more_data, .status = 4096}},
            {.extra = {.type = XEN_NETIF_EXTRA_TYPE_GSO, .u.gso = {.size = 1448, .type = 1}}},
            {.response = {.id = 0xffff, .status = 5}},
        };

        for (size_t i = 0; i < G_N_ELEMENTS(entries); i++) {
            ring_guest_rx_respond(&ring, &entries[i]);
        }
        g_assert_cmpuint(guest_rx_shared->rsp_prod, ==, base);
        ring_guest_rx_push(&ring);
        g_assert_cmpuint(guest_rx_shared->rsp_prod, ==, (RING_IDX)(base + G_N_ELEMENTS(entries)));
        for (size_t i = 0; i < G_N_ELEMENTS(entries); i++) {
            g_assert_cmpmem(&guest_rx_shared->ring[(base + i) % XN_RING_SIZE], sizeof(entries[i]),
                            &entries[i], sizeof(entries[i]));
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_guest_tx_tests();
    add_guest_rx_tests();
    g_test_add_func("/ring/guest_tx/consume-copies-in-order",
                    test_guest_tx_consume_copies_in_order);
    g_test_add_func("/ring/guest_rx/consume-copies-in-order",
                    test_guest_rx_consume_copies_in_order);
    g_test_add_func("/ring/guest_tx/responses-appear-with-the-push",
                    test_guest_tx_responses_appear_with_the_push);
    g_test_add_func("/ring/guest_rx/responses-appear-with-the-push",
                    test_guest_rx_responses_appear_with_the_push);
    return g_test_run();
}
