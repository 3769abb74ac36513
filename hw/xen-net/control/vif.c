/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif.c - one vif, from the moment its directory appears until it is gone
 *
 * Theory of operation
 *
 * vif_look() is the only thing that happens to a vif. It reads the facts afresh (vif-facts.c), asks
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
#include "control/vif-private.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/journal-file.h"
#include "control/store-error.h"
#include "control/vif-store.h"
#include "xenstore-keys.h"
#include "trace.h"

/* More steps than any way through the state machine has: a backstop, not a limit. */
#define VIF_STEPS_MAX 32

void vif_log(struct XnVif *vif, enum XnLogLevel level, const char *text)
{
    struct XnLogLimit *limit = level == XN_LOG_DEBUG ? &vif->debug_limit : &vif->log_limit;

    log_write_limited(limit, clock_now_ns(), level, vif->name, "%s", text);
}

void vif_complain(struct XnVif *vif, const char *complaint)
{
    if (complaint && g_strcmp0(complaint, vif->complaint) != 0) {
        log_write_limited(&vif->complaint_limit, clock_now_ns(), XN_LOG_WARNING, vif->name, "%s",
                          complaint);
        g_free(vif->complaint);
        vif->complaint = g_strdup(complaint);
    }
}

void vif_emit(const struct XnVif *vif, struct XnVifEvent event)
{
    event.name = vif->name;
    event.id = vif->id;
    vif->host->event(vif->host->event_opaque, &event);
}

/* Takes over the interface of a vif that was there before us, or makes one. */
static bool vif_open_port(struct XnVif *vif, const char *name, bool carrier, GError **error)
{
    g_assert(!vif->port);
    vif->port = port_open(name, vif->name, XN_VIF_QUEUES_MAX, carrier, error);
    if (!vif->port) {
        return false;
    }
    vif_link_init(&vif->link, vif->host->link_watch, port_index(vif->port));
    return true;
}

/*
 * Remembers for a vif what its last daemon knew: the interface, which the script may have renamed,
 * and what the frontend was offered.
 */
static void vif_recall(struct XnVif *vif, enum xenbus_state node)
{
    struct XnStore *store = vif->host->store;
    bool carrier = node == XenbusStateConnected || node == XenbusStateReconfigured;
    g_autoptr(GError) error = NULL;
    g_autofree char *vifname = NULL;
    uint32_t queue_max = 0;
    uint32_t mtu_lowered_from = 0;

    log_info(vif->name, "found in state %s", vif_state_name(node));
    key_backend_error_read(store, vif->directory, &vif->error, NULL);
    key_backend_mtu_lowered_from_read(store, vif->directory, &mtu_lowered_from, NULL);
    if (key_backend_multi_queue_max_queues_read(store, vif->directory, &queue_max, NULL) &&
        queue_max > 0) {
        vif->queue_max = queue_max;
    }
    key_backend_vifname_read(store, vif->directory, &vifname, NULL);
    if (!vif_open_port(vif, vifname && port_exists(vifname) ? vifname : vif->name, carrier,
                       &error)) {
        vif_complain(vif, error->message);
        return;
    }
    vif->link.mtu_lowered_from = mtu_lowered_from;
}

struct XnVif *vif_create(struct XnVifHost *host, struct XnVifId id, enum xenbus_state node)
{
    struct XnVif *vif = g_new0(struct XnVif, 1);

    vif->host = host;
    vif->id = id;
    vif->name = store_node_vif_name(id);
    vif->directory = store_node_backend(host->own_domid, id);
    vif->queue_max = host->queue_max;
    vif->facts.own = vif_state_found(node);
    vif->facts.shut = vif_state_found_shut(node);
    if (node != XenbusStateInitialising) {
        vif_recall(vif, node);
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
        g_autofree char *token = store_node_token(vif->id);

        store_unwatch(vif->host->store, vif->frontend_directory, token);
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
        journal_file_delete(vif->host->journal_directory, vif->id.domid, vif->id.devid);
    }
    if (keep_interface) {
        port_leave(vif->port);
    } else {
        port_close(vif->port);
    }
    vif_settings_clear(&vif->settings);
    g_free(vif->complaint);
    g_free(vif->error);
    g_free(vif->trouble);
    g_free(vif->frontend_directory);
    g_free(vif->directory);
    g_free(vif->name);
    g_free(vif);
}

bool vif_is_store_trouble(const GError *error)
{
    return error && error->domain == XN_STORE_ERROR;
}

