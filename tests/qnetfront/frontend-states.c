/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frontend-states.c - the handshake with the backend, as each kind of frontend does it */
#include "frontend.h"

#include <stdio.h>
#include <stdlib.h>

#define INITWAIT XN_STATE_BIT(XenbusStateInitWait)
#define CLOSED XN_STATE_BIT(XenbusStateClosed)
#define ANSWERS_MS 10000

bool frontend_set_state(struct XnFrontend *frontend, enum xenbus_state state,
                        struct XnFailure *failure)
{
    frontend_say(frontend, "going to state", state);
    if (state == XenbusStateClosed || state == XenbusStateInitialising) {
        /* From here on the backend may close, too. */
        frontend->connected = false;
    }
    return store_write_state(frontend->xs, frontend->path, state, failure);
}

static bool survives(const struct XnFrontend *frontend, struct XnFailure *failure)
{
    return !frontend->panic || fail(failure,
                                    "a guest of this kind panics: the backend went to "
                                    "state %d while it was connected",
                                    frontend->panic);
}

/* Waits at most config.wait_ms for one of the states in @wanted. A wait to connect ends with a
 * signal, a wait on the way out goes on. */
static bool wait_for(struct XnFrontend *frontend, unsigned int wanted, struct XnFailure *failure)
{
    uint64_t end = clock_ms() + frontend->config.wait_ms;
    bool closing = frontend->closing || wanted & (CLOSED | XN_STATE_BIT(XenbusStateClosing));

    frontend_look_at_backend(frontend);
    while (!(wanted & XN_STATE_BIT(frontend->backend_state))) {
        uint64_t now = clock_ms();

        if (now >= end) {
            return fail(failure, "backend %s is in state %d after %u ms, expected one of %#x",
                        frontend->backend, frontend->backend_state, frontend->config.wait_ms,
                        wanted);
        }
        if (xn_stop_requested && !closing) {
            return fail(failure, "interrupted");
        }
        frontend_wait(frontend, -1, 0, end - now < 100 ? (int)(end - now) : 100);
        frontend_look_at_backend(frontend);
    }
    return survives(frontend, failure);
}

bool frontend_wait_backend(struct XnFrontend *frontend, enum xenbus_state a, enum xenbus_state b,
                           struct XnFailure *failure)
{
    return wait_for(frontend, XN_STATE_BIT(a) | XN_STATE_BIT(b), failure);
}

/* --- connecting --- */

static bool start_wait(struct XnFrontend *frontend, struct XnFailure *failure)
{
    long state = store_read_number(frontend->xs, frontend->path, "state", XenbusStateUnknown);

    if (state != XenbusStateInitialising) {
        frontend_say(frontend, "starting from our state", state);
        frontend_look_at_backend(frontend);
        if (frontend->backend_state == XenbusStateConnected ||
            frontend->backend_state == XenbusStateClosing) {
            if (!frontend_set_state(frontend, XenbusStateClosing, failure) ||
                !frontend_wait_backend(frontend, XenbusStateClosing, XenbusStateClosed, failure) ||
                !frontend_set_state(frontend, XenbusStateClosed, failure) ||
                !frontend_wait_backend(frontend, XenbusStateClosed, XenbusStateInitWait, failure)) {
                return false;
            }
        }
        if (!frontend_set_state(frontend, XenbusStateInitialising, failure)) {
            return false;
        }
    }
    return wait_for(frontend, INITWAIT, failure);
}

static bool start_reset(struct XnFrontend *frontend, struct XnFailure *failure)
{
    frontend_look_at_backend(frontend);
    if (frontend->backend_state == XenbusStateInitWait) {
        return true;
    }
    return frontend_set_state(frontend, XenbusStateClosed, failure) &&
           wait_for(frontend, CLOSED, failure) &&
           frontend_set_state(frontend, XenbusStateInitialising, failure) &&
           wait_for(frontend, INITWAIT, failure);
}

/* Looks at the backend again and again, and does what its state asks for. */
static bool start_prompted(struct XnFrontend *frontend, struct XnFailure *failure)
{
    uint64_t end = clock_ms() + frontend->config.wait_ms;

    for (;;) {
        enum xenbus_state before;

        frontend_look_at_backend(frontend);
        before = frontend->backend_state;
        if (before == XenbusStateInitWait) {
            return true;
        }
        if (before == XenbusStateConnected || before == XenbusStateClosing) {
            frontend_set_state(frontend, XenbusStateClosed, failure);
        } else if (before == XenbusStateClosed) {
            frontend_set_state(frontend, XenbusStateInitialising, failure);
        }
        while (frontend->backend_state == before) {
            if (clock_ms() > end || xn_stop_requested) {
                return fail(failure, "backend %s stays in state %d", frontend->backend, before);
            }
            frontend_wait(frontend, -1, 0, 1);
            frontend_look_at_backend(frontend);
        }
    }
}

