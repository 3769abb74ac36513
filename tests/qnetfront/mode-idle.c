/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mode-idle.c - the quiet modes: idle, echo, and what all modes share */
#include "ctrl-work.h"
#include "modes.h"

#include <inttypes.h>
#include <time.h>

#define BATCH 64
#define SERVED_MS 3000

enum XnExit mode_end(const struct XnFrontend *frontend, struct XnFailure *failure)
{
    if (frontend_alive(frontend)) {
        return XN_EXIT_OK;
    }
    fail(failure, "the backend went to state %d", frontend->backend_state);
    return XN_EXIT_BACKEND_CLOSED;
}

void mode_send_one(struct XnFrontend *frontend, const struct XnOptions *options)
{
    struct XnFrameSpec spec = {.seed = options->seed, .length = 64, .kind = XN_FRAME_RAW};
    struct XnFrameMeta meta = {0};
    struct XnSlot slot = {.size = 64};
    uint8_t frame[64];

    memcpy(spec.target, options->target, 6);
    memcpy(spec.source, options->source, 6);
    frame_build(&spec, frame);
    guest_tx_queue_copy(&frontend->queues[0].guest_tx, frame, &slot, 1, &meta);
    frontend_push_guest_tx(frontend, &frontend->queues[0]);
}

bool mode_is_served(struct XnFrontend *frontend, const struct XnOptions *options)
{
    struct XnGuestTx *guest_tx = &frontend->queues[0].guest_tx;
    uint64_t end = clock_ms() + SERVED_MS;
    uint64_t okay = guest_tx->counters.okay;

    if (!frontend_alive(frontend) || !guest_tx->sring || guest_tx_unanswered(guest_tx) ||
        guest_tx_room(guest_tx) < 1) {
        return false;
    }
    mode_send_one(frontend, options);
    while (guest_tx_unanswered(guest_tx) && clock_ms() < end && frontend_alive(frontend)) {
        if (guest_tx_reap(guest_tx) < 0) {
            return false;
        }
        guest_tx_arm(guest_tx);
        frontend_wait(frontend, -1, 0, 20);
    }
    return guest_tx->counters.okay == okay + 1;
}

enum XnExit mode_judge_receiver(const struct XnVerify *verify, const struct XnOptions *options,
                                uint64_t expected, struct XnFailure *failure)
{
    uint64_t good = verify->verdicts[XN_VERDICT_GOOD];

    if (verify_bad(verify)) {
        fail(failure, "%" PRIu64 " frames are wrong, the first: %s", verify_bad(verify),
             verify->reason);
        return XN_EXIT_FAILED;
    }
    /* A flow that moves to another queue may overtake itself. */
    if (verify->duplicates || (verify->late && !options->ctrl.loop)) {
        fail(failure, "%" PRIu64 " frames came twice, %" PRIu64 " out of order", verify->duplicates,
             verify->late);
        return XN_EXIT_FAILED;
    }
    if (options->allow_loss) {
        return XN_EXIT_OK;
    }
    if (verify->gaps || good < expected) {
        fail(failure, "%" PRIu64 " frames of %" PRIu64 " came, %" PRIu64 " lost in between", good,
             expected, verify->gaps);
        return XN_EXIT_FAILED;
    }
    return XN_EXIT_OK;
}

static bool answers_there(const struct XnFrontend *frontend, enum XnRings rings)
{
    for (unsigned int i = 0; i < frontend->queues_count; i++) {
        const struct XnGuestTx *guest_tx = &frontend->queues[i].guest_tx;
        const struct XnGuestRx *guest_rx = &frontend->queues[i].guest_rx;
        const volatile RING_IDX *produced = &guest_tx->sring->rsp_prod;

        if (rings & XN_RINGS_GUEST_TX && *produced != guest_tx->ring.rsp_cons) {
            return true;
        }
        produced = &guest_rx->sring->rsp_prod;
        if (rings & XN_RINGS_GUEST_RX && *produced != guest_rx->ring.rsp_cons) {
            return true;
        }
    }
    return false;
}

bool mode_spin(const struct XnOptions *options, const struct XnFrontend *frontend,
               enum XnRings rings)
{
    struct timespec start;
    struct timespec now;
    int64_t elapsed_us;

