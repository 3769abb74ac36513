/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-watch.c - what xenstore's events ask us to look at
 */
#include "control/store-watch.h"

#include <glib-unix.h>
#include <string.h>

/*
 * Events taken before they are acted on. A guest can write as fast as it likes; the rest waits in
 * the library until the main loop has served everybody else.
 */
#define STORE_WATCH_BATCH 256

/* The token of the watch on the directory of all vifs. */
#define STORE_WATCH_TOKEN "backend"

struct XnStoreWatch {
    struct XnStore *store;
    char *base;
    XnStoreHinted hinted;
    void *opaque;
    guint source;
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
        if (store_node_parse_token(token, &id)) {
            hints_add(&hints, id);
        } else if (strcmp(token, STORE_WATCH_TOKEN) == 0 &&
                   store_node_parse_path(watch->base, path, &id)) {
            hints_add(&hints, id);
        } else {
            hints.all = true;
        }
    }
    watch->hinted(watch->opaque, &hints);
    g_array_free(hints.ids, TRUE);
    return G_SOURCE_CONTINUE;
}

struct XnStoreWatch *store_watch_create(struct XnStore *store, const char *base,
                                        XnStoreHinted hinted, void *opaque, GError **error)
{
    struct XnStoreWatch *watch;

    if (!store_watch(store, base, STORE_WATCH_TOKEN, error)) {
        return NULL;
    }
    watch = g_new0(struct XnStoreWatch, 1);
    watch->store = store;
    watch->base = g_strdup(base);
    watch->hinted = hinted;
    watch->opaque = opaque;
    watch->source =
        g_unix_fd_add(store_fd(store), G_IO_IN | G_IO_HUP | G_IO_ERR, store_watch_ready, watch);
    return watch;
}

void store_watch_free(struct XnStoreWatch *watch)
{
    if (watch) {
        g_source_remove(watch->source);
        store_unwatch(watch->store, watch->base, STORE_WATCH_TOKEN);
        g_free(watch->base);
        g_free(watch);
    }
}
