/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mode-generate.c - sends frames of known content through the guest_tx ring */
#include "ctrl-work.h"
#include "modes.h"
#include "pace.h"
#include "source.h"

#include <inttypes.h>
#include <stdlib.h>

#define BATCH 64
#define DRAIN_MS 10000

struct XnGenerate {
    struct XnFrontend *frontend;
    const struct XnOptions *options;
    struct XnSource source;
    struct XnPace pace;
    uint64_t unfit; /* frames left out: too many slots for this backend */
    uint8_t frame[XN_FRAME_MAX + 1];
};

/* Queues the next frame. False if there is none, or no room for it. */
static bool send_next(struct XnGenerate *generate)
{
    struct XnFrontend *frontend = generate->frontend;
    struct XnFrontendQueue *queue;
    struct XnLayout layout = generate->options->layout;
    struct XnSlot slot[XN_LAYOUT_SLOTS];
    struct XnFrameSpec spec;
    struct XnFrameMeta meta;
    unsigned int count;

    if (!source_peek(&generate->source, &frontend->features, &spec)) {
        return false;
    }
    /* What belongs together stays in order, as all that is on one queue does. */
    queue = &frontend->queues[(spec.kind + spec.flow) % frontend->queues_count];
    if (!frontend_can_send(frontend, queue)) {
        return false;
    }
    if (!frontend->features.sg) {
        layout.max = 1;
    }
    count = layout_cut(&layout, spec.length,
                       (uint64_t)spec.seed << 32 | (uint32_t)generate->source.sequence, slot);
    if (!count) {
        generate->unfit++;
        source_advance(&generate->source);
        return true;
    }
    meta = frame_meta(&spec);
    frame_build(&spec, generate->frame);
    meta.hash = hash_expect(&frontend->hash, generate->frame, spec.length);
    guest_tx_queue_copy(&queue->guest_tx, generate->frame, slot, count, &meta);
    source_advance(&generate->source);
    return true;
}

static bool send_batch(struct XnGenerate *generate)
{
    struct XnFrontend *frontend = generate->frontend;
    uint64_t allowed = pace_allowance(&generate->pace, generate->source.sequence, BATCH);
    uint64_t sent = 0;

    while (sent < allowed && send_next(generate)) {
        sent++;
    }
    for (unsigned int i = 0; sent && i < frontend->queues_count; i++) {
        frontend_push_guest_tx(frontend, &frontend->queues[i]);
    }
    return sent > 0;
}

static bool sleep_for_answers(struct XnGenerate *generate)
{
    struct XnFrontend *frontend = generate->frontend;
    bool paced = generate->pace.progress || generate->pace.rate;

    if (mode_spin(generate->options, frontend, XN_RINGS_GUEST_TX) ||
        frontend_arm_guest_tx(frontend)) {
        return true;
    }
    /* The receiver's progress sends no event. */
    frontend_wait(frontend, -1, 0, paced ? 1 : 100);
    return false;
}

static enum XnExit send_all(struct XnGenerate *generate, struct XnFailure *failure)
{
    struct XnFrontend *frontend = generate->frontend;
    uint64_t end = generate->options->seconds
                       ? clock_ms() + generate->options->seconds * UINT64_C(1000)
                       : UINT64_MAX;
    unsigned int turn = 0;

    while (generate->source.sequence < generate->source.limit && !xn_stop_requested &&
           clock_ms() < end) {
        int answers = frontend_reap(frontend);

        if (answers < 0) {
            fail(failure, "the backend's guest_tx response index is impossible");
            return XN_EXIT_FAILED;
        }
        if (!send_batch(generate) && !answers) {
            sleep_for_answers(generate);
        } else if (++turn % BATCH == 0) {
            frontend_wait(frontend, -1, 0, 0);
        }
        if (!frontend_alive(frontend)) {
            return mode_end(frontend, failure);
        }
        if (!ctrl_work_turn(frontend->ctrl_work, frontend, failure)) {
            return XN_EXIT_FAILED;
        }
    }
    return XN_EXIT_OK;
}

/* Every request gets its answer, in bounded time. */
static enum XnExit drain(struct XnGenerate *generate, struct XnFailure *failure)
{
    struct XnFrontend *frontend = generate->frontend;
    uint64_t last = clock_ms();

    while (frontend_unanswered(frontend)) {
        int answers = frontend_reap(frontend);

        if (answers > 0) {
            last = clock_ms();
        } else if (answers < 0 || clock_ms() - last > DRAIN_MS) {
            fail(failure, "%u guest_tx requests are not answered after %d s",
                 frontend_unanswered(frontend), DRAIN_MS / 1000);
            return XN_EXIT_FAILED;
        } else if (!frontend_alive(frontend)) {
            return mode_end(frontend, failure);
        } else if (!frontend_arm_guest_tx(frontend)) {
            frontend_wait(frontend, -1, 0, 100);
        }
    }
    return XN_EXIT_OK;
}

static enum XnExit judge(const struct XnGuestTxCounters *counters, struct XnFailure *failure)
{
    if (guest_tx_violations(counters)) {
        fail(failure, "%" PRIu64 " guest_tx answers break the protocol",
             guest_tx_violations(counters));
        return XN_EXIT_FAILED;
    }
    if (counters->packets_bad) {
        fail(failure, "%" PRIu64 " good packets were answered with an error",
             counters->packets_bad);
        return XN_EXIT_FAILED;
    }
    return XN_EXIT_OK;
}

enum XnExit mode_generate(struct XnFrontend *frontend, const struct XnOptions *options,
                          struct XnReport *report, struct XnFailure *failure)
{
    struct XnGenerate *generate = calloc(1, sizeof(*generate));
    enum XnExit result = XN_EXIT_NOT_CONNECTED;
    uint64_t start;

    if (!generate) {
        fail(failure, "out of memory");
        return XN_EXIT_FAILED;
    }
    generate->frontend = frontend;
    generate->options = options;
    source_init(&generate->source, options);
    if (pace_sender_open(&generate->pace, options->progress, options->window, options->rate,
                         options->frontend.wait_ms, failure)) {
        start = clock_ms();
        result = send_all(generate, failure);
        if (result == XN_EXIT_OK) {
            result = drain(generate, failure);
        }
        pace_done(&generate->pace, generate->source.sequence - generate->unfit);
        report_number(report, "milliseconds", clock_ms() - start);
        report_number(report, "frames_sent", generate->source.sequence - generate->unfit);
        report_number(report, "frames_unfit", generate->unfit);
        report_number(report, "frames_written_off", generate->pace.written_off);
        report_guest_tx(report, frontend);
        if (result == XN_EXIT_OK) {
            struct XnGuestTxCounters counters = frontend_guest_tx_counters(frontend);

            result = judge(&counters, failure);
        }
        pace_close(&generate->pace);
    }
    free(generate);
    return result;
}
