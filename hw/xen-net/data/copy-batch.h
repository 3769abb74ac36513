/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy-batch.h - grant-copy operations gathered for one call
 *
 * Theory of operation
 *
 * Operations are added one after the other and executed by one call. A batch goes in one direction
 * and concerns one guest: gntdev marks pages dirty by one flag for a whole group of operations
 * (`writeable` of struct gntdev_copy_batch in Linux), and a guest whose memory is slow must not
 * hold up another's packets. The guest side of an operation never leaves its page, and neither does
 * ours, since both have the same offset; so one operation here is one for the hypervisor.
 */
#ifndef XN_DATA_COPY_BATCH_H
#define XN_DATA_COPY_BATCH_H

#include "data/buffer-pool.h"

#define XN_COPY_BATCH_SEGMENTS (XN_BATCH_PACKETS * XN_GUEST_TX_SLOTS_MAX)

struct XnCopyBatch {
    struct XnGnttab *gnttab;
    const struct XnBufferPool *pool;
    uint32_t count;
    XnCopySegment segments[XN_COPY_BATCH_SEGMENTS];
};

static inline void copy_batch_reset(struct XnCopyBatch *batch)
{
    batch->count = 0;
}

/*
 * Adds: `size` bytes at `offset` of the guest's page `ref` to the same offset of our page `page`.
 * Returns the segment's index. offset + size <= 4096; size > 0.
 */
uint32_t copy_batch_from_guest(struct XnCopyBatch *batch, uint32_t domid, uint32_t ref,
                               uint32_t offset, uint32_t size, uint32_t page);

/* The other way round. */
uint32_t copy_batch_to_guest(struct XnCopyBatch *batch, uint32_t domid, uint32_t ref,
                             uint32_t offset, uint32_t size, uint32_t page);

/* Executes what was added; the statuses stand in segments[]. */
void copy_batch_flush(struct XnCopyBatch *batch);

/* Whether the `count` segments from `first` on all succeeded. */
bool copy_batch_succeeded(const struct XnCopyBatch *batch, uint32_t first, uint32_t count);

#endif
