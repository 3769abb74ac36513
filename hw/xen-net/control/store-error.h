/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-error.h - the nodes that say why a vif was closed
 *
 * The reason stands twice: in the vif's own directory, where `xenstore-ls` shows it beside the
 * state, and below error/, where the kernel's drivers report too. Both are help for people: when
 * they cannot be written, that is logged and nothing else.
 */
#ifndef XN_CONTROL_STORE_ERROR_H
#define XN_CONTROL_STORE_ERROR_H

#include "control/store-node.h"
#include "xen/store.h"

/* Writes the reason; not into a directory that is gone. */
void store_error_write(struct XnStore *store, uint32_t own_domid, struct XnVifId id,
                       const char *reason);

/* Removes it, and the directories below error/ that are empty then. */
void store_error_clear(struct XnStore *store, uint32_t own_domid, struct XnVifId id);

/* Removes those that an earlier daemon left: of all vifs but those that have an error now. */
void store_error_clear_left(struct XnStore *store, uint32_t own_domid,
                            bool (*has_error)(void *opaque, struct XnVifId id), void *opaque);

#endif
