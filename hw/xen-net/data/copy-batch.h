/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy-batch.h - grant-copy operations gathered for one call
 *
 * Theory of operation
 *
 * Operations are added one after the other and executed by one call. A batch goes in one direction,
 * from a guest or to guests: gntdev marks pages dirty by one flag for a whole group of operations
 * (`writeable` of struct gntdev_copy_batch in Linux). The guest side of an operation never leaves
 * its page, and neither does ours, since both have the same offset; so one operation here is one
 * for the hypervisor.
 */
#ifndef XN_DATA_COPY_BATCH_H
#define XN_DATA_COPY_BATCH_H

#include "data/buffer-pool.h"
#include "netif/guest-rx-plan.h"

/* Enough for packets whose every piece is split where the neighbour's page ends. */
#define XN_COPY_BATCH_SEGMENTS (XN_BATCH_PACKETS * (XN_GUEST_TX_SLOTS_MAX + XN_GUEST_RX_SLOTS_MAX))

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

/* Where bytes come from: a guest's page, or one of ours. */
struct XnCopySource {
    bool foreign;
    uint32_t domid;
    uint32_t ref;
    uint32_t page;
    /* in that page */
    uint32_t offset;
};

/* Adds: `size` bytes of a source, which stay in its page, to `offset` of the guest's page `ref`. */
void copy_batch_between(struct XnCopyBatch *batch, const struct XnCopySource *source,
                        uint32_t domid, uint32_t ref, uint32_t offset, uint32_t size);

/* Executes what was added; the statuses stand in segments[]. */
void copy_batch_flush(struct XnCopyBatch *batch);

/* Whether the `count` segments from `first` on all succeeded. */
bool copy_batch_succeeded(const struct XnCopyBatch *batch, uint32_t first, uint32_t count);

#endif
