/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * neighbours.c - the queues of one worker whose guests get frames directly from each other
 *
 * A hash table whose chains run through the queues, since a worker allocates nothing.
 */
#include "data/neighbours.h"

#include <string.h>

#include "data/queue-private.h"

#define NEIGHBOURS_BUCKETS 64u

struct XnNeighbours {
    uint32_t count;
    struct XnQueue *buckets[NEIGHBOURS_BUCKETS];
};

/* The toolstack's addresses differ in their last octets. */
static uint32_t neighbours_bucket(const uint8_t *mac)
{
    return (mac[3] + 5u * mac[4] + mac[5]) % NEIGHBOURS_BUCKETS;
}

static struct XnQueue *neighbours_look_up(const struct XnNeighbours *neighbours, uint32_t bridge,
                                          const uint8_t *mac)
{
    struct XnQueue *queue = neighbours->buckets[neighbours_bucket(mac)];

    while (queue && (queue->config.place.bridge != bridge ||
                     memcmp(queue->config.place.mac, mac, sizeof(queue->config.place.mac)) != 0)) {
        queue = queue->neighbour_next;
    }
    return queue;
}

struct XnNeighbours *neighbours_create(void)
{
    return g_new0(struct XnNeighbours, 1);
}

void neighbours_destroy(struct XnNeighbours *neighbours)
{
    g_free(neighbours);
}

void neighbours_add(struct XnNeighbours *neighbours, struct XnQueue *queue)
{
    const struct XnNeighbourPlace *place = &queue->config.place;
    struct XnQueue **link = &neighbours->buckets[neighbours_bucket(place->mac)];

    if (place->bridge == 0) {
        return;
    }
    while (*link) {
        link = &(*link)->neighbour_next;
    }
    queue->neighbour_next = NULL;
    *link = queue;
    neighbours->count++;
}

void neighbours_remove(struct XnNeighbours *neighbours, struct XnQueue *queue)
{
    struct XnQueue **link = &neighbours->buckets[neighbours_bucket(queue->config.place.mac)];

    while (*link && *link != queue) {
        link = &(*link)->neighbour_next;
    }
    if (*link) {
        *link = queue->neighbour_next;
        queue->neighbour_next = NULL;
        neighbours->count--;
    }
}

bool neighbours_has_any(const struct XnNeighbours *neighbours, const struct XnQueue *queue)
{
    return queue->config.place.bridge != 0 && neighbours->count > 1;
}

struct XnQueue *neighbours_find(const struct XnNeighbours *neighbours, const struct XnQueue *queue,
                                const uint8_t *mac)
{
    struct XnQueue *found = neighbours_look_up(neighbours, queue->config.place.bridge, mac);

    return found != queue ? found : NULL;
}
