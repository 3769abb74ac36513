/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif.c - one vif, from the moment its directory appears until it is gone
 *
 * Theory of operation
 *
 * vif_look() is the only thing that happens to a vif. It reads the facts afresh from xenstore, asks
 * vif-state.c for the next step, does what the step says, publishes the state that it leads to, and
 * goes on until the vif rests. Watches, timers and workers only cause another look, so it does not
 * matter which of their events are merged, late or spurious.
 *
 * Our state is published in a transaction that reads it first, and only if nobody changed it since
 * the facts were read: a directory that the toolstack has deleted is never made again, and a
 * toolstack that asks for closing is never overruled.
 *
 * The interface is made before state 2 and stays until the directory is gone, since the hotplug
 * script uses it before the vif connects and after it has closed.
 */
#include "control/vif.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/store-error.h"
#include "xenstore-keys.h"

/* More steps than any way through the state machine has: a backstop, not a limit. */
#define VIF_STEPS_MAX 32

struct XnVif {
    struct XnVifHost *host;
    struct XnVifId id;
    char *name;
    char *directory;
    /* From the key `frontend`; NULL until the toolstack has written it. */
    char *frontend_directory;
    bool watched;
    uint64_t mark;

    struct XnVifFacts facts;
    struct XnPort *port;
    struct XnConnection *connection;
    struct XnQueueCounters counters[XN_VIF_QUEUES_MAX];

    guint close_timer;
    /* What stands in the error nodes; NULL when they are not there. */
    char *error;
    bool hotplug_failed;
    struct XnLogLimit log_limit;
};

static void vif_log(struct XnVif *vif, enum XnLogLevel level, const char *text)
{
    log_write_limited(&vif->log_limit, clock_now_ns(), level, vif->name, "%s", text);
}

struct XnVif *vif_create(struct XnVifHost *host, struct XnVifId id, enum xenbus_state node)
{
    struct XnVif *vif = g_new0(struct XnVif, 1);

    vif->host = host;
    vif->id = id;
    vif->name = store_node_vif_name(id);
    vif->directory = store_node_backend(host->own_domid, id);
    vif->facts.own = vif_state_found(node);
    vif->facts.shut = vif_state_found_shut(node);
    if (node != XenbusStateInitialising) {
        g_autoptr(GError) error = NULL;

        log_info(vif->name, "found in state %s", vif_state_name(node));
        key_backend_error_read(host->store, vif->directory, &vif->error, NULL);
        vif->port = port_open(vif->name, host->queue_max, node == XenbusStateConnected, &error);
        if (!vif->port) {
            log_warning(vif->name, "%s", error->message);
        }
    }
    return vif;
}

static void vif_stop_timer(struct XnVif *vif)
{
    if (vif->close_timer != 0) {
        g_source_remove(vif->close_timer);
        vif->close_timer = 0;
    }
}

static void vif_unwatch(struct XnVif *vif)
{
    if (vif->watched) {
        g_autofree char *path = g_strconcat(vif->frontend_directory, "/state", NULL);
        g_autofree char *token = store_node_token(vif->id);

        store_unwatch(vif->host->store, path, token);
        vif->watched = false;
    }
}

void vif_free(struct XnVif *vif, bool keep_interface)
{
    if (!vif) {
        return;
    }
    vif_stop_timer(vif);
    if (keep_interface) {
        connection_leave(vif->connection);
    } else {
        connection_close(vif->connection);
    }
    vif_unwatch(vif);
    if (!keep_interface) {
        store_error_clear(vif->host->store, vif->host->own_domid, vif->id);
    }
    if (keep_interface) {
        port_leave(vif->port);
    } else {
        port_close(vif->port);
    }
    g_free(vif->error);
    g_free(vif->frontend_directory);
    g_free(vif->directory);
    g_free(vif->name);
    g_free(vif);
}

/* --- reading the facts ------------------------------------------------------------------------ */

