/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * connection.c - everything that exists only while a vif is connected
 *
 * Theory of operation
 *
 * Opening goes step by step, and each step leaves its trace in the connection; closing undoes what
 * it finds, in reverse. So a failed open is a close, and each mapping is unmapped exactly once.
 *
 * A worker tells of a broken ring on its own thread. What crosses to the main thread is a message
 * with the vif's numbers and the connection's serial, never a pointer to the connection: when the
 * message is read, the vif may have been closed, or even connected again.
 */
#include "control/connection.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/ctrl-ring.h"
#include "control/journal-file.h"

struct XnConnectionQueue {
    void *guest_tx_page;
    void *guest_rx_page;
    struct XnEvtchn *evtchn;
    uint32_t guest_tx_channel;
    uint32_t guest_rx_channel;
    struct XnJournalFile *journal;
    /* It was a predecessor's. */
    bool journal_adopted;
    struct XnQueue *queue;
    struct XnWorker *worker;
};

struct XnConnection {
    struct XnConnectionConfig config;
    struct XnFrontend frontend;
    struct XnVifShared shared;
    /* The guest takes no frames, so the host's network is told that it is not there. */
    bool stalled;
    struct XnCtrlRing *ctrl_ring;
    /* Whose guests get frames directly from this one; 0: nobody. */
    unsigned bridge;
    struct XnConnectionQueue queues[XN_VIF_QUEUES_MAX];
};

struct XnBrokenMessage {
    XnConnectionBroken broken;
    void *opaque;
    struct XnVifId id;
    uint64_t serial;
    const char *reason;
};

static gboolean connection_broken_on_main(gpointer opaque)
{
    struct XnBrokenMessage *message = opaque;

    message->broken(message->opaque, message->id, message->serial, message->reason);
    return G_SOURCE_REMOVE;
}

/* On a worker's thread. */
static void connection_broken(void *opaque, const char *reason)
{
    const struct XnConnection *connection = opaque;
    struct XnBrokenMessage *message = g_new(struct XnBrokenMessage, 1);

    *message = (struct XnBrokenMessage){
        .broken = connection->config.broken,
        .opaque = connection->config.opaque,
        .id = connection->config.id,
        .serial = connection->config.serial,
        .reason = reason,
    };
    g_idle_add_full(G_PRIORITY_DEFAULT, connection_broken_on_main, message, g_free);
    /* cppcheck-suppress memleak ; the loop frees the message */
}

static gboolean connection_stalled_on_main(gpointer opaque)
{
    struct XnConnection *connection = opaque;
    const struct XnConnectionConfig *config = &connection->config;
    bool stalled = __atomic_load_n(&connection->shared.guest_rx_stalled, __ATOMIC_RELAXED) != 0;
    g_autoptr(GError) error = NULL;

    if (stalled == connection->stalled) {
        return G_SOURCE_REMOVE;
    }
    connection->stalled = stalled;
    if (port_set_carrier(config->port, !stalled, &error)) {
        log_write_limited(config->log_limit, clock_now_ns(), stalled ? XN_LOG_WARNING : XN_LOG_INFO,
                          config->name,
                          stalled ? "the guest takes no frames; no carrier until it does"
                                  : "the guest takes frames again");
    } else {
        log_write_limited(config->log_limit, clock_now_ns(), XN_LOG_WARNING, config->name, "%s",
                          error->message);
    }
    return G_SOURCE_REMOVE;
}

/* On a worker's thread. The loop forgets it when the connection ends. */
static void connection_stalled(void *opaque)
{
    g_idle_add_full(G_PRIORITY_DEFAULT, connection_stalled_on_main, opaque, NULL);
}

static void *connection_map(struct XnConnection *connection, const char *ring, uint32_t ref,
                            GError **error)
{
    void *page =
        gnttab_map(connection->config.gnttab, connection->config.id.domid, ref, true, error);

    if (!page) {
        g_prefix_error(error, "%s ring: ", ring);
    }
    return page;
}

static bool connection_bind(struct XnConnectionQueue *queue, uint32_t domid,
                            const struct XnFrontendQueue *wanted, GError **error)
{
    queue->evtchn = evtchn_open(domid, error);
    if (!queue->evtchn) {
        return false;
    }
    queue->guest_tx_channel = evtchn_bind(queue->evtchn, wanted->guest_tx_channel, error);
    if (queue->guest_tx_channel == 0) {
        return false;
    }
    if (wanted->guest_rx_channel == wanted->guest_tx_channel) {
        queue->guest_rx_channel = queue->guest_tx_channel;
        return true;
    }
    queue->guest_rx_channel = evtchn_bind(queue->evtchn, wanted->guest_rx_channel, error);
    return queue->guest_rx_channel != 0;
}

