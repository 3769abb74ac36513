/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb.h - what qnetctl's verbs have in common
 *
 * A verb is a file verb-NAME.c that defines one struct XnVerb, and its place in qnetctl.c.
 */
#ifndef XN_TOOLS_VERB_H
#define XN_TOOLS_VERB_H

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>

#include "tools/client.h"
#include "tools/exit.h"

/* What a verb is called with. */
struct XnVerbCall {
    /* The daemon's control socket. */
    const char *control;
    /* NULL for a verb that needs none. */
    struct XnClient *client;
    /* What follows the verb, without options; ends with NULL. */
    char **arguments;
    bool json;
};

struct XnVerb {
    const char *name;
    /* As --help shows them, such as "VIF". */
    const char *synopsis;
    const char *help;
    /* How many arguments it takes. */
    unsigned least;
    unsigned most;
    /* Its own options, or NULL; ends with G_OPTION_ENTRY_NULL. */
    const GOptionEntry *options;
    /* It does without a connection to the daemon, or makes its own. */
    bool offline;
    /* False with an error, whose code becomes the exit status. */
    bool (*run)(const struct XnVerbCall *call, GError **error);
};

extern const struct XnVerb verb_counters;
extern const struct XnVerb verb_capture;
extern const struct XnVerb verb_doctor;
extern const struct XnVerb verb_drain;
extern const struct XnVerb verb_events;
extern const struct XnVerb verb_list;
extern const struct XnVerb verb_log_level;
extern const struct XnVerb verb_kick;
extern const struct XnVerb verb_restart;
extern const struct XnVerb verb_rings;
extern const struct XnVerb verb_set;
extern const struct XnVerb verb_show;
extern const struct XnVerb verb_stats;
extern const struct XnVerb verb_top;

/*
 * What the daemon knows of all vifs, or of the one that is named `name` unless that is NULL: an
 * array of objects, each with an array of objects "queues". NULL with an error.
 */
JsonArray *verb_query_vifs(const struct XnVerbCall *call, const char *name, GError **error);

/* What the daemon says of itself, an object. NULL with an error. */
JsonNode *verb_query_status(struct XnClient *client, GError **error);

/*
 * Shows all vifs, or the one that is named by the first argument, by `print`, which gets an array
 * as above; with --json as one line, {"vifs": array}.
 */
bool verb_show_vifs(const struct XnVerbCall *call, void (*print)(JsonArray *vifs), GError **error);

/* Executes a command about the vif that is named by the first argument; as client_execute(). */
JsonNode *verb_execute_on_vif(const struct XnVerbCall *call, const char *command, GError **error);

/* Prints a value as one line of JSON. */
void verb_print_json(JsonNode *node);

/* A member of an object as text; "-" when it is absent or null. */
const char *verb_text(JsonObject *object, const char *member);

/* A member as a number, or a flag; 0 or false when it is absent or something else. */
gint64 verb_number(JsonObject *object, const char *member);
bool verb_flag(JsonObject *object, const char *member);

/* A member as an array; an empty one, that lives on, when it is absent or something else. */
JsonArray *verb_array(JsonObject *object, const char *member);

/* Has what was printed reached its reader? */
bool verb_flush(GError **error);

#endif