static void vif_report(struct XnVif *vif, const char *reason)
{
    vif_log(vif, XN_LOG_WARNING, reason);
    if (g_strcmp0(vif->error, reason) != 0) {
        store_error_write(vif->host->store, vif->host->own_domid, vif->id, reason);
        g_free(vif->error);
        vif->error_time = g_get_real_time() / G_USEC_PER_SEC;
        vif->error = g_strdup(reason);
    }
}

static void vif_report_frontend_state(struct XnVif *vif)
{
    enum xenbus_state frontend = vif->facts.frontend;
    g_autofree char *reason =
        frontend == XN_FRONTEND_NONSENSE
            ? g_strdup_printf("the frontend's %s is not a number %u..%u", key_frontend_state.name,
                              key_frontend_state.minimum, key_frontend_state.maximum)
            : g_strdup_printf("the frontend is in state %d (%s), where no frontend of a vif can be",
                              (int)frontend, vif_state_name(frontend));

    vif_report(vif, reason);
}

void vif_fail(struct XnVif *vif, enum XnVifShut shut, const char *reason)
{
    if (vif->facts.shut < shut) {
        vif->facts.shut = shut;
    }
    vif_report(vif, reason);
}

static bool vif_prepare(struct XnVif *vif, GError **error)
{
    const struct XnVifSwitches *switches = &vif->settings.switches;
    struct XnVifOffer offer = {.gso = !switches->no_gso && !switches->no_csum,
                               .csum = !switches->no_csum};
    g_autoptr(GError) local_error = NULL;
    g_autofree char *complaint = NULL;
    bool done = false;

    if (!vif->port && !vif_open_port(vif, vif->name, false, &local_error)) {
        vif_fail(vif, XN_VIF_SHUT_FOR_GOOD, local_error->message);
        return true;
    }
    if (!vif_settings_read_queue_max(vif->host->store, vif->directory, vif->host->queue_max,
                                     &vif->queue_max, &complaint, error)) {
        return false;
    }
    vif_complain(vif, complaint);
    if (!vif_read_direct(vif, error)) {
        return false;
    }
    if (vif->direct) {
        /* Neighbours share a worker, and so would all queues. */
        vif->queue_max = 1;
    }
    offer.queue_max = vif->queue_max;
    return vif_store_write_features(vif->host->store, vif->directory, vif->facts.node, &offer,
                                    &done, error);
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
        .log_limit = &vif->log_limit,
        .serial = ++host->serial,
        .gnttab = host->gnttab,
        .workers = host->workers,
        .port = vif->port,
        .counters = vif->counters,
        .credit = &vif->credit,
        .patience = host->patience,
        .journal_directory = host->journal_directory,
        .adopt = adopt,
        .broken = host->broken,
        .opaque = host->opaque,
    };
    struct XnFrontend frontend;
    g_autoptr(GError) local_error = NULL;

    if (!vif->port) {
        g_set_error(&local_error, G_FILE_ERROR, G_FILE_ERROR_NODEV, "there is no interface");
        goto fail;
    }
    if (!key_backend_mac_read(host->store, vif->directory, &config.mac, &local_error) ||
        !vif_read_frontend(vif, &frontend, &local_error)) {
        goto fail;
    }
    config.frontend = &frontend;
    if (!frontend.features.sg) {
        vif_link_lower_mtu(&vif->link, host->store, vif->directory, vif->name);
    } else {
        vif_link_restore_mtu(&vif->link, host->store, vif->directory, vif->name);
    }
    vif->connection = connection_open(&config, &local_error);
    if (vif->connection) {
        g_autofree char *text = vif_describe_connection(vif, adopt);

        connection_set_down(vif->connection, vif->settings.switches.admin_down);
        vif_log(vif, XN_LOG_INFO, text);
        vif_emit(vif, (struct XnVifEvent){.kind = XN_VIF_EVENT_CONNECTED,
                                          .adopted = adopt,
                                          .queue_count = frontend.queue_count});
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

/* The frontend waits until we give it what it can take now. */
static bool vif_reconfigure(struct XnVif *vif, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    g_autofree char *text = NULL;
    struct XnFrontend frontend;

    if (!vif_read_frontend(vif, &frontend, &local_error) ||
        !connection_set_features(vif->connection, &frontend.features, &local_error)) {
        if (vif_is_store_trouble(local_error)) {
            g_propagate_error(error, g_steal_pointer(&local_error));
            return false;
        }
        g_prefix_error(&local_error, "cannot reconfigure: ");
        vif_fail(vif, XN_VIF_SHUT_UNTIL_RESTART, local_error->message);
        return true;
    }
    text =
        g_strdup_printf("reconfigured: %u bytes of headroom", frontend.features.guest_rx_headroom);
    vif_log(vif, XN_LOG_INFO, text);
    return true;
}

static void vif_disconnect(struct XnVif *vif)
{
    if (vif->connection) {
        connection_close(g_steal_pointer(&vif->connection));
        vif->stalled = false;
        vif_log(vif, XN_LOG_INFO, "disconnected");
    }
    vif_link_restore_mtu(&vif->link, vif->host->store, vif->directory, vif->name);
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
    case XN_VIF_RECONFIGURE:
        if (!vif_reconfigure(vif, error)) {
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

static const char *vif_closed_reason(const struct XnVif *vif)
{
    if (vif->error) {
        return vif->error;
    }
    if (!vif->facts.online) {
        return "the toolstack removes the vif";
    }
    return vif->facts.shut == XN_VIF_SHUT_FOR_GOOD ? "the daemon ends" : "the frontend has closed";
}

static void vif_entered(struct XnVif *vif, enum xenbus_state next)
{
    if (next == XenbusStateClosed && vif->facts.own != XenbusStateClosed) {
        vif_emit(vif, (struct XnVifEvent){.kind = XN_VIF_EVENT_CLOSED,
                                          .reason = vif_closed_reason(vif)});
    }
    vif->facts.own = next;
    vif->facts.node = next;
    vif->facts.waited = false;
    log_write_limited(&vif->debug_limit, clock_now_ns(), XN_LOG_DEBUG, vif->name, "state %s",
                      vif_state_name(next));
    trace_vif_state(vif->name, next);
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
    if (!vif_store_read_state(vif->host->store, path, &facts->node, error)) {
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
        vif_report_frontend_state(vif);
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
    if (step.next == facts->node) {
        /* A toolstack that wants the vif closed has written Closing itself. */
        acted = done = true;
    } else {
        acted = vif_store_write_state(vif->host->store, vif->directory, facts->node, step.next,
                                      &done, error);
    }
    if (done) {
        vif_entered(vif, step.next);
    } else if (step.action == XN_VIF_CONNECT) {
        /* Nobody was told; whatever comes next must not find it. */
        vif_disconnect(vif);
    }
    *ret_more = acted;
    return acted;
}

enum XnVifLook vif_look(struct XnVif *vif)
{
    enum XnVifLook look = XN_VIF_LOOK_OK;
    bool more = true;

    for (int i = 0; more && i < VIF_STEPS_MAX; i++) {
        g_autoptr(GError) error = NULL;

        if (!vif_step(vif, &look, &more, &error)) {
            if (store_is_lost(vif->host->store)) {
                return XN_VIF_LOOK_OK;
            }
            if (g_strcmp0(vif->trouble, error->message) != 0) {
                g_free(vif->trouble);
                vif->trouble = g_strdup(error->message);
                vif_log(vif, XN_LOG_WARNING, vif->trouble);
            }
            return XN_VIF_LOOK_AGAIN;
        }
    }
    g_clear_pointer(&vif->trouble, g_free);
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

bool vif_link_event(struct XnVif *vif, unsigned index)
{
    return vif_link_changed(&vif->link, index);
}

void vif_check_stall(struct XnVif *vif)
{
    bool stalled = vif->connection && connection_is_stalled(vif->connection);

    if (stalled != vif->stalled) {
        vif->stalled = stalled;
        vif_emit(vif, (struct XnVifEvent){.kind = stalled ? XN_VIF_EVENT_STALLED
                                                          : XN_VIF_EVENT_RESUMED});
    }
}

struct XnConnection *vif_connection(struct XnVif *vif)
{
    return vif->connection;
}

void vif_shut(struct XnVif *vif)
{
    vif->facts.shut = XN_VIF_SHUT_FOR_GOOD;
}

bool vif_is_closed(const struct XnVif *vif)
{
    return vif->facts.own == XenbusStateClosed;
}

bool vif_has_interface(const struct XnVif *vif)
{
    return vif->port != NULL;
}

bool vif_is_polled(const struct XnVif *vif)
{
    return vif->frontend_directory && !vif->watched;
}

void vif_watch_again(struct XnVif *vif)
{
    if (vif->frontend_directory) {
        vif_watch_frontend(vif);
    }
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
        .error_time = vif->error_time,
        .connected = vif->connection ? connection_frontend(vif->connection) : NULL,
        .mapped_grants = vif->connection ? connection_mapped_grants(vif->connection) : 0,
        .queue_count = vif->queue_max,
        .interface = vif->port ? port_index(vif->port) : 0,
        .link = &vif->link,
        .settings = &vif->settings,
        .direct = vif->direct,
        .stalled = vif->stalled,
        .polled = vif_is_polled(vif),
        .hotplug_failed = vif->hotplug_failed,
        .complaint = vif->complaint,
        .counters = vif->counters,
    };
}
