/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mode-cycle.c - modes that connect again and again: reconnect, renew, flip
 *
 * Each connection counts only if a frame is answered over it.
 */
#include "modes.h"

#include <stdlib.h>

/* A reconnect slower than this is counted as slow. */
#define SLOW_US 200000u
#define ANSWER_MS 3000u

static int compare_times(const void *a, const void *b)
{
    unsigned int x = *(const unsigned int *)a;
    unsigned int y = *(const unsigned int *)b;

    return x < y ? -1 : x > y;
}

/* @times, of which there is at least one, become sorted. */
static void report_times(struct XnReport *report, unsigned int *times, uint64_t count)
{
    uint64_t slow = 0;

    qsort(times, count, sizeof(*times), compare_times);
    while (slow < count && times[count - 1 - slow] > SLOW_US) {
        slow++;
    }
    report_number(report, "connect_us_least", times[0]);
    report_number(report, "connect_us_median", times[count / 2]);
    report_number(report, "connect_us_of_100_99", times[count * 99 / 100]);
    report_number(report, "connect_us_of_1000_999", times[count * 999 / 1000]);
    report_number(report, "connect_us_most", times[count - 1]);
    report_number(report, "connects_slow", slow);
}

static enum XnExit connect_and_send(struct XnFrontend *frontend, const struct XnOptions *options,
                                    struct XnFailure *failure)
{
    if (!frontend_connect(frontend, failure)) {
        return XN_EXIT_NOT_CONNECTED;
    }
    if (!mode_is_served(frontend, options)) {
        fail(failure, "a frame is not answered");
        return XN_EXIT_FAILED;
    }
    return XN_EXIT_OK;
}

enum XnExit mode_reconnect(struct XnFrontend *frontend, const struct XnOptions *options,
                           struct XnReport *report, struct XnFailure *failure)
{
    uint64_t wanted = options->count ? options->count : 1;
    unsigned int *times = calloc(wanted, sizeof(*times));
    enum XnExit result = XN_EXIT_OK;
    uint64_t count = 0;

    if (!times) {
        fail_errno(failure, "no memory for %lu times", (unsigned long)wanted);
        return XN_EXIT_FAILED;
    }
    while (result == XN_EXIT_OK && count < wanted && !xn_stop_requested) {
        result = connect_and_send(frontend, options, failure);
        if (result == XN_EXIT_OK) {
            times[count++] = frontend->connect_us;
            if (!frontend_disconnect(frontend, failure)) {
                result = XN_EXIT_FAILED;
            }
        }
    }
    report_number(report, "connects", count);
    if (count) {
        report_times(report, times, count);
    }
    free(times);
    return result;
}

/* The backend may go through other states before it serves the rings. */
static bool await_answer(struct XnFrontend *frontend, const struct XnOptions *options,
                         struct XnFailure *failure)
{
    struct XnGuestTx *guest_tx = &frontend->queues[0].guest_tx;
    uint64_t end = clock_ms() + ANSWER_MS;

    mode_send_one(frontend, options);
    while (guest_tx_unanswered(guest_tx) && clock_ms() < end && guest_tx_reap(guest_tx) >= 0) {
        guest_tx_arm(guest_tx);
        frontend_wait(frontend, -1, 0, 20);
    }
    if (guest_tx->counters.okay != 1) {
        return fail(failure, "no answer in the rings within %u ms; the backend is in state %d",
                    ANSWER_MS, frontend->backend_state);
    }
    return true;
}

/* Shares new rings and says so; the old ones stay shared until the new ones are served. */
static bool renew(struct XnFrontend *frontend, const struct XnOptions *options,
                  struct XnFailure *failure)
{
    static struct XnFrontend old;
    bool renewed;

    old = *frontend;
    for (unsigned int i = 0; i < XN_QUEUES_MAX; i++) {
        memset(&frontend->queues[i], 0, sizeof(frontend->queues[i]));
        frontend->queues[i].evtchn_guest_tx = frontend->queues[i].evtchn_guest_rx = -1;
    }
    if (!frontend_share(frontend, failure)) {
        *frontend = old;
        return false;
    }
    renewed = frontend_publish(frontend, failure) &&
              frontend_set_state(frontend, XenbusStateConnected, failure) &&
              await_answer(frontend, options, failure);
    frontend_unshare(&old);
    return renewed;
}

enum XnExit mode_renew(struct XnFrontend *frontend, const struct XnOptions *options,
                       struct XnReport *report, struct XnFailure *failure)
{
    enum XnExit result = connect_and_send(frontend, options, failure);
    uint64_t count = 0;

    while (result == XN_EXIT_OK && count < options->count && !xn_stop_requested) {
        if (renew(frontend, options, failure)) {
            count++;
        } else {
            result = XN_EXIT_FAILED;
        }
    }
    report_number(report, "renewed", count);
    if (result == XN_EXIT_OK && !frontend_disconnect(frontend, failure)) {
        result = XN_EXIT_FAILED;
    }
    return result;
}

/* Nothing is read in between, so most of the states are overwritten before anybody sees them. */
static uint64_t flip(struct XnFrontend *frontend, unsigned int seconds, struct XnFailure *failure)
{
    static const char *const states[] = {"1", "4", "5", "6"};
    uint64_t end = clock_ms() + seconds * UINT64_C(1000);
    uint64_t count = 0;

    while (clock_ms() < end && !xn_stop_requested && !failure->text[0]) {
        count += store_write(frontend->xs, XBT_NULL, frontend->path, "state", states[count % 4],
                             failure);
    }
    return count;
}

/* The last two states are those of a frontend that starts anew with the rings it has. */
enum XnExit mode_flip(struct XnFrontend *frontend, const struct XnOptions *options,
                      struct XnReport *report, struct XnFailure *failure)
{
    enum XnExit result = XN_EXIT_FAILED;
    uint64_t start;

    if (!frontend_prepare(frontend, failure) || !frontend_share(frontend, failure) ||
        !frontend_publish(frontend, failure)) {
        return XN_EXIT_NOT_CONNECTED;
    }
    report_number(report, "flips", flip(frontend, options->seconds, failure));
    start = clock_us();
    if (!failure->text[0] && frontend_set_state(frontend, XenbusStateInitialising, failure) &&
        frontend_set_state(frontend, XenbusStateConnected, failure) &&
        await_answer(frontend, options, failure)) {
        report_number(report, "connect_us", clock_us() - start);
        result = XN_EXIT_OK;
    }
    if (!frontend_disconnect(frontend, failure)) {
        result = XN_EXIT_FAILED;
    }
    return result;
}