bool vif_read_state(struct XnStore *store, const char *path, enum xenbus_state *ret_state,
                    GError **error)
{
    g_autoptr(GError) local_error = NULL;
    g_autofree char *text = store_read(store, path, &local_error);
    union XnKeyValue value;

    if (!text) {
        if (g_error_matches(local_error, XN_STORE_ERROR, XN_STORE_ERROR_ABSENT) ||
            g_error_matches(local_error, XN_STORE_ERROR, XN_STORE_ERROR_DENIED)) {
            *ret_state = XenbusStateUnknown;
            return true;
        }
        if (g_error_matches(local_error, XN_STORE_ERROR, XN_STORE_ERROR_MALFORMED)) {
            *ret_state = XN_FRONTEND_NONSENSE;
            return true;
        }
        g_propagate_error(error, g_steal_pointer(&local_error));
        return false;
    }
    if (text[0] == '\0') {
        *ret_state = XenbusStateUnknown;
    } else if (store_key_parse(&key_frontend_state, text, &value, NULL)) {
        *ret_state = (enum xenbus_state)value.number;
    } else {
        *ret_state = XN_FRONTEND_NONSENSE;
    }
    return true;
}

/* The error stands for a moment in which xenstore does not serve us, not for a bad value. */
static bool vif_is_store_trouble(const GError *error)
{
    return error && error->domain == XN_STORE_ERROR;
}

static void vif_report(struct XnVif *vif, const char *reason)
{
    vif_log(vif, XN_LOG_WARNING, reason);
    if (g_strcmp0(vif->error, reason) != 0) {
        store_error_write(vif->host->store, vif->host->own_domid, vif->id, reason);
        g_free(vif->error);
        vif->error = g_strdup(reason);
    }
}

/* Ends what there is, with the reason where people look for it. */
static void vif_fail(struct XnVif *vif, enum XnVifShut shut, const char *reason)
{
    if (vif->facts.shut < shut) {
        vif->facts.shut = shut;
    }
    vif_report(vif, reason);
}

static void vif_watch_frontend(struct XnVif *vif)
{
    g_autofree char *path = g_strconcat(vif->frontend_directory, "/state", NULL);
    g_autofree char *token = store_node_token(vif->id);
    g_autoptr(GError) error = NULL;

    vif->watched = store_watch(vif->host->store, path, token, &error);
    if (!vif->watched) {
        log_debug(vif->name, "%s; polling the frontend instead", error->message);
    }
}

/* Who is at the other end? *ret_known stays false while the toolstack has yet to write it. */
static bool vif_identify(struct XnVif *vif, bool *ret_known, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    g_autofree char *frontend = NULL;
    uint32_t domid = 0;

    if (vif->frontend_directory) {
        *ret_known = true;
        return true;
    }
    if (!key_backend_frontend_read(vif->host->store, vif->directory, &frontend, &local_error) ||
        !key_backend_frontend_id_read(vif->host->store, vif->directory, &domid, &local_error)) {
        if (g_error_matches(local_error, XN_STORE_KEY_ERROR, XN_STORE_KEY_ERROR_ABSENT)) {
            return true;
        }
        g_propagate_error(error, g_steal_pointer(&local_error));
        return false;
    }
    if (domid != vif->id.domid) {
        g_set_error(error, XN_STORE_KEY_ERROR, XN_STORE_KEY_ERROR_MALFORMED,
                    "%s is %u in the directory of domain %u", key_backend_frontend_id.name, domid,
                    vif->id.domid);
        return false;
    }
    vif->frontend_directory = g_steal_pointer(&frontend);
    vif_watch_frontend(vif);
    *ret_known = true;
    return true;
}

static bool vif_read_hotplug(struct XnVif *vif, GError **error)
{
    struct XnStore *store = vif->host->store;
    g_autofree char *status = NULL;
    g_autofree char *text = NULL;

    if (vif->facts.hotplug_connected) {
        return true;
    }
    if (!key_backend_hotplug_status_read(store, vif->directory, &status, error)) {
        return false;
    }
    if (strcmp(status, "connected") == 0) {
        vif->facts.hotplug_connected = true;
        log_info(vif->name, "the hotplug script has set up the interface");
    } else if (strcmp(status, "error") == 0 && !vif->hotplug_failed) {
        if (!key_backend_hotplug_error_read(store, vif->directory, &text, error)) {
            return false;
        }
        vif->hotplug_failed = true;
        log_warning(vif->name, "the hotplug script failed: %s", text[0] ? text : "no reason given");
    }
    return true;
}

/*
 * Has the frontend gone through a restart that we did not see, so that it has other rings now? Keys
 * that do not make sense count only at the next connection.
 */
