/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-world.c - what surrounds the control plane in store-fuzz.c
 *
 * Theory of operation
 *
 * The functions of libxenstore and GLib that the control plane uses are defined here, so the linker
 * takes these. Whatever the daemon writes is checked on its way: into a vif's directory only while
 * that exists (a deleted directory is never made again), only states that a backend may have, into
 * a frontend's directory nothing but the MTU.
 */
#include "store-world.h"

#include <errno.h>
#include <glib-unix.h>
#include <stdlib.h>
#include <string.h>
#include <xenstore.h>

#define EVENTS_MAX 512u
/* Ids of sources that are ours. */
#define FIRST_ID 1000u
#define TRANSACTION 1u

struct Timer {
    guint id;
    GSourceFunc function;
    gpointer data;
};

struct Descriptor {
    guint id;
    GUnixFDSourceFunc function;
    gpointer data;
};

struct World world;
static GArray *timers;
static GArray *descriptors;
static guint next_id;

/* --- xenstore --- */

static GHashTable *nodes_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
}

static GHashTable *nodes_copy(GHashTable *nodes)
{
    GHashTable *copy = nodes_new();
    GHashTableIter iter;
    gpointer path, value;

    g_hash_table_iter_init(&iter, nodes);
    while (g_hash_table_iter_next(&iter, &path, &value)) {
        g_hash_table_insert(copy, g_strdup(path), g_bytes_ref(value));
    }
    return copy;
}

static bool is_below(const char *path, const char *base)
{
    size_t length = strlen(base);

    return strncmp(path, base, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

void world_tell(const char *path, const char *token)
{
    if (world.events.length < EVENTS_MAX) {
        g_queue_push_tail(&world.events, g_strdup(path));
        g_queue_push_tail(&world.events, g_strdup(token));
    }
}

static void changed(const char *path)
{
    for (guint i = 0; i < world.watches->len; i++) {
        const char *watch = g_ptr_array_index(world.watches, i);
        const char *base = strchr(watch, ' ') + 1;
        g_autofree char *token = g_strndup(watch, (gsize)(base - 1 - watch));

        if (is_below(path, base)) {
            world_tell(path, token);
        }
    }
}

void world_write(const char *path, const char *value, int length)
{
    g_hash_table_insert(world.nodes, g_strdup(path),
                        g_bytes_new(value, length < 0 ? strlen(value) : (gsize)length));
    changed(path);
}

static void remove_below(const char *base)
{
    GHashTableIter iter;
    gpointer path;

    g_hash_table_iter_init(&iter, world.nodes);
    while (g_hash_table_iter_next(&iter, &path, NULL)) {
        if (is_below(path, base)) {
            g_hash_table_iter_remove(&iter);
        }
    }
}

void world_remove(const char *path)
{
    remove_below(path);
    changed(path);
}

bool world_has(const char *path)
{
    return g_hash_table_contains(world.nodes, path);
}

/* Does this call fail? */
static bool fails(void)
{
    if (world.lost) {
        errno = EBADF;
        return true;
    }
    if (world.fail_after > 0 && --world.fail_after == 0) {
        errno = world.fail_error;
        return true;
    }
    return false;
}

struct xs_handle *xs_open(unsigned long flags)
{
    (void)flags;
    if (world.lost) {
        errno = ECONNREFUSED;
        return NULL;
    }
    return (struct xs_handle *)&world;
}

void xs_close(struct xs_handle *handle)
{
    (void)handle;
    g_ptr_array_set_size(world.watches, 0);
}

int xs_fileno(struct xs_handle *handle)
{
    (void)handle;
    return -1;
}

void *xs_read(struct xs_handle *handle, xs_transaction_t transaction, const char *path,
              unsigned *ret_length)
{
    GBytes *value = g_hash_table_lookup(world.nodes, path);
    gsize length = 0;
    const void *bytes;
    char *copy;

    (void)handle;
    (void)transaction;
    if (fails()) {
        return NULL;
    }
    if (!value) {
        errno = ENOENT;
        return NULL;
    }
    bytes = g_bytes_get_data(value, &length);
    copy = malloc(length + 1);
    g_assert(copy);
    if (length > 0) {
        memcpy(copy, bytes, length);
    }
    copy[length] = '\0';
    *ret_length = (unsigned)length;
    return copy;
}

static void check_write(const char *path, const char *value)
{
    if (g_str_has_prefix(path, WORLD_BASE "/")) {
        g_auto(GStrv) parts = g_strsplit(path + strlen(WORLD_BASE "/"), "/", -1);
        g_autofree char *state = NULL;

        g_assert(g_strv_length(parts) == 3);
        state = g_strdup_printf(WORLD_BASE "/%s/%s/state", parts[0], parts[1]);
        g_assert(world_has(state));
        if (strcmp(parts[2], "state") == 0) {
            g_assert(strlen(value) == 1 && strchr("24568", value[0]));
        }
    } else if (!g_str_has_prefix(path, "/local/domain/0/error/")) {
        g_assert(g_str_has_suffix(path, "/mtu"));
    }
}

bool xs_write(struct xs_handle *handle, xs_transaction_t transaction, const char *path,
              const void *data, unsigned length)
{
    (void)handle;
    (void)transaction;
    if (fails()) {
        return false;
    }
    check_write(path, data);
    world_write(path, data, (int)length);
    return true;
}

bool xs_rm(struct xs_handle *handle, xs_transaction_t transaction, const char *path)
{
    (void)handle;
    (void)transaction;
    if (fails()) {
        return false;
    }
    world_remove(path);
    return true;
}

/* The block that libxenstore returns: pointers, then the strings. */
static char **directory_block(GHashTable *names)
{
    GHashTableIter iter;
    gpointer name;
    size_t size = 0;
    char **block, *text;
    guint i = 0;

    g_hash_table_iter_init(&iter, names);
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        size += sizeof(char *) + strlen(name) + 1;
    }
    block = malloc(size + 1);
    g_assert(block);
    text = (char *)(block + g_hash_table_size(names));
    g_hash_table_iter_init(&iter, names);
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        block[i++] = text;
        text = stpcpy(text, name) + 1;
    }
    return block;
}

