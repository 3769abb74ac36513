/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store.c - reading and writing xenstore as a guest does */
#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRANSACTION_TRIES 100

static void join(char *path, size_t size, const char *directory, const char *key)
{
    snprintf(path, size, "%s/%s", directory, key);
}

static bool read_in(struct xs_handle *xs, xs_transaction_t transaction, const char *directory,
                    const char *key, char *value, size_t size)
{
    char path[XENSTORE_ABS_PATH_MAX];
    unsigned int length = 0;
    char *text;

    join(path, sizeof(path), directory, key);
    text = xs_read(xs, transaction, path, &length);
    if (!text) {
        return false;
    }
    snprintf(value, size, "%s", text);
    free(text);
    return true;
}

bool store_read(struct xs_handle *xs, const char *directory, const char *key, char *value,
                size_t size)
{
    return read_in(xs, XBT_NULL, directory, key, value, size);
}

long store_read_number(struct xs_handle *xs, const char *directory, const char *key, long absent)
{
    char text[32];
    char *end;
    long number;

    if (!store_read(xs, directory, key, text, sizeof(text)) || !text[0]) {
        return absent;
    }
    errno = 0;
    number = strtol(text, &end, 10);
    return errno || *end ? absent : number;
}

bool store_write(struct xs_handle *xs, xs_transaction_t transaction, const char *directory,
                 const char *key, const char *value, struct XnFailure *failure)
{
    char path[XENSTORE_ABS_PATH_MAX];

    join(path, sizeof(path), directory, key);
    if (!xs_write(xs, transaction, path, value, strlen(value))) {
        return fail_errno(failure, "cannot write %s to xenstore", path);
    }
    return true;
}

void store_remove(struct xs_handle *xs, xs_transaction_t transaction, const char *directory,
                  const char *key)
{
    char path[XENSTORE_ABS_PATH_MAX];

    join(path, sizeof(path), directory, key);
    xs_rm(xs, transaction, path);
}

bool store_write_state(struct xs_handle *xs, const char *directory, unsigned int state,
                       struct XnFailure *failure)
{
    char text[16];
    char number[16];

    snprintf(number, sizeof(number), "%u", state);
    for (int i = 0; i < TRANSACTION_TRIES; i++) {
        xs_transaction_t transaction = xs_transaction_start(xs);

        if (!transaction) {
            return fail_errno(failure, "cannot start a xenstore transaction");
        }
        if (!read_in(xs, transaction, directory, "state", text, sizeof(text))) {
            xs_transaction_end(xs, transaction, true);
            return true;
        }
        if (!store_write(xs, transaction, directory, "state", number, failure)) {
            xs_transaction_end(xs, transaction, true);
            return false;
        }
        if (xs_transaction_end(xs, transaction, false)) {
            return true;
        }
        if (errno != EAGAIN) {
            return fail_errno(failure, "cannot write state %u of %s", state, directory);
        }
    }
    return fail(failure, "xenstore is too busy: state %u of %s not written", state, directory);
}
