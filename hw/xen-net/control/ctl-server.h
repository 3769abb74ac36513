/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-server.h - the control socket
 *
 * QMP's wire format: one JSON object a line. The server greets; the client sends
 * {"execute": "qmp_capabilities"} first, then {"execute": NAME, "arguments": {...}, "id": ANY}, and
 * gets {"return": ...} or {"error": {"class": ..., "desc": ...}} with the same id. Main thread.
 */
#ifndef XN_CONTROL_CTL_SERVER_H
#define XN_CONTROL_CTL_SERVER_H

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>

/* Longest line that a client may send, in bytes. */
#define XN_CTL_LINE_MAX 65536u

#define XN_CTL_ERROR (ctl_error_quark())
GQuark ctl_error_quark(void);

/* What a command's error may be; each becomes the class of QMP's error object. */
enum XnCtlError {
    XN_CTL_ERROR_GENERIC,
    XN_CTL_ERROR_COMMAND_NOT_FOUND,
    XN_CTL_ERROR_DEVICE_NOT_FOUND,
};

/*
 * Executes a command. `arguments` is never NULL. Returns the result, which the server frees, or
 * NULL with an error.
 */
typedef JsonNode *(*XnCtlFunction)(JsonObject *arguments, void *opaque, GError **error);

/* One verb: a row of a table that ends with a NULL name. */
struct XnCtlCommand {
    const char *name;
    /* One sentence for query-commands. */
    const char *help;
    XnCtlFunction function;
};

struct XnCtlServer;

/*
 * Listens on the unix socket `path`, for root only. A socket that a dead daemon left is replaced;
 * a living daemon's is an error. qmp_capabilities, query-version and query-commands are built in.
 * `commands` and `opaque` must outlive the server.
 */
struct XnCtlServer *ctl_server_create(const char *path, const struct XnCtlCommand *commands,
                                      void *opaque, GError **error);

/* Stops, drops the clients and removes the socket; NULL is fine. */
void ctl_server_free(struct XnCtlServer *server);

#endif
