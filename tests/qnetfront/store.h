/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store.h - reading and writing xenstore as a guest does */
#ifndef QNETFRONT_STORE_H
#define QNETFRONT_STORE_H

#include "fail.h"

#include <stddef.h>
#include <xenstore.h>

/* The value of @directory/@key as a string in @value (cut to @size), false if there is none. */
bool store_read(struct xs_handle *xs, const char *directory, const char *key, char *value,
                size_t size);

/* The value as a number, @absent if there is none or it is not a whole decimal number. */
long store_read_number(struct xs_handle *xs, const char *directory, const char *key, long absent);

/* Writes one key inside @transaction (or XBT_NULL). */
bool store_write(struct xs_handle *xs, xs_transaction_t transaction, const char *directory,
                 const char *key, const char *value, struct XnFailure *failure);

/* Removes one key, if it is there. */
void store_remove(struct xs_handle *xs, xs_transaction_t transaction, const char *directory,
                  const char *key);

/* Writes a device state, but only where there is one already: a directory that the toolstack has
 * removed must not come back. True also if there is none. */
bool store_write_state(struct xs_handle *xs, const char *directory, unsigned int state,
                       struct XnFailure *failure);

#endif
