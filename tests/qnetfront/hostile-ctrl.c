/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostile-ctrl.c - attacks through the control ring */
#include "ctrl-script.h"
#include "frame.h"
#include "hostile.h"
#include "static-grants.h"

#include <stdio.h>

#define GREF_BAD 60000u
#define ROUNDS 20
#define REWRITES 1000

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void notify(struct XnHostileRun *run)
{
    xenevtchn_notify(run->frontend->evtchn, run->frontend->evtchn_ctrl);
}

/* --- before the vif is connected --- */

enum { KEY_REF_UNUSED, KEY_REF_HUGE, KEY_REF_WORD, KEY_NO_EVTCHN, KEY_EVTCHN_UNUSED, KEY_EVTCHN_0 };

static const struct {
    const char *name;
    const char *value;
} nonsense[] = {
    [KEY_REF_UNUSED] = {"ctrl-ring-ref", "60000"},
    [KEY_REF_HUGE] = {"ctrl-ring-ref", "4294967296"},
    [KEY_REF_WORD] = {"ctrl-ring-ref", "9x"},
    [KEY_NO_EVTCHN] = {"event-channel-ctrl", ""},
    [KEY_EVTCHN_UNUSED] = {"event-channel-ctrl", "1000"},
    [KEY_EVTCHN_0] = {"event-channel-ctrl", "0"},
};

static void act_key(struct XnHostileRun *run, int64_t argument)
{
    hostile_override_key(run, nonsense[argument].name, nonsense[argument].value);
    if (frontend_share(run->frontend, &run->failure)) {
        hostile_publish(run);
    }
}

static void act_ring_read_only(struct XnHostileRun *run, int64_t argument)
{
    char value[32];
    uint32_t ref;

    (void)argument;
    if (frontend_share(run->frontend, &run->failure) &&
        ctrl_spare_ref(&run->frontend->ctrl, 0, true, &ref, &run->failure)) {
        snprintf(value, sizeof(value), "%u", ref);
        hostile_override_key(run, "ctrl-ring-ref", value);
        hostile_publish(run);
    }
}

/* The indices are impossible from the beginning. */
static void act_ring_overfull(struct XnHostileRun *run, int64_t argument)
{
    if (frontend_share(run->frontend, &run->failure)) {
        run->frontend->ctrl.sring->req_prod = argument;
        hostile_publish(run);
    }
}

/* --- on a connected vif --- */

static void act_jump(struct XnHostileRun *run, int64_t argument)
{
    xen_netif_ctrl_sring_t *sring = run->frontend->ctrl.sring;

    sring->req_prod = sring->rsp_prod + (uint32_t)argument;
    xen_wmb();
    notify(run);
}

/* The index that belongs to the backend is its own business. */
static void act_response_index(struct XnHostileRun *run, int64_t argument)
{
    struct xen_netif_ctrl_request request = {.type = XEN_NETIF_CTRL_TYPE_GET_HASH_FLAGS};

    ctrl_queue(&run->frontend->ctrl, &request);
    run->frontend->ctrl.sring->rsp_prod += (uint32_t)argument;
    frontend_push_ctrl(run->frontend);
    notify(run);
}

/* As a reference, 1 is the page through which this domain talks to xenstored. */
static uint32_t some_number(const struct XnHostileRun *run, uint32_t *random)
{
    const struct XnFrontend *frontend = run->frontend;
    const uint32_t numbers[] = {
        0,
        1,
        frontend->ctrl.page_ref,
        frontend->queues[0].guest_rx.refs[next_random(random) % XN_RING_SLOTS],
        frontend->queues[0].guest_tx.refs[next_random(random) % XN_RING_SLOTS],
        40,
        41,
        127,
        128,
        129,
        512,
        513,
        1024,
        UINT32_MAX / 4 + 1,
        UINT32_MAX / 8 + 1,
        INT32_MAX,
        UINT32_MAX,
        GREF_BAD,
        next_random(random),
    };

    return numbers[next_random(random) % (sizeof(numbers) / sizeof(*numbers))];
}