static bool vif_rings_changed(struct XnVif *vif)
{
    struct XnFrontend frontend;

    return vif->connection && vif->facts.frontend == XenbusStateConnected &&
           frontend_read(vif->host->store, vif->frontend_directory, vif->host->queue_max, &frontend,
                         NULL) &&
           !frontend_same_rings(&frontend, connection_frontend(vif->connection));
}

static bool vif_read_facts(struct XnVif *vif, GError **error)
{
    struct XnVifFacts *facts = &vif->facts;
    g_autofree char *frontend_state = g_strconcat(vif->frontend_directory, "/state", NULL);

    if (!vif_read_state(vif->host->store, frontend_state, &facts->frontend, error) ||
        !key_backend_online_read(vif->host->store, vif->directory, &facts->online, error) ||
        !vif_read_hotplug(vif, error)) {
        return false;
    }
    facts->rings_changed = vif_rings_changed(vif);
    facts->unserved = vif->connection == NULL;
    return true;
}

/* --- doing what follows ------------------------------------------------------------------------
 */

struct XnVifPublish {
    const struct XnVif *vif;
    char *path;
    enum xenbus_state expected;
    enum xenbus_state next;
    bool done;
};

/* Has our state node still the value that the step was decided on? */
static bool vif_publish_allowed(struct XnStore *store, struct XnVifPublish *publish,
                                bool *ret_allowed, GError **error)
{
    enum xenbus_state node;

    if (!vif_read_state(store, publish->path, &node, error)) {
        return false;
    }
    *ret_allowed = node == publish->expected;
    return true;
}

static bool vif_publish_state_body(struct XnStore *store, void *opaque, GError **error)
{
    struct XnVifPublish *publish = opaque;

    if (!vif_publish_allowed(store, publish, &publish->done, error)) {
        return false;
    }
    return !publish->done ||
           key_backend_state_write(store, publish->vif->directory, publish->next, error);
}

static bool vif_publish_features_body(struct XnStore *store, void *opaque, GError **error)
{
    struct XnVifPublish *publish = opaque;
    const char *directory = publish->vif->directory;

    if (!vif_publish_allowed(store, publish, &publish->done, error)) {
        return false;
    }
    if (!publish->done) {
        return true;
    }
    return key_backend_feature_guest_rx_copy_write(store, directory, true, error) &&
           key_backend_feature_guest_rx_flip_write(store, directory, false, error) &&
           key_backend_feature_sg_write(store, directory, true, error) &&
           key_backend_feature_gso_tcpv4_write(store, directory, true, error) &&
           key_backend_feature_gso_tcpv6_write(store, directory, true, error) &&
           key_backend_feature_no_csum_offload_write(store, directory, false, error) &&
           key_backend_feature_ipv6_csum_offload_write(store, directory, true, error) &&
           key_backend_feature_split_event_channels_write(store, directory, true, error) &&
           key_backend_feature_ctrl_ring_write(store, directory, true, error) &&
           key_backend_multi_queue_max_queues_write(store, directory, publish->vif->host->queue_max,
                                                    error);
}

/* *ret_done is false when somebody changed our state meanwhile: look again. */
static bool vif_publish(struct XnVif *vif, XnStoreBody body, enum xenbus_state next, bool *ret_done,
                        GError **error)
{
    g_autofree char *path = g_strconcat(vif->directory, "/", key_backend_state.name, NULL);
    struct XnVifPublish publish = {
        .vif = vif, .path = path, .expected = vif->facts.node, .next = next};

    if (!store_transact(vif->host->store, body, &publish, error)) {
        return false;
    }
    *ret_done = publish.done;
    return true;
}

static bool vif_prepare(struct XnVif *vif, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    bool done = false;

    if (!vif->port) {
        vif->port = port_open(vif->name, vif->host->queue_max, false, &local_error);
        if (!vif->port) {
            vif_fail(vif, XN_VIF_SHUT_FOR_GOOD, local_error->message);
            return true;
        }
    }
    return vif_publish(vif, vif_publish_features_body, vif->facts.own, &done, error);
}

