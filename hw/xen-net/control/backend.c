/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backend.c - the daemon's object: all vifs of this domain
 *
 * Theory of operation
 *
 * Vifs are found by mark and sweep: the directory is listed, each vif in it is stamped and looked
 * at, and whoever was not stamped is gone. So it does not matter which watch events were lost,
 * merged or late; they only tell when to do it, and for which vifs a look is enough.
 *
 * A stop publishes 5 and 6 for each vif and leaves its interface in the bridge: the toolstack can
 * remove the vif at once, and the next daemon opens it again when its frontend starts anew.
 *
 * A guest can write to its directory as fast as it likes, and each look at its vif costs a few
 * dozen questions to xenstored (XSA-349). So in each period of BACKEND_PERIOD_MS a vif gets a few
 * looks at once, and one more at its end if events came after those.
 *
 * The backend owns the vifs; they borrow the store, the mapping handle and the workers from it.
 */
#include "control/backend.h"

#include <glib-unix.h>

#include "base/log.h"
#include "control/journal-file.h"
#include "control/store-error.h"
#include "control/store-key.h"
#include "control/store-watch.h"
#include "control/vif-store.h"

/* How long after trouble with xenstore everything is looked at again. */
#define BACKEND_RETRY_MS 1000u
/* How often frontends are looked at that cannot be watched. */
#define BACKEND_POLL_MS 250u

#define BACKEND_PERIOD_MS 20u
/* Looks that a vif gets at once in a period; connecting takes about as many. */
#define BACKEND_PERIOD_LOOKS 4u
/* How often guests are looked at that may take no frames. */
#define BACKEND_STALL_S 1u
/* Changes of interfaces that are taken before they are acted on. */
#define BACKEND_LINKS_BATCH 256
/* Where Linux lists the vifs that it has seen; the name is followed by -DOMID-DEVID. */
#define BACKEND_KERNEL_VIF "/sys/bus/xen-backend/devices/vif"

struct XnBackend {
    struct XnBackendConfig config;
    struct XnStore *store;
    struct XnGnttab *gnttab;
    struct XnWorkers *workers;
    struct XnVifHost host;
    char *base;
    struct XnStoreWatch *watch;
    struct XnLinkWatch *link_watch;
    guint link_source;
    /* struct XnVifId -> struct XnVif */
    GHashTable *vifs;
    /* struct XnVifId -> how many events it had in this period */
    GHashTable *hinted;
    guint period_timer;
    uint64_t stamp;
    guint retry_timer;
    guint poll_timer;
    guint stall_timer;
    bool poll_said;
    bool left_removed;
    bool stopping;
    bool ended;
};

static guint vif_id_hash(gconstpointer key)
{
    const struct XnVifId *id = key;

    return id->domid * 1000003u + id->devid;
}

static gboolean vif_id_equal(gconstpointer a, gconstpointer b)
{
    const struct XnVifId *x = a;
    const struct XnVifId *y = b;

    return x->domid == y->domid && x->devid == y->devid;
}

static void backend_broken(void *opaque, struct XnVifId id, uint64_t serial, const char *reason);
static void backend_look_at(void *opaque, struct XnVifId id);

bool backend_check(GError **error)
{
    struct XnStore *store = store_open(error);
    struct XnGnttab *gnttab = NULL;
    uint32_t own_domid = 0;
    bool done = store && store_own_domid(store, &own_domid, error);

    if (done) {
        gnttab = gnttab_open(error);
    }
    gnttab_close(gnttab);
    store_close(store);
    return done && gnttab;
}

struct XnBackend *backend_create(const struct XnBackendConfig *config, GError **error)
{
    struct XnBackend *backend = g_new0(struct XnBackend, 1);
    uint32_t own_domid = 0;

