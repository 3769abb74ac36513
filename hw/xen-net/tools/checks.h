/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks.h - what may be wrong with a host or a vif, and what to do about it
 *
 * Pure: facts in, findings out.
 */
#ifndef XN_TOOLS_CHECKS_H
#define XN_TOOLS_CHECKS_H

#include <json-glib/json-glib.h>
#include <stdbool.h>

struct XnFinding {
    /* A vif's name, or "host"; owned. */
    char *subject;
    /* Frames or guests suffer; else it is only good to know. */
    bool problem;
    /* Owned; and what to do, a constant string. */
    char *text;
    const char *advice;
};

void finding_free(struct XnFinding *finding);

/* What can be seen of the host without the daemon. */
struct XnHostFacts {
    bool netback_loaded;
    bool gntdev;
    bool tun;
    /* Linux's version. */
    unsigned kernel_major;
    unsigned kernel_minor;
    bool amd;
};

/* Adds a struct XnFinding for each thing. `status` is the daemon's, NULL when there is no daemon.
 */
void checks_host(const struct XnHostFacts *facts, JsonObject *status, GPtrArray *findings);

/* The same for one vif, as query-vifs describes it, at `now` seconds of the epoch. */
void checks_vif(JsonObject *vif, gint64 now, GPtrArray *findings);

#endif
