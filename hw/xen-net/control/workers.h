/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workers.h - the daemon's worker threads, and which of them serves the next queue
 *
 * Main thread only.
 */
#ifndef XN_CONTROL_WORKERS_H
#define XN_CONTROL_WORKERS_H

#include "data/worker.h"

struct XnWorkers;

/* Starts `count` (at least 1) workers. NULL with an error. */
struct XnWorkers *workers_create(unsigned count, uint32_t own_domid, enum XnBufferKind buffers,
                                 GError **error);

/* Ends them; NULL is fine. They must have no queues left. */
void workers_destroy(struct XnWorkers *workers);

/*
 * Chooses workers for the `count` queues of one vif: as many different ones as there are, those
 * with the fewest queues first. Each counts its new queues from now on.
 */
void workers_take(struct XnWorkers *workers, unsigned count, struct XnWorker *ret_workers[]);

/* The worker of all vifs on bridge `bridge` that get frames directly from each other. */
struct XnWorker *workers_of_bridge(struct XnWorkers *workers, unsigned bridge);

/* Gives back one of a workers_take(). */
void workers_release(struct XnWorkers *workers, const struct XnWorker *worker);

/* Counts a queue that moves from one worker to another. */
void workers_move(struct XnWorkers *workers, const struct XnWorker *from,
                  const struct XnWorker *to);

/* XN_BUFFERS_GRANTED when all of them have granted buffers, else XN_BUFFERS_PLAIN. */
enum XnBufferKind workers_buffer_kind(const struct XnWorkers *workers);

#endif
