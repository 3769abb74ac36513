/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-log-level.c - qnetctl log-level: how much the daemon logs
 */
#include <stdio.h>

#include "tools/verb.h"

/* `result` is taken. */
static bool show(const struct XnVerbCall *call, JsonNode *result)
{
    g_autoptr(JsonNode) status = result;
    JsonObject *object = json_object_new();
    g_autoptr(JsonNode) answer = json_node_init_object(json_node_alloc(), object);

    json_object_set_string_member(object, "log_level",
                                  verb_text(json_node_get_object(status), "log_level"));
    if (call->json) {
        verb_print_json(answer);
    } else {
        puts(verb_text(object, "log_level"));
    }
    json_object_unref(object);
    return true;
}

static bool run(const struct XnVerbCall *call, GError **error)
{
    g_autoptr(JsonNode) done = NULL;
    JsonNode *status;

    if (call->arguments[0]) {
        JsonObject *arguments = json_object_new();

        json_object_set_string_member(arguments, "level", call->arguments[0]);
        done = client_execute(call->client, "set-log-level", arguments, error);
        return done != NULL;
    }
    status = verb_query_status(call->client, error);
    return status && show(call, status);
}

const struct XnVerb verb_log_level = {
    .name = "log-level",
    .synopsis = "[LEVEL]",
    .help = "how much the daemon logs: error, warning, info or debug",
    .most = 1,
    .run = run,
};
