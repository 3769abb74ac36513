/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-server-test.c - the control socket: protocol, bounds, and what a dead daemon leaves
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/ctl-server.h"

struct Fixture {
    char *directory;
    char *path;
    struct XnCtlServer *server;
    int fd;
    GString *received;
};

static JsonNode *command_echo(JsonObject *arguments, void *opaque, GError **error G_GNUC_UNUSED)
{
    JsonNode *node = json_node_new(JSON_NODE_OBJECT);

    g_assert_cmpstr(opaque, ==, "opaque");
    json_node_set_object(node, arguments);
    return node;
}

static JsonNode *command_fail(JsonObject *arguments G_GNUC_UNUSED, void *opaque G_GNUC_UNUSED,
                              GError **error)
{
    g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_DEVICE_NOT_FOUND, "there is no vif 'x'");
    return NULL;
}

static const struct XnCtlArgument echo_arguments[] = {
    {"text", XN_CTL_TEXT, true, "a text"},
    {"number", XN_CTL_NUMBER, true, "a number"},
    {"flag", XN_CTL_FLAG, true, "a flag"},
    {NULL, XN_CTL_TEXT, false, NULL},
};

static const struct XnCtlArgument fail_arguments[] = {
    {"why", XN_CTL_TEXT, false, "the reason"},
    {NULL, XN_CTL_TEXT, false, NULL},
};

static const struct XnCtlCommand commands[] = {
    {"echo", "Returns its arguments", command_echo, echo_arguments},
    {"fail", "Fails", command_fail, fail_arguments},
    {NULL, NULL, NULL, NULL},
};

static const struct XnCtlEvent events[] = {
    {"HAPPENED", "Something has happened"},
    {NULL, NULL},
};

static char opaque[] = "opaque";

static struct XnCtlServer *create(const char *path, GError **error)
{
    struct XnCtlServerConfig config = {
        .path = path, .commands = commands, .events = events, .opaque = opaque};

    struct XnCtlServer *server = ctl_server_create(&config, error);

    if (server) {
        ctl_server_start(server);
    }
    return server;
}

static int client_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    g_assert_cmpint(fd, >=, 0);
    g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
    g_assert_cmpint(connect(fd, (struct sockaddr *)&address, sizeof(address)), ==, 0);
    return fd;
}

static void set_up(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(GError) error = NULL;

    fixture->directory = g_dir_make_tmp("ctl-server-XXXXXX", &error);
    g_assert_no_error(error);
    fixture->path = g_build_filename(fixture->directory, "run", "ctl.sock", NULL);
    fixture->server = create(fixture->path, &error);
    g_assert_no_error(error);
    fixture->fd = client_connect(fixture->path);
    fixture->received = g_string_new(NULL);
}

static void tear_down(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *run = g_path_get_dirname(fixture->path);

    close(fixture->fd);
    ctl_server_free(fixture->server);
    g_assert_cmpint(access(fixture->path, F_OK), ==, -1);
    g_assert_cmpint(g_rmdir(run), ==, 0);
    g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
    g_free(fixture->path);
    g_free(fixture->directory);
    g_string_free(fixture->received, TRUE);
}

static void client_send(struct Fixture *fixture, const char *text)
{
    g_assert_cmpint(send(fixture->fd, text, strlen(text), MSG_NOSIGNAL), ==, strlen(text));
}