/* Random messages, a full ring at a time; each must have one response. */
static void act_garbage(struct XnHostileRun *run, int64_t argument)
{
    struct XnCtrl *ctrl = &run->frontend->ctrl;
    uint32_t random = run->options->seed;
    struct xen_netif_ctrl_response response;

    for (int64_t round = 0; round < argument && !xn_stop_requested; round++) {
        for (unsigned int i = 0; i < XN_PAGE_SIZE; i++) {
            ctrl->page[i] = next_random(&random) % 3 ? 0 : next_random(&random);
        }
        while (ctrl_room(ctrl)) {
            struct xen_netif_ctrl_request request = {.type = next_random(&random) % 13};

            for (unsigned int i = 0; i < 3; i++) {
                request.data[i] = some_number(run, &random);
            }
            if (request.type == XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM) {
                request.data[0] = next_random(&random) % 3;
            }
            ctrl_queue(ctrl, &request);
        }
        frontend_push_ctrl(run->frontend);
        while (ctrl_unanswered(ctrl)) {
            if (!frontend_await_ctrl(run->frontend, &response, &run->failure)) {
                return;
            }
        }
    }
    if (ctrl_violations(&ctrl->counters)) {
        fail(&run->failure, "the control ring's responses break the protocol");
    }
    run->done = true;
}

static void act_flood(struct XnHostileRun *run, int64_t argument)
{
    static struct XnCtrlResults results;
    char script[32];

    snprintf(script, sizeof(script), "flood %d", (int)argument);
    ctrl_script_run(run->frontend, script, &results, &run->failure);
    run->done = true;
}

/* A full ring whose responses nobody takes, and events for more. */
static void act_unread(struct XnHostileRun *run, int64_t argument)
{
    struct xen_netif_ctrl_request request = {.type = XEN_NETIF_CTRL_TYPE_GET_HASH_FLAGS};

    while (ctrl_room(&run->frontend->ctrl)) {
        ctrl_queue(&run->frontend->ctrl, &request);
    }
    frontend_push_ctrl(run->frontend);
    for (int64_t i = 0; i < argument; i++) {
        notify(run);
    }
}

static void act_events(struct XnHostileRun *run, int64_t argument)
{
    uint64_t end = clock_ms() + (uint64_t)argument;

    while (clock_ms() < end && !xn_stop_requested) {
        for (unsigned int i = 0; i < REWRITES; i++) {
            notify(run);
        }
    }
    run->done = true;
}

/* Messages, and what they refer to, change while they are read (XSA-155, XSA-270). */
static void act_rewrite(struct XnHostileRun *run, int64_t argument)
{
    struct XnCtrl *ctrl = &run->frontend->ctrl;
    volatile uint32_t *words = (volatile uint32_t *)(void *)ctrl->page;
    xen_netif_ctrl_sring_t *sring = ctrl->sring;
    uint64_t end = clock_ms() + (uint64_t)argument;
    uint32_t random = run->options->seed;
    static struct XnCtrlResults results;
    RING_IDX produced;

    ctrl_script_run(run->frontend, "windows", &results, &run->failure);
    produced = sring->req_prod;
    while (clock_ms() < end && !xn_stop_requested && frontend_alive(run->frontend)) {
        produced += next_random(&random) % (sring->rsp_prod + XN_CTRL_SLOTS - produced + 1);
        sring->req_prod = produced;
        xen_wmb();
        notify(run);
        for (unsigned int i = 0; i < REWRITES; i++) {
            volatile struct xen_netif_ctrl_request *request =
                &sring->ring[next_random(&random) % XN_CTRL_SLOTS].req;

            request->type = next_random(&random) % 13;
            request->data[next_random(&random) % 3] = some_number(run, &random);
            words[next_random(&random) % (XN_PAGE_SIZE / sizeof(*words))] =
                some_number(run, &random);
        }
        frontend_wait(run->frontend, -1, 0, 0);
    }
}

/* A packet of @length bytes in the pages from @first on, as they are. */
static void put_packet(struct XnHostileRun *run, unsigned int first, uint32_t length)
{
    struct XnGuestTx *guest_tx = &run->frontend->queues[0].guest_tx;
    uint32_t rest = length;

    for (unsigned int page = first; rest; page++) {
        uint32_t size = rest < XN_PAGE_SIZE ? rest : XN_PAGE_SIZE;
        netif_tx_request_t request = {.gref = guest_tx->refs[page],
                                      .id = page,
                                      .size = page == first ? length : size,
                                      .flags = rest > size ? NETTXF_more_data : 0};

        if (page == first) {
            request.flags |= NETTXF_csum_blank;
        }
        rest -= size;
        guest_tx_queue_raw(guest_tx, &request, false, !rest);
    }
}

