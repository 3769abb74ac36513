/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy-batch.c - grant-copy operations gathered for one call
 */
#include "data/copy-batch.h"
#include "trace.h"

typedef union xengnttab_copy_ptr XnCopyEnd;

/* Our end of a segment: by reference when the pool is granted to us. Returns the flag for that. */
static uint16_t copy_batch_local(const struct XnCopyBatch *batch, XnCopyEnd *end, uint32_t page,
                                 uint32_t offset, uint16_t flag)
{
    if (batch->pool->grant) {
        end->foreign.ref = gnttab_self_grant_ref(batch->pool->grant, page);
        end->foreign.offset = (uint16_t)offset;
        end->foreign.domid = (uint16_t)batch->pool->own_domid;
        return flag;
    }
    end->virt = buffer_pool_page(batch->pool, page) + offset;
    return 0;
}

static void copy_batch_guest(XnCopyEnd *end, uint32_t domid, uint32_t ref, uint32_t offset)
{
    end->foreign.ref = ref;
    end->foreign.offset = (uint16_t)offset;
    end->foreign.domid = (uint16_t)domid;
}

static XnCopySegment *copy_batch_add(struct XnCopyBatch *batch, uint32_t size)
{
    XnCopySegment *segment = &batch->segments[batch->count];

    g_assert(batch->count < XN_COPY_BATCH_SEGMENTS);
    batch->count++;
    segment->len = (uint16_t)size;
    segment->status = GNTST_general_error;
    return segment;
}

uint32_t copy_batch_from_guest(struct XnCopyBatch *batch, uint32_t domid, uint32_t ref,
                               uint32_t offset, uint32_t size, uint32_t page)
{
    XnCopySegment *segment = copy_batch_add(batch, size);

    copy_batch_guest(&segment->source, domid, ref, offset);
    segment->flags = GNTCOPY_source_gref;
    segment->flags |= copy_batch_local(batch, &segment->dest, page, offset, GNTCOPY_dest_gref);
    return batch->count - 1;
}

void copy_batch_between(struct XnCopyBatch *batch, const struct XnCopySource *source,
                        uint32_t domid, uint32_t ref, uint32_t offset, uint32_t size)
{
    XnCopySegment *segment = copy_batch_add(batch, size);

    copy_batch_guest(&segment->dest, domid, ref, offset);
    segment->flags = GNTCOPY_dest_gref;
    if (source->foreign) {
        copy_batch_guest(&segment->source, source->domid, source->ref, source->offset);
        segment->flags |= GNTCOPY_source_gref;
    } else {
        segment->flags |= copy_batch_local(batch, &segment->source, source->page, source->offset,
                                           GNTCOPY_source_gref);
    }
}

uint32_t copy_batch_to_guest(struct XnCopyBatch *batch, uint32_t domid, uint32_t ref,
                             uint32_t offset, uint32_t size, uint32_t page)
{
    const struct XnCopySource source = {.page = page, .offset = offset};

    copy_batch_between(batch, &source, domid, ref, offset, size);
    return batch->count - 1;
}

void copy_batch_flush(struct XnCopyBatch *batch)
{
    trace_copy_begin(batch, batch->count);
    gnttab_copy(batch->gnttab, batch->segments, batch->count);
    trace_copy_end(batch, batch->count);
}

bool copy_batch_succeeded(const struct XnCopyBatch *batch, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        if (batch->segments[i].status != GNTST_okay) {
            return false;
        }
    }
    return true;
}
