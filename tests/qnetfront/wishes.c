/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wishes.c - what a guest asks of its backend once it is connected: multicast, headroom */
#include "wishes.h"

#include <stdio.h>
#include <stdlib.h>

#define ANSWER_MS 5000
#define ADDRESS_LENGTH 6

/* One element of the list of addresses. */
struct XnMulticastWish {
    bool add;
    bool refused; /* the answer must be an error */
    uint8_t address[ADDRESS_LENGTH];
    unsigned int count; /* addresses: this one and those that follow it in the last two bytes */
};

/* Takes one element off @list. False at its end, or with *@bad at what is none. */
static bool next_multicast(const char **list, struct XnMulticastWish *wish, bool *bad)
{
    uint8_t *a = wish->address;
    const char *at = *list;
    int used = 0;

    *bad = false;
    if (!*at) {
        return false;
    }
    memset(wish, 0, sizeof(*wish));
    wish->add = *at != '-';
    wish->count = 1;
    at += *at == '-';
    *bad = sscanf(at, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &a[0], &a[1], &a[2], &a[3], &a[4],
                  &a[5], &used) != ADDRESS_LENGTH ||
           !used;
    at += used;
    if (!*bad && *at == '*') {
        char *end;

        wish->count = strtoul(at + 1, &end, 10);
        *bad = end == at + 1 || wish->count < 1 || wish->count > UINT16_MAX;
        at = end;
    }
    wish->refused = *at == '!';
    at += *at == '!';
    *bad |= *at && *at != ',';
    at += *at == ',';
    *list = at;
    return !*bad;
}

static bool next_headroom(const char **list, unsigned int *headroom, bool *bad)
{
    char *end;

    *bad = false;
    if (!**list) {
        return false;
    }
    *headroom = strtoul(*list, &end, 10);
    *bad = end == *list || *headroom > UINT16_MAX || (*end && *end != ',');
    *list = *end ? end + 1 : end;
    return !*bad;
}

bool wishes_valid(const struct XnWishes *wishes)
{
    const char *multicast = wishes->multicast ? wishes->multicast : "";
    const char *reconfigure = wishes->reconfigure ? wishes->reconfigure : "";
    struct XnMulticastWish wish;
    unsigned int headroom;
    bool bad_multicast;
    bool bad_headroom;

    while (next_multicast(&multicast, &wish, &bad_multicast)) {
    }
    while (next_headroom(&reconfigure, &headroom, &bad_headroom)) {
    }
    return !bad_multicast && !bad_headroom;
}

/* A request that names no data, with an extra that names an address. */
static void queue_multicast(struct XnGuestTx *guest_tx, const struct XnMulticastWish *wish,
                            unsigned int index)
{
    netif_tx_request_t request = {.flags = NETTXF_extra_info, .id = 0x4d00 + index};
    netif_extra_info_t extra = {.type = wish->add ? XEN_NETIF_EXTRA_TYPE_MCAST_ADD
                                                  : XEN_NETIF_EXTRA_TYPE_MCAST_DEL};
    netif_tx_request_t slot = {0};
    unsigned int low = wish->address[4] << 8 | wish->address[5];

    memcpy(extra.u.mcast.addr, wish->address, ADDRESS_LENGTH);
    extra.u.mcast.addr[4] = (low + index) >> 8;
    extra.u.mcast.addr[5] = low + index;
    memcpy(&slot, &extra, sizeof(extra));
    guest_tx_queue_raw(guest_tx, &request, false, false);
    guest_tx_queue_raw(guest_tx, &slot, true, true);
}

static bool await_answers(struct XnFrontend *frontend, struct XnFailure *failure)
{
    uint64_t end = clock_ms() + ANSWER_MS;

    while (frontend_unanswered(frontend)) {
        if (frontend_reap(frontend) < 0) {
            return fail(failure, "the backend's guest_tx response index is impossible");
        }
        if (clock_ms() > end || !frontend_alive(frontend)) {
            return fail(failure, "the backend does not answer a change of the multicast list");
        }
        if (!frontend_arm_guest_tx(frontend)) {
            frontend_wait(frontend, -1, 0, 10);
        }
    }
    return true;
}

/* One at a time, so that the order is known, by the queues in turn. */
static bool ask_multicast(const struct XnMulticastWish *wish, struct XnFrontend *frontend,
                          struct XnFailure *failure)
{
    for (unsigned int i = 0; i < wish->count; i++) {
        struct XnFrontendQueue *queue = &frontend->queues[i % frontend->queues_count];
        struct XnGuestTxCounters before = queue->guest_tx.counters;
        struct XnGuestTxCounters after;
        bool refused;

        queue_multicast(&queue->guest_tx, wish, i);
        frontend_push_guest_tx(frontend, queue);
        if (!await_answers(frontend, failure)) {
            return false;
        }
        after = queue->guest_tx.counters;
        refused = after.error != before.error;
        if (after.okay + after.error != before.okay + before.error + 1 ||
            after.null != before.null + 1 ||
            guest_tx_violations(&after) != guest_tx_violations(&before)) {
            return fail(failure, "a change of the multicast list is not answered as it must be");
        }
        /* Of a series that is to be refused the last is what counts. */
        if (wish->refused ? i + 1 == wish->count && !refused : refused) {
            return fail(failure, "number %u of a change of the multicast list is %s", i + 1,
                        refused ? "refused" : "accepted");
        }
        /* These are no frames, and their answers no judgement over any. */
        queue->guest_tx.counters = before;
    }
    return true;
}

/* What Linux's netfront does when an XDP program is attached or detached. */
static bool ask_headroom(unsigned int headroom, struct XnFrontend *frontend,
                         struct XnFailure *failure)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", headroom);
    if (!store_write(frontend->xs, XBT_NULL, frontend->path, "xdp-headroom", text, failure) ||
        !frontend_set_state(frontend, XenbusStateReconfiguring, failure) ||
        !frontend_wait_backend(frontend, XenbusStateReconfigured, XenbusStateClosing, failure)) {
        return false;
    }
    frontend_expect_headroom(frontend, headroom);
    if (frontend->backend_state != XenbusStateReconfigured) {
        return fail(failure, "the backend closed instead of reconfiguring");
    }
    return frontend_set_state(frontend, XenbusStateConnected, failure) &&
           frontend_wait_backend(frontend, XenbusStateConnected, XenbusStateConnected, failure);
}

bool wishes_run(const struct XnWishes *wishes, struct XnFrontend *frontend,
                struct XnFailure *failure)
{
    const char *multicast = wishes->multicast ? wishes->multicast : "";
    const char *reconfigure = wishes->reconfigure ? wishes->reconfigure : "";
    struct XnMulticastWish wish;
    unsigned int headroom;
    bool bad;

    while (next_multicast(&multicast, &wish, &bad)) {
        if (!ask_multicast(&wish, frontend, failure)) {
            return false;
        }
    }
    while (next_headroom(&reconfigure, &headroom, &bad)) {
        if (!ask_headroom(headroom, frontend, failure)) {
            return false;
        }
    }
    return true;
}
