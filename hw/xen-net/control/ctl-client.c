/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-client.c - one client of the control socket
 *
 * Theory of operation
 *
 * A client's requests are served strictly in turns: read what there is, answer every whole line,
 * and read on when the answers are written. So neither a client that floods nor one that does not
 * read makes us hold more than one line of its input and the answers to one read. Events come
 * between, at any time; they are bounded by their own limit.
 *
 * At most one read and one write are under way. A client that is over is freed by the last of
 * their callbacks.
 */
#include "control/ctl-client.h"

#include <stdbool.h>
#include <string.h>

#include "control/ctl-request.h"

#define CTL_READ_SIZE 4096u

struct XnCtlClient {
    const struct XnCtlClientHandler *handler;
    GSocketConnection *connection;
    GCancellable *cancellable;
    /* What was read and is not a whole line yet. */
    GString *input;
    /* What is to be written, and what is being written. */
    GString *output;
    GString *sending;
    guint64 events_lost;
    bool reading;
    bool writing;
    /* No more is read. */
    bool closing;
    /* Nothing more is done but waiting for callbacks. */
    bool dead;
    char buffer[CTL_READ_SIZE];
};

/* To be called at the end of each callback. */
static void ctl_client_release(struct XnCtlClient *client)
{
    if (!client->dead || client->reading || client->writing) {
        return;
    }
    client->handler->gone(client->handler->opaque, client);
    g_object_unref(client->cancellable);
    g_object_unref(client->connection);
    g_string_free(client->input, TRUE);
    g_string_free(client->output, TRUE);
    g_string_free(client->sending, TRUE);
    g_free(client);
}

void ctl_client_abort(struct XnCtlClient *client)
{
    client->dead = true;
    g_cancellable_cancel(client->cancellable);
}

static void ctl_client_read(struct XnCtlClient *client);

static void ctl_client_on_written(GObject *stream, GAsyncResult *result, gpointer opaque);

static void ctl_client_write(struct XnCtlClient *client)
{
    if (client->writing || client->dead || client->output->len == 0) {
        return;
    }
    g_string_truncate(client->sending, 0);
    g_string_append_len(client->sending, client->output->str, (gssize)client->output->len);
    g_string_truncate(client->output, 0);
    client->writing = true;
    g_output_stream_write_all_async(g_io_stream_get_output_stream(G_IO_STREAM(client->connection)),
                                    client->sending->str, client->sending->len, G_PRIORITY_DEFAULT,
                                    client->cancellable, ctl_client_on_written, client);
}

static void ctl_client_on_written(GObject *stream, GAsyncResult *result, gpointer opaque)
{
    struct XnCtlClient *client = opaque;

    client->writing = false;
    if (!g_output_stream_write_all_finish(G_OUTPUT_STREAM(stream), result, NULL, NULL)) {
        ctl_client_abort(client);
    }
    ctl_client_write(client);
    if (!client->writing && client->closing) {
        ctl_client_abort(client);
    }
    if (!client->writing) {
        ctl_client_read(client);
    }
    ctl_client_release(client);
}

static void ctl_client_take_lines(struct XnCtlClient *client)
{
    char *end;

    while (!client->dead && (end = memchr(client->input->str, '\n', client->input->len)) != NULL) {
        gsize length = (gsize)(end - client->input->str);

        client->handler->line(client->handler->opaque, client, client->input->str, length);
        g_string_erase(client->input, 0, (gssize)length + 1);
    }
    if (client->input->len > XN_CTL_LINE_MAX) {
        g_autoptr(GError) error = g_error_new(XN_CTL_ERROR, XN_CTL_ERROR_GENERIC,
                                              "a line is longer than %u bytes", XN_CTL_LINE_MAX);
        g_autoptr(JsonNode) reply = ctl_reply_error(error, NULL);

        ctl_client_send(client, reply);
        ctl_client_close(client);
    }
}

static void ctl_client_on_read(GObject *stream, GAsyncResult *result, gpointer opaque)
{
    struct XnCtlClient *client = opaque;
    gssize length = g_input_stream_read_finish(G_INPUT_STREAM(stream), result, NULL);

    client->reading = false;
    if (length <= 0) {
        ctl_client_abort(client);
    }
    if (!client->dead) {
        g_string_append_len(client->input, client->buffer, length);
        ctl_client_take_lines(client);
        ctl_client_write(client);
        ctl_client_read(client);
    }
    ctl_client_release(client);
}

/* Unless answers wait to be written. */
static void ctl_client_read(struct XnCtlClient *client)
{
    if (client->reading || client->writing || client->closing || client->dead) {
        return;
    }
    client->reading = true;
    g_input_stream_read_async(g_io_stream_get_input_stream(G_IO_STREAM(client->connection)),
                              client->buffer, sizeof(client->buffer), G_PRIORITY_DEFAULT,
                              client->cancellable, ctl_client_on_read, client);
}

static void ctl_client_append(struct XnCtlClient *client, JsonNode *message)
{
    g_autofree char *text = json_to_string(message, FALSE);
    /* json-glib reads some broken escapes in a request as bytes that are no UTF-8. */
    g_autofree char *valid = g_utf8_make_valid(text, -1);

    g_string_append(client->output, valid);
    g_string_append(client->output, "\r\n");
}

void ctl_client_send(struct XnCtlClient *client, JsonNode *message)
{
    ctl_client_append(client, message);
}

void ctl_client_send_event(struct XnCtlClient *client, JsonNode *event)
{
    if (client->dead || client->closing) {
        return;
    }
    if (client->output->len > XN_CTL_EVENTS_MAX) {
        client->events_lost++;
        return;
    }
    if (client->events_lost > 0) {
        g_autofree char *text = g_strdup_printf(
            "{\"event\":\"EVENTS_LOST\",\"data\":{\"count\":%" G_GUINT64_FORMAT "}}\r\n",
            client->events_lost);

        g_string_append(client->output, text);
        client->events_lost = 0;
    }
    ctl_client_append(client, event);
    ctl_client_write(client);
}

void ctl_client_close(struct XnCtlClient *client)
{
    client->closing = true;
}

struct XnCtlClient *ctl_client_create(GSocketConnection *connection, JsonNode *greeting,
                                      const struct XnCtlClientHandler *handler)
{
    struct XnCtlClient *client = g_new0(struct XnCtlClient, 1);

    client->handler = handler;
    client->connection = g_object_ref(connection);
    client->cancellable = g_cancellable_new();
    client->input = g_string_new(NULL);
    client->output = g_string_new(NULL);
    client->sending = g_string_new(NULL);
    ctl_client_send(client, greeting);
    ctl_client_write(client);
    return client;
}
