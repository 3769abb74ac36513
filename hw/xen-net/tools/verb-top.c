/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-top.c - qnetctl top: what the vifs do, live
 *
 * Theory of operation
 *
 * Each round asks the daemon for all counters and shows what they have grown by since the round
 * before. On a terminal, a daemon that goes away (it may be being restarted) is looked for again in
 * each round; in a batch that is the end.
 */
#include <curses.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/rates.h"
#include "tools/verb.h"

#define TOP_DELAY_MAX 3600.0
#define TOP_HEADER                                                              \
    "VIF             QUEUE STATE        GUEST_TX p/s    bit/s GUEST_RX p/s    " \
    "bit/s  DROPS/s EVENTS/s"

static gboolean batch;
static gboolean queues;
static int rounds;
static double delay = 1;
static char *sort;

static const GOptionEntry options[] = {
    {"batch", 'b', 0, G_OPTION_ARG_NONE, &batch, "Print one table after the other, for scripts",
     NULL},
    {"rounds", 'n', 0, G_OPTION_ARG_INT, &rounds, "End after so many tables", "N"},
    {"delay", 'd', 0, G_OPTION_ARG_DOUBLE, &delay, "Seconds between two tables (default: 1)",
     "SECONDS"},
    {"queues", 'q', 0, G_OPTION_ARG_NONE, &queues, "A line for each queue", NULL},
    {"sort", 's', 0, G_OPTION_ARG_STRING, &sort, "By name, guest_tx, guest_rx or drops", "ORDER"},
    G_OPTION_ENTRY_NULL,
};

struct XnTop {
    struct XnVerbCall call;
    enum XnRatesOrder order;
    bool by_queue;
    JsonArray *before;
    gint64 before_us;
    GArray *rows;
    /* Why there are none, or NULL. */
    GError *trouble;
};

/* Asks for the counters; what goes wrong is in top->trouble. */
static bool top_update(struct XnTop *top)
{
    JsonArray *now;
    gint64 now_us;

    g_clear_error(&top->trouble);
    if (!top->call.client) {
        top->call.client = client_open(top->call.control, &top->trouble);
    }
    now = top->call.client ? verb_query_vifs(&top->call, NULL, &top->trouble) : NULL;
    if (!now) {
        client_close(g_steal_pointer(&top->call.client));
        g_clear_pointer(&top->before, json_array_unref);
        return false;
    }
    now_us = g_get_monotonic_time();
    g_clear_pointer(&top->rows, g_array_unref);
    top->rows = rates_between(top->before, now, (double)(now_us - top->before_us) / G_USEC_PER_SEC,
                              top->by_queue, top->order);
    g_clear_pointer(&top->before, json_array_unref);
    top->before = now;
    top->before_us = now_us;
    return true;
}

static char *top_format_row(const struct XnRatesRow *row)
{
    g_autofree char *queue = row->queue < 0 ? g_strdup("all") : g_strdup_printf("%d", row->queue);
    g_autofree char *guest_tx_packets = rates_format(row->rates.guest_tx_packets);
    g_autofree char *guest_tx_bits = rates_format(row->rates.guest_tx_bytes * 8);
    g_autofree char *guest_rx_packets = rates_format(row->rates.guest_rx_packets);
    g_autofree char *guest_rx_bits = rates_format(row->rates.guest_rx_bytes * 8);
    g_autofree char *drops = rates_format(row->rates.drops);
    g_autofree char *events = rates_format(row->rates.events);

    return g_strdup_printf("%-15s %5s %-12s %12s %8s %12s %8s %8s %8s", row->name, queue,
                           row->state, guest_tx_packets, guest_tx_bits, guest_rx_packets,
                           guest_rx_bits, drops, events);
}

static JsonNode *top_describe(const struct XnTop *top)
{
    JsonNode *node = json_node_new(JSON_NODE_ARRAY);
    JsonArray *list = json_array_new();

    for (guint i = 0; i < top->rows->len; i++) {
        const struct XnRatesRow *row = &g_array_index(top->rows, struct XnRatesRow, i);
        JsonObject *object = json_object_new();

        json_object_set_string_member(object, "name", row->name);
        json_object_set_string_member(object, "state", row->state);
        if (row->queue >= 0) {
            json_object_set_int_member(object, "queue", row->queue);
        }
        json_object_set_double_member(object, "guest_tx_packets", row->rates.guest_tx_packets);
        json_object_set_double_member(object, "guest_tx_bytes", row->rates.guest_tx_bytes);
        json_object_set_double_member(object, "guest_rx_packets", row->rates.guest_rx_packets);
        json_object_set_double_member(object, "guest_rx_bytes", row->rates.guest_rx_bytes);
        json_object_set_double_member(object, "drops", row->rates.drops);
        json_object_set_double_member(object, "events", row->rates.events);
        json_array_add_object_element(list, object);
    }
    json_node_take_array(node, list);
    return node;
}

