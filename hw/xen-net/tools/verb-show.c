/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-show.c - qnetctl show: what there is to know about one vif
 */
#include <stdio.h>

#include "base/counters.h"
#include "tools/verb.h"

static void print_row(const char *name, const char *value)
{
    printf("%-14s %s\n", name, value);
}

static JsonObject *member_object(JsonObject *object, const char *member)
{
    JsonNode *node = json_object_get_member(object, member);

    return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

static void print_state(JsonObject *vif)
{
    g_autofree char *state = g_strdup_printf(
        "%s, frontend %s%s%s", verb_text(vif, "state"), verb_text(vif, "frontend_state"),
        verb_flag(vif, "stalled") ? ", stalled" : "", verb_flag(vif, "polled") ? ", polled" : "");
    g_autofree char *interface =
        g_strdup_printf("%s, %s, MTU %" G_GINT64_FORMAT ", bridge %s", verb_text(vif, "interface"),
                        verb_flag(vif, "interface_up") ? "up" : "down", verb_number(vif, "mtu"),
                        verb_text(vif, "bridge"));

    print_row("vif", verb_text(vif, "name"));
    print_row("state", state);
    print_row("error", verb_text(vif, "error"));
    print_row("complaint", verb_text(vif, "complaint"));
    print_row("hotplug script", verb_flag(vif, "hotplug_connected") ? "done"
                                : verb_flag(vif, "hotplug_failed")  ? "failed"
                                                                    : "not run yet");
    print_row("interface", interface);
}

static void print_settings(JsonObject *vif)
{
    JsonObject *settings = member_object(vif, "settings");

    if (!settings) {
        return;
    }
    printf("%-14s admin %s, rate %s, rx-rate %s, rx-csum %s, gso %s, csum %s, direct %s\n",
           "settings", verb_flag(settings, "admin_up") ? "up" : "down", verb_text(settings, "rate"),
           verb_text(settings, "rx_rate"), verb_text(settings, "rx_csum"),
           verb_flag(settings, "gso") ? "on" : "off", verb_flag(settings, "csum") ? "on" : "off",
           verb_flag(settings, "direct") ? "on" : "off");
}

static void print_features(JsonObject *vif)
{
    JsonArray *features = verb_array(vif, "negotiation");

    for (guint i = 0; i < json_array_get_length(features); i++) {
        JsonObject *feature = json_array_get_object_element(features, i);

        printf("%-14s %-21s %-4s %s\n", i == 0 ? "features" : "", verb_text(feature, "name"),
               verb_flag(feature, "on") ? "on" : "off", verb_text(feature, "why"));
    }
}

static gint64 sum(JsonArray *queues, const char *name)
{
    gint64 total = 0;

    for (guint i = 0; i < json_array_get_length(queues); i++) {
        total += verb_number(json_array_get_object_element(queues, i), name);
    }
    return total;
}

static void print_traffic(JsonArray *queues, const char *row, const char *packets,
                          const char *bytes)
{
    printf("%-14s %" G_GINT64_FORMAT " packets, %" G_GINT64_FORMAT " bytes\n", row,
           sum(queues, packets), sum(queues, bytes));
}

/* Only those that there were. */
static void print_drops(JsonArray *queues)
{
    for (size_t i = 0; i < counters_queue_table_length; i++) {
        const struct XnCounterInfo *info = &counters_queue_table[i];
        gint64 count = info->reason ? sum(queues, info->name) : 0;

        if (count > 0) {
            printf("%-14s %s: %" G_GINT64_FORMAT ", %s\n", "drops", info->name, count, info->help);
        }
    }
}

static void print_vifs(JsonArray *vifs)
{
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        JsonObject *vif = json_array_get_object_element(vifs, i);
        JsonArray *queues = verb_array(vif, "queues");

        print_state(vif);
        print_settings(vif);
        printf("%-14s %" G_GINT64_FORMAT " used, %" G_GINT64_FORMAT " grants mapped, %s buffers\n",
               "queues", verb_number(vif, "queues_used"), verb_number(vif, "mapped_grants"),
               verb_text(vif, "buffers"));
        print_features(vif);
        print_traffic(queues, "guest_tx", "guest_tx_packets", "guest_tx_bytes");
        print_traffic(queues, "guest_rx", "guest_rx_packets", "guest_rx_bytes");
        print_drops(queues);
    }
}

static bool run(const struct XnVerbCall *call, GError **error)
{
    return verb_show_vifs(call, print_vifs, error);
}

const struct XnVerb verb_show = {
    .name = "show",
    .synopsis = "VIF",
    .help = "its states, what was negotiated and why, and drops by reason",
    .least = 1,
    .most = 1,
    .run = run,
};
