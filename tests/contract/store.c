/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.c - the contract of xenstore.  All nodes are below data/contract of the own domain.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xenstore.h>

#include "contract.h"
#include "tap.h"

#define BASE "data/contract"
#define SOON 5000
#define QUIET 50

static struct xs_handle *store;

static bool put(xs_transaction_t transaction, const char *path, const char *value)
{
    return xs_write(store, transaction, path, value, (unsigned)strlen(value));
}

static bool has(xs_transaction_t transaction, const char *path, const char *value)
{
    unsigned length;
    char *got = xs_read(store, transaction, path, &length);
    bool same = got && length == strlen(value) && memcmp(got, value, length) == 0;

    free(got);
    return same;
}

/* The next watch event is this one; false too when none comes. */
static bool event_is(const char *path, const char *token, int milliseconds)
{
    struct pollfd polled = {.fd = xs_fileno(store), .events = POLLIN};
    char **event = xs_check_watch(store);
    bool same;

    if (!event && poll(&polled, 1, milliseconds) == 1) {
        event = xs_check_watch(store);
    }
    if (!event) {
        return false;
    }
    same = strcmp(event[XS_WATCH_PATH], path) == 0 && strcmp(event[XS_WATCH_TOKEN], token) == 0;
    if (!same) {
        tap_note("event %s %s", event[XS_WATCH_PATH], event[XS_WATCH_TOKEN]);
    }
    free(event);
    return same;
}

static bool no_event(void)
{
    struct pollfd polled = {.fd = xs_fileno(store), .events = POLLIN};
    char **event = xs_check_watch(store);

    if (!event && poll(&polled, 1, QUIET) == 1) {
        event = xs_check_watch(store);
    }
    if (event) {
        tap_note("event %s %s", event[XS_WATCH_PATH], event[XS_WATCH_TOKEN]);
        free(event);
        return false;
    }
    return true;
}

static void test_nodes(void)
{
    unsigned length = 99;
    char *value;

    tap_ok(put(XBT_NULL, BASE "/deep/node", "value"), "writing a node makes its parents");
    tap_ok(has(XBT_NULL, BASE "/deep/node", "value"), "it can be read");
    value = xs_read(store, XBT_NULL, BASE "/deep", &length);
    tap_ok(value && length == 0, "a parent made so is empty, not absent");
    free(value);
    errno = 0;
    value = xs_read(store, XBT_NULL, BASE "/none", &length);
    tap_fails_with(value ? 0 : -1, ENOENT, "reading a node that does not exist");
    tap_ok(xs_rm(store, XBT_NULL, BASE "/deep"), "removing a parent");
    errno = 0;
    value = xs_read(store, XBT_NULL, BASE "/deep/node", &length);
    tap_fails_with(value ? 0 : -1, ENOENT, "reading what was below it");
    tap_ok(put(XBT_NULL, BASE "/deep/node", "again"),
           "writing below a removed directory makes it anew, without an error");
    xs_rm(store, XBT_NULL, BASE "/deep");
}

static void test_watches(void)
{
    put(XBT_NULL, BASE "/dir/key", "1");
    tap_ok(xs_watch(store, BASE "/dir", "a token/with:signs"), "a directory can be watched");
    tap_ok(event_is(BASE "/dir", "a token/with:signs", SOON),
           "the watch fires at once, with the token as given");
    put(XBT_NULL, BASE "/dir/key", "2");
    tap_ok(event_is(BASE "/dir/key", "a token/with:signs", SOON),
           "it fires for a node below, with that node's path");
    put(XBT_NULL, BASE "/dir/key", "2");
    tap_ok(event_is(BASE "/dir/key", "a token/with:signs", SOON),
           "it fires when the same value is written again");
    put(XBT_NULL, BASE "/directory", "");
    tap_ok(no_event(), "it does not fire for a node that only begins with the same letters");
    xs_rm(store, XBT_NULL, BASE "/dir");
    tap_ok(event_is(BASE "/dir", "a token/with:signs", SOON), "it fires when the node is removed");
    tap_ok(xs_unwatch(store, BASE "/dir", "a token/with:signs"), "unwatch");
    while (!no_event()) {
    }
    put(XBT_NULL, BASE "/dir/key", "3");
    tap_ok(no_event(), "then it is silent");

    put(XBT_NULL, BASE "/parent/child/key", "1");
    xs_watch(store, BASE "/parent/child/key", "deep");
    tap_ok(event_is(BASE "/parent/child/key", "deep", SOON), "a node can be watched");
    xs_rm(store, XBT_NULL, BASE "/parent");
    tap_ok(event_is(BASE "/parent/child/key", "deep", SOON),
           "the removal of its parent is told with the watched path");
    xs_watch(store, BASE "/nowhere", "early");
    tap_ok(event_is(BASE "/nowhere", "early", SOON), "what does not exist can be watched");
    put(XBT_NULL, BASE "/nowhere", "now");
    tap_ok(event_is(BASE "/nowhere", "early", SOON), "and fires when it appears");
    xs_unwatch(store, BASE "/parent/child/key", "deep");
    xs_unwatch(store, BASE "/nowhere", "early");
    while (!no_event()) {
    }
}

