/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-stats.c - qnetctl stats: the counters of each queue
 */
#include <stdio.h>
#include <string.h>

#include "base/counters.h"
#include "tools/metrics.h"
#include "tools/verb.h"

static gboolean openmetrics;
static char *textfile;

static const GOptionEntry options[] = {
    {"openmetrics", 0, 0, G_OPTION_ARG_NONE, &openmetrics, "Print them as OpenMetrics text", NULL},
    {"textfile", 0, 0, G_OPTION_ARG_FILENAME, &textfile,
     "Write them for the node exporter's textfile collector", "FILE"},
    G_OPTION_ENTRY_NULL,
};

static void print_queue(const char *name, guint index, JsonObject *queue)
{
    for (size_t i = 0; i < counters_queue_table_length; i++) {
        const struct XnCounterInfo *info = &counters_queue_table[i];

        printf("%s queue-%u %-26s %15" G_GINT64_FORMAT " %s\n", name, index, info->name,
               verb_number(queue, info->name), info->unit);
    }
}

static void print_stats(JsonArray *vifs)
{
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        JsonObject *vif = json_array_get_object_element(vifs, i);
        JsonArray *queues = verb_array(vif, "queues");

        for (guint j = 0; j < json_array_get_length(queues); j++) {
            print_queue(verb_text(vif, "name"), j, json_array_get_object_element(queues, j));
        }
    }
}

static void print_openmetrics(JsonArray *vifs)
{
    g_autofree char *text = metrics_format(vifs, XN_METRICS_OPENMETRICS);

    fputs(text, stdout);
}

/* The collector may read the file at any time: it is replaced in one go. */
static bool write_textfile(const struct XnVerbCall *call, GError **error)
{
    g_autoptr(JsonArray) vifs = verb_query_vifs(call, call->arguments[0], error);
    g_autoptr(GError) local_error = NULL;
    g_autofree char *text = NULL;

    if (!vifs) {
        return false;
    }
    text = metrics_format(vifs, XN_METRICS_PROMETHEUS);
    if (!g_file_set_contents_full(textfile, text, (gssize)strlen(text),
                                  G_FILE_SET_CONTENTS_CONSISTENT, 0644, &local_error)) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_OUTPUT, "%s", local_error->message);
        return false;
    }
    return true;
}

static bool run(const struct XnVerbCall *call, GError **error)
{
    if (!!openmetrics + !!textfile + call->json > 1) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_USAGE,
                    "only one of --openmetrics, --textfile and --json makes sense");
        return false;
    }
    if (textfile) {
        return write_textfile(call, error);
    }
    return verb_show_vifs(call, openmetrics ? print_openmetrics : print_stats, error);
}

const struct XnVerb verb_stats = {
    .name = "stats",
    .synopsis = "[VIF]",
    .help = "the counters of each queue",
    .most = 1,
    .options = options,
    .run = run,
};
