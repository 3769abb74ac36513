/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl-test.c - the frontend's control ring against a backend in memory that can misbehave
 *
 * Pages are "shared" with plain memory: the library's two functions are replaced here.
 */
#include "../../qnetfront/ctrl.h"

#include <glib.h>
#include <stdlib.h>

static uint32_t next_ref = 100;

void *xengntshr_share_pages(xengntshr_handle *handle, uint32_t domid, int count, uint32_t *refs,
                            int writable)
{
    uint8_t *pages = aligned_alloc(XN_PAGE_SIZE, (size_t)count * XN_PAGE_SIZE);

    (void)handle;
    (void)domid;
    (void)writable;
    memset(pages, 0, (size_t)count * XN_PAGE_SIZE);
    for (int i = 0; i < count; i++) {
        refs[i] = next_ref++;
    }
    return pages;
}

int xengntshr_unshare(xengntshr_handle *handle, void *start, uint32_t count)
{
    (void)handle;
    (void)count;
    free(start);
    return 0;
}

static struct XnCtrl ctrl;
static xen_netif_ctrl_back_ring_t back;

static void open_ring(void)
{
    struct XnFailure failure = {""};

    memset(&ctrl, 0, sizeof(ctrl));
    g_assert_true(ctrl_open(&ctrl, NULL, 0, &failure));
    BACK_RING_INIT(&back, ctrl.sring, XN_PAGE_SIZE);
    g_assert_cmpuint(ctrl_room(&ctrl), ==, XN_CTRL_SLOTS);
}

static uint16_t ask(uint16_t type)
{
    struct xen_netif_ctrl_request request = {.type = type, .data = {1, 2, 3}};

    return ctrl_queue(&ctrl, &request);
}

static struct xen_netif_ctrl_request next_request(void)
{
    struct xen_netif_ctrl_request request;

    RING_COPY_REQUEST(&back, back.req_cons, &request);
    back.req_cons++;
    return request;
}

static void respond(uint16_t id, uint16_t type)
{
    struct xen_netif_ctrl_response *response = RING_GET_RESPONSE(&back, back.rsp_prod_pvt);

    back.rsp_prod_pvt++;
    *response = (struct xen_netif_ctrl_response){.id = id, .type = type, .status = 2, .data = 9};
    RING_PUSH_RESPONSES(&back);
}

static void test_call(void)
{
    struct xen_netif_ctrl_response response;
    struct xen_netif_ctrl_request request;

    open_ring();
    g_assert_cmpint(ctrl_take(&ctrl, &response), ==, 0);
    for (unsigned int i = 0; i < 100000; i++) {
        uint16_t id = ask(i % 12);

        ctrl_push(&ctrl);
        request = next_request();
        g_assert_cmpuint(request.id, ==, id);
        g_assert_cmpuint(request.type, ==, i % 12);
        g_assert_cmpuint(request.data[2], ==, 3);
        respond(id, i % 12);
        g_assert_cmpint(ctrl_take(&ctrl, &response), ==, 1);
        g_assert_cmpuint(response.id, ==, id);
        g_assert_cmpuint(response.status, ==, 2);
        g_assert_cmpuint(response.data, ==, 9);
        g_assert_cmpint(ctrl_take(&ctrl, &response), ==, 0);
    }
    g_assert_cmpuint(ctrl_violations(&ctrl.counters), ==, 0);
    ctrl_close(&ctrl);
}

/* A full ring that is answered from the last to the first, as the protocol permits. */
static void test_any_order(void)
{
    struct xen_netif_ctrl_response response;
    struct xen_netif_ctrl_request requests[XN_CTRL_SLOTS];

    open_ring();
    for (unsigned int round = 0; round < 100; round++) {
        for (unsigned int i = 0; i < XN_CTRL_SLOTS; i++) {
            ask(i % 12);
        }
        g_assert_cmpuint(ctrl_room(&ctrl), ==, 0);
        ctrl_push(&ctrl);
        for (unsigned int i = 0; i < XN_CTRL_SLOTS; i++) {
            requests[i] = next_request();
            for (unsigned int k = 0; k < i; k++) {
                g_assert_cmpuint(requests[k].id, !=, requests[i].id);
            }
        }
        for (unsigned int i = XN_CTRL_SLOTS; i > 0; i--) {
            respond(requests[i - 1].id, requests[i - 1].type);
        }
        for (unsigned int i = 0; i < XN_CTRL_SLOTS; i++) {
            g_assert_cmpint(ctrl_take(&ctrl, &response), ==, 1);
        }
        g_assert_cmpuint(ctrl_unanswered(&ctrl), ==, 0);
    }
    g_assert_cmpuint(ctrl_violations(&ctrl.counters), ==, 0);
    ctrl_close(&ctrl);
}

static void test_wrong_responses(void)
{
    struct xen_netif_ctrl_response response;
    uint16_t id;

    open_ring();
    id = ask(1);
    ctrl_push(&ctrl);
    next_request();
    respond(id ^ 1, 1);
    g_assert_cmpint(ctrl_take(&ctrl, &response), ==, 1);
    g_assert_cmpuint(ctrl.counters.wrong_id, ==, 1);

    id = ask(4);
    ctrl_push(&ctrl);
    next_request();
    respond(id, 5);
    ctrl_take(&ctrl, &response);
    g_assert_cmpuint(ctrl.counters.wrong_type, ==, 1);

    /* The same once more. */
    ask(4);
    ctrl_push(&ctrl);
    next_request();
    respond(id, 4);
    ctrl_take(&ctrl, &response);
    g_assert_cmpuint(ctrl.counters.wrong_id, ==, 2);

    id = ask(4);
    ctrl_push(&ctrl);
    next_request();
    ((uint8_t *)RING_GET_RESPONSE(&back, back.rsp_prod_pvt))[13] ^= 1;
    respond(id, 4);
    ctrl_take(&ctrl, &response);
    g_assert_cmpuint(ctrl.counters.dirty, ==, 1);

    /* Never more requests than records, whatever comes back. */
    for (unsigned int i = 0; i < 1000; i++) {
        ask(1);
        ctrl_push(&ctrl);
        next_request();
        respond(0xfffe, 1);
        ctrl_take(&ctrl, &response);
    }
    ctrl.sring->rsp_prod++;
    g_assert_cmpint(ctrl_take(&ctrl, &response), ==, -1);
    ctrl_close(&ctrl);
}

static void test_spare_pages(void)
{
    struct XnFailure failure = {""};
    uint32_t first;
    uint32_t last;

    open_ring();
    g_assert_true(ctrl_spare_ref(&ctrl, 0, false, &first, &failure));
    g_assert_true(ctrl_spare_ref(&ctrl, XN_CTRL_SPARE_PAGES - 1, false, &last, &failure));
    g_assert_cmpuint(last, ==, first + XN_CTRL_SPARE_PAGES - 1);
    g_assert_true(ctrl_spare_ref(&ctrl, 0, true, &last, &failure));
    g_assert_cmpuint(last, !=, first);
    g_assert_false(ctrl_spare_ref(&ctrl, XN_CTRL_READONLY_PAGES, true, &last, &failure));
    g_assert_cmpstr(failure.text, !=, "");
    ctrl_close(&ctrl);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/qnetfront/ctrl/call", test_call);
    g_test_add_func("/qnetfront/ctrl/any-order", test_any_order);
    g_test_add_func("/qnetfront/ctrl/wrong-responses", test_wrong_responses);
    g_test_add_func("/qnetfront/ctrl/spare-pages", test_spare_pages);
    return g_test_run();
}