char **xs_directory(struct xs_handle *handle, xs_transaction_t transaction, const char *base,
                    unsigned *ret_count)
{
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTableIter iter;
    gpointer path;
    bool found = false;

    (void)handle;
    (void)transaction;
    if (fails()) {
        return NULL;
    }
    g_hash_table_iter_init(&iter, world.nodes);
    while (g_hash_table_iter_next(&iter, &path, NULL)) {
        if (is_below(path, base)) {
            const char *rest = (const char *)path + strlen(base);

            found = true;
            if (rest[0] == '/') {
                g_hash_table_add(names, g_strndup(rest + 1, strcspn(rest + 1, "/")));
            }
        }
    }
    if (!found) {
        errno = ENOENT;
        return NULL;
    }
    *ret_count = g_hash_table_size(names);
    return directory_block(names);
}

xs_transaction_t xs_transaction_start(struct xs_handle *handle)
{
    (void)handle;
    if (fails()) {
        return XBT_NULL;
    }
    g_assert(!world.before);
    world.before = nodes_copy(world.nodes);
    return TRANSACTION;
}

bool xs_transaction_end(struct xs_handle *handle, xs_transaction_t transaction, bool abort)
{
    bool failed = fails();

    (void)handle;
    g_assert(transaction == TRANSACTION && world.before);
    if (abort || failed) {
        g_hash_table_destroy(world.nodes);
        world.nodes = world.before;
    } else {
        g_hash_table_destroy(world.before);
    }
    world.before = NULL;
    return !failed;
}

bool xs_watch(struct xs_handle *handle, const char *path, const char *token)
{
    (void)handle;
    if (fails()) {
        return false;
    }
    for (guint i = 0; i < world.watches->len; i++) {
        g_autofree char *watch = g_strdup_printf("%s %s", token, path);

        if (strcmp(g_ptr_array_index(world.watches, i), watch) == 0) {
            errno = EEXIST;
            return false;
        }
    }
    g_ptr_array_add(world.watches, g_strdup_printf("%s %s", token, path));
    world_tell(path, token);
    return true;
}

