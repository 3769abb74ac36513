/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-watch.c - what xenstore's events ask us to look at
 *
 * Theory of operation
 *
 * xenstored can go away: it crashes, or is replaced. Its library says so only to a call that fails,
 * so one is made now and then. Guests are served on meanwhile; when xenstored is back, and knows
 * this domain, the watch is set again and everything is looked at.
 */
#include "control/store-watch.h"

#include <glib-unix.h>
#include <string.h>

#include "base/log.h"

/*
 * Events taken before they are acted on. A guest can write as fast as it likes; the rest waits in
 * the library until the main loop has served everybody else.
 */
#define STORE_WATCH_BATCH 256

#define STORE_WATCH_PROBE_S 5u
#define STORE_WATCH_RECONNECT_S 1u

/* The token of the watch on the directory of all vifs. */
#define STORE_WATCH_TOKEN "backend"

struct XnStoreWatch {
    struct XnStore *store;
    char *base;
    XnStoreHinted hinted;
    void *opaque;
    /* 0 while the connection is lost. */
    guint source;
    guint timer;
};

static void hints_add(struct XnStoreHints *hints, struct XnVifId id)
{
    for (guint i = 0; i < hints->ids->len; i++) {
        const struct XnVifId *known = &g_array_index(hints->ids, struct XnVifId, i);

        if (known->domid == id.domid && known->devid == id.devid) {
            return;
        }
    }
    g_array_append_val(hints->ids, id);
}

static gboolean store_watch_ready(gint fd G_GNUC_UNUSED, GIOCondition condition G_GNUC_UNUSED,
                                  gpointer opaque)
{
    struct XnStoreWatch *watch = opaque;
    struct XnStoreHints hints = {.ids = g_array_new(FALSE, FALSE, sizeof(struct XnVifId))};

    for (int i = 0; i < STORE_WATCH_BATCH; i++) {
        g_autofree char *path = NULL;
        g_autofree char *token = NULL;
        struct XnVifId id;

        if (!store_next_event(watch->store, &path, &token)) {
            break;
        }
        if (store_node_parse_token(token, &id) || (strcmp(token, STORE_WATCH_TOKEN) == 0 &&
                                                   store_node_parse_path(watch->base, path, &id))) {
            hints_add(&hints, id);
        } else {
            hints.all = true;
        }
    }
    watch->hinted(watch->opaque, &hints);
    g_array_free(hints.ids, TRUE);
    return G_SOURCE_CONTINUE;
}

static bool store_watch_set(struct XnStoreWatch *watch, GError **error)
{
    if (!store_watch(watch->store, watch->base, STORE_WATCH_TOKEN, error)) {
        return false;
    }
    watch->source = g_unix_fd_add(store_fd(watch->store), G_IO_IN | G_IO_HUP | G_IO_ERR,
                                  store_watch_ready, watch);
    return true;
}

static gboolean store_watch_reconnect(gpointer opaque);

static gboolean store_watch_probe(gpointer opaque)
{
    struct XnStoreWatch *watch = opaque;

    store_probe(watch->store);
    if (!store_is_lost(watch->store)) {
        return G_SOURCE_CONTINUE;
    }
    log_error(NULL, "the connection to xenstored is lost; guests are served on, but changes wait "
                    "until it is back");
    g_source_remove(watch->source);
    watch->source = 0;
    watch->timer = g_timeout_add_seconds(STORE_WATCH_RECONNECT_S, store_watch_reconnect, watch);
    return G_SOURCE_REMOVE;
}

static gboolean store_watch_reconnect(gpointer opaque)
{
    struct XnStoreWatch *watch = opaque;
    struct XnStoreHints hints = {.all = true, .renewed = true};
    uint32_t own_domid;

    if ((store_is_lost(watch->store) && !store_reconnect(watch->store, NULL)) ||
        !store_own_domid(watch->store, &own_domid, NULL) || !store_watch_set(watch, NULL)) {
        return G_SOURCE_CONTINUE;
    }
    log_info(NULL, "xenstored is back");
    watch->timer = g_timeout_add_seconds(STORE_WATCH_PROBE_S, store_watch_probe, watch);
    watch->hinted(watch->opaque, &hints);
    return G_SOURCE_REMOVE;
}

struct XnStoreWatch *store_watch_create(struct XnStore *store, const char *base,
                                        XnStoreHinted hinted, void *opaque, GError **error)
{
    struct XnStoreWatch *watch = g_new0(struct XnStoreWatch, 1);

    watch->store = store;
    watch->base = g_strdup(base);
    watch->hinted = hinted;
    watch->opaque = opaque;
    if (!store_watch_set(watch, error)) {
        store_watch_free(watch);
        return NULL;
    }
    watch->timer = g_timeout_add_seconds(STORE_WATCH_PROBE_S, store_watch_probe, watch);
    return watch;
}

void store_watch_free(struct XnStoreWatch *watch)
{
    if (!watch) {
        return;
    }
    if (watch->timer != 0) {
        g_source_remove(watch->timer);
    }
    if (watch->source != 0) {
        g_source_remove(watch->source);
        store_unwatch(watch->store, watch->base, STORE_WATCH_TOKEN);
    }
    g_free(watch->base);
    g_free(watch);
}