    backend->config = *config;
    backend->vifs = g_hash_table_new_full(vif_id_hash, vif_id_equal, g_free, NULL);
    backend->hinted = g_hash_table_new_full(vif_id_hash, vif_id_equal, g_free, NULL);
    backend->store = store_open(error);
    if (!backend->store || !store_own_domid(backend->store, &own_domid, error)) {
        goto fail;
    }
    backend->base = store_node_backend_base(own_domid);
    backend->gnttab = gnttab_open(error);
    if (!backend->gnttab) {
        goto fail;
    }
    backend->workers = workers_create(config->workers, own_domid, config->buffers, error);
    if (!backend->workers) {
        goto fail;
    }
    backend->link_watch = link_watch_open(error);
    if (!backend->link_watch) {
        goto fail;
    }
    backend->host = (struct XnVifHost){
        .store = backend->store,
        .own_domid = own_domid,
        .gnttab = backend->gnttab,
        .workers = backend->workers,
        .link_watch = backend->link_watch,
        .queue_max = config->queue_max,
        .direct_bridges = config->direct_bridges,
        .journal_directory = config->journal_directory,
        .patience = config->patience,
        .broken = backend_broken,
        .look = backend_look_at,
        .opaque = backend,
        .event = config->event,
        .event_opaque = config->opaque,
    };
    return backend;

fail:
    backend_free(backend);
    return NULL;
}

static void backend_hinted(void *opaque, const struct XnStoreHints *hints);
static gboolean backend_links_changed(gint fd, GIOCondition condition, gpointer opaque);

static gboolean backend_check_stalls(gpointer opaque)
{
    struct XnBackend *backend = opaque;
    GHashTableIter iter;
    gpointer vif;

    g_hash_table_iter_init(&iter, backend->vifs);
    while (g_hash_table_iter_next(&iter, NULL, &vif)) {
        vif_check_stall(vif);
    }
    return G_SOURCE_CONTINUE;
}

bool backend_start(struct XnBackend *backend, GError **error)
{
    backend->stall_timer = g_timeout_add_seconds(BACKEND_STALL_S, backend_check_stalls, backend);
    backend->link_source =
        g_unix_fd_add(link_watch_fd(backend->link_watch), G_IO_IN, backend_links_changed, backend);
    /* The first event comes by itself, and makes us look at everything. */
    backend->watch =
        store_watch_create(backend->store, backend->base, backend_hinted, backend, error);
    return backend->watch != NULL;
}

static void backend_end(struct XnBackend *backend)
{
    if (!backend->ended) {
        backend->ended = true;
        backend->config.ended(backend->config.opaque);
    }
}

static void backend_scan(struct XnBackend *backend);

static gboolean backend_retry(gpointer opaque)
{
    struct XnBackend *backend = opaque;

    backend->retry_timer = 0;
    backend_scan(backend);
    return G_SOURCE_REMOVE;
}

static void backend_look_again(struct XnBackend *backend)
{
    if (backend->retry_timer == 0) {
        backend->retry_timer = g_timeout_add(BACKEND_RETRY_MS, backend_retry, backend);
    }
}