bool xs_unwatch(struct xs_handle *handle, const char *path, const char *token)
{
    g_autofree char *watch = g_strdup_printf("%s %s", token, path);

    (void)handle;
    if (fails()) {
        return false;
    }
    for (guint i = 0; i < world.watches->len; i++) {
        if (strcmp(g_ptr_array_index(world.watches, i), watch) == 0) {
            g_ptr_array_remove_index(world.watches, i);
            return true;
        }
    }
    errno = ENOENT;
    return false;
}

char **xs_check_watch(struct xs_handle *handle)
{
    g_autofree char *path = NULL;
    g_autofree char *token = NULL;
    char **event;

    (void)handle;
    if (world.lost || world.events.length == 0) {
        errno = world.lost ? EBADF : EAGAIN;
        return NULL;
    }
    path = g_queue_pop_head(&world.events);
    token = g_queue_pop_head(&world.events);
    event = malloc(2 * sizeof(char *) + strlen(path) + strlen(token) + 2);
    g_assert(event);
    event[XS_WATCH_PATH] = (char *)(event + 2);
    event[XS_WATCH_TOKEN] = stpcpy(event[XS_WATCH_PATH], path) + 1;
    strcpy(event[XS_WATCH_TOKEN], token);
    return event;
}

/* --- GLib --- */

guint g_timeout_add(guint interval, GSourceFunc function, gpointer data)
{
    struct Timer timer = {.id = next_id++, .function = function, .data = data};

    (void)interval;
    g_array_append_val(timers, timer);
    return timer.id;
}

guint g_timeout_add_seconds(guint interval, GSourceFunc function, gpointer data)
{
    return g_timeout_add(interval, function, data);
}

guint g_unix_fd_add(gint fd, GIOCondition condition, GUnixFDSourceFunc function, gpointer data)
{
    struct Descriptor descriptor = {.id = next_id++, .function = function, .data = data};

    (void)fd;
    (void)condition;
    g_array_append_val(descriptors, descriptor);
    return descriptor.id;
}

gboolean g_source_remove(guint id)
{
    for (guint i = 0; i < timers->len; i++) {
        if (g_array_index(timers, struct Timer, i).id == id) {
            g_array_remove_index(timers, i);
            return TRUE;
        }
    }
    for (guint i = 0; i < descriptors->len; i++) {
        if (g_array_index(descriptors, struct Descriptor, i).id == id) {
            g_array_remove_index(descriptors, i);
            return TRUE;
        }
    }
    g_assert_not_reached();
}

void world_dispatch(void)
{
    for (guint i = 0; i < descriptors->len; i++) {
        struct Descriptor descriptor = g_array_index(descriptors, struct Descriptor, i);

        if (!descriptor.function(-1, G_IO_IN, descriptor.data)) {
            g_source_remove(descriptor.id);
        }
    }
}

bool world_fire_timer(unsigned index)
{
    struct Timer timer;

    if (timers->len == 0) {
        return false;
    }
    timer = g_array_index(timers, struct Timer, index % timers->len);
    /* It may have removed itself by the time it returns. */
    if (!timer.function(timer.data)) {
        for (guint i = 0; i < timers->len; i++) {
            if (g_array_index(timers, struct Timer, i).id == timer.id) {
                g_array_remove_index(timers, i);
                break;
            }
        }
    }
    return true;
}

unsigned world_timers(void)
{
    return timers->len;
}

/* --- its life --- */

void world_begin(void)
{
    memset(&world, 0, sizeof(world));
    world.nodes = nodes_new();
    world.watches = g_ptr_array_new_with_free_func(g_free);
    world.mtu = 1500;
    timers = g_array_new(FALSE, FALSE, sizeof(struct Timer));
    descriptors = g_array_new(FALSE, FALSE, sizeof(struct Descriptor));
    next_id = FIRST_ID;
    world_write("domid", "0", -1);
}

void world_end(void)
{
    g_assert(world.connections == 0 && world.ports == 0);
    g_assert(timers->len == 0 && descriptors->len == 0);
    g_array_free(timers, TRUE);
    g_array_free(descriptors, TRUE);
    g_queue_clear_full(&world.events, g_free);
    g_ptr_array_free(world.watches, TRUE);
    g_hash_table_destroy(world.nodes);
}
