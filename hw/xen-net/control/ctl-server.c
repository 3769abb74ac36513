/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-server.c - the control socket
 *
 * Theory of operation
 *
 * A client is served strictly in turns: read what there is, answer every whole line, and read on
 * when the answers are written. So neither a client that floods nor one that does not read makes us
 * hold more than one line of its input and the answers to one read.
 *
 * A socket's name outlives a daemon that was killed. Whether somebody listens behind it is asked,
 * and its replacement made, while the directory is locked, so two daemons that start at once
 * cannot both win.
 */
#include "control/ctl-server.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CTL_READ_SIZE 4096u
#define CTL_NESTING_MAX 64u

struct XnCtlServer {
    GSocketService *service;
    char *path;
    const struct XnCtlCommand *commands;
    void *opaque;
    /* struct XnCtlClient, each once. */
    GHashTable *clients;
    bool closing;
};

struct XnCtlClient {
    struct XnCtlServer *server;
    GSocketConnection *connection;
    GCancellable *cancellable;
    /* What was read and is not a whole line yet. */
    GString *input;
    /* What is being written. */
    GString *output;
    bool negotiated;
    bool close_when_written;
    char buffer[CTL_READ_SIZE];
};

GQuark ctl_error_quark(void)
{
    return g_quark_from_static_string("qnetback-ctl");
}

/* --- the socket --- */

static bool ctl_fail(GError **error, const char *what, const char *path)
{
    int saved_errno = errno;

    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved_errno),
                "cannot %s the control socket %s: %s", what, path, g_strerror(saved_errno));
    return false;
}

/* Removes a socket behind which nobody listens. */
static bool ctl_remove_stale(int fd, const struct sockaddr_un *address, GError **error)
{
    struct stat status;

    if (lstat(address->sun_path, &status) < 0) {
        return errno == ENOENT || ctl_fail(error, "make", address->sun_path);
    }
    if (!S_ISSOCK(status.st_mode)) {
        errno = EEXIST;
        return ctl_fail(error, "make", address->sun_path);
    }
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "another qnetback is running: it listens on %s; stop it first",
                    address->sun_path);
        return false;
    }
    if (errno != ECONNREFUSED) {
        return ctl_fail(error, "look behind", address->sun_path);
    }
    return unlink(address->sun_path) == 0 || ctl_fail(error, "replace", address->sun_path);
}

/* A socket that listens, or -1. The directory is locked meanwhile. */
static int ctl_listen(const struct sockaddr_un *address, GError **error)
{
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t mask;

    if (probe < 0 || fd < 0) {
        ctl_fail(error, "make", address->sun_path);
        goto fail;
    }
    if (!ctl_remove_stale(probe, address, error)) {
        goto fail;
    }
    mask = umask(0177);
    if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
        umask(mask);
        ctl_fail(error, "make", address->sun_path);
        goto fail;
    }
    umask(mask);
    if (listen(fd, 16) < 0) {
        ctl_fail(error, "listen on", address->sun_path);
        goto fail;
    }
    close(probe);
    return fd;

fail:
    if (probe >= 0) {
        close(probe);
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static int ctl_open_socket(const char *path, GError **error)
{
    g_autofree char *directory = g_path_get_dirname(path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int lock;
    int fd = -1;

    if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        ctl_fail(error, "make", path);
        return -1;
    }
    if (g_mkdir_with_parents(directory, 0755) < 0) {
        ctl_fail(error, "make the directory of", path);
        return -1;
    }
    lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX) < 0) {
        ctl_fail(error, "lock the directory of", path);
    } else {
        fd = ctl_listen(&address, error);
    }
    if (lock >= 0) {
        close(lock);
    }
    return fd;
}

/* --- one request --- */

static void ctl_send(struct XnCtlClient *client, JsonNode *message)
{
    g_autofree char *text = json_to_string(message, FALSE);

    g_string_append(client->output, text);
    g_string_append(client->output, "\r\n");
}