/* True while a driver of the kernel, which can be xen-netback only, serves this vif. */
static bool backend_kernel_holds(struct XnVifId id)
{
    g_autofree char *path = g_strdup_printf(BACKEND_KERNEL_VIF "-%u-%u/driver", id.domid, id.devid);

    return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* Looks at one vif, making its object or freeing it as the directory comes and goes. */
static void backend_look(struct XnBackend *backend, struct XnVifId id)
{
    struct XnVif *vif = g_hash_table_lookup(backend->vifs, &id);
    g_autofree char *directory = store_node_backend(backend->host.own_domid, id);
    g_autofree char *path = g_strconcat(directory, "/state", NULL);

    /* A directory may be a new vif's already: then it is looked at once more. */
    for (int i = 0; i < 2; i++) {
        enum XnVifLook look;

        if (!vif) {
            g_autoptr(GError) error = NULL;
            enum xenbus_state node = XenbusStateUnknown;

            if (!vif_store_read_state(backend->store, path, &node, &error)) {
                log_warning(NULL, "%s", error->message);
                backend_look_again(backend);
                return;
            }
            if (node == XenbusStateUnknown || backend->stopping ||
                (backend->config.beside_netback && backend_kernel_holds(id))) {
                return;
            }
            vif = vif_create(&backend->host, id, node);
            g_hash_table_insert(backend->vifs, g_memdup2(&id, sizeof(id)), vif);
            vif_emit(vif, (struct XnVifEvent){.kind = XN_VIF_EVENT_ADDED});
        }
        vif_mark(vif, backend->stamp);
        look = vif_look(vif);
        if (look == XN_VIF_LOOK_AGAIN) {
            backend_look_again(backend);
        }
        if (look != XN_VIF_LOOK_GONE) {
            return;
        }
        log_info(vif_status(vif).name, "removed");
        vif_emit(vif, (struct XnVifEvent){.kind = XN_VIF_EVENT_REMOVED});
        g_hash_table_remove(backend->vifs, &id);
        vif_free(vif, false);
        vif = NULL;
    }
}

static void backend_looked(struct XnBackend *backend);

static gboolean backend_poll(gpointer opaque)
{
    struct XnBackend *backend = opaque;
    g_autoptr(GList) vifs = g_hash_table_get_values(backend->vifs);
    bool any = false;

    for (GList *i = vifs; i; i = i->next) {
        struct XnVif *vif = i->data;

        if (vif_is_polled(vif)) {
            any = true;
            if (vif_poll(vif)) {
                backend_look(backend, vif_status(vif).id);
            }
        }
    }
    if (!any) {
        backend->poll_timer = 0;
    }
    backend_looked(backend);
    return any ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

/* To be called after vifs were looked at. */
static void backend_looked(struct XnBackend *backend)
{
    GHashTableIter iter;
    gpointer value;
    bool all_closed = true;
    bool any_polled = false;

    g_hash_table_iter_init(&iter, backend->vifs);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        all_closed = all_closed && vif_is_closed(value);
        any_polled = any_polled || vif_is_polled(value);
    }
    if (any_polled && backend->poll_timer == 0) {
        backend->poll_timer = g_timeout_add(BACKEND_POLL_MS, backend_poll, backend);
        if (!backend->poll_said) {
            backend->poll_said = true;
            log_warning(NULL,
                        "xenstored's quota of watches for this domain is used up; frontends "
                        "without a watch are looked at every %u ms",
                        BACKEND_POLL_MS);
        }
    }
    if (backend->stopping && (all_closed || store_is_lost(backend->store))) {
        backend_end(backend);
    }
}

static void backend_look_at(void *opaque, struct XnVifId id)
{
    struct XnBackend *backend = opaque;

    backend_look(backend, id);
    backend_looked(backend);
}

/* Looks at all vifs in the directory, whose names are numbers; anything else there is not ours. */
static bool backend_scan_directory(struct XnBackend *backend, GError **error)
{
    g_auto(GStrv) domids = store_list(backend->store, backend->base, error);

    if (!domids) {
        return false;
    }
    for (char **domid = domids; *domid; domid++) {
        g_autofree char *path = g_strconcat(backend->base, "/", *domid, NULL);
        g_auto(GStrv) devids = store_list(backend->store, path, NULL);

        for (char **devid = devids; devid && *devid; devid++) {
            struct XnVifId id;

            if (store_node_parse_number(*domid, XN_DOMID_MAX, &id.domid) &&
                store_node_parse_number(*devid, XN_DEVID_MAX, &id.devid)) {
                backend_look(backend, id);
            }
        }
    }
    return true;
}

/*
 * Removes interfaces of vifs that went away while no daemon ran: those that have our names or
 * labels, and that no vif holds; one may have come since then that closed before it had one. Else
 * the hotplug script could not give one's name to another.
 */
static void backend_remove_left(struct XnBackend *backend)
{
    g_auto(GStrv) names = port_list_left();

    for (char **name = names; *name; name++) {
        g_autofree char *label = port_label(*name);
        const struct XnVif *vif = NULL;
        struct XnVifId id;
        struct XnPort *port;

        if (!store_node_parse_vif_name(label, &id)) {
            continue;
        }
        vif = g_hash_table_lookup(backend->vifs, &id);
        if (!vif || !vif_has_interface(vif)) {
            port = port_open(*name, label, 1, false, NULL);
            if (port) {
                log_info(*name, "removing the interface: its vif is gone");
                port_close(port);
            }
        }
    }
}

static bool backend_knows(void *opaque, uint32_t domid, uint32_t devid)
{
    const struct XnBackend *backend = opaque;
    struct XnVifId id = {.domid = domid, .devid = devid};

    return g_hash_table_contains(backend->vifs, &id);
}

static bool backend_has_error(void *opaque, struct XnVifId id)
{
    const struct XnBackend *backend = opaque;
    const struct XnVif *vif = g_hash_table_lookup(backend->vifs, &id);

    return vif && vif_status(vif).error;
}

static void backend_scan(struct XnBackend *backend)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GList) vifs = NULL;

    if (store_is_lost(backend->store)) {
        /* Not the moment to conclude that vifs are gone. */
        return;
    }
    backend->stamp++;
    if (!backend_scan_directory(backend, &error) &&
        !g_error_matches(error, XN_STORE_ERROR, XN_STORE_ERROR_ABSENT)) {
        log_warning(NULL, "%s", error->message);
        backend_look_again(backend);
        backend_looked(backend);
        return;
    }
    vifs = g_hash_table_get_values(backend->vifs);
    for (GList *i = vifs; i; i = i->next) {
        if (vif_marked(i->data) != backend->stamp) {
            backend_look(backend, vif_status(i->data).id);
        }
    }
    if (!backend->left_removed) {
        backend->left_removed = true;
        backend_remove_left(backend);
        journal_file_delete_left(backend->config.journal_directory, backend_knows, backend);
        store_error_clear_left(backend->store, backend->host.own_domid, backend_has_error, backend);
    }
    backend_looked(backend);
}

