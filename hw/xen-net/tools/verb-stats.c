/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-stats.c - qnetctl stats: the counters of each queue
 */
#include <stdio.h>

#include "base/counters.h"
#include "tools/verb.h"

static void print_queue(const char *name, guint index, JsonObject *queue)
{
    for (size_t i = 0; i < counters_queue_table_length; i++) {
        const struct XnCounterInfo *info = &counters_queue_table[i];
        gint64 value = json_object_get_int_member_with_default(queue, info->name, 0);

        printf("%s queue-%u %-26s %15" G_GINT64_FORMAT " %s\n", name, index, info->name, value,
               info->unit);
    }
}

static void print_stats(JsonArray *vifs)
{
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        JsonObject *vif = json_array_get_object_element(vifs, i);
        JsonArray *queues = json_object_get_array_member(vif, "queues");

        for (guint j = 0; j < json_array_get_length(queues); j++) {
            print_queue(verb_text(vif, "name"), j, json_array_get_object_element(queues, j));
        }
    }
}

enum XnExit verb_stats(const struct XnVerbCall *call, GError **error)
{
    return verb_show_vifs(call, print_stats, error);
}
