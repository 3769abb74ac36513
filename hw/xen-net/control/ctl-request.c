/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-request.c - what a client of the control socket can ask for, and how it asks
 */
#include "control/ctl-request.h"

#include <string.h>

GQuark ctl_error_quark(void)
{
    return g_quark_from_static_string("qnetback-ctl");
}

JsonNode *ctl_empty(void)
{
    JsonNode *node = json_node_new(JSON_NODE_OBJECT);

    json_node_take_object(node, json_object_new());
    return node;
}

/* The parser recurses: a line of nothing but brackets would take all our stack. */
static bool ctl_nesting_is_sound(const char *line, gsize length)
{
    unsigned depth = 0;
    bool quoted = false;

    for (gsize i = 0; i < length; i++) {
        if (quoted) {
            if (line[i] == '\\') {
                i++;
            } else {
                quoted = line[i] != '"';
            }
        } else if (line[i] == '"') {
            quoted = true;
        } else if (line[i] == '[' || line[i] == '{') {
            if (++depth > XN_CTL_NESTING_MAX) {
                return false;
            }
        } else if ((line[i] == ']' || line[i] == '}') && depth > 0) {
            depth--;
        }
    }
    return true;
}

static bool ctl_fail(GError **error, const char *message)
{
    g_set_error_literal(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC, message);
    return false;
}

static bool ctl_members_are_known(JsonObject *object)
{
    g_autoptr(GList) members = json_object_get_members(object);

    for (GList *i = members; i; i = i->next) {
        if (strcmp(i->data, "execute") != 0 && strcmp(i->data, "arguments") != 0 &&
            strcmp(i->data, "id") != 0) {
            return false;
        }
    }
    return true;
}

/* Takes the object apart. */
static bool ctl_request_split(JsonObject *object, struct XnCtlRequest *request, GError **error)
{
    JsonNode *name = json_object_get_member(object, "execute");
    JsonNode *arguments = json_object_get_member(object, "arguments");

    request->id = json_object_get_member(object, "id");
    if (!name || json_node_get_value_type(name) != G_TYPE_STRING) {
        return ctl_fail(error, "a request needs the member 'execute', a string");
    }
    if (arguments && !JSON_NODE_HOLDS_OBJECT(arguments)) {
        return ctl_fail(error, "'arguments' must be an object");
    }
    if (!ctl_members_are_known(object)) {
        return ctl_fail(error, "a request has no members but 'execute', 'arguments' and 'id'");
    }
    request->name = json_node_get_string(name);
    if (arguments) {
        request->arguments = json_object_ref(json_node_get_object(arguments));
    }
    return true;
}

bool ctl_request_parse(const char *line, gsize length, struct XnCtlRequest *ret_request,
                       GError **error)
{
    g_autoptr(JsonParser) parser = json_parser_new();

    *ret_request = (struct XnCtlRequest){0};
    if (!ctl_nesting_is_sound(line, length)) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC, "nested deeper than %u",
                    XN_CTL_NESTING_MAX);
        return false;
    }
    if (!json_parser_load_from_data(parser, line, (gssize)length, error)) {
        return false;
    }
    ret_request->root = json_parser_steal_root(parser);
    if (!ret_request->root) {
        return true;
    }
    if (!JSON_NODE_HOLDS_OBJECT(ret_request->root)) {
        return ctl_fail(error, "a request is a JSON object");
    }
    if (!ctl_request_split(json_node_get_object(ret_request->root), ret_request, error)) {
        return false;
    }
    if (!ret_request->arguments) {
        ret_request->arguments = json_object_new();
    }
    return true;
}

void ctl_request_clear(struct XnCtlRequest *request)
{
    g_clear_pointer(&request->arguments, json_object_unref);
    g_clear_pointer(&request->root, json_node_unref);
    *request = (struct XnCtlRequest){0};
}

static const struct {
    const char *name;
    GType type;
} ctl_types[] = {
    [XN_CTL_TEXT] = {"text", G_TYPE_STRING},
    [XN_CTL_NUMBER] = {"number", G_TYPE_INT64},
    [XN_CTL_FLAG] = {"flag", G_TYPE_BOOLEAN},
};

static const struct XnCtlArgument *ctl_argument_find(const struct XnCtlArgument *arguments,
                                                     const char *name)
{
    for (; arguments && arguments->name; arguments++) {
        if (strcmp(arguments->name, name) == 0) {
            return arguments;
        }
    }
    return NULL;
}

