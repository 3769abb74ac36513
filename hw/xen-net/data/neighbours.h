/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * neighbours.h - the queues of one worker whose guests get frames directly from each other
 *
 * A table from bridge and MAC address to the queue of the guest there. The addresses are those that
 * the toolstack gave the vifs, never learnt from frames, so no guest can draw another's frames to
 * itself. Belongs to a worker and is used on its thread only; looking up allocates nothing.
 */
#ifndef XN_DATA_NEIGHBOURS_H
#define XN_DATA_NEIGHBOURS_H

#include "data/queue.h"

struct XnNeighbours;

struct XnNeighbours *neighbours_create(void);

/* NULL is fine. */
void neighbours_destroy(struct XnNeighbours *neighbours);

/*
 * Adds a queue at the place its configuration names; one that names no bridge is not added. Of
 * several with the same address the first is found, and the next one when that has been removed:
 * during a migration within one host, both ends of it are there.
 */
void neighbours_add(struct XnNeighbours *neighbours, struct XnQueue *queue);

/* Removes a queue, added or not. */
void neighbours_remove(struct XnNeighbours *neighbours, struct XnQueue *queue);

/* Whether `queue` can have a neighbour at all. */
bool neighbours_has_any(const struct XnNeighbours *neighbours, const struct XnQueue *queue);

/* The queue behind `mac` (6 octets) on the bridge of `queue`; NULL when there is no other. */
struct XnQueue *neighbours_find(const struct XnNeighbours *neighbours, const struct XnQueue *queue,
                                const uint8_t *mac);

#endif