/* A predecessor's journal when there is one to adopt, else an empty one. */
static struct XnJournalFile *connection_open_journal(const struct XnConnection *connection,
                                                     unsigned index, bool *ret_adopted,
                                                     GError **error)
{
    const struct XnConnectionConfig *config = &connection->config;
    const struct XnFrontendQueue *wanted = &connection->frontend.queues[index];
    struct XnJournalIdentity identity;

    memset(&identity, 0, sizeof(identity));
    memcpy(identity.mac, config->mac.octet, sizeof(config->mac.octet));
    identity.domid = config->id.domid;
    identity.devid = config->id.devid;
    identity.queue = index;
    identity.guest_tx_ref = wanted->guest_tx_ref;
    identity.guest_rx_ref = wanted->guest_rx_ref;
    identity.guest_tx_evtchn = wanted->guest_tx_channel;
    identity.guest_rx_evtchn = wanted->guest_rx_channel;
    identity.ctrl_ref = connection->frontend.ctrl_ref;
    identity.ctrl_evtchn = connection->frontend.ctrl_channel;
    if (config->adopt) {
        g_autoptr(GError) reason = NULL;
        struct XnJournalFile *file =
            journal_file_open(config->journal_directory, &identity, &reason);

        if (file) {
            *ret_adopted = true;
            return file;
        }
        log_warning(config->name, "adopted without its journal, at the indices of its rings: %s",
                    reason->message);
    }
    return journal_file_create(config->journal_directory, &identity, error);
}

/* A frontend without feature-rx-notify need not tell that it has buffers again. */
static struct XnGuestRxPatience connection_patience(const struct XnConnection *connection)
{
    struct XnGuestRxPatience patience = connection->config.patience;

    if (!connection->frontend.features.guest_rx_notify) {
        patience.stall_ns = 0;
    }
    return patience;
}

static bool connection_open_queue(struct XnConnection *connection, unsigned index, GError **error)
{
    const struct XnConnectionConfig *config = &connection->config;
    const struct XnFrontendQueue *wanted = &connection->frontend.queues[index];
    struct XnConnectionQueue *queue = &connection->queues[index];
    struct XnQueueConfig queue_config;

    queue->guest_tx_page = connection_map(connection, "guest_tx", wanted->guest_tx_ref, error);
    if (!queue->guest_tx_page) {
        return false;
    }
    queue->guest_rx_page = connection_map(connection, "guest_rx", wanted->guest_rx_ref, error);
    if (!queue->guest_rx_page) {
        return false;
    }
    if (!connection_bind(queue, config->id.domid, wanted, error)) {
        return false;
    }
    queue->journal = connection_open_journal(connection, index, &queue->journal_adopted, error);
    if (!queue->journal) {
        return false;
    }
    if (index == 0) {
        connection->shared.memory = journal_file_memory(queue->journal);
        if (!queue->journal_adopted) {
            mcast_init(&connection->shared.memory->mcast);
        }
        if (!queue->journal_adopted ||
            !hash_is_sound(&connection->shared.memory->hash, connection->frontend.queue_count)) {
            hash_init(&connection->shared.memory->hash, connection->frontend.queue_count);
        }
    }
    queue_config = (struct XnQueueConfig){
        .domid = config->id.domid,
        .guest_tx_page = queue->guest_tx_page,
        .guest_rx_page = queue->guest_rx_page,
        .evtchn = queue->evtchn,
        .guest_tx_channel = queue->guest_tx_channel,
        .guest_rx_channel = queue->guest_rx_channel,
        .port = port_queue(config->port, index),
        .features = connection->frontend.features,
        .patience = connection_patience(connection),
        .shared = &connection->shared,
        .counters = &config->counters[index],
        .journal = journal_file_journal(queue->journal),
        .journal_adopted = queue->journal_adopted,
        .adopted = config->adopt,
        .broken = connection_broken,
        .stalled = connection_stalled,
        .opaque = connection,
        .index = index,
    };
    memcpy(queue_config.place.mac, config->mac.octet, sizeof(queue_config.place.mac));
    queue->queue = queue_create(&queue_config, error);
    return queue->queue != NULL;
}

/* With steering, the other queues' turns use the queue, too. */
static bool connection_is_paused_with(const struct XnConnection *connection, unsigned i,
                                      uint32_t index)
{
    return i == index || connection->shared.steered[0];
}

static void connection_pause(void *opaque, uint32_t index, const struct XnStaticPages *static_pages)
{
    struct XnConnection *connection = opaque;

    for (unsigned i = 0; i < connection->frontend.queue_count; i++) {
        if (connection_is_paused_with(connection, i, index)) {
            worker_remove_queue(connection->queues[i].worker, connection->queues[i].queue);
        }
    }
    queue_set_static_pages(connection->queues[index].queue, static_pages);
}

