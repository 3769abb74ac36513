/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-store.c - the keys of a vif that change together, or only on a condition
 */
#include "control/vif-store.h"

#include "control/vif-state.h"
#include "xenstore-keys.h"

/* What a transaction writes into a directory, given the state node there. */
struct XnVifStoreWork {
    const char *directory;
    char *state_path;
    /* XenbusStateUnknown: any but that will do. */
    enum xenbus_state expected;
    enum xenbus_state next;
    const struct XnVifOffer *offer;
    const char *name;
    const char *value;
    bool carrier;
    unsigned mtu;
    bool done;
};

bool vif_store_read_state(struct XnStore *store, const char *path, enum xenbus_state *ret_state,
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

/* May the transaction write? Sets `done`, which a body that is run again sets again. */
static bool vif_store_check(struct XnStore *store, struct XnVifStoreWork *work, GError **error)
{
    enum xenbus_state node;

    if (!vif_store_read_state(store, work->state_path, &node, error)) {
        return false;
    }
    work->done =
        work->expected == XenbusStateUnknown ? node != XenbusStateUnknown : node == work->expected;
    return true;
}

static bool vif_store_transact(struct XnStore *store, XnStoreBody body, struct XnVifStoreWork *work,
                               GError **error)
{
    g_autofree char *path = g_strconcat(work->directory, "/", key_backend_state.name, NULL);

    work->state_path = path;
    return store_transact(store, body, work, error);
}

static bool vif_store_state_body(struct XnStore *store, void *opaque, GError **error)
{
    struct XnVifStoreWork *work = opaque;

    if (!vif_store_check(store, work, error)) {
        return false;
    }
    return !work->done || key_backend_state_write(store, work->directory, work->next, error);
}

bool vif_store_write_state(struct XnStore *store, const char *directory, enum xenbus_state expected,
                           enum xenbus_state next, bool *ret_done, GError **error)
{
    struct XnVifStoreWork work = {.directory = directory, .expected = expected, .next = next};

    if (!vif_store_transact(store, vif_store_state_body, &work, error)) {
        return false;
    }
    *ret_done = work.done;
    return true;
}

static bool vif_store_features_body(struct XnStore *store, void *opaque, GError **error)
{
    struct XnVifStoreWork *work = opaque;
    const char *directory = work->directory;

    if (!vif_store_check(store, work, error)) {
        return false;
    }
    if (!work->done) {
        return true;
    }
    return key_backend_feature_guest_rx_copy_write(store, directory, true, error) &&
           key_backend_feature_guest_rx_flip_write(store, directory, false, error) &&
           key_backend_feature_sg_write(store, directory, true, error) &&
           key_backend_feature_gso_tcpv4_write(store, directory, work->offer->gso, error) &&
           key_backend_feature_gso_tcpv6_write(store, directory, work->offer->gso, error) &&
           key_backend_feature_no_csum_offload_write(store, directory, !work->offer->csum, error) &&
           key_backend_feature_ipv6_csum_offload_write(store, directory, work->offer->csum,
                                                       error) &&
           key_backend_feature_split_event_channels_write(store, directory, true, error) &&
           key_backend_feature_ctrl_ring_write(store, directory, true, error) &&
           key_backend_feature_multicast_control_write(store, directory, true, error) &&
           key_backend_feature_dynamic_multicast_control_write(store, directory, true, error) &&
           key_backend_feature_xdp_headroom_write(store, directory, true, error) &&
           key_backend_multi_queue_max_queues_write(store, directory, work->offer->queue_max,
                                                    error);
}

bool vif_store_write_features(struct XnStore *store, const char *directory,
                              enum xenbus_state expected, const struct XnVifOffer *offer,
                              bool *ret_done, GError **error)
{
    struct XnVifStoreWork work = {.directory = directory, .expected = expected, .offer = offer};

    if (!vif_store_transact(store, vif_store_features_body, &work, error)) {
        return false;
    }
    *ret_done = work.done;
    return true;
}

static bool vif_store_carrier_body(struct XnStore *store, void *opaque, GError **error)
{
    struct XnVifStoreWork *work = opaque;

    if (!vif_store_check(store, work, error)) {
        return false;
    }
    return !work->done || key_backend_carrier_write(store, work->directory, work->carrier, error);
}

bool vif_store_write_carrier(struct XnStore *store, const char *directory, bool carrier,
                             GError **error)
{
    struct XnVifStoreWork work = {.directory = directory, .carrier = carrier};

    return vif_store_transact(store, vif_store_carrier_body, &work, error);
}

static bool vif_store_lowered_body(struct XnStore *store, void *opaque, GError **error)
{
    struct XnVifStoreWork *work = opaque;

    if (!vif_store_check(store, work, error)) {
        return false;
    }
    return !work->done ||
           key_backend_mtu_lowered_from_write(store, work->directory, work->mtu, error);
}

bool vif_store_write_lowered(struct XnStore *store, const char *directory, unsigned mtu,
                             GError **error)
{
    struct XnVifStoreWork work = {.directory = directory, .mtu = mtu};

    return vif_store_transact(store, vif_store_lowered_body, &work, error);
}

static bool vif_store_setting_body(struct XnStore *store, void *opaque, GError **error)
{
    struct XnVifStoreWork *work = opaque;
    g_autofree char *path = g_strconcat(work->directory, "/", work->name, NULL);

    if (!vif_store_check(store, work, error)) {
        return false;
    }
    if (!work->done) {
        return true;
    }
    return work->value ? store_write(store, path, work->value, error)
                       : store_remove(store, path, error);
}

bool vif_store_write_setting(struct XnStore *store, const char *directory, const char *name,
                             const char *value, bool *ret_done, GError **error)
{
    struct XnVifStoreWork work = {.directory = directory, .name = name, .value = value};

    if (!vif_store_transact(store, vif_store_setting_body, &work, error)) {
        return false;
    }
    *ret_done = work.done;
    return true;
}

static bool vif_store_mtu_body(struct XnStore *store, void *opaque, GError **error)
{
    struct XnVifStoreWork *work = opaque;
    uint32_t known = 0;

    if (!vif_store_check(store, work, error)) {
        return false;
    }
    if (!work->done ||
        (key_frontend_mtu_read(store, work->directory, &known, NULL) && known == work->mtu)) {
        return true;
    }
    return key_frontend_mtu_write(store, work->directory, work->mtu, error);
}

bool vif_store_write_mtu(struct XnStore *store, const char *frontend_directory, unsigned mtu,
                         GError **error)
{
    struct XnVifStoreWork work = {.directory = frontend_directory, .mtu = mtu};

    return vif_store_transact(store, vif_store_mtu_body, &work, error);
}
