/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb.c - what qnetctl's verbs have in common
 */
#include "tools/verb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERB_NOT_UNDERSTOOD "the daemon's answer is not understood; is it of another version?"

/* Is this an array of nothing but objects? */
static bool is_array_of_objects(JsonNode *node)
{
    if (!node || !JSON_NODE_HOLDS_ARRAY(node)) {
        return false;
    }
    for (guint i = 0; i < json_array_get_length(json_node_get_array(node)); i++) {
        if (!JSON_NODE_HOLDS_OBJECT(json_array_get_element(json_node_get_array(node), i))) {
            return false;
        }
    }
    return true;
}

/* Is this what verbs can print? Else the daemon is of another version. */
static bool vifs_are_sound(JsonNode *node)
{
    JsonArray *vifs;

    if (!is_array_of_objects(node)) {
        return false;
    }
    vifs = json_node_get_array(node);
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        JsonObject *vif = json_array_get_object_element(vifs, i);

        if (!is_array_of_objects(json_object_get_member(vif, "queues"))) {
            return false;
        }
    }
    return true;
}

JsonArray *verb_query_vifs(const struct XnVerbCall *call, const char *name, GError **error)
{
    g_autoptr(JsonNode) result = NULL;
    JsonObject *arguments = NULL;

    if (name) {
        arguments = json_object_new();
        json_object_set_string_member(arguments, "vif", name);
    }
    result = client_execute(call->client, "query-vifs", arguments, error);
    if (!result) {
        return NULL;
    }
    if (!vifs_are_sound(result)) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_FAILED, VERB_NOT_UNDERSTOOD);
        return NULL;
    }
    return json_array_ref(json_node_get_array(result));
}

JsonNode *verb_query_status(struct XnClient *client, GError **error)
{
    JsonNode *status = client_execute(client, "query-status", NULL, error);

    if (status && !JSON_NODE_HOLDS_OBJECT(status)) {
        json_node_unref(status);
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_FAILED, VERB_NOT_UNDERSTOOD);
        return NULL;
    }
    return status;
}

JsonNode *verb_execute_on_vif(const struct XnVerbCall *call, const char *command, GError **error)
{
    JsonObject *arguments = json_object_new();

    json_object_set_string_member(arguments, "vif", call->arguments[0]);
    return client_execute(call->client, command, arguments, error);
}

void verb_print_json(JsonNode *node)
{
    g_autofree char *text = json_to_string(node, FALSE);

    puts(text);
}

/* {"vifs": array} */
static void print_vifs_json(JsonArray *vifs)
{
    g_autoptr(JsonNode) root = json_node_new(JSON_NODE_OBJECT);
    JsonObject *object = json_object_new();

    json_object_set_array_member(object, "vifs", json_array_ref(vifs));
    json_node_take_object(root, object);
    verb_print_json(root);
}

bool verb_show_vifs(const struct XnVerbCall *call, void (*print)(JsonArray *vifs), GError **error)
{
    g_autoptr(JsonArray) vifs = verb_query_vifs(call, call->arguments[0], error);

    if (vifs) {
        (call->json ? print_vifs_json : print)(vifs);
    }
    return vifs != NULL;
}

/* A member's value, if it is of this type. */
static JsonNode *value_of(JsonObject *object, const char *member, GType type)
{
    JsonNode *node = json_object_get_member(object, member);

    return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == type ? node
                                                                                         : NULL;
}

const char *verb_text(JsonObject *object, const char *member)
{
    JsonNode *node = value_of(object, member, G_TYPE_STRING);

    return node ? json_node_get_string(node) : "-";
}

gint64 verb_number(JsonObject *object, const char *member)
{
    JsonNode *node = value_of(object, member, G_TYPE_INT64);

    return node ? json_node_get_int(node) : 0;
}

bool verb_flag(JsonObject *object, const char *member)
{
    JsonNode *node = value_of(object, member, G_TYPE_BOOLEAN);

    return node && json_node_get_boolean(node);
}

JsonArray *verb_array(JsonObject *object, const char *member)
{
    static JsonArray *none;
    JsonNode *node = json_object_get_member(object, member);

    if (is_array_of_objects(node)) {
        return json_node_get_array(node);
    }
    if (!none) {
        none = json_array_new();
    }
    return none;
}

/* A pipe or socket whose reader has gone; the error may have been met by an earlier write. */
static bool output_has_no_reader(int saved_errno)
{
    struct stat status;

    return saved_errno == EPIPE || (saved_errno == 0 && fstat(STDOUT_FILENO, &status) == 0 &&
                                    (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)));
}

bool verb_flush(GError **error)
{
    int saved_errno;

    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return true;
    }
    saved_errno = errno;
    if (output_has_no_reader(saved_errno)) {
        /* Whoever reads no more, such as head, knows: no message. */
        g_set_error_literal(error, XN_EXIT_ERROR, XN_EXIT_OUTPUT, "");
    } else {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_OUTPUT, "cannot write the output: %s",
                    saved_errno ? g_strerror(saved_errno) : "an earlier write failed");
    }
    return false;
}
