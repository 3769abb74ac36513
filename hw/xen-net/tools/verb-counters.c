/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-counters.c - qnetctl counters: what there is to count, and what it means
 */
#include <stdio.h>

#include "base/counters.h"
#include "tools/metrics.h"
#include "tools/verb.h"

static gboolean markdown;

static const GOptionEntry options[] = {
    {"markdown", 0, 0, G_OPTION_ARG_NONE, &markdown, "Print docs/metrics.md", NULL},
    G_OPTION_ENTRY_NULL,
};

static void print_markdown(void)
{
    puts(
        "# Counters and metrics\n\n"
        "<!-- Made by qnetctl counters --markdown (make metrics). Do not edit. -->\n\n"
        "What each queue of each vif counts, from one table in hw/xen-net/base/counters.h. "
        "Counters "
        "only grow, from the\nappearance of the vif in this daemon on. guest_tx is what the guest "
        "sends, guest_rx what it receives.\n\n"
        "`qnetctl stats` prints them by the name in the first column; so do `qnetctl stats --json` "
        "and `query-vifs` on the\ncontrol socket. `qnetctl stats --openmetrics` and `--textfile` "
        "use the metric in the last column, with the labels\n`vif`, `domid`, `devid` and `queue`; "
        "beside them stand the gauges `qnetback_connected` and `qnetback_mapped_grants` of\n"
        "each vif.\n\n"
        "| Counter | Unit | Meaning | Metric |\n| --- | --- | --- | --- |");
    for (size_t i = 0; i < counters_queue_table_length; i++) {
        const struct XnCounterInfo *info = &counters_queue_table[i];
        g_autofree char *metric = metrics_name(info);

        printf("| `%s` | %s | %s%s | `%s_total", info->name, info->unit,
               info->reason ? "dropped: " : "", info->help, metric);
        if (info->reason) {
            printf("{reason=\"%s\"}", info->reason);
        }
        puts("` |");
    }
}

static void print_text(void)
{
    for (size_t i = 0; i < counters_queue_table_length; i++) {
        const struct XnCounterInfo *info = &counters_queue_table[i];

        printf("%-26s %-9s %s%s\n", info->name, info->unit, info->reason ? "dropped: " : "",
               info->help);
    }
}

static void print_json(void)
{
    g_autoptr(JsonNode) root = json_node_new(JSON_NODE_ARRAY);
    JsonArray *array = json_array_new();

    for (size_t i = 0; i < counters_queue_table_length; i++) {
        const struct XnCounterInfo *info = &counters_queue_table[i];
        g_autofree char *metric = metrics_name(info);
        JsonObject *object = json_object_new();

        json_object_set_string_member(object, "name", info->name);
        json_object_set_string_member(object, "unit", info->unit);
        json_object_set_string_member(object, "help", info->help);
        json_object_set_string_member(object, "metric", metric);
        if (info->reason) {
            json_object_set_string_member(object, "reason", info->reason);
        }
        json_array_add_object_element(array, object);
    }
    json_node_take_array(root, array);
    verb_print_json(root);
}

static bool run(const struct XnVerbCall *call, GError **error G_GNUC_UNUSED)
{
    if (call->json) {
        print_json();
    } else {
        (markdown ? print_markdown : print_text)();
    }
    return true;
}

const struct XnVerb verb_counters = {
    .name = "counters",
    .help = "what there is to count, and what it means",
    .options = options,
    .offline = true,
    .run = run,
};
