/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-store.h - the keys of a vif that change together, or only on a condition
 *
 * Whatever is written goes through a transaction that reads a state node first: a directory that
 * the toolstack has deleted is never made again. Main thread.
 */
#ifndef XN_CONTROL_VIF_STORE_H
#define XN_CONTROL_VIF_STORE_H

#include <stdbool.h>
#include <xen/io/xenbus.h>

#include "xen/store.h"

/*
 * The state that is written in xenstore; an empty or absent node reads as XenbusStateUnknown, one
 * that holds no state as XN_FRONTEND_NONSENSE.
 */
bool vif_store_read_state(struct XnStore *store, const char *path, enum xenbus_state *ret_state,
                          GError **error);

/* What a frontend is offered, as far as it is not always the same. */
struct XnVifOffer {
    unsigned queue_max;
    /* It may send super-frames, and blank checksums. */
    bool gso;
    bool csum;
};

/*
 * Write our state, or what we offer, unless our state node has
 * another value than `expected`: then *ret_done is false, and it is time to look again. False with
 * an error when xenstore fails.
 */
bool vif_store_write_state(struct XnStore *store, const char *directory, enum xenbus_state expected,
                           enum xenbus_state next, bool *ret_done, GError **error);
bool vif_store_write_features(struct XnStore *store, const char *directory,
                              enum xenbus_state expected, const struct XnVifOffer *offer,
                              bool *ret_done, GError **error);

/*
 * Writes the key `name`, or removes it when `value` is NULL, unless the directory is gone: then
 * *ret_done is false.
 */
bool vif_store_write_setting(struct XnStore *store, const char *directory, const char *name,
                             const char *value, bool *ret_done, GError **error);

/* Writes whether frames get anywhere, unless the directory is gone. */
bool vif_store_write_carrier(struct XnStore *store, const char *directory, bool carrier,
                             GError **error);

/* Remembers the interface's own MTU for the next daemon; 0: it has it. Likewise. */
bool vif_store_write_lowered(struct XnStore *store, const char *directory, unsigned mtu,
                             GError **error);

/* Writes the MTU into the frontend's directory, unless that is gone or says so already. */
bool vif_store_write_mtu(struct XnStore *store, const char *frontend_directory, unsigned mtu,
                         GError **error);

#endif
