/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-facts.c - what xenstore says about a vif
 *
 * Theory of operation
 *
 * Everything is read afresh at each look; an event in between is a look too many, never one too
 * few. What a connected guest or an administrator may change at any time takes effect right here.
 * The rest goes into the facts, for the state machine.
 */
#include <string.h>

#include "base/clock.h"
#include "control/vif-private.h"
#include "control/vif-store.h"
#include "xenstore-keys.h"

void vif_watch_frontend(struct XnVif *vif)
{
    g_autofree char *token = store_node_token(vif->id);
    g_autoptr(GError) error = NULL;

    vif->watched = store_watch(vif->host->store, vif->frontend_directory, token, &error);
    if (!vif->watched && vif->polls == 0) {
        log_shared(XN_LOG_DEBUG, vif->name, "%s; polling the frontend instead", error->message);
    }
}

bool vif_poll(struct XnVif *vif)
{
    g_autofree char *path = g_strconcat(vif->frontend_directory, "/state", NULL);
    enum xenbus_state frontend;

    if (vif->polls == 0) {
        /* Not all of them at the same time. */
        vif->polls = g_str_hash(vif->name);
    }
    if (++vif->polls % XN_VIF_POLLS_WHOLE == 0) {
        /* There may be a watch to have again. */
        vif_watch_frontend(vif);
        return true;
    }
    return !vif_store_read_state(vif->host->store, path, &frontend, NULL) ||
           frontend != vif->facts.frontend;
}

bool vif_identify(struct XnVif *vif, bool *ret_known, GError **error)
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
        vif->link.stale = true;
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

bool vif_read_frontend(struct XnVif *vif, struct XnFrontend *ret_frontend, GError **error)
{
    if (!frontend_read(vif->host->store, vif->frontend_directory, vif->queue_max, ret_frontend,
                       error)) {
        return false;
    }
    ret_frontend->features = vif_settings_restrict(&vif->settings.switches, ret_frontend->features);
    return true;
}

/* What the administrator switches takes effect at once, as far as the frontend need not know. */
static void vif_follow_features(struct XnVif *vif, const struct XnFeatures *features)
{
    g_autoptr(GError) error = NULL;

    if (features_equal(features, &connection_frontend(vif->connection)->features)) {
        return;
    }
    if (connection_set_features(vif->connection, features, &error)) {
        vif_log(vif, XN_LOG_INFO, "guest_rx offloads have changed");
    } else {
        vif_fail(vif, XN_VIF_SHUT_UNTIL_RESTART, error->message);
    }
}

/*
 * What a connected frontend may change: whether it wants its multicast filtered, at any time; what
 * it can take, when it reconfigures; and its rings, when it went through a restart that we did not
 * see. Keys that do not make sense count only at the next connection.
 */
static void vif_reread_frontend(struct XnVif *vif)
{
    struct XnVifFacts *facts = &vif->facts;
    const struct XnFrontend *known;
    struct XnFrontend frontend;

    facts->rings_changed = false;
    facts->features_changed = false;
    if (!vif->connection ||
        (facts->frontend != XenbusStateConnected && facts->frontend != XenbusStateReconfiguring) ||
        !vif_read_frontend(vif, &frontend, NULL)) {
        return;
    }
    known = connection_frontend(vif->connection);
    facts->rings_changed = !frontend_same_rings(&frontend, known);
    if (features_equal(&frontend.said, &known->said)) {
        vif_follow_features(vif, &frontend.features);
    }
    facts->features_changed = !features_equal(&frontend.features, &known->features);
    if (!facts->rings_changed && frontend.multicast_filter != known->multicast_filter) {
        connection_set_multicast_filter(vif->connection, frontend.multicast_filter);
        vif_log(vif, XN_LOG_DEBUG,
                frontend.multicast_filter ? "multicast is filtered" : "all multicast is wanted");
    }
}

static bool vif_follow_rates(struct XnVif *vif, GError **error)
{
    struct XnVifSettings *settings = &vif->settings;
    bool changed = false;

    if (!vif_settings_read_rates(settings, vif->host->store, vif->directory, vif->name, &changed,
                                 error)) {
        return false;
    }
    if (changed) {
        uint64_t now = clock_now_ns();

        credit_set(&vif->credit.guest_tx, &settings->guest_tx_rate.rate, now);
        credit_set(&vif->credit.guest_rx, &settings->guest_rx_rate.rate, now);
    }
    if (changed && vif->connection) {
        connection_set_rates(vif->connection, &settings->guest_tx_rate.rate,
                             &settings->guest_rx_rate.rate);
    }
    return true;
}

static bool vif_follow_switches(struct XnVif *vif, GError **error)
{
    struct XnVifSwitches *switches = &vif->settings.switches;
    g_autofree char *complaint = NULL;
    bool was_down = switches->admin_down;

    if (!vif_settings_read_switches(vif->host->store, vif->directory, switches, &complaint,
                                    error)) {
        return false;
    }
    vif_complain(vif, complaint);
    if (switches->admin_down != was_down) {
        log_info(vif->name, switches->admin_down
                                ? "set down by the administrator: all frames are dropped"
                                : "set up by the administrator");
    }
    if (vif->connection) {
        connection_set_down(vif->connection, switches->admin_down);
    }
    return true;
}

/* The guest is told its MTU when the script has set it. */
static bool vif_follow_link(struct XnVif *vif, GError **error)
{
    return vif_link_follow(&vif->link, vif->host->store, vif->directory,
                           vif->facts.hotplug_connected ? vif->frontend_directory : NULL, vif->name,
                           error);
}

bool vif_read_direct(struct XnVif *vif, GError **error)
{
    g_autofree char *complaint = NULL;

    if (!vif_settings_read_direct(vif->host->store, vif->directory, vif->host->direct_bridges,
                                  &vif->direct, &complaint, error)) {
        return false;
    }
    vif_complain(vif, complaint);
    return true;
}

/*
 * The short cut joins only what the bridge would: interfaces in it that are up, and get every frame
 * that is for them. Isolated ports and VLANs are the bridge's business.
 */
static bool vif_follow_direct(struct XnVif *vif, GError **error)
{
    bool joined = vif->link.joined && !vif->settings.switches.admin_down;
    unsigned bridge;

    if (!vif->connection) {
        return true;
    }
    if (!vif_read_direct(vif, error)) {
        return false;
    }
    bridge = vif->direct && joined ? vif->link.link.bridge : 0;
    if (connection_set_bridge(vif->connection, bridge)) {
        vif_log(vif, XN_LOG_INFO,
                bridge != 0 ? "frames of neighbours come directly"
                            : "frames of neighbours come through the bridge");
    }
    return true;
}

bool vif_read_facts(struct XnVif *vif, GError **error)
{
    struct XnVifFacts *facts = &vif->facts;
    g_autofree char *frontend_state = g_strconcat(vif->frontend_directory, "/state", NULL);

    if (!vif_store_read_state(vif->host->store, frontend_state, &facts->frontend, error) ||
        !key_backend_online_read(vif->host->store, vif->directory, &facts->online, error) ||
        !vif_read_hotplug(vif, error) || !vif_follow_switches(vif, error) ||
        !vif_follow_rates(vif, error) || !vif_follow_link(vif, error) ||
        !vif_follow_direct(vif, error)) {
        return false;
    }
    vif_reread_frontend(vif);
    facts->unserved = vif->connection == NULL;
    return true;
}
