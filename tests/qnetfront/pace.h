/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace.h - how fast a sender may go
 *
 * Theory of operation: a tap and a packet socket drop what their reader does not take in time, so a
 * sender that only looks at its own ring would see losses that are nobody's fault. Sender and
 * receiver on one machine share a small file, the progress file: the receiver creates it when it is
 * ready and counts there, the sender keeps a bounded number of frames under way and says when it is
 * done. Without the file, a sender may be held to a rate.
 */
#ifndef QNETFRONT_PACE_H
#define QNETFRONT_PACE_H

#include "fail.h"

#include <stdint.h>

struct XnProgress;

struct XnPace {
    struct XnProgress *progress; /* NULL: none */
    uint64_t window; /* frames under way at most */
    uint64_t rate; /* frames per second, 0: no limit */
    uint64_t start_ms;
    uint64_t written_off; /* frames under way when nothing moved for a second: taken for lost */
    uint64_t last_received;
    uint64_t last_move_ms;
};

/* Receiver: creates @path. Does nothing if @path is NULL. */
bool pace_receiver_open(struct XnPace *pace, const char *path, struct XnFailure *failure);

/* Sender: waits up to @wait_ms until a receiver has created @path. */
bool pace_sender_open(struct XnPace *pace, const char *path, uint64_t window, uint64_t rate,
                      unsigned int wait_ms, struct XnFailure *failure);
void pace_close(struct XnPace *pace);

/* Sender: frames that may go now, having sent @sent so far; at most @wanted. */
uint64_t pace_allowance(struct XnPace *pace, uint64_t sent, uint64_t wanted);

/* Sender: says that no more than @sent frames will come. */
void pace_done(struct XnPace *pace, uint64_t sent);

/* Receiver: publishes how many frames came. */
void pace_received(struct XnPace *pace, uint64_t received);

/* Receiver: true if the sender is done and @received is all it sent. */
bool pace_complete(const struct XnPace *pace, uint64_t received);

/* Receiver: true if the sender is done. */
bool pace_sender_done(const struct XnPace *pace);

/* Receiver: how many frames the sender says it sent, once it is done. */
uint64_t pace_sent(const struct XnPace *pace);

#endif
