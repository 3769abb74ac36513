/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb.h - what qnetctl's verbs have in common
 *
 * A verb is a function in a file of its own and a row in qnetctl.c.
 */
#ifndef XN_TOOLS_VERB_H
#define XN_TOOLS_VERB_H

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>

#include "tools/client.h"

/* Exit statuses, as --help tells them. */
enum XnExit {
    XN_EXIT_OK = 0,
    XN_EXIT_FAILED = 1,
    XN_EXIT_USAGE = 2,
    XN_EXIT_NO_DAEMON = 3,
    XN_EXIT_NO_VIF = 4,
};

/* What a verb is called with. */
struct XnVerbCall {
    struct XnClient *client;
    /* What follows the verb, without options; ends with NULL. */
    char **arguments;
    bool json;
};

/* Returns an exit status; after one that is not XN_EXIT_OK, *error is set. */
typedef enum XnExit (*XnVerb)(const struct XnVerbCall *call, GError **error);

enum XnExit verb_list(const struct XnVerbCall *call, GError **error);
enum XnExit verb_stats(const struct XnVerbCall *call, GError **error);

/*
 * Shows all vifs, or the one that is named by the first argument, by `print`, which gets an array
 * of objects, each with an array of objects "queues"; with --json as one line, {"vifs": array}.
 */
enum XnExit verb_show_vifs(const struct XnVerbCall *call, void (*print)(JsonArray *vifs),
                           GError **error);

/* A member of a vif's object as text; "-" when it is absent or null. */
const char *verb_text(JsonObject *object, const char *member);

#endif