static char *vif_describe_connection(const struct XnVif *vif, bool adopt)
{
    const struct XnFrontend *frontend = connection_frontend(vif->connection);
    const struct XnFeatures *features = &frontend->features;
    bool split = frontend->queues[0].guest_tx_channel != frontend->queues[0].guest_rx_channel;

    return g_strdup_printf("%s: %u queue%s, %s event channel%s, guest_rx%s%s%s%s%s",
                           adopt ? "adopted" : "connected", frontend->queue_count,
                           frontend->queue_count == 1 ? "" : "s", split ? "split" : "one",
                           split ? "s" : "", features->sg ? " sg" : " single-slot",
                           features->csum_ipv4 ? " csum4" : "", features->csum_ipv6 ? " csum6" : "",
                           features->gso_tcpv4 ? " gso4" : "", features->gso_tcpv6 ? " gso6" : "");
}

/* What the frontend wrote is checked first, then everything is set up, or nothing. */
static bool vif_connect(struct XnVif *vif, bool adopt, GError **error)
{
    struct XnVifHost *host = vif->host;
    struct XnConnectionConfig config = {
        .id = vif->id,
        .name = vif->name,
        .serial = ++host->serial,
        .gnttab = host->gnttab,
        .workers = host->workers,
        .port = vif->port,
        .counters = vif->counters,
        .journal_directory = host->journal_directory,
        .adopt = adopt,
        .broken = host->broken,
        .opaque = host->opaque,
    };
    struct XnFrontend frontend;
    g_autoptr(GError) local_error = NULL;

    if (!key_backend_mac_read(host->store, vif->directory, &config.mac, &local_error) ||
        !frontend_read(host->store, vif->frontend_directory, host->queue_max, &frontend,
                       &local_error)) {
        goto fail;
    }
    config.frontend = &frontend;
    vif->connection = connection_open(&config, &local_error);
    if (vif->connection) {
        g_autofree char *text = vif_describe_connection(vif, adopt);

        vif_log(vif, XN_LOG_INFO, text);
        if (vif->error) {
            store_error_clear(host->store, host->own_domid, vif->id);
            g_clear_pointer(&vif->error, g_free);
        }
        return true;
    }

fail:
    if (vif_is_store_trouble(local_error)) {
        g_propagate_error(error, g_steal_pointer(&local_error));
        return false;
    }
    g_prefix_error(&local_error, adopt ? "cannot adopt: " : "cannot connect: ");
    vif_fail(vif, XN_VIF_SHUT_UNTIL_RESTART, local_error->message);
    return true;
}

static void vif_disconnect(struct XnVif *vif)
{
    if (vif->connection) {
        connection_close(g_steal_pointer(&vif->connection));
        vif_log(vif, XN_LOG_INFO, "disconnected");
    }
}

/* *ret_acted is false when the action failed for good, which changed the facts. */
static bool vif_act(struct XnVif *vif, enum XnVifAction action, bool *ret_acted, GError **error)
{
    enum XnVifShut shut = vif->facts.shut;

    switch (action) {
    case XN_VIF_PREPARE:
        if (!vif_prepare(vif, error)) {
            return false;
        }
        break;
    case XN_VIF_CONNECT:
    case XN_VIF_ADOPT:
        if (!vif_connect(vif, action == XN_VIF_ADOPT, error)) {
            return false;
        }
        break;
    case XN_VIF_DISCONNECT:
        vif_disconnect(vif);
        break;
    case XN_VIF_NOTHING:
    case XN_VIF_DESTROY:
        break;
    }
    *ret_acted = vif->facts.shut == shut;
    return true;
}

static void vif_entered(struct XnVif *vif, enum xenbus_state next)
{
    vif->facts.own = next;
    vif->facts.node = next;
    vif->facts.waited = false;
    log_debug(vif->name, "state %s", vif_state_name(next));
}

static gboolean vif_close_timeout(gpointer opaque)
{
    struct XnVif *vif = opaque;

    vif->close_timer = 0;
    vif->facts.waited = true;
    vif_log(vif, XN_LOG_WARNING, "the frontend does not close; closing without it");
    vif->host->look(vif->host->opaque, vif->id);
    return G_SOURCE_REMOVE;
}

static void vif_set_timer(struct XnVif *vif)
{
    if (!vif_state_is_waiting(&vif->facts)) {
        vif_stop_timer(vif);
    } else if (vif->close_timer == 0) {
        vif->close_timer = g_timeout_add(XN_VIF_CLOSE_MS, vif_close_timeout, vif);
    }
}

