/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-world.h - what surrounds the control plane in store-fuzz.c
 *
 * libxenstore over a tree in memory, GLib's timers and descriptors as lists that run when told to,
 * and network interfaces, connections and workers (store-parts.c) that only count.
 */
#ifndef XN_TESTS_FUZZ_STORE_WORLD_H
#define XN_TESTS_FUZZ_STORE_WORLD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/connection.h"

#define WORLD_BASE "/local/domain/0/backend/vif"

struct World {
    /* of xenstore: path -> GBytes; those before the transaction */
    GHashTable *nodes;
    GHashTable *before;
    /* "token path", and what waits to be told */
    GPtrArray *watches;
    GQueue events;
    /* the connection is lost, until world_store_comes_back() */
    bool lost;
    /* the call after so many more fails with this error; 0: none does */
    unsigned fail_after;
    int fail_error;
    /* how many there are */
    unsigned connections;
    unsigned ports;
    /* settings */
    bool connection_fails;
    bool features_fail;
    bool port_fails;
    bool port_left;
    unsigned mtu;
    unsigned link_event;
    /* the connection that was made last */
    struct XnVifId last_id;
    uint64_t last_serial;
    XnConnectionBroken broken;
    void *broken_opaque;
};

extern struct World world;

void world_begin(void);
/* Frees it; everything that was opened must be closed. */
void world_end(void);

/* As the toolstack and the guest do it; watches fire. `length` < 0: text. */
void world_write(const char *path, const char *value, int length);
void world_remove(const char *path);
bool world_has(const char *path);

/* An event that nobody wrote for. */
void world_tell(const char *path, const char *token);

/* All that is ready on descriptors; then timer `index` of those that run. */
void world_dispatch(void);
bool world_fire_timer(unsigned index);
unsigned world_timers(void);

#endif