static void connection_resume(void *opaque, uint32_t index)
{
    struct XnConnection *connection = opaque;

    for (unsigned i = 0; i < connection->frontend.queue_count; i++) {
        if (connection_is_paused_with(connection, i, index)) {
            worker_add_queue(connection->queues[i].worker, connection->queues[i].queue);
        }
    }
}

/*
 * From now on any queue may get what another queue's port has. One worker serves them all, so that
 * they need no locks between them.
 */
static void connection_steer(void *opaque)
{
    struct XnConnection *connection = opaque;
    unsigned count = connection->frontend.queue_count;
    struct XnWorker *worker = connection->queues[0].worker;

    if (count == 1 || connection->shared.steered[0]) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        worker_remove_queue(connection->queues[i].worker, connection->queues[i].queue);
    }
    for (unsigned i = 0; i < count; i++) {
        struct XnConnectionQueue *queue = &connection->queues[i];

        connection->shared.steered[i] = queue->queue;
        workers_move(connection->config.workers, queue->worker, worker);
        queue->worker = worker;
    }
    for (unsigned i = 0; i < count; i++) {
        worker_add_queue(worker, connection->queues[i].queue);
    }
}

static bool connection_open_ctrl_ring(struct XnConnection *connection, GError **error)
{
    const struct XnFrontend *frontend = &connection->frontend;
    struct XnCtrlRingConfig config = {
        .domid = connection->config.id.domid,
        .ref = frontend->ctrl_ref,
        .channel = frontend->ctrl_channel,
        .queue_count = frontend->queue_count,
        .gnttab = connection->config.gnttab,
        .hash = &connection->shared.memory->hash,
        .journal = journal_file_ctrl(connection->queues[0].journal),
        .adopted = connection->queues[0].journal_adopted,
        .pause = connection_pause,
        .resume = connection_resume,
        .steer = connection_steer,
        .broken = connection_broken,
        .opaque = connection,
    };

    if (frontend->ctrl_channel == 0) {
        return true;
    }
    for (unsigned i = 0; i < frontend->queue_count; i++) {
        config.grants[i] = journal_file_grants(connection->queues[i].journal);
        if (!config.adopted && connection->queues[i].journal_adopted) {
            memset(config.grants[i], 0, sizeof(*config.grants[i]));
        }
    }
    connection->ctrl_ring = ctrl_ring_open(&config, error);
    return connection->ctrl_ring != NULL;
}

struct XnConnection *connection_open(const struct XnConnectionConfig *config, GError **error)
{
    struct XnConnection *connection = g_new0(struct XnConnection, 1);
    struct XnWorker *workers[XN_VIF_QUEUES_MAX];

    connection->config = *config;
    connection->frontend = *config->frontend;
    connection->config.frontend = &connection->frontend;
    connection->shared.guest_tx_credit = config->credit->guest_tx;
    connection->shared.guest_rx_credit = config->credit->guest_rx;
    if (!port_set_queues(config->port, connection->frontend.queue_count, error)) {
        goto fail;
    }
    for (unsigned i = 0; i < connection->frontend.queue_count; i++) {
        if (!connection_open_queue(connection, i, error)) {
            if (connection->frontend.queue_count > 1) {
                g_prefix_error(error, "queue-%u: ", i);
            }
            goto fail;
        }
    }
    mcast_set_filter(&connection->shared.memory->mcast, connection->frontend.multicast_filter);
    if (!port_set_offloads(config->port, features_port_offloads(&connection->frontend.features),
                           error)) {
        goto fail;
    }
    workers_take(config->workers, connection->frontend.queue_count, workers);
    for (unsigned i = 0; i < connection->frontend.queue_count; i++) {
        struct XnConnectionQueue *queue = &connection->queues[i];

        queue->worker = workers[i];
        worker_add_queue(queue->worker, queue->queue);
    }
    if (hash_algorithm(&connection->shared.memory->hash) != XEN_NETIF_CTRL_HASH_ALGORITHM_NONE) {
        connection_steer(connection);
    }
    if (!connection_open_ctrl_ring(connection, error) ||
        !port_set_carrier(config->port, true, error)) {
        goto fail;
    }
    return connection;

fail:
    connection_close(connection);
    return NULL;
}

bool connection_set_features(struct XnConnection *connection, const struct XnFeatures *features,
                             GError **error)
{
    unsigned count = connection->frontend.queue_count;
    bool done;

    /* Queues may give frames to each other: all are stopped before one changes. */
    for (unsigned i = 0; i < count; i++) {
        worker_remove_queue(connection->queues[i].worker, connection->queues[i].queue);
    }
    for (unsigned i = 0; i < count; i++) {
        queue_set_features(connection->queues[i].queue, features);
    }
    connection->frontend.features = *features;
    done = port_set_offloads(connection->config.port, features_port_offloads(features), error);
    for (unsigned i = 0; i < count; i++) {
        worker_add_queue(connection->queues[i].worker, connection->queues[i].queue);
    }
    return done;
}

