/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-events.c - qnetctl events: what happens to the vifs, when it happens
 */
#include <stdio.h>
#include <string.h>

#include "tools/verb.h"

static int count;

static const GOptionEntry options[] = {
    {"count", 'n', 0, G_OPTION_ARG_INT, &count, "End after so many events", "N"},
    G_OPTION_ENTRY_NULL,
};

/* "name=value" for what an event tells besides the vif. */
static void print_member(JsonObject *object G_GNUC_UNUSED, const char *name, JsonNode *node,
                         gpointer opaque G_GNUC_UNUSED)
{
    g_autofree char *text = NULL;

    if (strcmp(name, "vif") != 0 && strcmp(name, "domid") != 0 && strcmp(name, "devid") != 0) {
        text = json_to_string(node, FALSE);
        printf(" %s=%s", name, text);
    }
}

static void print_event(JsonObject *event)
{
    JsonNode *timestamp = json_object_get_member(event, "timestamp");
    JsonNode *data = json_object_get_member(event, "data");
    gint64 seconds = 0;
    g_autoptr(GDateTime) time = NULL;
    g_autofree char *text = NULL;

    if (timestamp && JSON_NODE_HOLDS_OBJECT(timestamp)) {
        seconds = verb_number(json_node_get_object(timestamp), "seconds");
    }
    time = seconds > 0 ? g_date_time_new_from_unix_local(seconds) : NULL;
    text = time ? g_date_time_format(time, "%F %T") : g_strdup("-");
    printf("%s %-13s", text, verb_text(event, "event"));
    if (data && JSON_NODE_HOLDS_OBJECT(data)) {
        printf(" %s", verb_text(json_node_get_object(data), "vif"));
        json_object_foreach_member(json_node_get_object(data), print_member, NULL);
    }
    putchar('\n');
}

static bool run(const struct XnVerbCall *call, GError **error)
{
    if (count < 0) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_USAGE, "--count is %d, not 1 or more", count);
        return false;
    }
    client_wait_for_ever(call->client);
    for (int seen = 0; count == 0 || seen < count;) {
        g_autoptr(JsonNode) message = client_receive(call->client, error);

        if (!message) {
            return false;
        }
        if (!json_object_has_member(json_node_get_object(message), "event")) {
            continue;
        }
        if (call->json) {
            verb_print_json(message);
        } else {
            print_event(json_node_get_object(message));
        }
        if (!verb_flush(error)) {
            return false;
        }
        seen++;
    }
    return true;
}

const struct XnVerb verb_events = {
    .name = "events",
    .help = "what happens to the vifs, as it happens",
    .options = options,
    .run = run,
};
