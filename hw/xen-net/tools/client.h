/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client.h - a connection to the daemon's control socket
 */
#ifndef XN_TOOLS_CLIENT_H
#define XN_TOOLS_CLIENT_H

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>

#define XN_CLIENT_ERROR (client_error_quark())
GQuark client_error_quark(void);

enum XnClientError {
    /* Nobody listens, or we may not talk to it. */
    XN_CLIENT_ERROR_NO_DAEMON,
    /* The daemon answered with an error, which is the message. */
    XN_CLIENT_ERROR_REFUSED,
    /* The daemon went away, or what came is not the protocol. */
    XN_CLIENT_ERROR_BROKEN,
};

struct XnClient;

/* Connects to the socket `path` and negotiates. NULL with a one-line message. */
struct XnClient *client_open(const char *path, GError **error);
void client_close(struct XnClient *client);

/*
 * Executes a command; `arguments` may be NULL and is taken. Returns what the daemon returned, to be
 * freed with json_node_unref(), or NULL with an error.
 */
JsonNode *client_execute(struct XnClient *client, const char *command, JsonObject *arguments,
                         GError **error);

#endif
