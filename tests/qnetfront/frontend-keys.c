/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frontend-keys.c - the keys that a frontend writes for its backend */
#include "frontend.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define TRANSACTION_TRIES 100
/* Of one vif, beside the configured ones. */
#define OWN_KEYS_MAX (4 * XN_QUEUES_MAX + 16)

struct XnKeyList {
    struct XnFrontendKey keys[OWN_KEYS_MAX + XN_FRONTEND_KEYS_MAX];
    unsigned int count;
};

__attribute__((format(printf, 2, 3))) static struct XnFrontendKey *add_key(struct XnKeyList *list,
                                                                           const char *name, ...)
{
    struct XnFrontendKey *key = &list->keys[list->count++];
    va_list arguments;

    va_start(arguments, name);
    vsnprintf(key->name, sizeof(key->name), name, arguments);
    va_end(arguments);
    key->value[0] = 0;
    return key;
}

static void set_number(struct XnFrontendKey *key, unsigned int number)
{
    snprintf(key->value, sizeof(key->value), "%u", number);
}

static void set_text(struct XnFrontendKey *key, const char *text)
{
    snprintf(key->value, sizeof(key->value), "%s", text);
}

static void collect_queue(struct XnKeyList *list, const struct XnFrontendQueue *queue,
                          const char *prefix)
{
    set_number(add_key(list, "%stx-ring-ref", prefix), queue->guest_tx.ring_ref);
    set_number(add_key(list, "%srx-ring-ref", prefix), queue->guest_rx.ring_ref);
    if (queue->evtchn_guest_tx != queue->evtchn_guest_rx) {
        set_number(add_key(list, "%sevent-channel-tx", prefix), queue->evtchn_guest_tx);
        set_number(add_key(list, "%sevent-channel-rx", prefix), queue->evtchn_guest_rx);
    } else {
        set_number(add_key(list, "%sevent-channel", prefix), queue->evtchn_guest_tx);
    }
}

/* The configured keys come last, so that they can replace or leave out any other. */
static void collect_keys(const struct XnFrontend *frontend, struct XnKeyList *list)
{
    const struct XnPersonality *personality = frontend->config.personality;

    list->count = 0;
    if (frontend->queues_count <= 1) {
        collect_queue(list, &frontend->queues[0], "");
    }
    if (frontend->queues_count > 1 || personality->counts_one) {
        set_number(add_key(list, "multi-queue-num-queues"), frontend->queues_count);
    }
    for (unsigned int i = 0; frontend->queues_count > 1 && i < frontend->queues_count; i++) {
        char prefix[24];

        snprintf(prefix, sizeof(prefix), "queue-%u/", i);
        collect_queue(list, &frontend->queues[i], prefix);
    }
    if (frontend->ctrl.sring) {
        set_number(add_key(list, "ctrl-ring-ref"), frontend->ctrl.ring_ref);
        set_number(add_key(list, "event-channel-ctrl"), frontend->evtchn_ctrl);
    }
    for (const char *const *key = personality->keys; *key; key++) {
        const char *value = strchr(*key, '=') + 1;

        set_text(add_key(list, "%.*s", (int)(value - 1 - *key), *key), value);
    }
    for (unsigned int i = 0; i < frontend->config.keys_count; i++) {
        const struct XnFrontendKey *wanted = &frontend->config.keys[i];
        unsigned int at = 0;

        while (at < list->count && strcmp(list->keys[at].name, wanted->name) != 0) {
            at++;
        }
        list->keys[at] = *wanted;
        list->count += at == list->count;
    }
}

/* Keys of another way to connect, or of other wishes, would contradict ours. */
static void remove_stale_keys(struct XnFrontend *frontend, xs_transaction_t transaction)
{
    static const char *const stale[] = {"tx-ring-ref",
                                        "rx-ring-ref",
                                        "event-channel",
                                        "event-channel-tx",
                                        "event-channel-rx",
                                        "multi-queue-num-queues",
                                        "ctrl-ring-ref",
                                        "event-channel-ctrl",
                                        "xdp-headroom",
                                        "request-multicast-control",
                                        "feature-no-csum-offload",
                                        "request-rx-copy",
                                        "feature-rx-notify",
                                        "feature-sg",
                                        "feature-gso-tcpv4",
                                        "feature-gso-tcpv6",
                                        "feature-ipv6-csum-offload",
                                        "vifname"};
    char name[24];

    for (unsigned int i = 0; i < sizeof(stale) / sizeof(*stale); i++) {
        store_remove(frontend->xs, transaction, frontend->path, stale[i]);
    }
    for (unsigned int i = 0; i < XN_QUEUES_MAX; i++) {
        snprintf(name, sizeof(name), "queue-%u", i);
        store_remove(frontend->xs, transaction, frontend->path, name);
    }
}

static bool write_keys(struct XnFrontend *frontend, xs_transaction_t transaction,
                       struct XnFailure *failure)
{
    static struct XnKeyList list;

    collect_keys(frontend, &list);
    remove_stale_keys(frontend, transaction);
    for (unsigned int i = 0; i < list.count; i++) {
        const struct XnFrontendKey *key = &list.keys[i];

        if (!key->value[0]) {
            store_remove(frontend->xs, transaction, frontend->path, key->name);
        } else if (!store_write(frontend->xs, transaction, frontend->path, key->name, key->value,
                                failure)) {
            return false;
        }
    }
    return true;
}

bool frontend_publish(struct XnFrontend *frontend, struct XnFailure *failure)
{
    if (frontend->config.personality->one_by_one) {
        return write_keys(frontend, XBT_NULL, failure);
    }
    for (int i = 0; i < TRANSACTION_TRIES; i++) {
        xs_transaction_t transaction = xs_transaction_start(frontend->xs);

        if (!transaction) {
            return fail_errno(failure, "cannot start a xenstore transaction");
        }
        if (!write_keys(frontend, transaction, failure)) {
            xs_transaction_end(frontend->xs, transaction, true);
            return false;
        }
        if (xs_transaction_end(frontend->xs, transaction, false)) {
            return true;
        }
        if (errno != EAGAIN) {
            return fail_errno(failure, "cannot commit the keys of %s", frontend->path);
        }
    }
    return fail(failure, "xenstore is too busy: keys of %s not written", frontend->path);
}