    if (!options->spin_us) {
        return answers_there(frontend, rings);
    }
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (int i = 0; i < 100; i++) {
            if (answers_there(frontend, rings)) {
                return true;
            }
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        elapsed_us =
            (now.tv_sec - start.tv_sec) * INT64_C(1000000) + (now.tv_nsec - start.tv_nsec) / 1000;
    } while (elapsed_us < options->spin_us);
    return false;
}

/* Copies a received packet into guest_tx pages with its MAC addresses swapped. */
static void send_back(struct XnGuestTx *guest_tx, const struct XnGuestRxPacket *packet)
{
    struct XnSlot slot[XN_GUEST_TX_SLOTS_MAX] = {{0}};
    uint8_t macs[12];
    uint8_t *first;

    if (packet->bad || packet->parts > XN_GUEST_TX_SLOTS_MAX || packet->part[0].length < 14 ||
        packet->parts > guest_tx_room(guest_tx)) {
        return;
    }
    for (unsigned int i = 0; i < packet->parts; i++) {
        memcpy(guest_tx_next_page(guest_tx, i), packet->part[i].data, packet->part[i].length);
        slot[i].size = packet->part[i].length;
    }
    first = guest_tx_next_page(guest_tx, 0);
    memcpy(macs, first + 6, 6);
    memcpy(macs + 6, first, 6);
    memcpy(first, macs, 12);
    guest_tx_queue(guest_tx, slot, packet->parts, &packet->meta);
}

/* Number of packets, -1 for a broken ring. Without room for the answer a packet stays in the ring:
 * the backend is to wait. */
static int serve_queue(struct XnFrontend *frontend, struct XnFrontendQueue *queue, bool echo)
{
    static struct XnGuestRxPacket packet;
    int count = 0;
    int got = 0;

    while (count < BATCH && (!echo || frontend_can_send(frontend, queue)) &&
           (got = guest_rx_receive(&queue->guest_rx, &packet)) > 0) {
        if (echo) {
            send_back(&queue->guest_tx, &packet);
        }
        guest_rx_repost(&queue->guest_rx, &packet);
        count++;
    }
    if (count) {
        frontend_push_guest_rx(frontend, queue);
        if (echo) {
            frontend_push_guest_tx(frontend, queue);
        }
    }
    return got < 0 ? -1 : count;
}

static enum XnExit serve(struct XnFrontend *frontend, const struct XnOptions *options, bool echo,
                         struct XnReport *report, struct XnFailure *failure)
{
    uint64_t end = options->seconds ? clock_ms() + options->seconds * UINT64_C(1000) : UINT64_MAX;

    while (!xn_stop_requested && frontend_alive(frontend) && clock_ms() < end) {
        int count = 0;
        int got = 0;

        for (unsigned int i = 0; i < frontend->queues_count && got >= 0; i++) {
            got = serve_queue(frontend, &frontend->queues[i], echo);
            count += got;
        }
        if (got < 0 || frontend_reap(frontend) < 0) {
            fail(failure, "a response index of the backend is impossible");
            return XN_EXIT_FAILED;
        }
        if (!ctrl_work_turn(frontend->ctrl_work, frontend, failure)) {
            return XN_EXIT_FAILED;
        }
        if (count) {
            frontend_wait(frontend, -1, 0, 0);
        } else if (!frontend_arm_guest_tx(frontend) && !frontend_arm_guest_rx(frontend)) {
            frontend_wait(frontend, -1, 0, 500);
        } else {
            frontend_wait(frontend, -1, 0, 1);
        }
    }
    report_guest_rx(report, frontend);
    if (echo) {
        report_guest_tx(report, frontend);
    }
    return XN_EXIT_OK;
}

enum XnExit mode_idle(struct XnFrontend *frontend, const struct XnOptions *options,
                      struct XnReport *report, struct XnFailure *failure)
{
    return serve(frontend, options, false, report, failure);
}

enum XnExit mode_echo(struct XnFrontend *frontend, const struct XnOptions *options,
                      struct XnReport *report, struct XnFailure *failure)
{
    enum XnExit result = serve(frontend, options, true, report, failure);

    return result == XN_EXIT_OK ? mode_end(frontend, failure) : result;
}
