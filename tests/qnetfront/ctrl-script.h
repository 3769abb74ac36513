/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl-script.h - messages for the control ring, and what must come back, as text
 *
 * A script is a list of steps, separated by ";". A step is a word, its arguments, and perhaps "="
 * and what is expected: a status (ok, unsupported, invalid, overflow), the response's data, and for
 * lists of static grants the status of each entry.
 *
 *   algorithm none|toeplitz|N     key default|empty|HEX       mapping-size N
 *   flags N       get-flags       get-mapping-size            mapping spread|OFFSET QUEUE...
 *   get-gref-size QUEUE           add-gref QUEUE REF...       del-gref QUEUE REF...
 *   raw TYPE [DATA [DATA [DATA]]] any message
 *   page WORD...                  fills the page with 32-bit words, for a raw message
 *   windows                       what the Windows frontend sends: Toeplitz, a table of 128 entries
 *                                 over all queues, the default key, all types
 *   burst N, flood N              N harmless messages: all at once, or while there is room
 *
 * A number may be a reference: "page", "gN" a writable page, "rN" a read-only one, "gN-gM" all
 * between. "*N" repeats it, ":F" (or ":ro") after a REF sets its flags.
 */
#ifndef QNETFRONT_CTRL_SCRIPT_H
#define QNETFRONT_CTRL_SCRIPT_H

#include "frontend.h"

/* What came back, in order: numbers separated by commas. Cut when there is no room. */
struct XnCtrlResults {
    char statuses[2048];
    char data[2048];
};

/* Runs all steps of @script, which is left as it is. False as soon as one fails or brings something
 * else than expected. */
bool ctrl_script_run(struct XnFrontend *frontend, const char *script, struct XnCtrlResults *results,
                     struct XnFailure *failure);

/* One message and its response, without expectations; follows it in frontend->hash. */
bool ctrl_call(struct XnFrontend *frontend, struct xen_netif_ctrl_request request,
               struct xen_netif_ctrl_response *response, struct XnFailure *failure);

#endif
