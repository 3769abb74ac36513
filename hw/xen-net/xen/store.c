/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.c - xenstore as the control plane uses it
 */
#include "xen/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xenstore.h>

/* Others write in xenstore all the time; this many collisions in a row mean something is wrong. */
#define STORE_TRANSACTION_TRIES 64

struct XnStore {
    struct xs_handle *handle;
    /* XBT_NULL outside of store_transact(). */
    xs_transaction_t transaction;
    bool lost;
};

GQuark store_error_quark(void)
{
    return g_quark_from_static_string("qnetback-store");
}

static enum XnStoreError store_error_code(int saved_errno)
{
    switch (saved_errno) {
    case ENOENT:
        return XN_STORE_ERROR_ABSENT;
    case EACCES:
    case EPERM:
        return XN_STORE_ERROR_DENIED;
    case E2BIG:
    case ENOSPC:
    case EDQUOT:
    /* What the library makes of an error that it does not know: oxenstored's EQUOTA is one. */
    case EINVAL:
        return XN_STORE_ERROR_QUOTA;
    case EAGAIN:
        return XN_STORE_ERROR_CONFLICT;
    case EBADF:
    case EPIPE:
    case EIO:
    case ECONNRESET:
        return XN_STORE_ERROR_LOST;
    default:
        return XN_STORE_ERROR_FAILED;
    }
}

static const char *store_advice(enum XnStoreError code)
{
    switch (code) {
    case XN_STORE_ERROR_QUOTA:
        return "; is xenstored's quota for this domain used up?";
    case XN_STORE_ERROR_LOST:
        return "; the connection to xenstored is lost";
    default:
        return "";
    }
}

/* Reports the error that errno tells of. Always false. */
static bool store_fail(struct XnStore *store, GError **error, const char *what, const char *path)
{
    int saved_errno = errno;
    enum XnStoreError code = store_error_code(saved_errno);

    if (code == XN_STORE_ERROR_LOST) {
        store->lost = true;
    }
    g_set_error(error, XN_STORE_ERROR, (int)code, "xenstore: cannot %s %s: %s%s", what, path,
                g_strerror(saved_errno), store_advice(code));
    return false;
}

static struct xs_handle *store_connect(GError **error)
{
    struct xs_handle *handle = xs_open(0);
    int saved_errno = errno;

    if (!handle && (saved_errno == EACCES || saved_errno == EPERM)) {
        g_set_error(error, XN_STORE_ERROR, XN_STORE_ERROR_DENIED,
                    "no permission to talk to xenstored: %s; run as root", g_strerror(saved_errno));
    } else if (!handle) {
        g_set_error(error, XN_STORE_ERROR, XN_STORE_ERROR_FAILED,
                    "no Xen here: cannot reach xenstored (%s); is this a Xen domain, and is "
                    "xenstored running?%s",
                    g_strerror(saved_errno), geteuid() == 0 ? "" : " If so, run as root");
    }
    return handle;
}

struct XnStore *store_open(GError **error)
{
    struct xs_handle *handle = store_connect(error);
    struct XnStore *store;

    if (!handle) {
        return NULL;
    }
    store = g_new0(struct XnStore, 1);
    store->handle = handle;
    store->transaction = XBT_NULL;
    return store;
}

void store_close(struct XnStore *store)
{
    if (store) {
        xs_close(store->handle);
        g_free(store);
    }
}

int store_fd(const struct XnStore *store)
{
    return xs_fileno(store->handle);
}

bool store_own_domid(struct XnStore *store, uint32_t *ret_domid, GError **error)
{
    /* A path that does not begin with '/' is below our own domain's directory. */
    g_autoptr(GError) local_error = NULL;
    g_autofree char *text = store_read(store, "domid", &local_error);
    guint64 domid;

    if (!text) {
        if (g_error_matches(local_error, XN_STORE_ERROR, XN_STORE_ERROR_ABSENT)) {
            g_set_error(error, XN_STORE_ERROR, XN_STORE_ERROR_ABSENT,
                        "xenstore does not know this domain (no key domid); in dom0, is the "
                        "service xen-init-dom0 or xencommons started?");
        } else {
            g_propagate_error(error, g_steal_pointer(&local_error));
        }
        return false;
    }
    if (!g_ascii_string_to_unsigned(text, 10, 0, 0x7fef, &domid, NULL)) {
        g_set_error(error, XN_STORE_ERROR, XN_STORE_ERROR_MALFORMED,
                    "xenstore: the key domid of this domain is '%s', not a domain's number", text);
        return false;
    }
    *ret_domid = (uint32_t)domid;
    return true;
}

