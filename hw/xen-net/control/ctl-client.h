/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-client.h - one client of the control socket
 */
#ifndef XN_CONTROL_CTL_CLIENT_H
#define XN_CONTROL_CTL_CLIENT_H

#include <gio/gio.h>
#include <json-glib/json-glib.h>

/* Longest line that a client may send, in bytes. */
#define XN_CTL_LINE_MAX 65536u
/* Events that wait for a client who does not read, in bytes; later ones are lost to him. */
#define XN_CTL_EVENTS_MAX 262144u

struct XnCtlClient;

struct XnCtlClientHandler {
    /* A line has come; what is to be answered goes to ctl_client_send(). */
    void (*line)(void *opaque, struct XnCtlClient *client, const char *line, gsize length);
    /* The client is gone, and is freed when this returns. */
    void (*gone)(void *opaque, struct XnCtlClient *client);
    void *opaque;
};

/*
 * Serves a connection from the main loop until it ends; sends `greeting` first. `handler` must
 * outlive the client.
 */
struct XnCtlClient *ctl_client_create(GSocketConnection *connection, JsonNode *greeting,
                                      const struct XnCtlClientHandler *handler);

/* Sends a message; it is borrowed. */
void ctl_client_send(struct XnCtlClient *client, JsonNode *message);

/* Sends an event, unless too much waits; then it tells later how many were lost. Borrowed. */
void ctl_client_send_event(struct XnCtlClient *client, JsonNode *event);

/* Ends the connection when what was sent is written. */
void ctl_client_close(struct XnCtlClient *client);

/* Ends the connection; `gone` follows from the main loop. */
void ctl_client_abort(struct XnCtlClient *client);

#endif