static void test_transactions(void)
{
    xs_transaction_t transaction;
    struct xs_handle *other = xs_open(0);

    put(XBT_NULL, BASE "/tx/state", "1");
    xs_watch(store, BASE "/tx", "tx");
    event_is(BASE "/tx", "tx", SOON);

    transaction = xs_transaction_start(store);
    put(transaction, BASE "/tx/a", "1");
    put(transaction, BASE "/tx/b", "2");
    tap_ok(has(transaction, BASE "/tx/a", "1"), "a transaction sees its own writes");
    tap_ok(!has(XBT_NULL, BASE "/tx/a", "1"), "others do not");
    tap_ok(no_event(), "no watch fires before it is committed");
    tap_ok(xs_transaction_end(store, transaction, false), "it commits");
    tap_ok(event_is(BASE "/tx/a", "tx", SOON) && event_is(BASE "/tx/b", "tx", SOON),
           "then watches fire for its writes, in their order");

    transaction = xs_transaction_start(store);
    has(transaction, BASE "/tx/state", "1");
    put(transaction, BASE "/tx/state", "2");
    xs_write(other, XBT_NULL, BASE "/tx/state", "5", 1);
    errno = 0;
    tap_fails_with(xs_transaction_end(store, transaction, false) ? 0 : -1, EAGAIN,
                   "committing over another's write to what was read");
    tap_ok(has(XBT_NULL, BASE "/tx/state", "5"), "the other's write stands");

    transaction = xs_transaction_start(store);
    put(transaction, BASE "/tx/state", "6");
    tap_ok(xs_transaction_end(store, transaction, true), "a transaction can be abandoned");
    tap_ok(has(XBT_NULL, BASE "/tx/state", "5"), "without effect");
    xs_unwatch(store, BASE "/tx", "tx");
    xs_close(other);
}

static void test_permissions(struct Peer *peer)
{
    struct xs_permissions permissions[2] = {{contract_domid, XS_PERM_NONE},
                                            {peer->domid, XS_PERM_READ}};
    char path[128];
    unsigned length;
    char *value;

    snprintf(path, sizeof(path), "/local/domain/%u/" BASE "/readable", contract_domid);
    put(XBT_NULL, BASE "/readable", "look");
    tap_ok(xs_set_permissions(store, XBT_NULL, BASE "/readable", permissions, 2),
           "permissions can be set");
    if (peer->domid == contract_domid) {
        tap_skip("what is readable to another domain is not writable to it",
                 "needs a peer in another domain");
        tap_skip("a domain can give up a node", "needs a peer in another domain");
        return;
    }
    tap_is(peer_store_write(peer, path, "changed"), -EACCES,
           "what is readable to another domain is not writable to it");
    tap_ok(has(XBT_NULL, BASE "/readable", "look"), "and is not changed");
    tap_is(peer_store_write(peer, "data/from-peer", "hello"), 0,
           "the peer writes below its own directory, by a relative path");
    snprintf(path, sizeof(path), "/local/domain/%u/data/from-peer", peer->domid);
    value = xs_read(store, XBT_NULL, path, &length);
    tap_ok(value && strcmp(value, "hello") == 0, "which is /local/domain/%u/data", peer->domid);
    free(value);
    permissions[0].id = peer->domid;
    permissions[1].id = contract_domid;
    snprintf(path, sizeof(path), "/local/domain/%u/" BASE "/readable", contract_domid);
    tap_ok(xs_set_permissions(store, XBT_NULL, BASE "/readable", permissions, 2),
           "a node can be given to another domain");
    tap_is(peer_store_write(peer, path, "changed"), 0, "which can then write it");
}

void test_store(struct Peer *peer)
{
    store = xs_open(0);
    if (!store) {
        tap_bail_out("cannot open xenstore: %s", strerror(errno));
    }
    xs_rm(store, XBT_NULL, BASE);
    test_nodes();
    test_watches();
    test_transactions();
    test_permissions(peer);
    xs_rm(store, XBT_NULL, BASE);
    xs_close(store);
}