char *store_read(struct XnStore *store, const char *path, GError **error)
{
    unsigned length = 0;
    char *value = xs_read(store->handle, store->transaction, path, &length);
    char *text = NULL;

    if (!value) {
        store_fail(store, error, "read", path);
        return NULL;
    }
    /* Some frontends write the string's terminator too. */
    if (length > 0 && value[length - 1] == '\0') {
        length--;
    }
    if (length > XN_STORE_VALUE_MAX || memchr(value, '\0', length)) {
        g_set_error(error, XN_STORE_ERROR, XN_STORE_ERROR_MALFORMED,
                    "xenstore: the value of %s is %s", path,
                    length > XN_STORE_VALUE_MAX ? "too long" : "not text");
    } else {
        text = g_strndup(value, length);
    }
    free(value);
    return text;
}

bool store_write(struct XnStore *store, const char *path, const char *value, GError **error)
{
    if (!xs_write(store->handle, store->transaction, path, value, (unsigned)strlen(value))) {
        return store_fail(store, error, "write", path);
    }
    return true;
}

bool store_remove(struct XnStore *store, const char *path, GError **error)
{
    if (!xs_rm(store->handle, store->transaction, path) && errno != ENOENT) {
        return store_fail(store, error, "remove", path);
    }
    return true;
}

char **store_list(struct XnStore *store, const char *path, GError **error)
{
    unsigned count = 0;
    char **names = xs_directory(store->handle, store->transaction, path, &count);
    char **list;

    if (!names) {
        store_fail(store, error, "list", path);
        return NULL;
    }
    list = g_new0(char *, count + 1);
    for (unsigned i = 0; i < count; i++) {
        list[i] = g_strdup(names[i]);
    }
    free(names);
    return list;
}

bool store_transact(struct XnStore *store, XnStoreBody body, void *opaque, GError **error)
{
    g_assert(store->transaction == XBT_NULL);
    for (int i = 0; i < STORE_TRANSACTION_TRIES; i++) {
        bool done;
        bool ok;

        store->transaction = xs_transaction_start(store->handle);
        if (store->transaction == XBT_NULL) {
            return store_fail(store, error, "start", "a transaction");
        }
        ok = body(store, opaque, error);
        done = xs_transaction_end(store->handle, store->transaction, !ok);
        store->transaction = XBT_NULL;
        if (!ok) {
            return false;
        }
        if (done) {
            return true;
        }
        if (errno != EAGAIN) {
            return store_fail(store, error, "end", "a transaction");
        }
    }
    g_set_error(error, XN_STORE_ERROR, XN_STORE_ERROR_CONFLICT,
                "xenstore: a transaction collided with others' writes %d times",
                STORE_TRANSACTION_TRIES);
    return false;
}

bool store_watch(struct XnStore *store, const char *path, const char *token, GError **error)
{
    if (!xs_watch(store->handle, path, token)) {
        return store_fail(store, error, "watch", path);
    }
    return true;
}

void store_unwatch(struct XnStore *store, const char *path, const char *token)
{
    if (!xs_unwatch(store->handle, path, token) && store_error_code(errno) == XN_STORE_ERROR_LOST) {
        store->lost = true;
    }
}

bool store_next_event(struct XnStore *store, char **ret_path, char **ret_token)
{
    char **event = xs_check_watch(store->handle);

    if (!event) {
        if (store_error_code(errno) == XN_STORE_ERROR_LOST) {
            store->lost = true;
        }
        return false;
    }
    *ret_path = g_strdup(event[XS_WATCH_PATH]);
    *ret_token = g_strdup(event[XS_WATCH_TOKEN]);
    free(event);
    return true;
}

bool store_is_lost(const struct XnStore *store)
{
    return store->lost;
}

void store_probe(struct XnStore *store)
{
    g_free(store_read(store, "domid", NULL));
}

bool store_reconnect(struct XnStore *store, GError **error)
{
    struct xs_handle *handle = store_connect(error);

    if (!handle) {
        return false;
    }
    xs_close(store->handle);
    store->handle = handle;
    store->lost = false;
    return true;
}
