/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue.h - the data path's half of one queue of a vif
 *
 * Theory of operation
 *
 * The control plane gathers everything a queue needs into a configuration, creates the queue from
 * it, gives it to a worker and later takes it back; in between the queue belongs to that worker
 * alone and reads neither xenstore nor options. The life is create, worker_add_queue,
 * worker_remove_queue, destroy.
 *
 * When the guest breaks a ring, the queue stops serving both rings, and its worker calls `broken`
 * once with the reason; the control plane then closes the vif.
 */
#ifndef XN_DATA_QUEUE_H
#define XN_DATA_QUEUE_H

#include "base/counters.h"
#include "data/journal.h"
#include "data/static-pages.h"
#include "data/vif-shared.h"
#include "netif/features.h"
#include "netif/guest-rx-stall.h"
#include "port/port.h"
#include "xen/evtchn.h"

/* Where a guest is, for the others on the same bridge. */
struct XnNeighbourPlace {
    /* Index of the bridge's interface; 0: frames go through the port only. */
    uint32_t bridge;
    /* As the toolstack gave it. */
    uint8_t mac[6];
};

/* Everything is borrowed from the control plane, and outlives the queue. */
struct XnQueueConfig {
    /* The guest's domain, from the backend's own directory in xenstore. */
    uint32_t domid;
    /* Mapped ring pages. */
    void *guest_tx_page;
    void *guest_rx_page;
    /* The queue's own handle, with one channel for both rings or one for each. */
    struct XnEvtchn *evtchn;
    uint32_t guest_tx_channel;
    uint32_t guest_rx_channel;
    struct XnPortQueue *port;
    struct XnFeatures features;
    struct XnNeighbourPlace place;
    /* How long frames wait for buffers. */
    struct XnGuestRxPatience patience;
    struct XnVifShared *shared;
    /* NULL until the guest offers static grants. */
    const struct XnStaticPages *static_pages;
    /* Written by the worker only; lives longer than a connection. */
    struct XnQueueCounters *counters;
    /* Written by the worker only; all zero for a new connection. */
    struct XnJournal *journal;
    /*
     * The rings were served by a predecessor until now, and the guest may wait for an event that
     * it did not send.
     */
    bool adopted;
    /*
     * The journal is the predecessor's. It is believed as far as it fits the rings; else the queue
     * starts at the published responses, which is right unless the predecessor died between
     * writing and publishing some.
     */
    bool journal_adopted;
    /*
     * Called on the worker's thread, at most once: the guest broke a ring. `reason` is a constant
     * string. Must not block; hands the news to the main thread.
     */
    void (*broken)(void *opaque, const char *reason);
    /*
     * Called on the worker's thread: the guest's stall began or ended, as the queue's bit in
     * shared->guest_rx_stalled tells. Must not block.
     */
    void (*stalled)(void *opaque);
    /* The queue's number, 0 ... XN_VIF_QUEUES_MAX - 1. */
    uint32_t index;
    void *opaque;
};

struct XnQueue;

/*
 * Creates a queue that is attached to its rings but not served yet. NULL with an error when the
 * rings' indices are impossible. Main thread.
 */
struct XnQueue *queue_create(const struct XnQueueConfig *config, GError **error);

/* Sets the table of static grants, of a queue that no worker has. Main thread. */
void queue_set_static_pages(struct XnQueue *queue, const struct XnStaticPages *static_pages);

/*
 * Changes what the guest can take, of a queue that no worker has. A frame that waits and is none of
 * that any more is lost. Main thread.
 */
void queue_set_features(struct XnQueue *queue, const struct XnFeatures *features);

/*
 * Sets the bridge whose guests get this one's frames directly, and theirs it; 0: none. Of a queue
 * that no worker has. Main thread.
 */
void queue_set_bridge(struct XnQueue *queue, uint32_t bridge);

/* Frees a queue that no worker has; NULL is fine. Main thread. */
void queue_destroy(struct XnQueue *queue);

#endif
