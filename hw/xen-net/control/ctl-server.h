/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-server.h - the control socket's service
 *
 * QMP's wire format: one JSON object a line. The server greets; the client sends
 * {"execute": "qmp_capabilities"} first, then {"execute": NAME, "arguments": {...}, "id": ANY}, and
 * gets {"return": ...} or {"error": {"class": ..., "desc": ...}} with the same id. Between them
 * come events, {"event": NAME, "data": {...}, "timestamp": {...}}, to every client that has
 * negotiated. Main thread.
 */
#ifndef XN_CONTROL_CTL_SERVER_H
#define XN_CONTROL_CTL_SERVER_H

#include "control/ctl-client.h"
#include "control/ctl-request.h"

/* Clients that are served at the same time; more are told so and sent away. */
#define XN_CTL_CLIENTS_MAX 64u

/* All of it but `path` and `group` must outlive the server. */
struct XnCtlServerConfig {
    /* Of the unix socket. */
    const char *path;
    /* Whose members may connect, besides root; NULL: nobody else. */
    const char *group;
    const struct XnCtlCommand *commands;
    const struct XnCtlEvent *events;
    /* For the commands. */
    void *opaque;
};

struct XnCtlServer;

/*
 * Listens, so that clients can connect; they are served from ctl_server_start() on. Starts no
 * thread. qmp_capabilities, query-version, query-commands and query-schema are built in. NULL with
 * an error.
 */
struct XnCtlServer *ctl_server_create(const struct XnCtlServerConfig *config, GError **error);

/* Serves clients from the main loop. */
void ctl_server_start(struct XnCtlServer *server);

/* Stops, drops the clients and removes the socket; NULL is fine. */
void ctl_server_free(struct XnCtlServer *server);

/* Tells all clients of the event `name`; takes `data`. NULL as the server is fine. */
void ctl_server_emit(struct XnCtlServer *server, const char *name, JsonObject *data);

#endif
