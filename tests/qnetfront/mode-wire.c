/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mode-wire.c - the other end of the vif: the same frames on a network interface, without Xen */
#include "modes.h"
#include "pace.h"
#include "source.h"
#include "wire.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>

#define BATCH 32
#define QUIET_MS 1000
#define STALL_MS 1000

struct XnWireSender {
    struct XnWire wire;
    struct XnPace pace;
    struct XnSource source;
    uint64_t window;
    /* Without a progress file: what the interface's counters said last. */
    bool counted;
    uint64_t counted_base;
    uint64_t counted_last;
    uint64_t counted_move_ms;
    uint8_t frame[XN_FRAME_MAX + 1];
};

struct XnWireReceiver {
    struct XnWire wire;
    struct XnPace pace;
    struct XnVerify verify;
    uint64_t ours;
    uint8_t buffer[XN_FRAME_MAX + 64];
};

/* The tap's queue is bounded: it holds window frames at most. */
static uint64_t queue_allowance(struct XnWireSender *sender, uint64_t wanted)
{
    uint64_t now = clock_ms();
    uint64_t sent = sender->source.sequence;
    uint64_t taken;
    uint64_t under_way;

    if (!sender->counted || !wire_taken(&sender->wire, &taken)) {
        return wanted;
    }
    if (taken != sender->counted_last) {
        sender->counted_last = taken;
        sender->counted_move_ms = now;
    }
    taken -= sender->counted_base;
    under_way = sent > taken ? sent - taken : 0;
    if (under_way >= sender->window) {
        if (now - sender->counted_move_ms < STALL_MS) {
            return 0;
        }
        /* The counters do not tell the whole truth here: begin anew. */
        sender->counted_base = sender->counted_last - sent;
        sender->counted_move_ms = now;
        under_way = 0;
    }
    return wanted < sender->window - under_way ? wanted : sender->window - under_way;
}

/* 1 if the next frame is on its way, 0 to wait, -1 on failure. */
static int send_next(struct XnWireSender *sender, struct XnFailure *failure)
{
    struct XnFrameSpec spec;
    struct XnFrameMeta meta;
    int sent;

    if (!source_peek(&sender->source, NULL, &spec)) {
        return 0;
    }
    meta = frame_meta(&spec);
    frame_build(&spec, sender->frame);
    sent = wire_send(&sender->wire, sender->frame, spec.length, &meta);
    if (sent < 0) {
        fail_errno(failure, "cannot send a %s frame of %u bytes to %s",
                   xn_frame_kind_name[spec.kind], spec.length, sender->wire.name);
        return -1;
    }
    if (sent) {
        source_advance(&sender->source);
    }
    return sent;
}

static enum XnExit send_all(struct XnWireSender *sender, const struct XnOptions *options,
                            struct XnFailure *failure)
{
    uint64_t end = options->seconds ? clock_ms() + options->seconds * UINT64_C(1000) : UINT64_MAX;

    while (sender->source.sequence < sender->source.limit && !xn_stop_requested &&
           clock_ms() < end) {
        uint64_t allowed = pace_allowance(&sender->pace, sender->source.sequence, BATCH);
        int sent = 0;

        if (!sender->pace.progress) {
            allowed = queue_allowance(sender, allowed);
        }
        for (uint64_t i = 0; i < allowed; i++) {
            sent = send_next(sender, failure);
            if (sent <= 0) {
                break;
            }
        }
        if (sent < 0) {
            return XN_EXIT_FAILED;
        }
        /* Also without a pause, this is where signals come in. */
        frontend_wait_fd(NULL, sent ? 0 : 1);
    }
    return XN_EXIT_OK;
}

/* The longest frame that is not a super-frame: those pass at any MTU. */
static unsigned int longest_plain(const struct XnOptions *options)
{
    unsigned int longest = 0;

    for (unsigned int i = 0; i < options->kinds_count; i++) {
        bool tcp = options->kinds[i] == XN_FRAME_TCP4 || options->kinds[i] == XN_FRAME_TCP6;
        unsigned int plain = frame_header_length(options->kinds[i], options->vlans) + options->gso;

        if (!tcp || !options->gso) {
            return options->size_max;
        }
        longest = plain > longest ? plain : longest;
    }
    return longest < options->size_max ? longest : options->size_max;
}