/* The next line from the server, or NULL at the end of the stream. */
static char *client_receive(struct Fixture *fixture)
{
    for (;;) {
        char *end = strstr(fixture->received->str, "\r\n");
        char buffer[1024];
        ssize_t length;

        if (end) {
            char *line = g_strndup(fixture->received->str, end - fixture->received->str);

            g_string_erase(fixture->received, 0, end + 2 - fixture->received->str);
            return line;
        }
        length = recv(fixture->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
        if (length > 0) {
            g_string_append_len(fixture->received, buffer, length);
        } else if (length < 0 && errno == EAGAIN) {
            g_main_context_iteration(NULL, TRUE);
        } else {
            return NULL;
        }
    }
}

static void expect(struct Fixture *fixture, const char *line)
{
    g_autofree char *received = client_receive(fixture);

    g_assert_cmpstr(received, ==, line);
}

static void negotiate(struct Fixture *fixture)
{
    G_GNUC_UNUSED g_autofree char *greeting = client_receive(fixture);

    g_assert_true(g_str_has_prefix(greeting, "{\"QMP\":{\"version\":{\"qemu\":{\"major\":"));
    g_assert_true(g_str_has_suffix(greeting, ",\"capabilities\":[]}}"));
    client_send(fixture, "{\"execute\": \"qmp_capabilities\"}\n");
    expect(fixture, "{\"return\":{}}");
}

static void test_commands(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *list = NULL;

    negotiate(fixture);
    client_send(fixture, "{\"execute\":\"echo\",\"arguments\":{\"number\":1},\"id\":{\"x\":7}}\n");
    expect(fixture, "{\"return\":{\"number\":1},\"id\":{\"x\":7}}");
    client_send(fixture, "{\"execute\":\"echo\"}\r\n\r\n  \n{\"id\":null,\"execute\":\"echo\"}\n");
    expect(fixture, "{\"return\":{}}");
    expect(fixture, "{\"return\":{},\"id\":null}");
    client_send(fixture, "{\"execute\":\"query-commands\",\"id\":1}\n");
    list = client_receive(fixture);
    g_assert_nonnull(strstr(list, "{\"name\":\"echo\",\"help\":\"Returns its arguments\"}"));
    g_assert_nonnull(strstr(list, "{\"name\":\"query-version\","));
}

static void test_errors(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    static const char *const bad[] = {
        "[]",
        "7",
        "{}",
        "{\"execute\":7}",
        "{\"execute\":null}",
        "{\"execute\":[\"echo\"]}",
        "{\"execute\":\"echo\",\"arguments\":[]}",
        "{\"execute\":\"echo\",\"arguments\":null}",
        "{\"execute\":\"echo\",\"argument\":{}}",
        "{\"execute\":\"echo\"",
        "nonsense",
        "\xff\xfe",
        "{\"execute\":\"echo\"}}",
        "{\"execute\":\"echo\",\"arguments\":{\"other\":1}}",
        "{\"execute\":\"echo\",\"arguments\":{\"number\":\"1\"}}",
        "{\"execute\":\"echo\",\"arguments\":{\"number\":1.5}}",
        "{\"execute\":\"echo\",\"arguments\":{\"text\":null}}",
        "{\"execute\":\"echo\",\"arguments\":{\"text\":[\"a\"]}}",
        "{\"execute\":\"echo\",\"arguments\":{\"flag\":1}}",
        "{\"execute\":\"fail\"}",
        "{\"execute\":\"query-version\",\"arguments\":{\"a\":1}}",
    };

    negotiate(fixture);
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *line = g_strconcat(bad[i], "\n", NULL);
        g_autofree char *reply = NULL;

        client_send(fixture, line);
        reply = client_receive(fixture);
        g_test_message("%s -> %s", bad[i], reply);
        g_assert_true(g_str_has_prefix(reply, "{\"error\":{\"class\":\"GenericError\",\"desc\":"));
    }
    client_send(fixture, "{\"execute\":\"frob\",\"id\":1}\n{\"execute\":\"fail\",\"id\":2,"
                         "\"arguments\":{\"why\":\"x\"}}\n");
    expect(fixture, "{\"error\":{\"class\":\"CommandNotFound\",\"desc\":\"there is no command "
                    "'frob', see query-commands\"},\"id\":1}");
    expect(fixture, "{\"error\":{\"class\":\"DeviceNotFound\",\"desc\":\"there is no vif 'x'\"},"
                    "\"id\":2}");
    client_send(fixture, "{\"execute\":\"echo\"}\n");
    expect(fixture, "{\"return\":{}}");
}

static void test_negotiation(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    G_GNUC_UNUSED g_autofree char *greeting = client_receive(fixture);

    g_assert_nonnull(greeting);
    client_send(fixture, "{\"execute\":\"echo\"}\n{\"execute\":\"qmp_capabilities\"}\n"
                         "{\"execute\":\"qmp_capabilities\"}\n{\"execute\":\"echo\"}\n");
    expect(fixture, "{\"error\":{\"class\":\"CommandNotFound\",\"desc\":\"qmp_capabilities must "
                    "come first, and once\"}}");
    expect(fixture, "{\"return\":{}}");
    expect(fixture, "{\"error\":{\"class\":\"CommandNotFound\",\"desc\":\"qmp_capabilities must "
                    "come first, and once\"}}");
    expect(fixture, "{\"return\":{}}");
}

