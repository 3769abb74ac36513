/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leave.h - ends the daemon so that its vifs stay connected
 */
#ifndef XN_TOOLS_LEAVE_H
#define XN_TOOLS_LEAVE_H

#include "tools/verb.h"

/* Ends the daemon that is process `pid`, and waits until it is gone. False with an error. */
bool leave_daemon(struct XnClient *client, pid_t pid, GError **error);

/* How many of its vifs are connected; -1 with an error. */
int leave_count_connected(const struct XnVerbCall *call, GError **error);

#endif