void connection_set_rates(struct XnConnection *connection, const struct XnCreditRate *guest_tx,
                          const struct XnCreditRate *guest_rx)
{
    uint64_t now = clock_now_ns();

    credit_set(&connection->shared.guest_tx_credit, guest_tx, now);
    credit_set(&connection->shared.guest_rx_credit, guest_rx, now);
}

bool connection_set_bridge(struct XnConnection *connection, unsigned bridge)
{
    struct XnConnectionQueue *queue = &connection->queues[0];

    if (connection->bridge == bridge || connection->frontend.queue_count > 1) {
        return false;
    }
    connection->bridge = bridge;
    worker_remove_queue(queue->worker, queue->queue);
    if (bridge != 0) {
        struct XnWorker *worker = workers_of_bridge(connection->config.workers, bridge);

        workers_move(connection->config.workers, queue->worker, worker);
        queue->worker = worker;
    }
    queue_set_bridge(queue->queue, bridge);
    worker_add_queue(queue->worker, queue->queue);
    return true;
}

void connection_set_multicast_filter(struct XnConnection *connection, bool on)
{
    connection->frontend.multicast_filter = on;
    mcast_set_filter(&connection->shared.memory->mcast, on);
}

void connection_set_down(struct XnConnection *connection, bool down)
{
    __atomic_store_n(&connection->shared.admin_down, down, __ATOMIC_RELAXED);
}

void connection_inspect(struct XnConnection *connection, unsigned index,
                        struct XnQueueView *ret_view, unsigned *ret_worker)
{
    struct XnConnectionQueue *queue = &connection->queues[index];

    worker_inspect_queue(queue->worker, queue->queue, ret_view);
    *ret_worker = worker_index(queue->worker);
}

void connection_kick(struct XnConnection *connection)
{
    for (unsigned i = 0; i < connection->frontend.queue_count; i++) {
        worker_kick_queue(connection->queues[i].worker, connection->queues[i].queue);
    }
}

bool connection_is_stalled(const struct XnConnection *connection)
{
    return connection->stalled;
}

static void connection_stop_queue(struct XnConnection *connection, unsigned index)
{
    struct XnConnectionQueue *queue = &connection->queues[index];

    if (queue->worker) {
        worker_remove_queue(queue->worker, queue->queue);
        workers_release(connection->config.workers, queue->worker);
    }
}

static void connection_close_queue(struct XnConnection *connection, unsigned index, bool leave)
{
    struct XnConnectionQueue *queue = &connection->queues[index];

    queue_destroy(queue->queue);
    journal_file_close(queue->journal, !leave);
    evtchn_close(queue->evtchn);
    gnttab_unmap(connection->config.gnttab, queue->guest_rx_page);
    gnttab_unmap(connection->config.gnttab, queue->guest_tx_page);
}

static void connection_end(struct XnConnection *connection, bool leave)
{
    g_autoptr(GError) error = NULL;

    for (unsigned i = connection->frontend.queue_count; i-- > 0;) {
        connection_stop_queue(connection, i);
    }
    while (g_idle_remove_by_data(connection)) {
    }
    ctrl_ring_close(connection->ctrl_ring);
    for (unsigned i = connection->frontend.queue_count; i-- > 0;) {
        connection_close_queue(connection, i, leave);
    }
    connection->config.credit->guest_tx = connection->shared.guest_tx_credit;
    connection->config.credit->guest_rx = connection->shared.guest_rx_credit;
    /* The first queue is the interface itself; the others come back with the next connection. */
    if (!leave && !port_set_queues(connection->config.port, 1, &error)) {
        log_write_limited(connection->config.log_limit, clock_now_ns(), XN_LOG_WARNING,
                          connection->config.name, "%s", error->message);
    }
    g_free(connection);
}

void connection_close(struct XnConnection *connection)
{
    g_autoptr(GError) error = NULL;

    if (!connection) {
        return;
    }
    if (!port_set_carrier(connection->config.port, false, &error)) {
        log_write_limited(connection->config.log_limit, clock_now_ns(), XN_LOG_WARNING,
                          connection->config.name, "%s", error->message);
    }
    connection_end(connection, false);
}

void connection_leave(struct XnConnection *connection)
{
    if (connection) {
        connection_end(connection, true);
    }
}

uint64_t connection_serial(const struct XnConnection *connection)
{
    return connection->config.serial;
}

const struct XnFrontend *connection_frontend(const struct XnConnection *connection)
{
    return &connection->frontend;
}

unsigned connection_mapped_grants(const struct XnConnection *connection)
{
    return 2 * connection->frontend.queue_count + ctrl_ring_mapped(connection->ctrl_ring);
}