/* QEMU's own client names the capabilities it wants: none of ours. */
static void test_capabilities(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    G_GNUC_UNUSED g_autofree char *greeting = client_receive(fixture);

    client_send(fixture, "{\"execute\":\"qmp_capabilities\",\"arguments\":{\"enable\":[\"oob\"]}}\n"
                         "{\"execute\":\"qmp_capabilities\",\"arguments\":{\"enable\":[]}}\n");
    expect(fixture, "{\"error\":{\"class\":\"GenericError\",\"desc\":\"there are no capabilities "
                    "to enable\"}}");
    expect(fixture, "{\"return\":{}}");
}

static void test_schema(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *schema = NULL;

    negotiate(fixture);
    client_send(fixture, "{\"execute\":\"query-schema\"}\n");
    schema = client_receive(fixture);
    g_assert_nonnull(strstr(schema, "\"version\":1,"));
    g_assert_nonnull(strstr(schema, "{\"name\":\"fail\",\"help\":\"Fails\",\"arguments\":[{"
                                    "\"name\":\"why\",\"help\":\"the reason\",\"type\":\"text\","
                                    "\"optional\":false}]}"));
    g_assert_nonnull(strstr(schema, "\"events\":[{\"name\":\"HAPPENED\","));
}

static void emit(struct Fixture *fixture, gint64 number)
{
    JsonObject *happened = json_object_new();

    json_object_set_int_member(happened, "number", number);
    ctl_server_emit(fixture->server, "HAPPENED", happened);
}

static void assert_event(struct Fixture *fixture, gint64 number)
{
    g_autofree char *line = client_receive(fixture);
    g_autofree char *start = g_strdup_printf(
        "{\"event\":\"HAPPENED\",\"data\":{\"number\":%" G_GINT64_FORMAT "},\"timestamp\":{",
        number);

    g_assert_true(g_str_has_prefix(line, start));
}

/* They come from negotiation on, while the client waits and between replies. */
static void test_events(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    G_GNUC_UNUSED g_autofree char *greeting = client_receive(fixture);

    emit(fixture, 1);
    client_send(fixture, "{\"execute\":\"qmp_capabilities\"}\n");
    expect(fixture, "{\"return\":{}}");
    emit(fixture, 2);
    emit(fixture, 3);
    assert_event(fixture, 2);
    assert_event(fixture, 3);
    client_send(fixture, "{\"execute\":\"echo\"}\n");
    expect(fixture, "{\"return\":{}}");
    emit(fixture, 4);
    assert_event(fixture, 4);
}

/* A client that does not read loses events, is told how many, and costs no memory. */
static void test_events_lost(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    gint64 sent = 0;
    gint64 seen = 0;

    negotiate(fixture);
    for (; sent < 20000; sent++) {
        emit(fixture, sent);
        g_main_context_iteration(NULL, FALSE);
    }
    for (;;) {
        g_autofree char *line = client_receive(fixture);

        if (strstr(line, "EVENTS_LOST")) {
            gint64 lost =
                g_ascii_strtoll(strstr(line, "\"count\":") + strlen("\"count\":"), NULL, 10);

            g_test_message("%" G_GINT64_FORMAT " came, %" G_GINT64_FORMAT " were lost", seen, lost);
            seen += lost;
            break;
        }
        seen++;
        if (seen % 1000 == 0) {
            emit(fixture, sent++);
        }
    }
    g_assert_cmpint(seen, >=, 20000);
    assert_event(fixture, seen);
}

static void test_too_many_clients(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    int clients[XN_CTL_CLIENTS_MAX];
    char reply[256] = "";

    negotiate(fixture);
    for (unsigned i = 0; i < XN_CTL_CLIENTS_MAX; i++) {
        clients[i] = client_connect(fixture->path);
        while (g_main_context_iteration(NULL, FALSE)) {
        }
    }
    g_assert_cmpint(recv(clients[XN_CTL_CLIENTS_MAX - 1], reply, sizeof(reply) - 1, 0), >, 0);
    g_assert_nonnull(strstr(reply, "there are 64 clients already"));
    g_assert_cmpint(recv(clients[XN_CTL_CLIENTS_MAX - 1], reply, sizeof(reply) - 1, 0), ==, 0);
    for (unsigned i = 0; i < XN_CTL_CLIENTS_MAX; i++) {
        close(clients[i]);
    }
    client_send(fixture, "{\"execute\":\"echo\"}\n");
    expect(fixture, "{\"return\":{}}");
}

