/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool-store-tx.c - apply several changes to xenstore in one transaction.
 *
 * Reads changes from standard input, one a line, fields separated by tabs:
 *   write PATH VALUE | mkdir PATH | rm PATH | tidy PATH | perms PATH OWNER[,PERM...]
 * PERM is as xenstore-chmod has it: n0, r1, w2, b3; the first is the owner and others' default.
 * tidy removes PATH and then its parents as far as they are empty.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xenstore.h>

#define MAX_PERMISSIONS 8
#define MAX_TRIES 100

struct Change {
    struct Change *next;
    char *line; /* the others point into it */
    const char *verb;
    const char *path;
    const char *value;
};

static struct Change *read_changes(void)
{
    struct Change *first = NULL;
    struct Change **last = &first;
    char *line = NULL;
    size_t size = 0;

    while (getline(&line, &size, stdin) > 0) {
        struct Change *change = calloc(1, sizeof(*change));
        char *rest = strdup(line);

        change->line = rest;
        rest[strcspn(rest, "\n")] = '\0';
        change->verb = strsep(&rest, "\t");
        change->path = strsep(&rest, "\t");
        change->value = rest ? rest : "";
        if (!change->path) {
            fprintf(stderr, "store-tx: a line without a path: %s", line);
            exit(1);
        }
        *last = change;
        last = &change->next;
    }
    free(line);
    return first;
}

static void free_changes(struct Change *changes)
{
    while (changes) {
        struct Change *change = changes;

        changes = change->next;
        free(change->line);
        free(change);
    }
}

static bool set_permissions(struct xs_handle *store, xs_transaction_t transaction,
                            const struct Change *change)
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

static bool apply(struct xs_handle *store, xs_transaction_t transaction,
                  const struct Change *change)
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

/* True when done or failed for good; false to try again. */
static bool try_all(struct xs_handle *store, const struct Change *changes)
{
    xs_transaction_t transaction = xs_transaction_start(store);

    if (transaction == XBT_NULL) {
        fprintf(stderr, "store-tx: cannot start a transaction: %s\n", strerror(errno));
        exit(1);
    }
    for (const struct Change *change = changes; change; change = change->next) {
        if (!apply(store, transaction, change)) {
            fprintf(stderr, "store-tx: %s %s: %s\n", change->verb, change->path, strerror(errno));
            xs_transaction_end(store, transaction, true);
            exit(1);
        }
    }
    if (xs_transaction_end(store, transaction, false)) {
        return true;
    }
    if (errno != EAGAIN) {
        fprintf(stderr, "store-tx: cannot commit: %s\n", strerror(errno));
        exit(1);
    }
    return false;
}

int main(void)
{
    struct Change *changes = read_changes();
    struct xs_handle *store = xs_open(0);
    int tries;

    if (!store) {
        fprintf(stderr, "store-tx: cannot reach xenstored: %s\n", strerror(errno));
        return 1;
    }
    for (tries = 0; tries < MAX_TRIES; tries++) {
        if (try_all(store, changes)) {
            xs_close(store);
            free_changes(changes);
            return 0;
        }
    }
    fprintf(stderr, "store-tx: %d transactions collided with others\n", MAX_TRIES);
    return 1;
}
