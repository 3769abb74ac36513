/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool-store-tx.c - apply several changes to xenstore in one transaction.
 *
 * Reads the changes from standard input, one a line, as store-changes.h tells.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xenstore.h>

#include "store-changes.h"

int main(void)
{
    struct xs_handle *store = xs_open(0);
    struct StoreChanges changes = {0};
    const struct StoreChange *failed;
    char *line = NULL;
    size_t size = 0;
    bool done;

    if (!store) {
        fprintf(stderr, "store-tx: cannot reach xenstored: %s\n", strerror(errno));
        return 1;
    }
    while (getline(&line, &size, stdin) > 0) {
        if (!store_changes_add(&changes, line)) {
            fprintf(stderr, "store-tx: a line without a path: %s", line);
            return 1;
        }
    }
    done = store_changes_apply(&changes, store, &failed);
    if (!done && failed) {
        fprintf(stderr, "store-tx: %s %s: %s\n", failed->verb, failed->path, strerror(errno));
    } else if (!done) {
        fprintf(stderr, "store-tx: the transaction fails: %s\n", strerror(errno));
    }
    free(line);
    store_changes_clear(&changes);
    xs_close(store);
    return done ? 0 : 1;
}
