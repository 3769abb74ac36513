/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-error.c - the nodes that say why a vif was closed
 */
#include "control/store-error.h"

#include <string.h>

#include "base/log.h"
#include "xenstore-keys.h"

struct XnStoreErrorWork {
    uint32_t own_domid;
    char *backend;
    char *error;
    const char *reason;
};

static bool directory_exists(struct XnStore *store, const char *backend)
{
    g_autofree char *path = g_strconcat(backend, "/", key_backend_state.name, NULL);
    g_autofree char *text = store_read(store, path, NULL);

    return text != NULL;
}

static bool store_error_write_body(struct XnStore *store, void *opaque, GError **error)
{
    struct XnStoreErrorWork *work = opaque;

    if (!directory_exists(store, work->backend)) {
        return true;
    }
    return key_backend_error_write(store, work->backend, work->reason, error) &&
           key_error_error_write(store, work->error, work->reason, error);
}

void store_error_write(struct XnStore *store, uint32_t own_domid, struct XnVifId id,
                       const char *reason)
{
    g_autofree char *name = store_node_vif_name(id);
    g_autofree char *backend = store_node_backend(own_domid, id);
    g_autofree char *path = store_node_error(own_domid, id);
    struct XnStoreErrorWork work = {.backend = backend, .error = path, .reason = reason};
    g_autoptr(GError) error = NULL;

    if (!store_transact(store, store_error_write_body, &work, &error)) {
        log_shared(XN_LOG_WARNING, name, "%s", error->message);
    }
}

/*
 * Removes `path`, then each directory above it that has become empty, up to error/. That one stays
 * in a domain other than dom0: the toolstack has made it, and we could not make it again.
 */
static bool remove_upwards(struct XnStore *store, char *path, uint32_t own_domid, GError **error)
{
    for (;;) {
        g_auto(GStrv) names = NULL;
        char *last = strrchr(path, '/');
        bool top = strcmp(last, "/error") == 0 && strstr(path, "/error/") == NULL;

        if (top && own_domid != 0) {
            return true;
        }
        if (!store_remove(store, path, error)) {
            return false;
        }
        if (top) {
            return true;
        }
        *last = '\0';
        names = store_list(store, path, NULL);
        if (!names || names[0]) {
            return true;
        }
    }
}

static bool store_error_clear_body(struct XnStore *store, void *opaque, GError **error)
{
    struct XnStoreErrorWork *work = opaque;
    g_autofree char *path = g_strdup(work->error);

    if (directory_exists(store, work->backend)) {
        g_autofree char *node = g_strconcat(work->backend, "/", key_backend_error.name, NULL);

        if (!store_remove(store, node, error)) {
            return false;
        }
    }
    return remove_upwards(store, path, work->own_domid, error);
}

void store_error_clear(struct XnStore *store, uint32_t own_domid, struct XnVifId id)
{
    g_autofree char *name = store_node_vif_name(id);
    g_autofree char *backend = store_node_backend(own_domid, id);
    g_autofree char *path = store_node_error(own_domid, id);
    struct XnStoreErrorWork work = {.own_domid = own_domid, .backend = backend, .error = path};
    g_autoptr(GError) error = NULL;

    if (!store_transact(store, store_error_clear_body, &work, &error)) {
        log_shared(XN_LOG_WARNING, name, "%s", error->message);
    }
}

void store_error_clear_left(struct XnStore *store, uint32_t own_domid,
                            bool (*has_error)(void *opaque, struct XnVifId id), void *opaque)
{
    g_autofree char *base = store_node_error_base(own_domid);
    g_auto(GStrv) domids = store_list(store, base, NULL);

    for (char **domid = domids; domid && *domid; domid++) {
        g_autofree char *path = g_strconcat(base, "/", *domid, NULL);
        g_auto(GStrv) devids = store_list(store, path, NULL);

        for (char **devid = devids; devid && *devid; devid++) {
            struct XnVifId id;

            if (store_node_parse_number(*domid, XN_DOMID_MAX, &id.domid) &&
                store_node_parse_number(*devid, XN_DEVID_MAX, &id.devid) &&
                !has_error(opaque, id)) {
                store_error_clear(store, own_domid, id);
            }
        }
    }
}