static void test_split_line(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    static const char request[] = "{\"execute\":\"echo\"}\n";

    negotiate(fixture);
    for (size_t i = 0; i < sizeof(request) - 1; i++) {
        g_assert_cmpint(send(fixture->fd, &request[i], 1, 0), ==, 1);
        while (g_main_context_iteration(NULL, FALSE)) {
        }
    }
    expect(fixture, "{\"return\":{}}");
}

static void test_long_line(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *block = g_strnfill(1024, ' ');

    negotiate(fixture);
    for (unsigned sent = 0; sent <= XN_CTL_LINE_MAX; sent += 1024) {
        client_send(fixture, block);
        while (g_main_context_iteration(NULL, FALSE)) {
        }
    }
    expect(fixture, "{\"error\":{\"class\":\"GenericError\",\"desc\":\"a line is longer than 65536 "
                    "bytes\"}}");
    g_assert_null(client_receive(fixture));
}

/* So deep that a parser which recurses would run out of stack. */
static void test_deep_nesting(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *brackets = g_strnfill(60000, '[');

    negotiate(fixture);
    client_send(fixture, brackets);
    client_send(fixture, "\n{\"execute\":\"echo\",\"arguments\":{\"text\":\"\\\"[[[\"}}\n");
    expect(fixture, "{\"error\":{\"class\":\"GenericError\",\"desc\":\"nested deeper than 64\"}}");
    expect(fixture, "{\"return\":{\"text\":\"\\\"[[[\"}}");
}

/* A client that goes away in the middle takes nothing with it. */
static void test_clients_come_and_go(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    for (unsigned i = 0; i < 100; i++) {
        int fd = client_connect(fixture->path);

        if (i % 2) {
            g_assert_cmpint(send(fd, "{\"exec", 6, MSG_NOSIGNAL), ==, 6);
        }
        if (i % 3) {
            while (g_main_context_iteration(NULL, FALSE)) {
            }
        }
        close(fd);
    }
    negotiate(fixture);
}

static void test_only_for_root(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    struct stat status;

    g_assert_cmpint(stat(fixture->path, &status), ==, 0);
    g_assert_cmpint(status.st_mode & 0777, ==, 0600);
}

static void test_second_daemon(struct Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(create(fixture->path, &error));
    g_assert_nonnull(strstr(error->message, "another qnetback is running"));
    negotiate(fixture);
}

static void test_leftovers(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *directory = g_dir_make_tmp("ctl-server-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(directory, "ctl.sock", NULL);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct XnCtlServer *server;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    /* A socket that nobody listens on any more is replaced. */
    g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
    g_assert_cmpint(bind(fd, (struct sockaddr *)&address, sizeof(address)), ==, 0);
    close(fd);
    server = create(path, &error);
    g_assert_no_error(error);
    ctl_server_free(server);

    /* Anything else is not ours to remove. */
    g_assert_true(g_file_set_contents(path, "precious", -1, NULL));
    g_assert_null(create(path, &error));
    g_assert_nonnull(strstr(error->message, path));
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_rmdir(directory), ==, 0);
}

static void test_bad_path(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *name = g_strnfill(200, 'x');
    g_autofree char *path = g_strconcat("/tmp/", name, NULL);

    g_assert_null(create(path, &error));
    g_assert_nonnull(error);
}

#define ADD(name, function) \
    g_test_add("/ctl-server/" name, struct Fixture, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("commands", test_commands);
    ADD("errors", test_errors);
    ADD("negotiation", test_negotiation);
    ADD("capabilities", test_capabilities);
    ADD("schema", test_schema);
    ADD("events", test_events);
    ADD("events-lost", test_events_lost);
    ADD("too-many-clients", test_too_many_clients);
    ADD("split-line", test_split_line);
    ADD("long-line", test_long_line);
    ADD("deep-nesting", test_deep_nesting);
    ADD("clients-come-and-go", test_clients_come_and_go);
    ADD("only-for-root", test_only_for_root);
    ADD("second-daemon", test_second_daemon);
    g_test_add_func("/ctl-server/leftovers", test_leftovers);
    g_test_add_func("/ctl-server/bad-path", test_bad_path);
    return g_test_run();
}
