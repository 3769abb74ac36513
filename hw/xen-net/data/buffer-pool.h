/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buffer-pool.h - the pages through which a worker's packets pass
 *
 * Theory of operation
 *
 * A worker handles one batch of packets at a time, and no packet outlives its batch: what cannot
 * be passed on stays in the guest's ring. So the pool is a stack of pages that is emptied at the
 * start of each batch, and the pages used most recently are always used first. Memory grows with
 * the number of workers, not with the number of vifs.
 *
 * Where /dev/xen/gntalloc allows, the pages are granted to ourselves and copy operations name them
 * by reference; else they are plain memory, named by address. Used by the worker that owns it.
 */
#ifndef XN_DATA_BUFFER_POOL_H
#define XN_DATA_BUFFER_POOL_H

#include "data/worker.h"
#include "netif/slots.h"
#include "xen/gnttab.h"

/* Packets handled together; more gain nothing, since cost is per segment (docs/performance.md). */
#define XN_BATCH_PACKETS 16u

/* Enough for a batch of packets that use every slot they may. */
#define XN_BUFFER_POOL_PAGES (XN_BATCH_PACKETS * XN_GUEST_TX_SLOTS_MAX)

struct XnBufferPool {
    uint8_t *pages;
    /* NULL for plain memory */
    struct XnSelfGrant *grant;
    /* domain of the references */
    uint32_t own_domid;
    /* pages in use: 0 ... used - 1 */
    uint32_t used;
};

/* Creates a pool; NULL with an error. GRANTED fails where AUTO falls back to plain memory. */
struct XnBufferPool *buffer_pool_create(enum XnBufferKind kind, uint32_t own_domid, GError **error);
void buffer_pool_destroy(struct XnBufferPool *pool);

/* Empties the pool. */
static inline void buffer_pool_reset(struct XnBufferPool *pool)
{
    pool->used = 0;
}

static inline uint32_t buffer_pool_free(const struct XnBufferPool *pool)
{
    return XN_BUFFER_POOL_PAGES - pool->used;
}

/* Takes `count` <= buffer_pool_free() pages that follow one another: the index of the first. */
static inline uint32_t buffer_pool_take(struct XnBufferPool *pool, uint32_t count)
{
    uint32_t first = pool->used;

    pool->used += count;
    return first;
}

/* Gives back the pages from `index` on. */
static inline void buffer_pool_trim(struct XnBufferPool *pool, uint32_t index)
{
    pool->used = index;
}

static inline uint8_t *buffer_pool_page(const struct XnBufferPool *pool, uint32_t index)
{
    return pool->pages + (size_t)index * XN_PAGE_SIZE;
}

#endif