/* One step; *ret_more is true when another one follows. */
static bool vif_step(struct XnVif *vif, enum XnVifLook *ret_look, bool *ret_more, GError **error)
{
    struct XnVifFacts *facts = &vif->facts;
    g_autoptr(GError) local_error = NULL;
    g_autofree char *path = g_strconcat(vif->directory, "/", key_backend_state.name, NULL);
    struct XnVifStep step;
    bool known = false;
    bool acted = true;
    bool done = false;

    *ret_more = false;
    if (!vif_read_state(vif->host->store, path, &facts->node, error)) {
        return false;
    }
    if (!vif_identify(vif, &known, &local_error)) {
        if (vif_is_store_trouble(local_error)) {
            g_propagate_error(error, g_steal_pointer(&local_error));
            return false;
        }
        vif_fail(vif, XN_VIF_SHUT_FOR_GOOD, local_error->message);
        known = true;
    }
    if (!known && facts->node == facts->own && facts->shut == XN_VIF_OPEN) {
        return true;
    }
    if (vif->frontend_directory && !vif_read_facts(vif, &local_error)) {
        if (vif_is_store_trouble(local_error)) {
            g_propagate_error(error, g_steal_pointer(&local_error));
            return false;
        }
        vif_fail(vif, XN_VIF_SHUT_FOR_GOOD, local_error->message);
    }
    step = vif_state_step(facts);
    if (step.action == XN_VIF_DESTROY) {
        *ret_look = XN_VIF_LOOK_GONE;
        return true;
    }
    if (step.shut == XN_VIF_SHUT_UNTIL_RESTART && facts->shut == XN_VIF_OPEN &&
        facts->node == facts->own && facts->online) {
        vif_report(vif, "the frontend is in a state that no frontend of a vif has");
    }
    facts->shut = step.shut;
    if (!vif_act(vif, step.action, &acted, error)) {
        return false;
    }
    if (!acted) {
        *ret_more = true;
        return true;
    }
    if (step.next == facts->own && step.next == facts->node) {
        return true;
    }
    if (!vif_publish(vif, vif_publish_state_body, step.next, &done, error)) {
        return false;
    }
    if (done) {
        vif_entered(vif, step.next);
    }
    *ret_more = true;
    return true;
}

enum XnVifLook vif_look(struct XnVif *vif)
{
    enum XnVifLook look = XN_VIF_LOOK_OK;
    bool more = true;

    for (int i = 0; more && i < VIF_STEPS_MAX; i++) {
        g_autoptr(GError) error = NULL;

        if (!vif_step(vif, &look, &more, &error)) {
            vif_log(vif, XN_LOG_WARNING, error->message);
            return XN_VIF_LOOK_AGAIN;
        }
    }
    if (look == XN_VIF_LOOK_OK) {
        vif_set_timer(vif);
    }
    return more ? XN_VIF_LOOK_AGAIN : look;
}

void vif_broken(struct XnVif *vif, uint64_t serial, const char *reason)
{
    if (vif->connection && connection_serial(vif->connection) == serial) {
        vif_fail(vif, XN_VIF_SHUT_UNTIL_RESTART, reason);
    }
}

void vif_shut(struct XnVif *vif)
{
    vif->facts.shut = XN_VIF_SHUT_FOR_GOOD;
}

bool vif_is_closed(const struct XnVif *vif)
{
    return vif->facts.own == XenbusStateClosed;
}

bool vif_is_polled(const struct XnVif *vif)
{
    return vif->frontend_directory && !vif->watched;
}

void vif_mark(struct XnVif *vif, uint64_t stamp)
{
    vif->mark = stamp;
}

uint64_t vif_marked(const struct XnVif *vif)
{
    return vif->mark;
}

struct XnVifStatus vif_status(const struct XnVif *vif)
{
    return (struct XnVifStatus){
        .name = vif->name,
        .id = vif->id,
        .own = vif->facts.own,
        .frontend = vif->facts.frontend,
        .hotplug_connected = vif->facts.hotplug_connected,
        .error = vif->error,
        .connected = vif->connection ? connection_frontend(vif->connection) : NULL,
        .mapped_grants = vif->connection ? connection_mapped_grants(vif->connection) : 0,
        .queue_count = vif->host->queue_max,
        .counters = vif->counters,
    };
}
