/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.c - the vifs' counters as text for monitoring systems
 *
 * Theory of operation
 *
 * Both formats want all samples of a metric together, below its description. So the outer loop is
 * over the table of counters, the inner ones over vifs and queues. The counters that split the
 * drops of a direction are one metric with the label "reason"; they stand for it together when the
 * first of them is met.
 */
#include "tools/metrics.h"

#include <string.h>

#include "tools/verb.h"

#define METRICS_PREFIX "qnetback_"

char *metrics_name(const struct XnCounterInfo *info)
{
    size_t length = strlen(info->name);

    if (info->reason) {
        length -= strlen("_") + strlen(info->reason);
    }
    return g_strdup_printf(METRICS_PREFIX "%.*s", (int)length, info->name);
}

/* What can stand between the quotes of a label. */
static char *metrics_escape(const char *value)
{
    GString *text = g_string_new(NULL);

    for (; *value; value++) {
        if (*value == '\n') {
            g_string_append(text, "\\n");
            continue;
        }
        if (*value == '\\' || *value == '"') {
            g_string_append_c(text, '\\');
        }
        g_string_append_c(text, *value);
    }
    return g_string_free(text, FALSE);
}

static char *metrics_vif_labels(JsonObject *vif)
{
    g_autofree char *name = metrics_escape(verb_text(vif, "name"));

    return g_strdup_printf("vif=\"%s\",domid=\"%" G_GINT64_FORMAT "\",devid=\"%" G_GINT64_FORMAT
                           "\"",
                           name, verb_number(vif, "domid"), verb_number(vif, "devid"));
}

/* `suffix` is what the samples' names have and, in OpenMetrics, the metric's has not. */
static void metrics_describe(GString *text, enum XnMetricsFormat format, const char *name,
                             const char *suffix, const char *type, const char *unit,
                             const char *help)
{
    const char *tail = format == XN_METRICS_PROMETHEUS ? suffix : "";

    g_string_append_printf(text, "# HELP %s%s %s.\n# TYPE %s%s %s\n", name, tail, help, name, tail,
                           type);
    if (format == XN_METRICS_OPENMETRICS && unit && g_str_has_suffix(name, unit)) {
        g_string_append_printf(text, "# UNIT %s %s\n", name, unit);
    }
}

static void metrics_add_vif(GString *text, const char *name, const struct XnCounterInfo *info,
                            JsonObject *vif)
{
    g_autofree char *labels = metrics_vif_labels(vif);
    JsonArray *queues = verb_array(vif, "queues");

    for (guint i = 0; i < json_array_get_length(queues); i++) {
        g_string_append_printf(text, "%s_total{%s,queue=\"%u\"", name, labels, i);
        if (info->reason) {
            g_string_append_printf(text, ",reason=\"%s\"", info->reason);
        }
        g_string_append_printf(text, "} %" G_GINT64_FORMAT "\n",
                               verb_number(json_array_get_object_element(queues, i), info->name));
    }
}

static void metrics_add(GString *text, const char *name, const struct XnCounterInfo *info,
                        JsonArray *vifs)
{
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        metrics_add_vif(text, name, info, json_array_get_object_element(vifs, i));
    }
}

static void metrics_add_gauge(GString *text, enum XnMetricsFormat format, JsonArray *vifs,
                              const char *name, const char *help, gint64 (*read)(JsonObject *vif))
{
    metrics_describe(text, format, name, "", "gauge", NULL, help);
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        JsonObject *vif = json_array_get_object_element(vifs, i);
        g_autofree char *labels = metrics_vif_labels(vif);

        g_string_append_printf(text, "%s{%s} %" G_GINT64_FORMAT "\n", name, labels, read(vif));
    }
}

static gint64 metrics_connected(JsonObject *vif)
{
    return strcmp(verb_text(vif, "state"), "Connected") == 0;
}

static gint64 metrics_mapped_grants(JsonObject *vif)
{
    return verb_number(vif, "mapped_grants");
}

static void metrics_add_counters(GString *text, enum XnMetricsFormat format, JsonArray *vifs)
{
    g_autoptr(GHashTable) done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (size_t i = 0; i < counters_queue_table_length; i++) {
        const struct XnCounterInfo *info = &counters_queue_table[i];
        g_autofree char *name = metrics_name(info);

        if (g_hash_table_contains(done, name)) {
            continue;
        }
        metrics_describe(text, format, name, "_total", "counter", info->unit,
                         info->reason ? "frames that were dropped, by reason" : info->help);
        for (size_t j = i; j < counters_queue_table_length; j++) {
            g_autofree char *other = metrics_name(&counters_queue_table[j]);

            if (strcmp(name, other) == 0) {
                metrics_add(text, name, &counters_queue_table[j], vifs);
            }
        }
        g_hash_table_add(done, g_steal_pointer(&name));
    }
}

char *metrics_format(JsonArray *vifs, enum XnMetricsFormat format)
{
    GString *text = g_string_new(NULL);

    metrics_add_gauge(text, format, vifs, METRICS_PREFIX "connected",
                      "1 while the vif is connected to its frontend", metrics_connected);
    metrics_add_gauge(text, format, vifs, METRICS_PREFIX "mapped_grants",
                      "pages of the guest that are mapped", metrics_mapped_grants);
    metrics_add_counters(text, format, vifs);
    if (format == XN_METRICS_OPENMETRICS) {
        g_string_append(text, "# EOF\n");
    }
    return g_string_free(text, FALSE);
}