enum XnExit mode_wire_send(struct XnFrontend *frontend, const struct XnOptions *options,
                           struct XnReport *report, struct XnFailure *failure)
{
    struct XnWireSender *sender = calloc(1, sizeof(*sender));
    enum XnExit result = XN_EXIT_NOT_CONNECTED;
    uint64_t start;

    (void)frontend;
    if (!sender || !wire_open(&sender->wire, options->interface, false, failure)) {
        free(sender);
        return XN_EXIT_NOT_CONNECTED;
    }
    source_init(&sender->source, options);
    sender->window = options->window;
    sender->counted = wire_taken(&sender->wire, &sender->counted_base);
    sender->counted_move_ms = clock_ms();
    if (wire_raise_mtu(&sender->wire, longest_plain(options), failure) &&
        pace_sender_open(&sender->pace, options->progress, options->window, options->rate,
                         options->frontend.wait_ms, failure)) {
        start = clock_ms();
        result = send_all(sender, options, failure);
        pace_done(&sender->pace, sender->source.sequence);
        report_number(report, "milliseconds", clock_ms() - start);
        report_number(report, "frames_sent", sender->source.sequence);
        report_number(report, "frames_written_off", sender->pace.written_off);
        pace_close(&sender->pace);
    }
    wire_close(&sender->wire);
    free(sender);
    return result;
}

static bool finished(const struct XnWireReceiver *receiver, const struct XnOptions *options,
                     uint64_t last_ms)
{
    if (options->count && receiver->ours >= options->count) {
        return true;
    }
    if (pace_complete(&receiver->pace, receiver->ours)) {
        return true;
    }
    return pace_sender_done(&receiver->pace) && clock_ms() - last_ms > QUIET_MS;
}

/* Number of frames, -1 on failure. */
static int receive_batch(struct XnWireReceiver *receiver)
{
    int count = 0;
    int got = 0;

    while (count < BATCH) {
        const uint8_t *frame;
        unsigned int length;
        struct XnFrameMeta meta;

        got = wire_receive(&receiver->wire, receiver->buffer, sizeof(receiver->buffer), &frame,
                           &length, &meta);
        if (got <= 0) {
            break;
        }
        count++;
        receiver->ours +=
            length && verify_frame(&receiver->verify, frame, length, &meta) != XN_VERDICT_FOREIGN;
    }
    if (count) {
        pace_received(&receiver->pace, receiver->ours);
    }
    return got < 0 ? -1 : count;
}

static enum XnExit receive_all(struct XnWireReceiver *receiver, const struct XnOptions *options,
                               struct XnFailure *failure)
{
    uint64_t last = clock_ms();
    uint64_t end = options->seconds ? last + options->seconds * UINT64_C(1000) : UINT64_MAX;

    while (!xn_stop_requested && clock_ms() < end && !finished(receiver, options, last)) {
        struct pollfd readable = {.fd = receiver->wire.fd, .events = POLLIN};
        int count = receive_batch(receiver);

        if (count < 0) {
            fail_errno(failure, "cannot receive from %s", receiver->wire.name);
            return XN_EXIT_FAILED;
        }
        if (count) {
            last = clock_ms();
        }
        if (count < BATCH) {
            frontend_wait_fd(&readable, 100);
        }
    }
    return XN_EXIT_OK;
}

enum XnExit mode_wire_receive(struct XnFrontend *frontend, const struct XnOptions *options,
                              struct XnReport *report, struct XnFailure *failure)
{
    struct XnWireReceiver *receiver = calloc(1, sizeof(*receiver));
    enum XnExit result = XN_EXIT_NOT_CONNECTED;

    (void)frontend;
    if (!receiver || !wire_open(&receiver->wire, options->interface, true, failure)) {
        free(receiver);
        return XN_EXIT_NOT_CONNECTED;
    }
    verify_init(&receiver->verify, options->seed, options->expect_csum,
                options->frontend.queues > 1);
    if (pace_receiver_open(&receiver->pace, options->progress, failure)) {
        uint64_t sent;

        result = receive_all(receiver, options, failure);
        report_verify(report, &receiver->verify);
        report_number(report, "socket_drops", wire_drops(&receiver->wire));
        report_number(report, "socket_refused", receiver->wire.refused);
        sent = pace_sent(&receiver->pace);
        if (result == XN_EXIT_OK) {
            result = mode_judge_receiver(&receiver->verify, options, sent ? sent : options->count,
                                         failure);
        }
        pace_close(&receiver->pace);
    }
    wire_close(&receiver->wire);
    free(receiver);
    return result;
}
