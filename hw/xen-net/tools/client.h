/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client.h - a connection to the daemon's control socket
 */
#ifndef XN_TOOLS_CLIENT_H
#define XN_TOOLS_CLIENT_H

#include <glib.h>
#include <json-glib/json-glib.h>

struct XnClient;

/* Connects to the socket `path` and negotiates. NULL with a one-line message; errors: exit.h. */
struct XnClient *client_open(const char *path, GError **error);

/* NULL is fine. */
void client_close(struct XnClient *client);

/*
 * Executes a command; `arguments` may be NULL and is taken. Returns what the daemon returned, to be
 * freed with json_node_unref(), or NULL with an error. Events that come meanwhile are lost.
 */
JsonNode *client_execute(struct XnClient *client, const char *command, JsonObject *arguments,
                         GError **error);

/* The next object that the daemon sends, such as an event; likewise. */
JsonNode *client_receive(struct XnClient *client, GError **error);

/* From now on the daemon may take as long as it likes, as between two events. */
void client_wait_for_ever(struct XnClient *client);

#endif