/* What each of them looks for in the backend's directory, and does not work without. */
static bool find_needed_keys(struct XnFrontend *frontend, struct XnFailure *failure)
{
    if (store_read_number(frontend->xs, frontend->backend, "feature-rx-copy", 0) != 1) {
        return fail(failure, "backend %s has no feature-rx-copy", frontend->backend);
    }
    if (store_read_number(frontend->xs, frontend->backend, "online", 0) != 1) {
        return fail(failure, "backend %s is not online", frontend->backend);
    }
    return true;
}

bool frontend_prepare(struct XnFrontend *frontend, struct XnFailure *failure)
{
    const struct XnPersonality *personality = frontend->config.personality;
    bool good = true;

    switch (personality->start) {
    case XN_START_WAIT:
        good = start_wait(frontend, failure);
        break;
    case XN_START_AT_ONCE:
        break;
    case XN_START_RESET:
        good = start_reset(frontend, failure);
        break;
    case XN_START_PROMPTED:
        good = start_prompted(frontend, failure);
        break;
    }
    good = good && (!personality->asks_back || find_needed_keys(frontend, failure));
    if (good) {
        frontend_read_features(frontend);
    }
    return good;
}

/* As the configured keys ask for it. */
static void expect_configured_headroom(struct XnFrontend *frontend)
{
    frontend_expect_headroom(frontend, 0);
    for (unsigned int i = 0; i < frontend->config.keys_count; i++) {
        if (strcmp(frontend->config.keys[i].name, "xdp-headroom") == 0) {
            frontend_expect_headroom(frontend, atoi(frontend->config.keys[i].value));
        }
    }
}

static bool refused(struct XnFrontend *frontend, struct XnFailure *failure)
{
    char reason[128] = "no reason given";
    struct XnFailure ignored = {""};

    frontend_read_error(frontend, reason, sizeof(reason));
    fail(failure, "backend refused to connect: %s", reason);
    /* As Linux does: the backend waits for it. */
    frontend_set_state(frontend, XenbusStateClosed, &ignored);
    return false;
}

/* A frontend that says Connected early sees the states of an earlier connection first. */
static bool wait_connected(struct XnFrontend *frontend, struct XnFailure *failure)
{
    unsigned int wanted = XN_STATE_BIT(XenbusStateConnected);

    if (frontend->config.personality->start != XN_START_AT_ONCE) {
        wanted |= XN_STATE_BIT(XenbusStateClosing);
    }
    return wait_for(frontend, wanted, failure) &&
           (frontend->backend_state == XenbusStateConnected || refused(frontend, failure));
}

bool frontend_connect(struct XnFrontend *frontend, struct XnFailure *failure)
{
    uint64_t start;

    expect_configured_headroom(frontend);
    if (!frontend_prepare(frontend, failure) || !frontend_share(frontend, failure)) {
        return false;
    }
    if (!frontend_publish(frontend, failure)) {
        frontend_unshare(frontend);
        return false;
    }
    start = clock_us();
    if (!frontend_set_state(frontend, XenbusStateConnected, failure) ||
        !wait_connected(frontend, failure)) {
        frontend_unshare(frontend);
        return false;
    }
    frontend->connect_us = clock_us() - start;
    frontend->connected = true;
    return true;
}

bool frontend_alive(const struct XnFrontend *frontend)
{
    return frontend->backend_state == XenbusStateConnected ||
           frontend->backend_state == XenbusStateReconfigured;
}

/* --- closing --- */

static bool await_answers(struct XnFrontend *frontend, struct XnFailure *failure)
{
    uint64_t end = clock_ms() + ANSWERS_MS;

    while (frontend_alive(frontend) && frontend_unanswered(frontend)) {
        if (frontend_reap(frontend) < 0 || clock_ms() > end) {
            return fail(failure, "%u guest_tx requests are not answered",
                        frontend_unanswered(frontend));
        }
        frontend_arm_guest_tx(frontend);
        frontend_wait(frontend, -1, 0, 100);
    }
    return true;
}

bool frontend_disconnect(struct XnFrontend *frontend, struct XnFailure *failure)
{
    const struct XnPersonality *personality = frontend->config.personality;
    /* Whatever they do of their own accord, they all follow a backend that closes. */
    static const struct XnStateStep following[4] = {
        {XenbusStateClosed, CLOSED | XN_STATE_BIT(XenbusStateUnknown)}};
    const struct XnStateStep *step =
        frontend->backend_state == XenbusStateClosing ? following : personality->closing;
    bool followed = survives(frontend, failure) &&
                    (!personality->answers_first || await_answers(frontend, failure));

    frontend->closing = true;
    for (unsigned int i = 0; followed && i < 4 && step[i].backend; i++) {
        followed = frontend_set_state(frontend, step[i].ours, failure) &&
                   (frontend->backend_state == XenbusStateUnknown ||
                    wait_for(frontend, step[i].backend, failure));
    }
    frontend->closing = false;
    frontend_unshare(frontend);
    return followed;
}
