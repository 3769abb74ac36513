/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-settings.h - what the administrator wants of one vif
 *
 * Keys in the backend's own directory, written by the toolstack or by hand; they win over options.
 * A mistake in one of them does not cut the guest off: it is logged, and the default holds.
 */
#ifndef XN_CONTROL_VIF_SETTINGS_H
#define XN_CONTROL_VIF_SETTINGS_H

#include "netif/credit.h"
#include "netif/features.h"
#include "xen/store.h"

/* The limit of one direction. */
struct XnVifRate {
    /* The key's value when it was read last; NULL: absent. */
    char *text;
    struct XnCreditRate rate;
};

/* All false: the defaults. */
struct XnVifSwitches {
    /* Frames are dropped, both ways. */
    bool admin_down;
    /* No super-frames, no blank checksums: guest_rx at once, guest_tx at the next connection. */
    bool no_gso;
    bool no_csum;
    /* Every guest_rx frame has a complete checksum. */
    bool fill_csum;
};

/* All zero: nothing read yet, no limits. */
struct XnVifSettings {
    struct XnVifRate guest_tx_rate;
    struct XnVifRate guest_rx_rate;
    struct XnVifSwitches switches;
};

/* Forgets what was read. */
void vif_settings_clear(struct XnVifSettings *settings);

/*
 * Reads the rates in `directory`, the vif's. *ret_changed: one is not what it was at the last call.
 * `name` is the vif's, for the log. False with an error when xenstore fails.
 */
bool vif_settings_read_rates(struct XnVifSettings *settings, struct XnStore *store,
                             const char *directory, const char *name, bool *ret_changed,
                             GError **error);

/*
 * Takes `text` (NULL: absent) for a rate; returns whether it is another than before. `what` names
 * the direction, for the log.
 */
bool vif_settings_take_rate(struct XnVifRate *rate, const char *text, const char *what,
                            const char *name);

/*
 * Reads the most queues of this vif: its own key, or `option`. A mistake is told in *ret_complaint
 * (else NULL), to be freed with g_free(). False with an error when xenstore fails.
 */
bool vif_settings_read_queue_max(struct XnStore *store, const char *directory, unsigned option,
                                 unsigned *ret_queue_max, char **ret_complaint, GError **error);

/*
 * Whether frames of this vif go directly to neighbours on its bridge, and theirs to it: its own key
 * says so, or its bridge is one of `bridges` (an option; NULL: none) and it has no addresses that
 * the hotplug script filters. *ret_complaint likewise.
 */
bool vif_settings_read_direct(struct XnStore *store, const char *directory,
                              const char *const *bridges, bool *ret_direct, char **ret_complaint,
                              GError **error);

/* Reads the switches in `directory`. Likewise. */
bool vif_settings_read_switches(struct XnStore *store, const char *directory,
                                struct XnVifSwitches *ret_switches, char **ret_complaint,
                                GError **error);

/* What the frontend says it can take, without what the administrator has switched off. Pure. */
struct XnFeatures vif_settings_restrict(const struct XnVifSwitches *switches,
                                        struct XnFeatures features);

#endif
