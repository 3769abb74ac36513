/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.c - what the vifs are doing, as JSON
 */
#include "control/stats.h"

#include <net/if.h>
#include <string.h>

#include "control/vif-explain.h"

struct XnStatsVisit {
    JsonBuilder *builder;
    const char *buffers;
    /* Only this vif; NULL: all. */
    const char *name;
};

static void add_text(JsonBuilder *builder, const char *name, const char *value)
{
    json_builder_set_member_name(builder, name);
    if (value) {
        json_builder_add_string_value(builder, value);
    } else {
        json_builder_add_null_value(builder);
    }
}

static void add_number(JsonBuilder *builder, const char *name, uint64_t value)
{
    json_builder_set_member_name(builder, name);
    json_builder_add_int_value(builder, (gint64)value);
}

static void add_flag(JsonBuilder *builder, const char *name, bool value)
{
    json_builder_set_member_name(builder, name);
    json_builder_add_boolean_value(builder, value);
}

static void add_features(JsonBuilder *builder, const struct XnFrontend *frontend)
{
    const struct XnFeatures *features = &frontend->features;

    json_builder_set_member_name(builder, "features");
    json_builder_begin_object(builder);
    add_flag(builder, "sg", features->sg);
    add_flag(builder, "gso_tcpv4", features->gso_tcpv4);
    add_flag(builder, "gso_tcpv6", features->gso_tcpv6);
    add_flag(builder, "csum_ipv4", features->csum_ipv4);
    add_flag(builder, "csum_ipv6", features->csum_ipv6);
    add_flag(builder, "guest_rx_notify", features->guest_rx_notify);
    add_flag(builder, "split_event_channels",
             frontend->queues[0].guest_tx_channel != frontend->queues[0].guest_rx_channel);
    json_builder_end_object(builder);
}

/* The interface in the host, and the bridge that it is in; by index, since scripts rename them. */
static void add_interface(JsonBuilder *builder, const struct XnVifStatus *status)
{
    char interface[IF_NAMESIZE] = "";
    char bridge[IF_NAMESIZE] = "";
    const struct XnLink *link = &status->link->link;

    add_text(builder, "interface",
             status->interface ? if_indextoname(status->interface, interface) : NULL);
    add_text(builder, "bridge", link->bridge ? if_indextoname(link->bridge, bridge) : NULL);
    add_flag(builder, "interface_up", link->up);
    add_number(builder, "mtu", link->mtu);
}

static void add_settings(JsonBuilder *builder, const struct XnVifStatus *status)
{
    const struct XnVifSettings *settings = status->settings;

    json_builder_set_member_name(builder, "settings");
    json_builder_begin_object(builder);
    add_text(builder, "rate", settings->guest_tx_rate.text);
    add_text(builder, "rx_rate", settings->guest_rx_rate.text);
    add_text(builder, "rx_csum", settings->switches.fill_csum ? "fill" : "offload");
    add_flag(builder, "gso", !settings->switches.no_gso);
    add_flag(builder, "csum", !settings->switches.no_csum);
    add_flag(builder, "admin_up", !settings->switches.admin_down);
    add_flag(builder, "direct", status->direct);
    json_builder_end_object(builder);
}

/* Why each feature is on or off. */
static void add_negotiation(JsonBuilder *builder, const struct XnVifStatus *status)
{
    struct XnVifFeature features[XN_VIF_FEATURES];

    vif_explain(status->connected, &status->settings->switches, status->direct, features);
    json_builder_set_member_name(builder, "negotiation");
    json_builder_begin_array(builder);
    for (unsigned i = 0; i < XN_VIF_FEATURES; i++) {
        json_builder_begin_object(builder);
        add_text(builder, "name", features[i].name);
        add_flag(builder, "on", features[i].on);
        add_text(builder, "why", features[i].why);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
}

static void add_queue(JsonBuilder *builder, const struct XnQueueCounters *counters)
{
    json_builder_begin_object(builder);
    for (size_t i = 0; i < counters_queue_table_length; i++) {
        const struct XnCounterInfo *info = &counters_queue_table[i];

        add_number(builder, info->name, counter_read(counters, info));
    }
    json_builder_end_object(builder);
}

static void visit_vif(const struct XnVif *vif, void *opaque)
{
    struct XnStatsVisit *visit = opaque;
    JsonBuilder *builder = visit->builder;
    struct XnVifStatus status = vif_status(vif);

    if (visit->name && strcmp(visit->name, status.name) != 0) {
        return;
    }
    json_builder_begin_object(builder);
    add_text(builder, "name", status.name);
    add_number(builder, "domid", status.id.domid);
    add_number(builder, "devid", status.id.devid);
    add_text(builder, "state", vif_state_name(status.own));
    add_text(builder, "frontend_state", vif_state_name(status.frontend));
    add_flag(builder, "hotplug_connected", status.hotplug_connected);
    add_text(builder, "error", status.error);
    if (status.error && status.error_time > 0) {
        add_number(builder, "error_time", (uint64_t)status.error_time);
    }
    add_text(builder, "complaint", status.complaint);
    add_flag(builder, "hotplug_failed", status.hotplug_failed);
    add_flag(builder, "stalled", status.stalled);
    add_flag(builder, "polled", status.polled);
    add_text(builder, "buffers", visit->buffers);
    add_number(builder, "mapped_grants", status.mapped_grants);
    add_interface(builder, &status);
    add_settings(builder, &status);
    if (status.connected) {
        add_number(builder, "queues_used", status.connected->queue_count);
        add_features(builder, status.connected);
        add_negotiation(builder, &status);
    }
    json_builder_set_member_name(builder, "queues");
    json_builder_begin_array(builder);
    for (unsigned i = 0; i < status.queue_count; i++) {
        add_queue(builder, &status.counters[i]);
    }
    json_builder_end_array(builder);
    json_builder_end_object(builder);
}

JsonNode *stats_vifs(struct XnBackend *backend, const char *name)
{
    g_autoptr(JsonBuilder) builder = json_builder_new();
    struct XnStatsVisit visit = {
        .builder = builder,
        .buffers = backend_buffer_kind(backend) == XN_BUFFERS_GRANTED ? "granted" : "plain",
        .name = name,
    };

    json_builder_begin_array(builder);
    backend_foreach(backend, visit_vif, &visit);
    json_builder_end_array(builder);
    return json_builder_get_root(builder);
}
