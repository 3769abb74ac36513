/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * neighbours.c - the queues of one worker whose guests get frames directly from each other
 */
#include "data/neighbours.h"

#include <string.h>

#include "data/queue-private.h"

struct XnNeighbours {
    /* struct XnNeighbourPlace of a queue's configuration to that queue, which owns the key */
    GHashTable *queues;
};

static guint neighbours_hash(gconstpointer key)
{
    const struct XnNeighbourPlace *place = key;
    guint hash = place->bridge;

    for (size_t i = 0; i < sizeof(place->mac); i++) {
        hash = hash * 31u + place->mac[i];
    }
    return hash;
}

static gboolean neighbours_equal(gconstpointer a, gconstpointer b)
{
    const struct XnNeighbourPlace *left = a, *right = b;

    return left->bridge == right->bridge && memcmp(left->mac, right->mac, sizeof(left->mac)) == 0;
}

struct XnNeighbours *neighbours_create(void)
{
    struct XnNeighbours *neighbours = g_new0(struct XnNeighbours, 1);

    neighbours->queues = g_hash_table_new(neighbours_hash, neighbours_equal);
    return neighbours;
}

void neighbours_destroy(struct XnNeighbours *neighbours)
{
    if (neighbours) {
        g_hash_table_unref(neighbours->queues);
        g_free(neighbours);
    }
}

void neighbours_add(struct XnNeighbours *neighbours, struct XnQueue *queue)
{
    struct XnNeighbourPlace *place = &queue->config.place;

    if (place->bridge != 0 && !g_hash_table_contains(neighbours->queues, place)) {
        g_hash_table_insert(neighbours->queues, place, queue);
    }
}

void neighbours_remove(struct XnNeighbours *neighbours, struct XnQueue *queue)
{
    const struct XnNeighbourPlace *place = &queue->config.place;

    if (g_hash_table_lookup(neighbours->queues, place) == queue) {
        g_hash_table_remove(neighbours->queues, place);
    }
}

bool neighbours_has_any(const struct XnNeighbours *neighbours, const struct XnQueue *queue)
{
    return queue->config.place.bridge != 0 && g_hash_table_size(neighbours->queues) > 1;
}

struct XnQueue *neighbours_find(const struct XnNeighbours *neighbours, const struct XnQueue *queue,
                                const uint8_t *mac)
{
    struct XnNeighbourPlace place = {.bridge = queue->config.place.bridge};
    struct XnQueue *found;

    memcpy(place.mac, mac, sizeof(place.mac));
    found = g_hash_table_lookup(neighbours->queues, &place);
    return found != queue ? found : NULL;
}
