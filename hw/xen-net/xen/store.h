/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - xenstore as the control plane uses it
 *
 * Over libxenstore, on one connection that belongs to the main thread. Every error names the path
 * and says what to do where that is known. Paths are absolute.
 */
#ifndef XN_XEN_STORE_H
#define XN_XEN_STORE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct XnStore;

#define XN_STORE_ERROR (store_error_quark())
GQuark store_error_quark(void);

enum XnStoreError {
    /* The node does not exist. */
    XN_STORE_ERROR_ABSENT,
    /* We may not; so xenstored also answers for a missing node below another's directory. */
    XN_STORE_ERROR_DENIED,
    /* A quota of xenstored (watches, nodes, transactions) is used up. */
    XN_STORE_ERROR_QUOTA,
    /* The connection is gone, see store_reconnect(). */
    XN_STORE_ERROR_LOST,
    /* A value with a zero byte in it, or longer than XN_STORE_VALUE_MAX. */
    XN_STORE_ERROR_MALFORMED,
    /* A body of store_transact() gave up, or others' writes came between it again and again. */
    XN_STORE_ERROR_CONFLICT,
    XN_STORE_ERROR_FAILED,
};

/* Longest value that store_read() gives, in bytes; no key of ours needs more. */
#define XN_STORE_VALUE_MAX 1024u

/* Connects to xenstored. NULL with a one-line message for the administrator. */
struct XnStore *store_open(GError **error);

/* Disconnects, with all watches; NULL is fine. */
void store_close(struct XnStore *store);

/* Readable when store_next_event() may have something. */
int store_fd(const struct XnStore *store);

/* The domain that we run in, by the key `domid` of its own directory. */
bool store_own_domid(struct XnStore *store, uint32_t *ret_domid, GError **error);

/* The value of a node, to be freed with g_free(); NULL with an error. */
char *store_read(struct XnStore *store, const char *path, GError **error);

/* Creates or changes a node. */
bool store_write(struct XnStore *store, const char *path, const char *value, GError **error);

/* Removes a node with all below it. Absent already is fine. */
bool store_remove(struct XnStore *store, const char *path, GError **error);

/* The names of the nodes below `path`, to be freed with g_strfreev(); NULL with an error. */
char **store_list(struct XnStore *store, const char *path, GError **error);

/*
 * What a transaction does; it may run several times, until no one else wrote what it read.
 * False with an error abandons the transaction.
 */
typedef bool (*XnStoreBody)(struct XnStore *store, void *opaque, GError **error);

/*
 * Executes `body` in a transaction: all of it happens or nothing. The calls above that the body
 * makes are part of it. No nesting, no watches inside.
 */
bool store_transact(struct XnStore *store, XnStoreBody body, void *opaque, GError **error);

/*
 * Watches a node and all below it. One event comes at once, others when something there may have
 * changed: merged, spurious and late ones are to be expected.
 */
bool store_watch(struct XnStore *store, const char *path, const char *token, GError **error);

/* Ends a watch; events that were under way may still come. */
void store_unwatch(struct XnStore *store, const char *path, const char *token);

/*
 * Takes one event; does not block. False when there is none. Else *ret_path and *ret_token, to be
 * freed with g_free().
 */
bool store_next_event(struct XnStore *store, char **ret_path, char **ret_token);

/* Has the connection to xenstored been lost? Only a call that fails notices it. */
bool store_is_lost(const struct XnStore *store);

/* Makes such a call. */
void store_probe(struct XnStore *store);

/* Connects again; watches are gone then, and store_fd() has changed. */
bool store_reconnect(struct XnStore *store, GError **error);

#endif