/* Sends {member: value, "id": id}; takes `value`, borrows `id`, which may be NULL. */
static void ctl_send_reply(struct XnCtlClient *client, const char *member, JsonNode *value,
                           JsonNode *id)
{
    g_autoptr(JsonNode) message = json_node_new(JSON_NODE_OBJECT);
    JsonObject *object = json_object_new();

    json_object_set_member(object, member, value);
    if (id) {
        json_object_set_member(object, "id", json_node_copy(id));
    }
    json_node_take_object(message, object);
    ctl_send(client, message);
}

static JsonNode *ctl_empty_object(void)
{
    JsonNode *node = json_node_new(JSON_NODE_OBJECT);

    json_node_take_object(node, json_object_new());
    return node;
}

static void ctl_send_error(struct XnCtlClient *client, const GError *error, JsonNode *id)
{
    static const char *const classes[] = {
        [XN_CTL_ERROR_GENERIC] = "GenericError",
        [XN_CTL_ERROR_COMMAND_NOT_FOUND] = "CommandNotFound",
        [XN_CTL_ERROR_DEVICE_NOT_FOUND] = "DeviceNotFound",
    };
    JsonNode *node = ctl_empty_object();
    JsonObject *object = json_node_get_object(node);

    json_object_set_string_member(object, "class",
                                  error->domain == XN_CTL_ERROR ? classes[error->code]
                                                                : classes[XN_CTL_ERROR_GENERIC]);
    json_object_set_string_member(object, "desc", error->message);
    ctl_send_reply(client, "error", node, id);
}

/* QMP's clients look for the three numbers under the name "qemu". */
static JsonNode *ctl_version(void)
{
    JsonNode *node = ctl_empty_object();
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

static void ctl_greet(struct XnCtlClient *client)
{
    JsonNode *greeting = ctl_empty_object();

    json_object_set_member(json_node_get_object(greeting), "version", ctl_version());
    json_object_set_array_member(json_node_get_object(greeting), "capabilities", json_array_new());
    ctl_send_reply(client, "QMP", greeting, NULL);
}

static JsonNode *ctl_capabilities(JsonObject *arguments G_GNUC_UNUSED, void *opaque G_GNUC_UNUSED,
                                  GError **error G_GNUC_UNUSED)
{
    return ctl_empty_object();
}

static JsonNode *ctl_query_version(JsonObject *arguments G_GNUC_UNUSED, void *opaque G_GNUC_UNUSED,
                                   GError **error G_GNUC_UNUSED)
{
    return ctl_version();
}

static const struct XnCtlCommand ctl_builtin[] = {
    {"qmp_capabilities", "Ends the negotiation; must come first", ctl_capabilities},
    {"query-version", "The daemon's version", ctl_query_version},
    {"query-commands", "All commands", NULL},
    {NULL, NULL, NULL},
};

static const struct XnCtlCommand *ctl_find(const struct XnCtlCommand *commands, const char *name)
{
    for (; commands->name; commands++) {
        if (strcmp(commands->name, name) == 0) {
            return commands;
        }
    }
    return NULL;
}

static void ctl_list_commands(JsonArray *list, const struct XnCtlCommand *commands)
{
    for (; commands->name; commands++) {
        JsonObject *object = json_object_new();

        json_object_set_string_member(object, "name", commands->name);
        json_object_set_string_member(object, "help", commands->help);
        json_array_add_object_element(list, object);
    }
}

static JsonNode *ctl_query_commands(const struct XnCtlServer *server)
{
    JsonNode *node = json_node_new(JSON_NODE_ARRAY);
    JsonArray *list = json_array_new();

    ctl_list_commands(list, ctl_builtin);
    ctl_list_commands(list, server->commands);
    json_node_take_array(node, list);
    return node;
}

static JsonNode *ctl_execute(struct XnCtlClient *client, const char *name, JsonObject *arguments,
                             GError **error)
{
    const struct XnCtlServer *server = client->server;
    const struct XnCtlCommand *command = ctl_find(ctl_builtin, name);
    JsonNode *result;

    if (!command) {
        command = ctl_find(server->commands, name);
    }
    if (!command) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_COMMAND_NOT_FOUND,
                    "there is no command '%s', see query-commands", name);
        return NULL;
    }
    if (client->negotiated == (command == &ctl_builtin[0])) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_COMMAND_NOT_FOUND,
                    "%s must come first, and once", ctl_builtin[0].name);
        return NULL;
    }
    result = command->function ? command->function(arguments, server->opaque, error)
                               : ctl_query_commands(server);
    client->negotiated = client->negotiated || result;
    return result;
}

