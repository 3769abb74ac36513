/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modes.h - what the program can be told to do; one file each */
#ifndef QNETFRONT_MODES_H
#define QNETFRONT_MODES_H

#include "options.h"
#include "report.h"

/* Runs over a connected frontend until its work is done, a signal comes or the backend closes, and
 * adds its figures to @report. @failure says in words why the result is not XN_EXIT_OK. */
typedef enum XnExit mode_run(struct XnFrontend *frontend, const struct XnOptions *options,
                             struct XnReport *report, struct XnFailure *failure);

mode_run mode_tap, mode_generate, mode_sink, mode_echo, mode_idle;

/* The frontend is open, but neither prepared nor connected. */
mode_run mode_hostile, mode_reconnect, mode_renew, mode_flip;

/* Prints the names of the attacks. */
void hostile_list(void);

/* These need no Xen: @frontend is NULL. */
mode_run mode_wire_send, mode_wire_receive;

/* The common end of a loop over a frontend: XN_EXIT_OK, or that the backend closed. */
enum XnExit mode_end(const struct XnFrontend *frontend, struct XnFailure *failure);

/* Queues a good packet of 64 bytes in the first queue, and publishes it. */
void mode_send_one(struct XnFrontend *frontend, const struct XnOptions *options);

/* True if such a packet is answered OKAY within three seconds. */
bool mode_is_served(struct XnFrontend *frontend, const struct XnOptions *options);

/* Judges what a receiver saw against what was to come: @expected frames, 0 if unknown. */
enum XnExit mode_judge_receiver(const struct XnVerify *verify, const struct XnOptions *options,
                                uint64_t expected, struct XnFailure *failure);

/* Which ring of each queue an answer is awaited in. */
enum XnRings { XN_RINGS_GUEST_TX = 1, XN_RINGS_GUEST_RX = 2 };

/* Looks for answers in those rings of all queues, for options->spin_us if that is set; true if
 * there are any. */
bool mode_spin(const struct XnOptions *options, const struct XnFrontend *frontend,
               enum XnRings rings);

#endif