bool ctl_request_check(const struct XnCtlRequest *request, const struct XnCtlCommand *command,
                       GError **error)
{
    g_autoptr(GList) members = json_object_get_members(request->arguments);

    for (GList *i = members; i; i = i->next) {
        const struct XnCtlArgument *argument = ctl_argument_find(command->arguments, i->data);
        JsonNode *value = json_object_get_member(request->arguments, i->data);

        if (!argument) {
            g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC, "%s has no argument '%s'",
                        command->name, (const char *)i->data);
            return false;
        }
        if (json_node_get_value_type(value) != ctl_types[argument->type].type) {
            g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC, "%s: '%s' must be a %s",
                        command->name, argument->name, ctl_types[argument->type].name);
            return false;
        }
    }
    for (const struct XnCtlArgument *i = command->arguments; i && i->name; i++) {
        if (!i->optional && !json_object_has_member(request->arguments, i->name)) {
            g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC, "%s needs the argument '%s'",
                        command->name, i->name);
            return false;
        }
    }
    return true;
}

const struct XnCtlCommand *ctl_command_find(const struct XnCtlCommand *commands, const char *name)
{
    for (; commands->name; commands++) {
        if (strcmp(commands->name, name) == 0) {
            return commands;
        }
    }
    return NULL;
}

static JsonObject *ctl_describe(const char *name, const char *help)
{
    JsonObject *object = json_object_new();

    json_object_set_string_member(object, "name", name);
    json_object_set_string_member(object, "help", help);
    return object;
}

void ctl_command_describe(JsonArray *list, const struct XnCtlCommand *commands, bool full)
{
    for (; commands->name; commands++) {
        JsonObject *object = ctl_describe(commands->name, commands->help);
        JsonArray *arguments = full ? json_array_new() : NULL;

        for (const struct XnCtlArgument *i = commands->arguments; full && i && i->name; i++) {
            JsonObject *argument = ctl_describe(i->name, i->help);

            json_object_set_string_member(argument, "type", ctl_types[i->type].name);
            json_object_set_boolean_member(argument, "optional", i->optional);
            json_array_add_object_element(arguments, argument);
        }
        if (full) {
            json_object_set_array_member(object, "arguments", arguments);
        }
        json_array_add_object_element(list, object);
    }
}

void ctl_event_describe(JsonArray *list, const struct XnCtlEvent *events)
{
    for (; events->name; events++) {
        json_array_add_object_element(list, ctl_describe(events->name, events->help));
    }
}

JsonNode *ctl_reply(const char *member, JsonNode *value, JsonNode *id)
{
    JsonNode *message = ctl_empty();
    JsonObject *object = json_node_get_object(message);

    json_object_set_member(object, member, value);
    if (id) {
        json_object_set_member(object, "id", json_node_copy(id));
    }
    return message;
}

JsonNode *ctl_reply_error(const GError *failure, JsonNode *id)
{
    static const char *const classes[] = {
        [XN_CTL_ERROR_GENERIC] = "GenericError",
        [XN_CTL_ERROR_COMMAND_NOT_FOUND] = "CommandNotFound",
        [XN_CTL_ERROR_DEVICE_NOT_FOUND] = "DeviceNotFound",
    };
    JsonNode *node = ctl_empty();
    JsonObject *object = json_node_get_object(node);

    json_object_set_string_member(object, "class",
                                  failure->domain == XN_CTL_ERROR ? classes[failure->code]
                                                                  : classes[XN_CTL_ERROR_GENERIC]);
    json_object_set_string_member(object, "desc", failure->message);
    return ctl_reply("error", node, id);
}

/* QMP's clients look for the three numbers under the name "qemu". */
JsonNode *ctl_version(void)
{
    JsonNode *node = ctl_empty();
    JsonObject *numbers = json_object_new();
    g_auto(GStrv) parts = g_strsplit(XN_VERSION, ".", 3);
    static const char *const names[] = {"major", "minor", "micro"};

    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        const char *part = i < g_strv_length(parts) ? parts[i] : "0";

        json_object_set_int_member(numbers, names[i], g_ascii_strtoll(part, NULL, 10));
    }
    json_object_set_object_member(json_node_get_object(node), "qemu", numbers);
    json_object_set_string_member(json_node_get_object(node), "package", "qnetback " XN_VERSION);
    return node;
}

JsonNode *ctl_greeting(void)
{
    JsonNode *greeting = ctl_empty();

    json_object_set_member(json_node_get_object(greeting), "version", ctl_version());
    json_object_set_array_member(json_node_get_object(greeting), "capabilities", json_array_new());
    return ctl_reply("QMP", greeting, NULL);
}
