/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workers.c - the daemon's worker threads, and which of them serves the next queue
 */
#include "control/workers.h"

struct XnWorkersEntry {
    struct XnWorker *worker;
    unsigned queues;
    /* Of workers_take(), when it last chose this worker. */
    unsigned round;
};

struct XnWorkers {
    unsigned count;
    unsigned round;
    struct XnWorkersEntry entries[];
};

struct XnWorkers *workers_create(unsigned count, uint32_t own_domid, enum XnBufferKind buffers,
                                 GError **error)
{
    struct XnWorkers *workers = g_malloc0(sizeof(*workers) + count * sizeof(workers->entries[0]));

    for (unsigned i = 0; i < count; i++) {
        struct XnWorkerConfig config = {.index = i, .own_domid = own_domid, .buffers = buffers};

        workers->entries[i].worker = worker_create(&config, error);
        if (!workers->entries[i].worker) {
            workers_destroy(workers);
            return NULL;
        }
        workers->count++;
    }
    return workers;
}

void workers_destroy(struct XnWorkers *workers)
{
    if (!workers) {
        return;
    }
    for (unsigned i = 0; i < workers->count; i++) {
        g_assert(workers->entries[i].queues == 0);
        worker_destroy(workers->entries[i].worker);
    }
    g_free(workers);
}

void workers_take(struct XnWorkers *workers, unsigned count, struct XnWorker *ret_workers[])
{
    for (unsigned i = 0; i < count; i++) {
        struct XnWorkersEntry *best = NULL;

        /* In each round every worker gets one queue. */
        if (i % workers->count == 0) {
            workers->round++;
        }
        for (unsigned j = 0; j < workers->count; j++) {
            struct XnWorkersEntry *entry = &workers->entries[j];

            if (entry->round != workers->round && (!best || entry->queues < best->queues)) {
                best = entry;
            }
        }
        g_assert(best);
        best->round = workers->round;
        best->queues++;
        ret_workers[i] = best->worker;
    }
}

struct XnWorker *workers_of_bridge(struct XnWorkers *workers, unsigned bridge)
{
    return workers->entries[bridge % workers->count].worker;
}

static struct XnWorkersEntry *workers_find(struct XnWorkers *workers, const struct XnWorker *worker)
{
    for (unsigned i = 0; i < workers->count; i++) {
        if (workers->entries[i].worker == worker) {
            return &workers->entries[i];
        }
    }
    g_assert_not_reached();
}

void workers_release(struct XnWorkers *workers, const struct XnWorker *worker)
{
    struct XnWorkersEntry *entry = workers_find(workers, worker);

    g_assert(entry->queues > 0);
    entry->queues--;
}

void workers_move(struct XnWorkers *workers, const struct XnWorker *from, const struct XnWorker *to)
{
    workers_release(workers, from);
    workers_find(workers, to)->queues++;
}

enum XnBufferKind workers_buffer_kind(const struct XnWorkers *workers)
{
    for (unsigned i = 0; i < workers->count; i++) {
        if (worker_buffer_kind(workers->entries[i].worker) != XN_BUFFERS_GRANTED) {
            return XN_BUFFERS_PLAIN;
        }
    }
    return XN_BUFFERS_GRANTED;
}