static void top_print(const struct XnTop *top)
{
    if (top->call.json) {
        g_autoptr(JsonNode) node = top_describe(top);

        verb_print_json(node);
        return;
    }
    puts(TOP_HEADER);
    for (guint i = 0; i < top->rows->len; i++) {
        g_autofree char *line = top_format_row(&g_array_index(top->rows, struct XnRatesRow, i));

        puts(line);
    }
}

/* The first counters are for comparison only. */
static bool top_run_batch(struct XnTop *top, GError **error)
{
    for (int i = 0; rounds == 0 || i <= rounds; i++) {
        if (i > 0) {
            g_usleep((gulong)(delay * G_USEC_PER_SEC));
        }
        if (!top_update(top)) {
            g_propagate_error(error, g_steal_pointer(&top->trouble));
            return false;
        }
        if (i > 0) {
            top_print(top);
            if (!verb_flush(error)) {
                return false;
            }
        }
    }
    return true;
}

static void top_draw(const struct XnTop *top)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *time = g_date_time_format(now, "%T");

    erase();
    mvprintw(0, 0, "%s  %u %s by %s    q quit, s sort, Q %s", time, top->rows ? top->rows->len : 0,
             top->by_queue ? "queues" : "vifs", rates_order_names[top->order],
             top->by_queue ? "vifs" : "queues");
    if (top->trouble) {
        mvprintw(1, 0, "%s", top->trouble->message);
    }
    attron(A_REVERSE);
    mvprintw(2, 0, "%s", TOP_HEADER);
    attroff(A_REVERSE);
    for (guint i = 0; top->rows && i < top->rows->len && (int)i + 3 < LINES; i++) {
        g_autofree char *line = top_format_row(&g_array_index(top->rows, struct XnRatesRow, i));

        mvprintw((int)i + 3, 0, "%s", line);
    }
    refresh();
}

/* Waits for a key until the round is over. False: the user has seen enough. */
static bool top_wait(struct XnTop *top, gint64 end_us)
{
    for (;;) {
        gint64 left = end_us - g_get_monotonic_time();
        int key;

        if (left <= 0) {
            return true;
        }
        timeout((int)(left / 1000) + 1);
        key = getch();
        switch (key) {
        case ERR: {
            /* The time is over, or the terminal has gone. */
            struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

            if (poll(&input, 1, 0) == 1 && (input.revents & POLLHUP)) {
                return false;
            }
            break;
        }
        case 'q':
            return false;
        case 's':
            top->order = (top->order + 1) % XN_RATES_ORDERS;
            return true;
        case 'Q':
            top->by_queue = !top->by_queue;
            return true;
        default:
            top_draw(top);
        }
    }
}

static bool top_run_screen(struct XnTop *top, GError **error)
{
    SCREEN *screen;

    if (!top_update(top)) {
        g_propagate_error(error, g_steal_pointer(&top->trouble));
        return false;
    }
    screen = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? newterm(NULL, stdout, stdin) : NULL;
    if (!screen) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_USAGE, "top needs a terminal; see --batch");
        return false;
    }
    noecho();
    cbreak();
    curs_set(0);
    for (int i = 0; rounds == 0 || i < rounds; i++) {
        top_draw(top);
        if (!top_wait(top, g_get_monotonic_time() + (gint64)(delay * G_USEC_PER_SEC))) {
            break;
        }
        top_update(top);
    }
    endwin();
    delscreen(screen);
    return true;
}

static bool top_parse_options(struct XnTop *top, GError **error)
{
    if (rounds < 0 || !(delay > 0 && delay <= TOP_DELAY_MAX)) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_USAGE,
                    "--rounds must be 1 or more, --delay at most an hour");
        return false;
    }
    if (!sort) {
        return true;
    }
    for (unsigned i = 0; i < XN_RATES_ORDERS; i++) {
        if (strcmp(sort, rates_order_names[i]) == 0) {
            top->order = (enum XnRatesOrder)i;
            return true;
        }
    }
    g_set_error(error, XN_EXIT_ERROR, XN_EXIT_USAGE,
                "--sort is '%s', not name, guest_tx, guest_rx or drops", sort);
    return false;
}

static bool run(const struct XnVerbCall *call, GError **error)
{
    struct XnTop top = {.call = *call, .by_queue = queues};
    bool done = top_parse_options(&top, error) &&
                (batch || call->json ? top_run_batch(&top, error) : top_run_screen(&top, error));

    client_close(top.call.client);
    g_clear_pointer(&top.before, json_array_unref);
    g_clear_pointer(&top.rows, g_array_unref);
    g_clear_error(&top.trouble);
    return done;
}

const struct XnVerb verb_top = {
    .name = "top",
    .help = "rates of each vif or queue, live",
    .options = options,
    .offline = true,
    .run = run,
};