/* The parts of a request. All are borrowed from `object`. */
static bool ctl_check_request(JsonObject *object, const char **ret_name, JsonObject **ret_arguments,
                              GError **error)
{
    JsonNode *name = json_object_get_member(object, "execute");
    JsonNode *arguments = json_object_get_member(object, "arguments");
    GList *members;
    bool known = true;

    if (!name || json_node_get_value_type(name) != G_TYPE_STRING) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC,
                    "a request needs the member 'execute', a string");
        return false;
    }
    if (arguments && !JSON_NODE_HOLDS_OBJECT(arguments)) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC, "'arguments' must be an object");
        return false;
    }
    members = json_object_get_members(object);
    for (GList *i = members; i; i = i->next) {
        known = known && (strcmp(i->data, "execute") == 0 || strcmp(i->data, "arguments") == 0 ||
                          strcmp(i->data, "id") == 0);
    }
    g_list_free(members);
    if (!known) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC,
                    "a request has no members but 'execute', 'arguments' and 'id'");
        return false;
    }
    *ret_name = json_node_get_string(name);
    *ret_arguments = arguments ? json_node_get_object(arguments) : NULL;
    return true;
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
            if (++depth > CTL_NESTING_MAX) {
                return false;
            }
        } else if ((line[i] == ']' || line[i] == '}') && depth > 0) {
            depth--;
        }
    }
    return true;
}

static void ctl_handle_line(struct XnCtlClient *client, const char *line, gsize length)
{
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(JsonObject) none = json_object_new();
    g_autoptr(GError) error = NULL;
    JsonNode *root;
    JsonNode *result = NULL;
    JsonNode *id = NULL;
    const char *name = NULL;
    JsonObject *arguments = NULL;

    if (!ctl_nesting_is_sound(line, length)) {
        g_set_error(&error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC, "nested deeper than %u",
                    CTL_NESTING_MAX);
    }
    if (error || !json_parser_load_from_data(parser, line, (gssize)length, &error)) {
        ctl_send_error(client, error, NULL);
        return;
    }
    root = json_parser_get_root(parser);
    if (!root) {
        return;
    }
    if (!JSON_NODE_HOLDS_OBJECT(root)) {
        g_set_error(&error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC, "a request is a JSON object");
    } else {
        id = json_object_get_member(json_node_get_object(root), "id");
        if (ctl_check_request(json_node_get_object(root), &name, &arguments, &error)) {
            result = ctl_execute(client, name, arguments ? arguments : none, &error);
        }
    }
    if (result) {
        ctl_send_reply(client, "return", result, id);
    } else {
        ctl_send_error(client, error, id);
    }
}

/* --- a client's turns --- */

/* To be called from the client's own callback only: it has one under way at any time. */
static void ctl_client_drop(struct XnCtlClient *client)
{
    g_hash_table_remove(client->server->clients, client);
    g_object_unref(client->cancellable);
    g_object_unref(client->connection);
    g_string_free(client->input, TRUE);
    g_string_free(client->output, TRUE);
    g_free(client);
}

static void ctl_client_write(struct XnCtlClient *client);
static void ctl_client_read(struct XnCtlClient *client);

