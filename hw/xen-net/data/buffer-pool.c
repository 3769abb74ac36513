/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buffer-pool.c - the pages through which a worker's packets pass
 */
#include "data/buffer-pool.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/log.h"

#define BUFFER_POOL_BYTES ((size_t)XN_BUFFER_POOL_PAGES * XN_PAGE_SIZE)

static bool buffer_pool_use_granted(struct XnBufferPool *pool, GError **error)
{
    pool->grant = gnttab_self_grant(pool->own_domid, XN_BUFFER_POOL_PAGES, error);
    if (!pool->grant) {
        return false;
    }
    pool->pages = gnttab_self_grant_pages(pool->grant);
    return true;
}

static bool buffer_pool_use_plain(struct XnBufferPool *pool, GError **error)
{
    void *pages = mmap(NULL, BUFFER_POOL_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (pages == MAP_FAILED) {
        int saved = errno;

        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
                    "cannot allocate %zu bytes of packet buffers: %s", BUFFER_POOL_BYTES,
                    g_strerror(saved));
        return false;
    }
    pool->pages = pages;
    return true;
}

struct XnBufferPool *buffer_pool_create(enum XnBufferKind kind, uint32_t own_domid, GError **error)
{
    struct XnBufferPool *pool = g_new0(struct XnBufferPool, 1);
    g_autoptr(GError) reason = NULL;

    pool->own_domid = own_domid;
    if (kind != XN_BUFFERS_PLAIN) {
        if (buffer_pool_use_granted(pool, &reason)) {
            return pool;
        }
        if (kind == XN_BUFFERS_GRANTED) {
            g_propagate_error(error, g_steal_pointer(&reason));
            g_free(pool);
            return NULL;
        }
        log_info(NULL, "packet buffers are plain memory: %s", reason->message);
    }
    if (!buffer_pool_use_plain(pool, error)) {
        g_free(pool);
        return NULL;
    }
    return pool;
}

void buffer_pool_destroy(struct XnBufferPool *pool)
{
    if (!pool) {
        return;
    }
    if (pool->grant) {
        gnttab_self_grant_free(pool->grant);
    } else {
        munmap(pool->pages, BUFFER_POOL_BYTES);
    }
    g_free(pool);
}
