/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-watch.h - what xenstore's events ask us to look at
 *
 * An event is a hint, never data. All that are waiting are taken together and become a set: look at
 * these vifs, or look at everything. Main thread.
 */
#ifndef XN_CONTROL_STORE_WATCH_H
#define XN_CONTROL_STORE_WATCH_H

#include <glib.h>

#include "control/store-node.h"
#include "xen/store.h"

/* What to look at. */
struct XnStoreHints {
    /* Discovery: vifs may have come or gone. */
    bool all;
    /* The connection to xenstored was lost and is a new one: other watches must be set again. */
    bool renewed;
    /* Array of struct XnVifId, each once. */
    GArray *ids;
};

typedef void (*XnStoreHinted)(void *opaque, const struct XnStoreHints *hints);

struct XnStoreWatch;

/*
 * Watches `base` (the directory of all vifs) and calls `hinted` from the main loop; also for
 * watches that vifs set with a token of store_node_token(). NULL with an error.
 */
struct XnStoreWatch *store_watch_create(struct XnStore *store, const char *base,
                                        XnStoreHinted hinted, void *opaque, GError **error);

/* Ends the watching; NULL is fine. */
void store_watch_free(struct XnStoreWatch *watch);

#endif