static void ctl_client_handle_input(struct XnCtlClient *client)
{
    char *end;

    while ((end = memchr(client->input->str, '\n', client->input->len)) != NULL) {
        gsize length = (gsize)(end - client->input->str);

        ctl_handle_line(client, client->input->str, length);
        g_string_erase(client->input, 0, (gssize)length + 1);
    }
    if (client->input->len > XN_CTL_LINE_MAX) {
        g_autoptr(GError) error = g_error_new(XN_CTL_ERROR, XN_CTL_ERROR_GENERIC,
                                              "a line is longer than %u bytes", XN_CTL_LINE_MAX);

        ctl_send_error(client, error, NULL);
        client->close_when_written = true;
    }
}

static void ctl_client_on_read(GObject *stream, GAsyncResult *result, gpointer opaque)
{
    struct XnCtlClient *client = opaque;
    gssize length = g_input_stream_read_finish(G_INPUT_STREAM(stream), result, NULL);

    if (length <= 0 || client->server->closing) {
        ctl_client_drop(client);
        return;
    }
    g_string_append_len(client->input, client->buffer, length);
    ctl_client_handle_input(client);
    ctl_client_write(client);
}

static void ctl_client_read(struct XnCtlClient *client)
{
    g_input_stream_read_async(g_io_stream_get_input_stream(G_IO_STREAM(client->connection)),
                              client->buffer, sizeof(client->buffer), G_PRIORITY_DEFAULT,
                              client->cancellable, ctl_client_on_read, client);
}

static void ctl_client_on_written(GObject *stream, GAsyncResult *result, gpointer opaque)
{
    struct XnCtlClient *client = opaque;

    if (!g_output_stream_write_all_finish(G_OUTPUT_STREAM(stream), result, NULL, NULL) ||
        client->close_when_written || client->server->closing) {
        ctl_client_drop(client);
        return;
    }
    g_string_truncate(client->output, 0);
    ctl_client_read(client);
}

static void ctl_client_write(struct XnCtlClient *client)
{
    g_output_stream_write_all_async(g_io_stream_get_output_stream(G_IO_STREAM(client->connection)),
                                    client->output->str, client->output->len, G_PRIORITY_DEFAULT,
                                    client->cancellable, ctl_client_on_written, client);
}

static gboolean ctl_incoming(GSocketService *service G_GNUC_UNUSED, GSocketConnection *connection,
                             GObject *source G_GNUC_UNUSED, gpointer opaque)
{
    struct XnCtlServer *server = opaque;
    struct XnCtlClient *client = g_new0(struct XnCtlClient, 1);

    client->server = server;
    client->connection = g_object_ref(connection);
    client->cancellable = g_cancellable_new();
    client->input = g_string_new(NULL);
    client->output = g_string_new(NULL);
    g_hash_table_add(server->clients, client);
    ctl_greet(client);
    ctl_client_write(client);
    return TRUE;
}

struct XnCtlServer *ctl_server_create(const char *path, const struct XnCtlCommand *commands,
                                      void *opaque, GError **error)
{
    struct XnCtlServer *server;
    g_autoptr(GSocket) socket = NULL;
    g_autoptr(GSocketService) service = g_socket_service_new();
    int fd = ctl_open_socket(path, error);

    if (fd < 0) {
        return NULL;
    }
    socket = g_socket_new_from_fd(fd, error);
    if (!socket) {
        close(fd);
        return NULL;
    }
    if (!g_socket_listener_add_socket(G_SOCKET_LISTENER(service), socket, NULL, error)) {
        return NULL;
    }
    server = g_new0(struct XnCtlServer, 1);
    server->service = g_steal_pointer(&service);
    server->path = g_strdup(path);
    server->commands = commands;
    server->opaque = opaque;
    server->clients = g_hash_table_new(NULL, NULL);
    g_signal_connect(server->service, "incoming", G_CALLBACK(ctl_incoming), server);
    return server;
}

void ctl_server_free(struct XnCtlServer *server)
{
    GHashTableIter iter;
    gpointer key;

    if (!server) {
        return;
    }
    server->closing = true;
    g_socket_service_stop(server->service);
    g_socket_listener_close(G_SOCKET_LISTENER(server->service));
    g_hash_table_iter_init(&iter, server->clients);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        g_cancellable_cancel(((struct XnCtlClient *)key)->cancellable);
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
