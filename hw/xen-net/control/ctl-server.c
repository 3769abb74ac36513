/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-server.c - the control socket's service
 */
#include "control/ctl-server.h"

#include <gio/gunixsocketaddress.h>
#include <string.h>
#include <unistd.h>

#include "control/ctl-socket.h"

#define CTL_CAPABILITIES "qmp_capabilities"

struct XnCtlServer {
    struct XnCtlServerConfig config;
    struct XnCtlAccess access;
    struct XnCtlClientHandler handler;
    GSocketService *service;
    char *path;
    /* struct XnCtlClient -> whether it has negotiated, as GINT_TO_POINTER. */
    GHashTable *clients;
};

/* --- commands that every server has --- */

/* QMP's clients may name capabilities, of those that the greeting offered: none. */
static JsonNode *ctl_capabilities(JsonObject *arguments, void *opaque G_GNUC_UNUSED, GError **error)
{
    JsonNode *enable = json_object_get_member(arguments, "enable");
    unsigned known = enable && JSON_NODE_HOLDS_ARRAY(enable) &&
                     json_array_get_length(json_node_get_array(enable)) == 0;

    if (json_object_get_size(arguments) != known) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC,
                    "there are no capabilities to enable");
        return NULL;
    }
    return ctl_empty();
}

static JsonNode *ctl_query_version(JsonObject *arguments G_GNUC_UNUSED, void *opaque G_GNUC_UNUSED,
                                   GError **error G_GNUC_UNUSED)
{
    return ctl_version();
}

static JsonNode *ctl_query_commands(JsonObject *arguments, void *opaque, GError **error);
static JsonNode *ctl_query_schema(JsonObject *arguments, void *opaque, GError **error);

static const struct XnCtlCommand ctl_builtin[] = {
    {CTL_CAPABILITIES, "Ends the negotiation; must come first", ctl_capabilities, NULL},
    {"query-version", "The daemon's version", ctl_query_version, NULL},
    {"query-commands", "All commands", ctl_query_commands, NULL},
    {"query-schema", "All commands with their arguments, all events, and the version of the whole",
     ctl_query_schema, NULL},
    {NULL, NULL, NULL, NULL},
};

static JsonArray *ctl_describe_commands(const struct XnCtlServer *server, bool full)
{
    JsonArray *list = json_array_new();

    ctl_command_describe(list, ctl_builtin, full);
    ctl_command_describe(list, server->config.commands, full);
    return list;
}

static JsonNode *ctl_query_commands(JsonObject *arguments G_GNUC_UNUSED, void *opaque,
                                    GError **error G_GNUC_UNUSED)
{
    JsonNode *node = json_node_new(JSON_NODE_ARRAY);

    json_node_take_array(node, ctl_describe_commands(opaque, false));
    return node;
}

static JsonNode *ctl_query_schema(JsonObject *arguments G_GNUC_UNUSED, void *opaque,
                                  GError **error G_GNUC_UNUSED)
{
    const struct XnCtlServer *server = opaque;
    JsonNode *node = ctl_empty();
    JsonObject *object = json_node_get_object(node);
    JsonArray *events = json_array_new();

    ctl_event_describe(events, server->config.events);
    json_object_set_int_member(object, "version", XN_CTL_VERSION);
    json_object_set_array_member(object, "commands", ctl_describe_commands(server, true));
    json_object_set_array_member(object, "events", events);
    return node;
}

/* --- requests --- */

static bool ctl_has_negotiated(const struct XnCtlServer *server, struct XnCtlClient *client)
{
    return GPOINTER_TO_INT(g_hash_table_lookup(server->clients, client));
}

static JsonNode *ctl_execute(struct XnCtlServer *server, struct XnCtlClient *client,
                             const struct XnCtlRequest *request, GError **error)
{
    const struct XnCtlCommand *builtin = ctl_command_find(ctl_builtin, request->name);
    const struct XnCtlCommand *command =
        builtin ? builtin : ctl_command_find(server->config.commands, request->name);
    JsonNode *result;

    if (!command) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_COMMAND_NOT_FOUND,
                    "there is no command '%s', see query-commands", request->name);
        return NULL;
    }
    if (ctl_has_negotiated(server, client) == (command == &ctl_builtin[0])) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_COMMAND_NOT_FOUND,
                    CTL_CAPABILITIES " must come first, and once");
        return NULL;
    }
    if (command != &ctl_builtin[0] && !ctl_request_check(request, command, error)) {
        return NULL;
    }
    result = command->function(request->arguments, builtin ? server : server->config.opaque, error);
    if (result) {
        g_hash_table_insert(server->clients, client, GINT_TO_POINTER(true));
    }
    return result;
}

static void ctl_handle_line(void *opaque, struct XnCtlClient *client, const char *line,
                            gsize length)
{
    struct XnCtlServer *server = opaque;
    struct XnCtlRequest request;
    g_autoptr(GError) error = NULL;
    g_autoptr(JsonNode) reply = NULL;

    if (!ctl_request_parse(line, length, &request, &error)) {
        reply = ctl_reply_error(error, request.id);
    } else if (request.root) {
        JsonNode *result = ctl_execute(server, client, &request, &error);

        reply =
            result ? ctl_reply("return", result, request.id) : ctl_reply_error(error, request.id);
    }
    if (reply) {
        ctl_client_send(client, reply);
    }
    ctl_request_clear(&request);
}

