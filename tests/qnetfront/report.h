/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - the result of a run: one line of JSON, or one line per figure for people */
#ifndef QNETFRONT_REPORT_H
#define QNETFRONT_REPORT_H

#include "ctrl-work.h"
#include "frontend.h"
#include "verify.h"

#include <stdio.h>

struct XnReport {
    FILE *stream;
    bool json;
    bool any; /* a field is out already */
};

void report_begin(struct XnReport *report, bool json);
void report_number(struct XnReport *report, const char *name, uint64_t value);
void report_signed(struct XnReport *report, const char *name, int64_t value);
/* A string that is empty is left out. */
void report_string(struct XnReport *report, const char *name, const char *value);
void report_end(struct XnReport *report);

/* Groups of fields. Names begin with guest_tx_, guest_rx_, ctrl_ or frames_. The rings' are of all
 * queues together; if there are several, queue0_guest_tx_packets and so on tell how they took part.
 */
void report_guest_tx(struct XnReport *report, const struct XnFrontend *frontend);
void report_guest_rx(struct XnReport *report, const struct XnFrontend *frontend);
void report_ctrl(struct XnReport *report, const struct XnFrontend *frontend,
                 const struct XnCtrlWork *work);
void report_verify(struct XnReport *report, const struct XnVerify *verify);
void report_frontend(struct XnReport *report, const struct XnFrontend *frontend);

#endif
