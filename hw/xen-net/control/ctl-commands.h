/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-commands.h - what the daemon does for clients of its control socket
 */
#ifndef XN_CONTROL_CTL_COMMANDS_H
#define XN_CONTROL_CTL_COMMANDS_H

#include "control/backend.h"
#include "control/ctl-server.h"

/* What the commands work with; their `opaque`. */
struct XnCtlContext {
    struct XnBackend *backend;
    unsigned workers;
    /* Seconds of the epoch. */
    gint64 started;
};

extern const struct XnCtlCommand ctl_commands[];
extern const struct XnCtlEvent ctl_events[];

/* Tells the clients what happened to a vif. */
void ctl_emit_vif_event(struct XnCtlServer *server, const struct XnVifEvent *event);

#endif
