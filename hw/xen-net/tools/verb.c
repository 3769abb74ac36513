/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb.c - what qnetctl's verbs have in common
 */
#include "tools/verb.h"

#include <stdio.h>
#include <string.h>

/* Is this what verbs can print? Else the daemon is of another version. */
static bool vifs_are_sound(JsonNode *node)
{
    JsonArray *vifs;

    if (!JSON_NODE_HOLDS_ARRAY(node)) {
        return false;
    }
    vifs = json_node_get_array(node);
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        JsonNode *vif = json_array_get_element(vifs, i);
        JsonNode *queues;

        if (!JSON_NODE_HOLDS_OBJECT(vif)) {
            return false;
        }
        queues = json_object_get_member(json_node_get_object(vif), "queues");
        if (!queues || !JSON_NODE_HOLDS_ARRAY(queues)) {
            return false;
        }
        for (guint j = 0; j < json_array_get_length(json_node_get_array(queues)); j++) {
            if (!JSON_NODE_HOLDS_OBJECT(json_array_get_element(json_node_get_array(queues), j))) {
                return false;
            }
        }
    }
    return true;
}

/* All vifs, or the one that is named by the first argument. NULL with an error and a status. */
static JsonArray *query_vifs(const struct XnVerbCall *call, enum XnExit *ret_status, GError **error)
{
    const char *name = call->arguments[0];
    g_autoptr(JsonNode) result = client_execute(call->client, "query-vifs", NULL, error);
    g_autoptr(JsonArray) found = json_array_new();
    JsonArray *vifs;

    *ret_status = XN_EXIT_FAILED;
    if (!result) {
        return NULL;
    }
    if (!vifs_are_sound(result)) {
        g_set_error(error, XN_CLIENT_ERROR, XN_CLIENT_ERROR_BROKEN,
                    "the daemon's answer is not understood; is it of another version?");
        return NULL;
    }
    vifs = json_node_get_array(result);
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        JsonObject *vif = json_array_get_object_element(vifs, i);

        if (!name || strcmp(verb_text(vif, "name"), name) == 0) {
            json_array_add_object_element(found, json_object_ref(vif));
        }
    }
    if (name && json_array_get_length(found) == 0) {
        g_set_error(error, XN_CLIENT_ERROR, XN_CLIENT_ERROR_REFUSED,
                    "there is no vif '%s', see 'qnetctl list'", name);
        *ret_status = XN_EXIT_NO_VIF;
        return NULL;
    }
    *ret_status = XN_EXIT_OK;
    return g_steal_pointer(&found);
}

/* {"vifs": array}, one line. */
static void print_json(JsonArray *vifs)
{
    g_autoptr(JsonNode) root = json_node_new(JSON_NODE_OBJECT);
    g_autofree char *text = NULL;
    JsonObject *object = json_object_new();

    json_object_set_array_member(object, "vifs", json_array_ref(vifs));
    json_node_take_object(root, object);
    text = json_to_string(root, FALSE);
    puts(text);
}

enum XnExit verb_show_vifs(const struct XnVerbCall *call, void (*print)(JsonArray *vifs),
                           GError **error)
{
    enum XnExit status;
    g_autoptr(JsonArray) vifs = query_vifs(call, &status, error);

    if (vifs) {
        (call->json ? print_json : print)(vifs);
    }
    return status;
}

const char *verb_text(JsonObject *object, const char *member)
{
    JsonNode *node = json_object_get_member(object, member);

    return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_STRING
               ? json_node_get_string(node)
               : "-";
}
