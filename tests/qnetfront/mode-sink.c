/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mode-sink.c - receives frames from the guest_rx ring and checks everything about them */
#include "ctrl-work.h"
#include "modes.h"
#include "pace.h"

#include <inttypes.h>
#include <stdlib.h>

#define BATCH 64
/* After the sender is done, nothing more is on its way when this long nothing came. */
#define QUIET_MS 1000

/* Frames whose hash is not what the control ring asked for. */
struct XnSinkHashes {
    uint64_t right; /* with a hash, and all is right */
    uint64_t missing;
    uint64_t unexpected;
    uint64_t wrong; /* type or value */
    uint64_t wrong_queue;
};

struct XnSink {
    struct XnFrontend *frontend;
    const struct XnOptions *options;
    struct XnPace pace;
    struct XnVerify verify;
    struct XnGuestRxPacket packet;
    uint64_t ours; /* frames of the sender, good or not */
    uint64_t bad_packets;
    struct XnSinkHashes hashes;
    uint8_t frame[XN_GUEST_RX_PARTS * XN_PAGE_SIZE];
};

static void check_hash(struct XnSink *sink, unsigned int queue, const uint8_t *frame)
{
    const struct XnHashConfig *config = &sink->frontend->hash;
    const struct XnFrameHash *got = &sink->packet.meta.hash;
    struct XnFrameHash wanted = hash_expect(config, frame, sink->packet.length);

    if (!wanted.found || !got->found) {
        sink->hashes.missing += wanted.found;
        sink->hashes.unexpected += got->found;
    } else if (got->type != wanted.type || got->value != wanted.value) {
        sink->hashes.wrong++;
    } else if (!sink->frontend->ctrl_work->loop &&
               queue != hash_expect_queue(config, wanted.value)) {
        /* While the table changes, a frame may have been steered by an older one. */
        sink->hashes.wrong_queue++;
    } else {
        sink->hashes.right++;
    }
}

static void take_packet(struct XnSink *sink, unsigned int queue)
{
    struct XnGuestRxPacket *packet = &sink->packet;
    const uint8_t *frame = packet->part[0].data;
    size_t length = 0;

    if (packet->bad || !packet->parts) {
        sink->bad_packets++;
        return;
    }
    if (packet->parts > 1) {
        for (unsigned int i = 0; i < packet->parts; i++) {
            memcpy(sink->frame + length, packet->part[i].data, packet->part[i].length);
            length += packet->part[i].length;
        }
        frame = sink->frame;
    }
    check_hash(sink, queue, frame);
    sink->ours +=
        verify_frame(&sink->verify, frame, packet->length, &packet->meta) != XN_VERDICT_FOREIGN;
}

static int take_from_queue(struct XnSink *sink, unsigned int index)
{
    struct XnFrontendQueue *queue = &sink->frontend->queues[index];
    int count = 0;
    int got = 0;

    while (count < BATCH && (got = guest_rx_receive(&queue->guest_rx, &sink->packet)) > 0) {
        take_packet(sink, index);
        guest_rx_repost(&queue->guest_rx, &sink->packet);
        count++;
    }
    if (count) {
        frontend_push_guest_rx(sink->frontend, queue);
    }
    return got < 0 ? -1 : count;
}

/* Returns the number of packets, -1 for a broken ring. */
static int take_batch(struct XnSink *sink)
{
    struct XnFrontend *frontend = sink->frontend;
    int count = 0;

    for (unsigned int i = 0; i < frontend->queues_count; i++) {
        int got = take_from_queue(sink, i);

        if (got < 0) {
            return -1;
        }
        count += got;
    }
    if (count) {
        pace_received(&sink->pace, sink->ours);
    }
    return count;
}

static bool finished(const struct XnSink *sink, uint64_t last_ms)
{
    if (sink->options->count && sink->ours >= sink->options->count) {
        return true;
    }
    if (pace_complete(&sink->pace, sink->ours)) {
        return true;
    }
    return pace_sender_done(&sink->pace) && clock_ms() - last_ms > QUIET_MS;
}

static enum XnExit receive_all(struct XnSink *sink, struct XnFailure *failure)
{
    struct XnFrontend *frontend = sink->frontend;
    uint64_t last = clock_ms();
    uint64_t end =
        sink->options->seconds ? last + sink->options->seconds * UINT64_C(1000) : UINT64_MAX;
    unsigned int turn = 0;

    while (!xn_stop_requested && clock_ms() < end && !finished(sink, last)) {
        int count = take_batch(sink);

        if (count < 0) {
            fail(failure, "the backend's guest_rx response index is impossible");
            return XN_EXIT_FAILED;
        }
        if (count) {
            last = clock_ms();
            if (++turn % BATCH == 0) {
                frontend_wait(frontend, -1, 0, 0);
            }
        } else if (!mode_spin(sink->options, frontend, XN_RINGS_GUEST_RX) &&
                   !frontend_arm_guest_rx(frontend)) {
            frontend_wait(frontend, -1, 0, 100);
        } else if (++turn % BATCH == 0) {
            /* An unfinished packet keeps the index moving without work for us. */
            frontend_wait(frontend, -1, 0, 1);
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

static uint64_t hashes_wrong(const struct XnSinkHashes *hashes)
{
    return hashes->missing + hashes->unexpected + hashes->wrong + hashes->wrong_queue;
}

static void report_hashes(struct XnReport *report, const struct XnSinkHashes *hashes)
{
    report_number(report, "hash_right", hashes->right);
    report_number(report, "hash_missing", hashes->missing);
    report_number(report, "hash_unexpected", hashes->unexpected);
    report_number(report, "hash_wrong", hashes->wrong);
    report_number(report, "hash_wrong_queue", hashes->wrong_queue);
}

enum XnExit mode_sink(struct XnFrontend *frontend, const struct XnOptions *options,
                      struct XnReport *report, struct XnFailure *failure)
{
    struct XnSink *sink = calloc(1, sizeof(*sink));
    enum XnExit result = XN_EXIT_FAILED;
    struct XnGuestRxCounters counters;

    if (!sink) {
        fail(failure, "out of memory");
        return XN_EXIT_FAILED;
    }
    sink->frontend = frontend;
    sink->options = options;
    verify_init(&sink->verify, options->seed, options->expect_csum, frontend->queues_count > 1);
    if (pace_receiver_open(&sink->pace, options->progress, failure)) {
        result = receive_all(sink, failure);
        counters = frontend_guest_rx_counters(frontend);
        report_guest_rx(report, frontend);
        report_number(report, "guest_rx_packets_bad", sink->bad_packets);
        report_verify(report, &sink->verify);
        report_hashes(report, &sink->hashes);
        if (result == XN_EXIT_OK && guest_rx_violations(&counters)) {
            fail(failure, "%" PRIu64 " guest_rx answers break the protocol",
                 guest_rx_violations(&counters));
            result = XN_EXIT_FAILED;
        }
        if (result == XN_EXIT_OK && hashes_wrong(&sink->hashes)) {
            fail(failure, "%" PRIu64 " frames have not the hash or queue that was set",
                 hashes_wrong(&sink->hashes));
            result = XN_EXIT_FAILED;
        }
        if (result == XN_EXIT_OK) {
            uint64_t sent = pace_sent(&sink->pace);

            result =
                mode_judge_receiver(&sink->verify, options, sent ? sent : options->count, failure);
        }
        pace_close(&sink->pace);
    }
    free(sink);
    return result;
}
