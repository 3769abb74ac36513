/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-commands.c - what the daemon does for clients of its control socket
 */
#include "control/ctl-commands.h"

#include <unistd.h>

#include "base/log.h"
#include "control/rings.h"
#include "control/stats.h"
#include "control/vif-set.h"

static JsonNode *command_query_status(JsonObject *arguments G_GNUC_UNUSED, void *opaque,
                                      GError **error G_GNUC_UNUSED)
{
    const struct XnCtlContext *context = opaque;
    JsonNode *node = ctl_empty();
    JsonObject *object = json_node_get_object(node);
    bool granted = backend_buffer_kind(context->backend) == XN_BUFFERS_GRANTED;

    json_object_set_string_member(object, "version", XN_VERSION);
    json_object_set_int_member(object, "pid", getpid());
    json_object_set_int_member(object, "started", context->started);
    json_object_set_int_member(object, "domid", backend_own_domid(context->backend));
    json_object_set_int_member(object, "workers", context->workers);
    json_object_set_string_member(object, "buffers", granted ? "granted" : "plain");
    json_object_set_string_member(object, "log_level", log_level_name(log_level()));
    return node;
}

/* The vif that the argument of that name names; NULL with an error. */
static struct XnVif *command_find_vif(const struct XnCtlContext *context, JsonObject *arguments,
                                      GError **error)
{
    const char *name = json_object_get_string_member(arguments, "vif");
    struct XnVif *vif = backend_find(context->backend, name);

    if (!vif) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_DEVICE_NOT_FOUND,
                    "there is no vif '%s', see 'qnetctl list'", name);
    }
    return vif;
}

/* Likewise, of those that are connected. */
static struct XnVif *command_find_connected(const struct XnCtlContext *context,
                                            JsonObject *arguments, GError **error)
{
    struct XnVif *vif = command_find_vif(context, arguments, error);

    if (vif && !vif_connection(vif)) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC,
                    "%s has no rings: it is not connected, see 'qnetctl show %s'",
                    vif_status(vif).name, vif_status(vif).name);
        return NULL;
    }
    return vif;
}

static JsonNode *command_query_vifs(JsonObject *arguments, void *opaque, GError **error)
{
    const struct XnCtlContext *context = opaque;
    const char *name = json_object_get_string_member_with_default(arguments, "vif", NULL);

    if (name && !command_find_vif(context, arguments, error)) {
        return NULL;
    }
    return stats_vifs(context->backend, name);
}

static JsonNode *command_query_rings(JsonObject *arguments, void *opaque, GError **error)
{
    struct XnVif *vif = command_find_connected(opaque, arguments, error);

    return vif ? rings_describe(vif) : NULL;
}

static JsonNode *command_kick(JsonObject *arguments, void *opaque, GError **error)
{
    struct XnVif *vif = command_find_connected(opaque, arguments, error);

    if (!vif) {
        return NULL;
    }
    log_info(vif_status(vif).name, "kicked by the administrator");
    connection_kick(vif_connection(vif));
    return ctl_empty();
}

static JsonNode *command_set_vif(JsonObject *arguments, void *opaque, GError **error)
{
    struct XnVif *vif = command_find_vif(opaque, arguments, error);

    if (!vif || !vif_set(vif, json_object_get_string_member(arguments, "key"),
                         json_object_get_string_member(arguments, "value"), error)) {
        return NULL;
    }
    return ctl_empty();
}

static JsonNode *command_set_log_level(JsonObject *arguments, void *opaque G_GNUC_UNUSED,
                                       GError **error)
{
    const char *name = json_object_get_string_member(arguments, "level");
    enum XnLogLevel level;

    if (!log_level_parse(name, &level)) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC,
                    "the log level is '%s', not error, warning, info or debug", name);
        return NULL;
    }
    log_init(XN_LOG_INFO);
    log_info(NULL, "the log level is %s now", log_level_name(level));
    log_init(level);
    return ctl_empty();
}

static gboolean command_leave_now(gpointer opaque)
{
    backend_leave(opaque);
    return G_SOURCE_REMOVE;
}

