/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-changes.h - a list of changes to xenstore, applied in one transaction.
 *
 * A change is a line, fields separated by tabs:
 *   write PATH VALUE | mkdir PATH | rm PATH | tidy PATH | perms PATH OWNER[,PERM...]
 * PERM is as xenstore-chmod has it: n0, r1, w2, b3; the first is the owner and others' default.
 * tidy removes PATH and then its parents as far as they are empty.
 */
#ifndef XENSIM_STORE_CHANGES_H
#define XENSIM_STORE_CHANGES_H

#include <stdbool.h>

#include <xenstore.h>

struct StoreChange {
    struct StoreChange *next;
    char *line; /* the others point into it */
    const char *verb;
    const char *path;
    const char *value;
};

/* All zeroes: an empty list. */
struct StoreChanges {
    struct StoreChange *first;
    struct StoreChange *last;
};

/* False: the line has no path. */
bool store_changes_add(struct StoreChanges *changes, const char *line);
void store_changes_clear(struct StoreChanges *changes);

/*
 * Again while others' transactions collide with it, for a bounded number of times.  False with
 * errno set; *failed is the change that failed, NULL when it was the transaction.
 */
bool store_changes_apply(const struct StoreChanges *changes, struct xs_handle *store,
                         const struct StoreChange **failed);

#endif