void ctl_server_emit(struct XnCtlServer *server, const char *name, JsonObject *data)
{
    g_autoptr(JsonNode) message = ctl_empty();
    JsonObject *object = json_node_get_object(message);
    JsonObject *timestamp = json_object_new();
    gint64 now = g_get_real_time();
    GHashTableIter iter;
    gpointer client;
    gpointer negotiated;

    json_object_set_string_member(object, "event", name);
    json_object_set_object_member(object, "data", data);
    json_object_set_int_member(timestamp, "seconds", now / G_USEC_PER_SEC);
    json_object_set_int_member(timestamp, "microseconds", now % G_USEC_PER_SEC);
    json_object_set_object_member(object, "timestamp", timestamp);
    if (!server) {
        return;
    }
    g_hash_table_iter_init(&iter, server->clients);
    while (g_hash_table_iter_next(&iter, &client, &negotiated)) {
        if (GPOINTER_TO_INT(negotiated)) {
            ctl_client_send_event(client, message);
        }
    }
}

/* --- clients --- */

static void ctl_client_gone(void *opaque, struct XnCtlClient *client)
{
    struct XnCtlServer *server = opaque;

    g_hash_table_remove(server->clients, client);
}

/* Why the client is sent away, or NULL. */
static char *ctl_refusal(const struct XnCtlServer *server, GSocketConnection *connection)
{
    int fd = g_socket_get_fd(g_socket_connection_get_socket(connection));

    if (!ctl_socket_admits(fd, &server->access)) {
        return g_strdup("only root and the socket's group may give orders");
    }
    if (g_hash_table_size(server->clients) >= XN_CTL_CLIENTS_MAX) {
        return g_strdup_printf("there are %u clients already", XN_CTL_CLIENTS_MAX);
    }
    return NULL;
}

static gboolean ctl_incoming(GSocketService *service G_GNUC_UNUSED, GSocketConnection *connection,
                             GObject *source G_GNUC_UNUSED, gpointer opaque)
{
    struct XnCtlServer *server = opaque;
    g_autofree char *refusal = ctl_refusal(server, connection);
    g_autoptr(JsonNode) greeting = NULL;

    if (refusal) {
        g_autoptr(GError) error = g_error_new_literal(XN_CTL_ERROR, XN_CTL_ERROR_GENERIC, refusal);
        g_autofree char *text = NULL;
        g_autofree char *line = NULL;

        greeting = ctl_reply_error(error, NULL);
        text = json_to_string(greeting, FALSE);
        line = g_strconcat(text, "\r\n", NULL);
        /* A fresh socket takes that much at once. */
        g_socket_send(g_socket_connection_get_socket(connection), line, strlen(line), NULL, NULL);
        return TRUE;
    }
    greeting = ctl_greeting();
    g_hash_table_insert(server->clients, ctl_client_create(connection, greeting, &server->handler),
                        GINT_TO_POINTER(false));
    return TRUE;
}

struct XnCtlServer *ctl_server_create(const struct XnCtlServerConfig *config, GError **error)
{
    struct XnCtlServer *server;
    struct XnCtlAccess access;
    g_autoptr(GSocket) socket = NULL;
    g_autoptr(GSocketService) service = g_socket_service_new();
    int fd = ctl_socket_open(config->path, config->group, &access, error);

    if (fd < 0) {
        return NULL;
    }
    socket = g_socket_new_from_fd(fd, error);
    if (!socket) {
        close(fd);
        return NULL;
    }
    /* GIO starts a thread of its own when it accepts. */
    g_socket_service_stop(service);
    if (!g_socket_listener_add_socket(G_SOCKET_LISTENER(service), socket, NULL, error)) {
        return NULL;
    }
    server = g_new0(struct XnCtlServer, 1);
    server->config = *config;
    server->access = access;
    server->handler = (struct XnCtlClientHandler){
        .line = ctl_handle_line, .gone = ctl_client_gone, .opaque = server};
    server->service = g_steal_pointer(&service);
    server->path = g_strdup(config->path);
    server->clients = g_hash_table_new(NULL, NULL);
    g_signal_connect(server->service, "incoming", G_CALLBACK(ctl_incoming), server);
    return server;
}

void ctl_server_start(struct XnCtlServer *server)
{
    /* Whoever has made the socket, the daemon's own user is who it is now. */
    server->access.owner = geteuid();
    g_socket_service_start(server->service);
}

void ctl_server_free(struct XnCtlServer *server)
{
    GHashTableIter iter;
    gpointer client;

    if (!server) {
        return;
    }
    g_socket_service_stop(server->service);
    g_socket_listener_close(G_SOCKET_LISTENER(server->service));
    g_hash_table_iter_init(&iter, server->clients);
    while (g_hash_table_iter_next(&iter, &client, NULL)) {
        ctl_client_abort(client);
    }
    /* Their last callbacks come from the loop, and free them. */
    while (g_hash_table_size(server->clients) > 0) {
        g_main_context_iteration(NULL, TRUE);
    }
    g_hash_table_destroy(server->clients);
    unlink(server->path);
    g_object_unref(server->service);
    g_free(server->path);
    g_free(server);
}