/* The reply goes first. */
static JsonNode *command_leave(JsonObject *arguments G_GNUC_UNUSED, void *opaque,
                               GError **error G_GNUC_UNUSED)
{
    const struct XnCtlContext *context = opaque;

    g_idle_add(command_leave_now, context->backend);
    return ctl_empty();
}

static const struct XnCtlArgument query_vifs_arguments[] = {
    {"vif", XN_CTL_TEXT, true, "only this one, such as vif1.0"},
    {NULL, XN_CTL_TEXT, false, NULL},
};

static const struct XnCtlArgument vif_arguments[] = {
    {"vif", XN_CTL_TEXT, false, "such as vif1.0"},
    {NULL, XN_CTL_TEXT, false, NULL},
};

static const struct XnCtlArgument set_vif_arguments[] = {
    {"vif", XN_CTL_TEXT, false, "such as vif1.0"},
    {"key", XN_CTL_TEXT, false, "what to set: the first words of " XN_VIF_SETTINGS},
    {"value", XN_CTL_TEXT, false, "what to set it to: the second words of those"},
    {NULL, XN_CTL_TEXT, false, NULL},
};

static const struct XnCtlArgument set_log_level_arguments[] = {
    {"level", XN_CTL_TEXT, false, "error, warning, info or debug"},
    {NULL, XN_CTL_TEXT, false, NULL},
};

const struct XnCtlCommand ctl_commands[] = {
    {"query-status", "The daemon: version, process, domain, workers", command_query_status, NULL},
    {"query-vifs", "All vifs: states, features, counters of each queue", command_query_vifs,
     query_vifs_arguments},
    {"query-rings", "The rings of a vif, and what they wait for", command_query_rings,
     vif_arguments},
    {"kick", "Looks at a vif's rings as if its guest had just raised an event, and wakes the guest",
     command_kick, vif_arguments},
    {"set-vif", "Changes a setting of a vif, in xenstore; it takes effect at once", command_set_vif,
     set_vif_arguments},
    {"set-log-level", "Logs more or less, until the daemon ends", command_set_log_level,
     set_log_level_arguments},
    {"leave",
     "Ends the daemon; the vifs stay connected for the next one, which must be started soon",
     command_leave, NULL},
    {NULL, NULL, NULL, NULL},
};

static const char *const event_names[] = {
    [XN_VIF_EVENT_ADDED] = "VIF_ADDED",     [XN_VIF_EVENT_CONNECTED] = "VIF_CONNECTED",
    [XN_VIF_EVENT_CLOSED] = "VIF_CLOSED",   [XN_VIF_EVENT_STALLED] = "VIF_STALLED",
    [XN_VIF_EVENT_RESUMED] = "VIF_RESUMED", [XN_VIF_EVENT_REMOVED] = "VIF_REMOVED",
};

const struct XnCtlEvent ctl_events[] = {
    {"VIF_ADDED", "A vif has appeared: vif, domid, devid, as in all events but the last"},
    {"VIF_CONNECTED", "A frontend is served: queues; adopted, when a daemon before us served it"},
    {"VIF_CLOSED", "A vif is closed: reason"},
    {"VIF_STALLED", "A guest takes no frames, and its interface has no carrier"},
    {"VIF_RESUMED", "A guest that was stalled takes frames again"},
    {"VIF_REMOVED", "A vif is gone"},
    {"EVENTS_LOST", "The client did not read: count events were not sent to it"},
    {NULL, NULL},
};

void ctl_emit_vif_event(struct XnCtlServer *server, const struct XnVifEvent *event)
{
    JsonObject *data = json_object_new();

    json_object_set_string_member(data, "vif", event->name);
    json_object_set_int_member(data, "domid", event->id.domid);
    json_object_set_int_member(data, "devid", event->id.devid);
    if (event->kind == XN_VIF_EVENT_CLOSED) {
        json_object_set_string_member(data, "reason", event->reason);
    }
    if (event->kind == XN_VIF_EVENT_CONNECTED) {
        json_object_set_int_member(data, "queues", event->queue_count);
        json_object_set_boolean_member(data, "adopted", event->adopted);
    }
    ctl_server_emit(server, event_names[event->kind], data);
}