/* Packets in pages that the backend has mapped, and that change while it looks at them. */
static void act_static_rewrite(struct XnHostileRun *run, int64_t argument)
{
    struct XnGuestTx *guest_tx = &run->frontend->queues[0].guest_tx;
    struct XnStaticGrants grants = {0};
    struct XnFrameSpec spec = {.seed = 1, .length = XN_FRAME_MAX, .kind = XN_FRAME_TCP4};
    uint64_t end = clock_ms() + (uint64_t)argument;
    uint32_t random = run->options->seed;

    if (!static_grants_add(&grants, run->frontend, XN_STATIC_GRANTS_ALL, &run->failure)) {
        return;
    }
    frame_build(&spec, guest_tx->pages);
    while (clock_ms() < end && !xn_stop_requested && frontend_alive(run->frontend)) {
        while (guest_tx_room(guest_tx) > 2 * XN_LAYOUT_SLOTS) {
            put_packet(run, 0, XN_FRAME_MAX);
            put_packet(run, 0, 1514);
        }
        frontend_push_guest_tx(run->frontend, &run->frontend->queues[0]);
        for (unsigned int i = 0; i < REWRITES; i++) {
            volatile uint8_t *byte = guest_tx->pages + next_random(&random) % 128;

            *byte ^= 1u << next_random(&random) % 8;
        }
        frame_build(&spec, guest_tx->pages);
        if (guest_tx_reap(guest_tx) < 0) {
            run->broken_ring = true;
            return;
        }
        frontend_wait(run->frontend, -1, 0, 0);
    }
}

/* Pages that the backend has mapped are shared no more. */
static void act_static_unshared(struct XnHostileRun *run, int64_t argument)
{
    static struct XnCtrlResults results;

    (void)argument;
    if (ctrl_script_run(run->frontend, "add-gref 0 g0-g511 = ok", &results, &run->failure)) {
        xengntshr_unshare(run->frontend->gntshr, run->frontend->ctrl.spare, XN_CTRL_SPARE_PAGES);
        run->frontend->ctrl.spare = NULL;
    }
    run->done = true;
}

#define KEY(attack_name, words, index)                                                   \
    {                                                                                    \
        .name = attack_name, .what = words, .expect = XN_HOSTILE_REFUSE, .act = act_key, \
        .argument = index                                                                \
    }
#define RING(attack_name, words, expectation, function, value)                                     \
    {                                                                                              \
        .name = attack_name, .what = words, .expect = XN_HOSTILE_##expectation, .connected = true, \
        .act = function, .argument = value                                                         \
    }

const struct XnHostileAttack hostile_ctrl_attacks[] = {
    KEY("ctrl-ref-unused", "a control ring's reference that grants nothing", KEY_REF_UNUSED),
    KEY("ctrl-ref-huge", "control ring reference 2^32", KEY_REF_HUGE),
    KEY("ctrl-ref-word", "a control ring reference that is no number", KEY_REF_WORD),
    KEY("ctrl-no-channel", "a control ring without an event channel", KEY_NO_EVTCHN),
    KEY("ctrl-channel-unused", "its event channel nobody has allocated", KEY_EVTCHN_UNUSED),
    KEY("ctrl-channel-0", "its event channel is 0", KEY_EVTCHN_0),
    {"ctrl-read-only", "a control ring shared read-only", XN_HOSTILE_REFUSE, false,
     act_ring_read_only, 0},
    {"ctrl-overfull", "a control ring with 129 requests at the start", XN_HOSTILE_REFUSE, false,
     act_ring_overfull, XN_CTRL_SLOTS + 1},
    RING("ctrl-jump-129", "control ring's producer one beyond the ring", CLOSE, act_jump, 129),
    RING("ctrl-jump-half", "control ring's producer 2^31 ahead", CLOSE, act_jump, INT64_C(1) << 31),
    RING("ctrl-jump-back", "control ring's producer one back", CLOSE, act_jump, -1),
    RING("ctrl-response-index", "overwrites the backend's index in the control ring", SERVE,
         act_response_index, 1000),
    RING("ctrl-garbage", "full control rings of random messages", SERVE, act_garbage, ROUNDS),
    RING("ctrl-flood", "20000 messages as fast as they are answered", SERVE, act_flood, 20000),
    RING("ctrl-unread", "a full control ring whose responses nobody takes", SERVE, act_unread,
         1000),
    RING("ctrl-events", "the control ring's events with nothing to do for 2 s", SERVE, act_events,
         2000),
    RING("ctrl-static-rewritten", "static grants whose pages change while they are read", LIVE,
         act_static_rewrite, 300),
    RING("ctrl-static-unshared", "static grants that are taken back while they are mapped", SERVE,
         act_static_unshared, 0),
    RING("ctrl-rewritten", "messages and tables that change while they are read", LIVE, act_rewrite,
         300),
};

const unsigned int hostile_ctrl_attacks_count =
    sizeof(hostile_ctrl_attacks) / sizeof(*hostile_ctrl_attacks);
