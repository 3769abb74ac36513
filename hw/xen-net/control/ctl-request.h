/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-request.h - what a client of the control socket can ask for, and how it asks
 *
 * Pure: text and JSON in, JSON out.
 */
#ifndef XN_CONTROL_CTL_REQUEST_H
#define XN_CONTROL_CTL_REQUEST_H

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>

/* Of the commands and events; grows when one changes in a way that old clients do not expect. */
#define XN_CTL_VERSION 1
/* Deepest nesting of brackets in a request. */
#define XN_CTL_NESTING_MAX 64u

#define XN_CTL_ERROR (ctl_error_quark())
GQuark ctl_error_quark(void);

/* What a command's error may be; each becomes the class of QMP's error object. */
enum XnCtlError {
    XN_CTL_ERROR_GENERIC,
    XN_CTL_ERROR_COMMAND_NOT_FOUND,
    XN_CTL_ERROR_DEVICE_NOT_FOUND,
};

enum XnCtlType {
    XN_CTL_TEXT,
    XN_CTL_NUMBER,
    XN_CTL_FLAG,
};

struct XnCtlArgument {
    const char *name;
    enum XnCtlType type;
    bool optional;
    /* One sentence for query-schema. */
    const char *help;
};

/*
 * Executes a command. `arguments` is never NULL, and has been checked against the command's.
 * Returns the result, which the caller frees, or NULL with an error.
 */
typedef JsonNode *(*XnCtlFunction)(JsonObject *arguments, void *opaque, GError **error);

/* One verb: a row of a table that ends with a NULL name. */
struct XnCtlCommand {
    const char *name;
    /* One sentence for query-commands. */
    const char *help;
    XnCtlFunction function;
    /* Ends with a NULL name; NULL: it takes none. */
    const struct XnCtlArgument *arguments;
};

/* One event: likewise. */
struct XnCtlEvent {
    const char *name;
    const char *help;
};

/* A line, taken apart; the rest is borrowed from `root`. */
struct XnCtlRequest {
    JsonNode *root;
    const char *name;
    /* Never NULL. */
    JsonObject *arguments;
    /* NULL when there is none. */
    JsonNode *id;
};

/*
 * Parses a line. True with a `root` that is NULL for a line of nothing but space. False with an
 * error: then only `root` and `id` are of use, and may be NULL. In both cases the request is to be
 * cleared.
 */
bool ctl_request_parse(const char *line, gsize length, struct XnCtlRequest *ret_request,
                       GError **error);
void ctl_request_clear(struct XnCtlRequest *request);

/* Does the request give the command's arguments, of their types, and no others? */
bool ctl_request_check(const struct XnCtlRequest *request, const struct XnCtlCommand *command,
                       GError **error);

/* The row of that name, or NULL. */
const struct XnCtlCommand *ctl_command_find(const struct XnCtlCommand *commands, const char *name);

/* Adds an object for each command: its name and help, with `full` also its arguments. */
void ctl_command_describe(JsonArray *list, const struct XnCtlCommand *commands, bool full);
void ctl_event_describe(JsonArray *list, const struct XnCtlEvent *events);

/*
 * {member: value, "id": id}; takes `value`, borrows `id`, which may be NULL. To be freed with
 * json_node_unref().
 */
JsonNode *ctl_reply(const char *member, JsonNode *value, JsonNode *id);
JsonNode *ctl_reply_error(const GError *failure, JsonNode *id);

/* The greeting, and its "version" as query-version gives it; likewise. */
JsonNode *ctl_greeting(void);
JsonNode *ctl_version(void);

/* An object without members; likewise. */
JsonNode *ctl_empty(void);

#endif
