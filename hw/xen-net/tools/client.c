/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client.c - a connection to the daemon's control socket
 */
#include "tools/client.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <stdbool.h>
#include <string.h>

#include "tools/exit.h"

/* A daemon that is busy with a slow hypervisor answers late; one that is dead closes the socket. */
#define CLIENT_TIMEOUT_S 30u

struct XnClient {
    GSocketConnection *connection;
    GDataInputStream *input;
};

GQuark exit_error_quark(void)
{
    return g_quark_from_static_string("qnetctl");
}

static JsonNode *client_broken(const char *reason, GError **error)
{
    g_set_error(error, XN_EXIT_ERROR, XN_EXIT_FAILED, "the daemon does not answer properly: %s",
                reason);
    return NULL;
}

/* It was there, and does not answer any more. `reason` may be NULL: it closed the connection. */
static JsonNode *client_lost(const GError *reason, GError **error)
{
    if (reason && g_error_matches(reason, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_BUSY,
                    "the daemon has not answered for %u s; is it stopped, or very busy?",
                    CLIENT_TIMEOUT_S);
    } else {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_BUSY,
                    "the daemon closed the connection; if it is being restarted, try again");
    }
    return NULL;
}

JsonNode *client_receive(struct XnClient *client, GError **error)
{
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) local_error = NULL;
    g_autofree char *line = g_data_input_stream_read_line(client->input, NULL, NULL, &local_error);

    if (!line) {
        return client_lost(local_error, error);
    }
    if (!json_parser_load_from_data(parser, line, -1, &local_error)) {
        return client_broken(local_error->message, error);
    }
    if (!json_parser_get_root(parser) || !JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser))) {
        return client_broken("not a JSON object", error);
    }
    return json_parser_steal_root(parser);
}

/* What the daemon answers; events that come first are not for this. */
static JsonNode *client_receive_reply(struct XnClient *client, GError **error)
{
    for (;;) {
        JsonNode *message = client_receive(client, error);

        if (!message || !json_object_has_member(json_node_get_object(message), "event")) {
            return message;
        }
        json_node_unref(message);
    }
}

static JsonNode *client_refused(JsonObject *failure, GError **error)
{
    const char *class = json_object_get_string_member_with_default(failure, "class", "");

    g_set_error(error, XN_EXIT_ERROR,
                strcmp(class, "DeviceNotFound") == 0 ? XN_EXIT_NO_VIF : XN_EXIT_FAILED, "%s",
                json_object_get_string_member_with_default(failure, "desc", "no reason given"));
    return NULL;
}

JsonNode *client_execute(struct XnClient *client, const char *command, JsonObject *arguments,
                         GError **error)
{
    g_autoptr(JsonNode) request = json_node_new(JSON_NODE_OBJECT);
    g_autoptr(JsonNode) reply = NULL;
    g_autofree char *text = NULL;
    g_autofree char *line = NULL;
    g_autoptr(GError) local_error = NULL;
    JsonObject *object = json_object_new();
    JsonNode *failure;
    JsonNode *result;

    json_object_set_string_member(object, "execute", command);
    if (arguments) {
        json_object_set_object_member(object, "arguments", arguments);
    }
    json_node_take_object(request, object);
    text = json_to_string(request, FALSE);
    line = g_strconcat(text, "\n", NULL);
    if (!g_output_stream_write_all(g_io_stream_get_output_stream(G_IO_STREAM(client->connection)),
                                   line, strlen(line), NULL, NULL, &local_error)) {
        return client_lost(local_error, error);
    }
    reply = client_receive_reply(client, error);
    if (!reply) {
        return NULL;
    }
    failure = json_object_get_member(json_node_get_object(reply), "error");
    if (failure && JSON_NODE_HOLDS_OBJECT(failure)) {
        return client_refused(json_node_get_object(failure), error);
    }
    result = json_object_get_member(json_node_get_object(reply), "return");
    return result ? json_node_copy(result) : client_broken("a reply without a result", error);
}

void client_wait_for_ever(struct XnClient *client)
{
    g_socket_set_timeout(g_socket_connection_get_socket(client->connection), 0);
}

/* Are we welcome? Else the daemon says why not, and closes the connection. */
static bool client_is_greeted(JsonNode *greeting, GError **error)
{
    JsonNode *failure = json_object_get_member(json_node_get_object(greeting), "error");

    if (failure && JSON_NODE_HOLDS_OBJECT(failure)) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_DENIED, "the daemon refuses us: %s",
                    json_object_get_string_member_with_default(json_node_get_object(failure),
                                                               "desc", "no reason given"));
        return false;
    }
    return true;
}

struct XnClient *client_open(const char *path, GError **error)
{
    g_autoptr(GSocketClient) socket_client = g_socket_client_new();
    g_autoptr(GSocketAddress) address = g_unix_socket_address_new(path);
    g_autoptr(GError) local_error = NULL;
    g_autoptr(JsonNode) greeting = NULL;
    g_autoptr(JsonNode) negotiated = NULL;
    struct XnClient *client;
    GSocketConnection *connection;

    g_socket_client_set_timeout(socket_client, CLIENT_TIMEOUT_S);
    connection =
        g_socket_client_connect(socket_client, G_SOCKET_CONNECTABLE(address), NULL, &local_error);
    if (!connection) {
        bool denied = g_error_matches(local_error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);

        g_set_error(error, XN_EXIT_ERROR, denied ? XN_EXIT_DENIED : XN_EXIT_NO_DAEMON,
                    denied ? "no permission to talk to the daemon at %s; run as root"
                           : "no daemon listens at %s; is qnetback running?",
                    path);
        return NULL;
    }
    client = g_new0(struct XnClient, 1);
    client->connection = connection;
    client->input = g_data_input_stream_new(g_io_stream_get_input_stream(G_IO_STREAM(connection)));
    g_data_input_stream_set_newline_type(client->input, G_DATA_STREAM_NEWLINE_TYPE_CR_LF);
    greeting = client_receive(client, error);
    if (greeting && client_is_greeted(greeting, error)) {
        negotiated = client_execute(client, "qmp_capabilities", NULL, error);
    }
    if (!negotiated) {
        client_close(client);
        return NULL;
    }
    return client;
}

void client_close(struct XnClient *client)
{
    if (client) {
        g_object_unref(client->input);
        g_object_unref(client->connection);
        g_free(client);
    }
}
