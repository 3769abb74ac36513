/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-drain.c - qnetctl drain: ends the daemon so that its vifs stay connected
 */
#include <stdio.h>

#include "tools/leave.h"

static bool run(const struct XnVerbCall *call, GError **error)
{
    g_autoptr(JsonNode) status = verb_query_status(call->client, error);
    int connected = status ? leave_count_connected(call, error) : -1;
    pid_t pid;

    if (connected < 0) {
        return false;
    }
    pid = (pid_t)verb_number(json_node_get_object(status), "pid");
    if (!leave_daemon(call->client, pid, error)) {
        return false;
    }
    if (call->json) {
        printf("{\"pid\":%d,\"connected\":%d}\n", (int)pid, connected);
    } else {
        printf("process %d has ended; %d vif%s connected and wait%s for the next daemon\n",
               (int)pid, connected, connected == 1 ? " stays" : "s stay",
               connected == 1 ? "s" : "");
    }
    return true;
}

const struct XnVerb verb_drain = {
    .name = "drain",
    .help = "ends the daemon; vifs stay connected, and their packets wait",
    .run = run,
};