static void backend_hint(struct XnBackend *backend, struct XnVifId id);

/* Looks at the vifs that had to wait; they have had the first look of the next period then. */
static gboolean backend_period(gpointer opaque)
{
    struct XnBackend *backend = opaque;
    g_autoptr(GHashTable) hinted = backend->hinted;
    GHashTableIter iter;
    gpointer id;
    gpointer count;

    backend->hinted = g_hash_table_new_full(vif_id_hash, vif_id_equal, g_free, NULL);
    backend->period_timer = 0;
    g_hash_table_iter_init(&iter, hinted);
    while (g_hash_table_iter_next(&iter, &id, &count)) {
        if (GPOINTER_TO_UINT(count) > BACKEND_PERIOD_LOOKS) {
            backend_hint(backend, *(const struct XnVifId *)id);
        }
    }
    backend_looked(backend);
    return G_SOURCE_REMOVE;
}

static void backend_hint(struct XnBackend *backend, struct XnVifId id)
{
    guint count = GPOINTER_TO_UINT(g_hash_table_lookup(backend->hinted, &id)) + 1;

    g_hash_table_replace(backend->hinted, g_memdup2(&id, sizeof(id)), GUINT_TO_POINTER(count));
    if (backend->period_timer == 0) {
        backend->period_timer = g_timeout_add(BACKEND_PERIOD_MS, backend_period, backend);
    }
    if (count <= BACKEND_PERIOD_LOOKS) {
        backend_look(backend, id);
    }
}

static void backend_hinted(void *opaque, const struct XnStoreHints *hints)
{
    struct XnBackend *backend = opaque;
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, backend->vifs);
    while (hints->renewed && g_hash_table_iter_next(&iter, NULL, &value)) {
        vif_watch_again(value);
    }

    if (hints->all) {
        backend_scan(backend);
        return;
    }
    for (guint i = 0; i < hints->ids->len; i++) {
        backend_hint(backend, g_array_index(hints->ids, struct XnVifId, i));
    }
    backend_looked(backend);
}

