/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-node.h - the paths and watch tokens of a vif
 *
 * A vif is known by the guest's domain and the number of its interface. Both are parsed strictly
 * from what xenstore hands us, so a path or token either names exactly one vif or nothing. Pure.
 */
#ifndef XN_CONTROL_STORE_NODE_H
#define XN_CONTROL_STORE_NODE_H

#include <stdbool.h>
#include <stdint.h>

/* Domains that can be a guest: DOMID_FIRST_RESERVED is the first that cannot. */
#define XN_DOMID_MAX 0x7fefu
/* So that "vif<domid>.<devid>" fits an interface's name of 15 characters. */
#define XN_DEVID_MAX 999999u

struct XnVifId {
    uint32_t domid;
    uint32_t devid;
};

/* "123": digits only, no leading zero, at most `maximum`. */
bool store_node_parse_number(const char *text, uint32_t maximum, uint32_t *ret_number);

/*
 * What a path below `base` (".../backend/vif", no '/' at its end) tells us to look at. True and
 * *ret_id when it is inside one vif's directory; false for the rest: look at everything.
 */
bool store_node_parse_path(const char *base, const char *path, struct XnVifId *ret_id);

/* The watch token of a vif's frontend, "vif/<domid>/<devid>"; to be freed with g_free(). */
char *store_node_token(struct XnVifId id);
bool store_node_parse_token(const char *token, struct XnVifId *ret_id);

/* The name of the interface, "vif<domid>.<devid>"; to be freed with g_free(). */
char *store_node_vif_name(struct XnVifId id);
bool store_node_parse_vif_name(const char *name, struct XnVifId *ret_id);

/* Directories, to be freed with g_free(). `own_domid` is our domain. */
char *store_node_backend_base(uint32_t own_domid);
char *store_node_backend(uint32_t own_domid, struct XnVifId id);
char *store_node_error_base(uint32_t own_domid);
char *store_node_error(uint32_t own_domid, struct XnVifId id);

#endif
