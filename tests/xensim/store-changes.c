/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-changes.c - a list of changes to xenstore, applied in one transaction.
 */
#include "store-changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PERMISSIONS 8
#define MAX_TRIES 100

bool store_changes_add(struct StoreChanges *changes, const char *line)
{
    struct StoreChange *change = calloc(1, sizeof(*change));
    char *rest = strdup(line);

    change->line = rest;
    rest[strcspn(rest, "\n")] = '\0';
    change->verb = strsep(&rest, "\t");
    change->path = strsep(&rest, "\t");
    change->value = rest ? rest : "";
    if (!change->path) {
        free(change->line);
        free(change);
        return false;
    }
    if (changes->last) {
        changes->last->next = change;
    } else {
        changes->first = change;
    }
    changes->last = change;
    return true;
}

void store_changes_clear(struct StoreChanges *changes)
{
    while (changes->first) {
        struct StoreChange *change = changes->first;

        changes->first = change->next;
        free(change->line);
        free(change);
    }
    changes->last = NULL;
}

static bool set_permissions(struct xs_handle *store, xs_transaction_t transaction,
                            const struct StoreChange *change)
{
    struct xs_permissions permissions[MAX_PERMISSIONS];
    unsigned count = 0;
    char *copy = strdup(change->value);
    char *rest = copy;
    char *item;

    while ((item = strsep(&rest, ",")) && count < MAX_PERMISSIONS) {
        if (!xs_strings_to_perms(&permissions[count], 1, item)) {
            free(copy);
            errno = EINVAL;
            return false;
        }
        count++;
    }
    free(copy);
    return xs_set_permissions(store, transaction, change->path, permissions, count);
}

static bool remove_node(struct xs_handle *store, xs_transaction_t transaction, const char *path)
{
    return xs_rm(store, transaction, path) || errno == ENOENT;
}

static bool remove_with_empty_parents(struct xs_handle *store, xs_transaction_t transaction,
                                      const char *path)
{
    char *parent = strdup(path);
    char *slash;
    bool done = remove_node(store, transaction, path);

    while (done && (slash = strrchr(parent, '/')) && slash != parent) {
        unsigned count = 0;
        char **children;

        *slash = '\0';
        children = xs_directory(store, transaction, parent, &count);
        free(children);
        if (!children || count) {
            break;
        }
        done = remove_node(store, transaction, parent);
    }
    free(parent);
    return done;
}

static bool change_apply(struct xs_handle *store, xs_transaction_t transaction,
                         const struct StoreChange *change)
{
    if (strcmp(change->verb, "write") == 0) {
        return xs_write(store, transaction, change->path, change->value,
                        (unsigned)strlen(change->value));
    }
    if (strcmp(change->verb, "mkdir") == 0) {
        return xs_mkdir(store, transaction, change->path);
    }
    if (strcmp(change->verb, "rm") == 0) {
        return remove_node(store, transaction, change->path);
    }
    if (strcmp(change->verb, "tidy") == 0) {
        return remove_with_empty_parents(store, transaction, change->path);
    }
    if (strcmp(change->verb, "perms") == 0) {
        return set_permissions(store, transaction, change);
    }
    errno = EINVAL;
    return false;
}

/* *again when it is to be tried once more. */
static bool try_all(const struct StoreChanges *changes, struct xs_handle *store,
                    const struct StoreChange **failed, bool *again)
{
    xs_transaction_t transaction = xs_transaction_start(store);

    *again = false;
    if (transaction == XBT_NULL) {
        return false;
    }
    for (const struct StoreChange *change = changes->first; change; change = change->next) {
        if (!change_apply(store, transaction, change)) {
            int error = errno;

            *failed = change;
            xs_transaction_end(store, transaction, true);
            errno = error;
            return false;
        }
    }
    if (xs_transaction_end(store, transaction, false)) {
        return true;
    }
    *again = errno == EAGAIN;
    return false;
}

bool store_changes_apply(const struct StoreChanges *changes, struct xs_handle *store,
                         const struct StoreChange **failed)
{
    bool again = true;
    bool done = false;

    *failed = NULL;
    for (int tries = 0; again && tries < MAX_TRIES; tries++) {
        done = try_all(changes, store, failed, &again);
    }
    return done;
}