/* Taken in one go as xenstore's events are, for what one script does makes a handful of changes. */
static gboolean backend_links_changed(gint fd G_GNUC_UNUSED, GIOCondition condition G_GNUC_UNUSED,
                                      gpointer opaque)
{
    struct XnBackend *backend = opaque;
    g_autoptr(GList) vifs = g_hash_table_get_values(backend->vifs);
    g_autoptr(GHashTable) changed = g_hash_table_new(g_direct_hash, g_direct_equal);
    unsigned index;

    for (int i = 0; i < BACKEND_LINKS_BATCH && link_watch_next(backend->link_watch, &index); i++) {
        for (GList *j = vifs; j; j = j->next) {
            if (vif_link_event(j->data, index)) {
                g_hash_table_add(changed, j->data);
            }
        }
    }
    for (GList *j = vifs; j; j = j->next) {
        if (g_hash_table_contains(changed, j->data)) {
            backend_look(backend, vif_status(j->data).id);
        }
    }
    backend_looked(backend);
    return G_SOURCE_CONTINUE;
}

static void backend_broken(void *opaque, struct XnVifId id, uint64_t serial, const char *reason)
{
    struct XnBackend *backend = opaque;
    struct XnVif *vif = g_hash_table_lookup(backend->vifs, &id);

    if (vif) {
        vif_broken(vif, serial, reason);
        backend_look_at(backend, id);
    }
}

void backend_stop(struct XnBackend *backend)
{
    g_autoptr(GList) vifs = g_hash_table_get_values(backend->vifs);

    if (backend->stopping) {
        log_info(NULL, "not waiting for the frontends any longer");
        backend_end(backend);
        return;
    }
    backend->stopping = true;
    log_info(NULL, "closing %u vif%s", g_list_length(vifs), vifs && !vifs->next ? "" : "s");
    for (GList *i = vifs; i; i = i->next) {
        struct XnVif *vif = i->data;

        vif_shut(vif);
        backend_look(backend, vif_status(vif).id);
    }
    backend_looked(backend);
}

void backend_leave(struct XnBackend *backend)
{
    log_info(NULL, "leaving %u vifs to the daemon that comes next",
             g_hash_table_size(backend->vifs));
    backend_end(backend);
}

void backend_free(struct XnBackend *backend)
{
    GHashTableIter iter;
    gpointer value;

    if (!backend) {
        return;
    }
    store_watch_free(backend->watch);
    if (backend->link_source != 0) {
        g_source_remove(backend->link_source);
    }
    if (backend->retry_timer != 0) {
        g_source_remove(backend->retry_timer);
    }
    if (backend->poll_timer != 0) {
        g_source_remove(backend->poll_timer);
    }
    if (backend->period_timer != 0) {
        g_source_remove(backend->period_timer);
    }
    if (backend->stall_timer != 0) {
        g_source_remove(backend->stall_timer);
    }
    g_hash_table_destroy(backend->hinted);
    g_hash_table_iter_init(&iter, backend->vifs);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        vif_free(value, true);
    }
    g_hash_table_destroy(backend->vifs);
    workers_destroy(backend->workers);
    link_watch_close(backend->link_watch);
    gnttab_close(backend->gnttab);
    g_free(backend->base);
    store_close(backend->store);
    g_free(backend);
}

static gint vif_compare(gconstpointer a, gconstpointer b)
{
    struct XnVifId x = vif_status(a).id;
    struct XnVifId y = vif_status(b).id;

    if (x.domid != y.domid) {
        return x.domid < y.domid ? -1 : 1;
    }
    return x.devid < y.devid ? -1 : x.devid > y.devid;
}

void backend_foreach(struct XnBackend *backend,
                     void (*visit)(const struct XnVif *vif, void *opaque), void *opaque)
{
    g_autoptr(GList) vifs = g_list_sort(g_hash_table_get_values(backend->vifs), vif_compare);

    for (GList *i = vifs; i; i = i->next) {
        visit(i->data, opaque);
    }
}

struct XnVif *backend_find(struct XnBackend *backend, const char *name)
{
    struct XnVifId id;

    return store_node_parse_vif_name(name, &id) ? g_hash_table_lookup(backend->vifs, &id) : NULL;
}

uint32_t backend_own_domid(const struct XnBackend *backend)
{
    return backend->host.own_domid;
}

enum XnBufferKind backend_buffer_kind(const struct XnBackend *backend)
{
    return workers_buffer_kind(backend->workers);
}
