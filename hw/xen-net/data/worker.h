/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker.h - a thread that serves queues
 */
#ifndef XN_DATA_WORKER_H
#define XN_DATA_WORKER_H

#include "data/queue-inspect.h"
#include "data/queue.h"

/* Where the workers' packet buffers come from. */
enum XnBufferKind {
    /* granted to ourselves where that works, plain memory else */
    XN_BUFFERS_AUTO,
    XN_BUFFERS_GRANTED,
    XN_BUFFERS_PLAIN,
};

struct XnWorkerConfig {
    /* For the thread's name and the log: 0 ... */
    unsigned index;
    /* The domain that the daemon runs in. */
    uint32_t own_domid;
    enum XnBufferKind buffers;
};

struct XnWorker;

/* Starts a worker. NULL with an error (no /dev/xen/gntdev, no memory). Main thread. */
struct XnWorker *worker_create(const struct XnWorkerConfig *config, GError **error);

/* Ends it; NULL is fine. It must have no queues left. Main thread. */
void worker_destroy(struct XnWorker *worker);

/* What its buffers are: XN_BUFFERS_GRANTED or XN_BUFFERS_PLAIN. Any thread. */
enum XnBufferKind worker_buffer_kind(const struct XnWorker *worker);

/*
 * Gives a queue to the worker; it serves it from now on. Main thread; waits for the worker, which
 * takes no longer than one turn of its queues.
 */
void worker_add_queue(struct XnWorker *worker, struct XnQueue *queue);

/*
 * Takes it back: when this returns, the worker touches neither rings nor port nor channels of the
 * queue any more. Main thread; waits likewise.
 */
void worker_remove_queue(struct XnWorker *worker, struct XnQueue *queue);

/* What a queue of the worker is doing. Main thread; waits likewise. */
void worker_inspect_queue(struct XnWorker *worker, struct XnQueue *queue,
                          struct XnQueueView *ret_view);

/* Has a queue of the worker looked at afresh, see queue_kick(). Main thread; waits likewise. */
void worker_kick_queue(struct XnWorker *worker, struct XnQueue *queue);

/* Its place among the workers: 0 ... */
unsigned worker_index(const struct XnWorker *worker);

#endif
