/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-settings.c - what the administrator wants of one vif
 */
#include "control/vif-settings.h"

#include <string.h>

#include "base/log.h"
#include "xenstore-keys.h"

#define GUEST_RX_CSUM_FILL "fill"
#define GUEST_RX_CSUM_OFFLOAD "offload"

static void vif_settings_clear_rate(struct XnVifRate *rate)
{
    g_free(rate->text);
    *rate = (struct XnVifRate){0};
}

void vif_settings_clear(struct XnVifSettings *settings)
{
    vif_settings_clear_rate(&settings->guest_tx_rate);
    vif_settings_clear_rate(&settings->guest_rx_rate);
}

bool vif_settings_take_rate(struct XnVifRate *rate, const char *text, const char *what,
                            const char *name)
{
    const char *reason = NULL;

    if (g_strcmp0(rate->text, text) == 0) {
        return false;
    }
    vif_settings_clear_rate(rate);
    rate->text = g_strdup(text);
    if (!text) {
        log_info(name, "%s is not limited any more", what);
    } else if (!credit_parse(text, &rate->rate, &reason)) {
        g_autofree char *quoted = store_key_quote(text);

        log_warning(name, "%s is not limited: the rate '%s' %s", what, quoted, reason);
    } else {
        log_info(name, "%s is limited to %" G_GUINT64_FORMAT " bytes in %" G_GUINT64_FORMAT " us",
                 what, rate->rate.bytes, rate->rate.interval_us);
    }
    return true;
}

bool vif_settings_read_rates(struct XnVifSettings *settings, struct XnStore *store,
                             const char *directory, const char *name, bool *ret_changed,
                             GError **error)
{
    g_autofree char *guest_tx = NULL;
    g_autofree char *guest_rx = NULL;

    if (!key_backend_rate_read(store, directory, &guest_tx, error) ||
        !key_backend_guest_rx_rate_read(store, directory, &guest_rx, error)) {
        return false;
    }
    *ret_changed = vif_settings_take_rate(&settings->guest_tx_rate, guest_tx, "guest_tx", name);
    if (vif_settings_take_rate(&settings->guest_rx_rate, guest_rx, "guest_rx", name)) {
        *ret_changed = true;
    }
    return true;
}

bool vif_settings_read_queue_max(struct XnStore *store, const char *directory, unsigned option,
                                 unsigned *ret_queue_max, char **ret_complaint, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    uint32_t queue_max = 0;

    *ret_complaint = NULL;
    if (!key_backend_max_queues_read(store, directory, &queue_max, &local_error)) {
        if (local_error->domain != XN_STORE_KEY_ERROR) {
            g_propagate_error(error, g_steal_pointer(&local_error));
            return false;
        }
        *ret_complaint = g_strdup_printf("%s; using %u", local_error->message, option);
    }
    *ret_queue_max = queue_max > 0 ? queue_max : option;
    return true;
}

bool vif_settings_read_direct(struct XnStore *store, const char *directory,
                              const char *const *bridges, bool *ret_direct, char **ret_complaint,
                              GError **error)
{
    g_autofree char *direct = NULL;
    g_autofree char *bridge = NULL;
    g_autofree char *ip = NULL;

    *ret_complaint = NULL;
    if (!key_backend_direct_read(store, directory, &direct, error) ||
        !key_backend_ip_read(store, directory, &ip, error) ||
        !key_backend_bridge_read(store, directory, &bridge, error)) {
        return false;
    }
    if (g_strcmp0(direct, "0") == 0 || g_strcmp0(direct, "1") == 0) {
        *ret_direct = direct[0] == '1';
        return true;
    }
    if (direct) {
        g_autofree char *quoted = store_key_quote(direct);

        *ret_complaint = g_strdup_printf("%s is '%s', not 0 or 1", key_backend_direct.name, quoted);
    }
    *ret_direct = bridges && bridge && !ip && g_strv_contains(bridges, bridge);
    return true;
}

/* A flag with a mistake in it has its default, and the mistake is told. */
static bool vif_settings_take_flag(bool read, GError *failure, char **complaint, GError **error)
{
    g_autoptr(GError) local_error = failure;

    if (read) {
        return true;
    }
    if (local_error->domain != XN_STORE_KEY_ERROR) {
        g_propagate_error(error, g_steal_pointer(&local_error));
        return false;
    }
    g_free(*complaint);
    *complaint = g_strdup_printf("%s; using the default", local_error->message);
    return true;
}

bool vif_settings_read_switches(struct XnStore *store, const char *directory,
                                struct XnVifSwitches *ret_switches, char **ret_complaint,
                                GError **error)
{
    struct XnVifSwitches switches = {0};
    g_autofree char *complaint = NULL;
    g_autofree char *guest_rx_csum = NULL;
    GError *failure = NULL;
    bool gso = true;
    bool csum = true;
    bool read;

    *ret_complaint = NULL;
    if (!key_backend_guest_rx_csum_read(store, directory, &guest_rx_csum, error)) {
        return false;
    }
    if (strcmp(guest_rx_csum, GUEST_RX_CSUM_FILL) == 0) {
        switches.fill_csum = true;
    } else if (strcmp(guest_rx_csum, GUEST_RX_CSUM_OFFLOAD) != 0) {
        g_autofree char *quoted = store_key_quote(guest_rx_csum);

        complaint = g_strdup_printf("%s is '%s', not " GUEST_RX_CSUM_OFFLOAD
                                    " or " GUEST_RX_CSUM_FILL "; using " GUEST_RX_CSUM_OFFLOAD,
                                    key_backend_guest_rx_csum.name, quoted);
    }
    read = key_backend_admin_down_read(store, directory, &switches.admin_down, &failure);
    if (!vif_settings_take_flag(read, g_steal_pointer(&failure), &complaint, error)) {
        return false;
    }
    read = key_backend_gso_read(store, directory, &gso, &failure);
    if (!vif_settings_take_flag(read, g_steal_pointer(&failure), &complaint, error)) {
        return false;
    }
    read = key_backend_csum_read(store, directory, &csum, &failure);
    if (!vif_settings_take_flag(read, g_steal_pointer(&failure), &complaint, error)) {
        return false;
    }
    switches.no_gso = !gso;
    switches.no_csum = !csum;
    *ret_switches = switches;
    *ret_complaint = g_steal_pointer(&complaint);
    return true;
}

struct XnFeatures vif_settings_restrict(const struct XnVifSwitches *switches,
                                        struct XnFeatures features)
{
    if (switches->no_csum || switches->fill_csum) {
        features.csum_ipv4 = false;
        features.csum_ipv6 = false;
    }
    if (switches->no_gso) {
        features.gso_tcpv4 = false;
        features.gso_tcpv6 = false;
    }
    return features_normalise(features);
}
