/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-line-fuzz.c - a client of the control socket that sends any bytes
 *
 * The server is the real one, with a socket in a directory of its own. Each input is one client's
 * whole conversation, sent in pieces; each line that comes back must be a JSON object of the
 * protocol, and the server must have let go of the client when both are done.
 */
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/ctl-server.h"
#include "fuzz.h"

/* More rounds than any conversation has. */
#define ROUNDS_MAX 20000

static struct {
    char *directory;
    char *path;
    struct XnCtlServer *server;
} world;

static JsonNode *command_echo(JsonObject *arguments, void *opaque, GError **error)
{
    JsonNode *node = json_node_new(JSON_NODE_OBJECT);

    (void)opaque;
    (void)error;
    json_node_set_object(node, arguments);
    return node;
}

static const struct XnCtlArgument echo_arguments[] = {
    {"name", XN_CTL_TEXT, true, "Any text"},
    {"count", XN_CTL_NUMBER, true, "Any number"},
    {"flag", XN_CTL_FLAG, true, "true or false"},
    {NULL, 0, false, NULL},
};

static const struct XnCtlCommand commands[] = {
    {"echo", "Returns its arguments", command_echo, echo_arguments},
    {NULL, NULL, NULL, NULL},
};

static const struct XnCtlEvent events[] = {
    {NULL, NULL},
};

static void world_end(void)
{
    g_autofree char *run = g_path_get_dirname(world.path);

    ctl_server_free(world.server);
    g_rmdir(run);
    g_rmdir(world.directory);
    g_free(world.path);
    g_free(world.directory);
}

static void world_begin(void)
{
    g_autoptr(GError) error = NULL;
    struct XnCtlServerConfig config = {.commands = commands, .events = events};

    world.directory = g_dir_make_tmp("ctl-line-XXXXXX", &error);
    g_assert_no_error(error);
    world.path = g_build_filename(world.directory, "run", "ctl.sock", NULL);
    config.path = world.path;
    world.server = ctl_server_create(&config, &error);
    g_assert_no_error(error);
    ctl_server_start(world.server);
    atexit(world_end);
}

static int client_connect(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    g_assert(fd >= 0);
    g_strlcpy(address.sun_path, world.path, sizeof(address.sun_path));
    g_assert(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    return fd;
}

static void check_line(const char *line)
{
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) error = NULL;
    JsonObject *object;

    json_parser_load_from_data(parser, line, -1, &error);
    g_assert_no_error(error);
    g_assert(JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)));
    object = json_node_get_object(json_parser_get_root(parser));
    g_assert(json_object_has_member(object, "QMP") || json_object_has_member(object, "return") ||
             json_object_has_member(object, "error") || json_object_has_member(object, "event"));
}

/* Sends what the socket takes. Returns whether all is sent, or nobody wants it any more. */
static bool client_send(int fd, struct FuzzInput *input, size_t piece)
{
    ssize_t sent;

    if (input->left == 0) {
        return true;
    }
    sent = send(fd, input->data, MIN(piece, input->left), MSG_NOSIGNAL);
    if (sent < 0) {
        return errno != EAGAIN;
    }
    input->data += sent;
    input->left -= (size_t)sent;
    return input->left == 0;
}

/* Takes what is there. Returns whether the server has hung up. */
static bool client_receive(int fd, GString *text)
{
    char buffer[4096];
    ssize_t length = recv(fd, buffer, sizeof(buffer), 0);

    if (length > 0) {
        g_string_append_len(text, buffer, length);
    }
    return length == 0 || (length < 0 && errno != EAGAIN);
}

/*
 * json-glib 1.6 loses the node of an array in which a request is malformed (about 100 bytes). The
 * sanitizer finds that only when it unwinds through libraries without frame pointers.
 */
const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);

const char *__asan_default_options(void)
{
    return "fast_unwind_on_malloc=0";
}

const char *__lsan_default_suppressions(void)
{
    return "leak:json_parser_load_from_data\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct FuzzInput input = {data, size};
    size_t piece = 1u + (size_t)fuzz_u8(&input) * 16u;
    g_autoptr(GString) received = g_string_new(NULL);
    g_auto(GStrv) lines = NULL;
    bool ended = false, sent = false;
    int fd;

    if (!world.server) {
        world_begin();
    }
    fd = client_connect();
    for (int i = 0; i < ROUNDS_MAX && !ended; i++) {
        if (!sent && client_send(fd, &input, piece)) {
            sent = true;
            shutdown(fd, SHUT_WR);
        }
        g_main_context_iteration(NULL, FALSE);
        ended = client_receive(fd, received);
    }
    g_assert(ended);
    close(fd);
    lines = g_strsplit(received->str, "\r\n", -1);
    for (char **line = lines; *line; line++) {
        if (line[0][0] != '\0') {
            check_line(*line);
        }
    }
    return 0;
}
