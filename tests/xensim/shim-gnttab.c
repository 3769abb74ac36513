/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shim-gnttab.c - libxengnttab.so.1 on the simulated host: mapping and copying other domains'
 * pages.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xengnttab.h>

#include "core-entry.h"
#include "core.h"

/* Linux's gntdev passes this many operations to the hypervisor at a time. */
#define GNTDEV_COPY_BATCH 16

static struct SimHandle *sim(xengnttab_handle *xgt)
{
    return (struct SimHandle *)(void *)xgt;
}

static uint16_t real_domid(uint32_t domid)
{
    return domid == DOMID_SELF ? sim_domid : (uint16_t)domid;
}

xengnttab_handle *xengnttab_open(struct xentoollog_logger *logger, unsigned open_flags)
{
    (void)logger;
    (void)open_flags;
    return (xengnttab_handle *)(void *)handle_open_call(SIM_HANDLE_GNTTAB, SIM_CALL_gnttab_open);
}

int xengnttab_close(xengnttab_handle *xgt)
{
    if (xgt) {
        handle_close(sim(xgt));
    }
    return 0;
}

int xengnttab_fd(xengnttab_handle *xgt)
{
    return sim(xgt)->fd;
}

int xengnttab_set_max_grants(xengnttab_handle *xgt, uint32_t nr_grants)
{
    (void)xgt;
    (void)nr_grants;
    return 0;
}

static bool place_page(void *address, uint16_t domid, uint32_t frame, int prot)
{
    int fd = core_open_memory(domid);
    void *placed;

    if (fd < 0) {
        return false;
    }
    placed = mmap(address, SIM_PAGE_SIZE, prot, MAP_SHARED | MAP_FIXED, fd,
                  (off_t)frame * SIM_PAGE_SIZE);
    close(fd);
    return placed != MAP_FAILED;
}

/* Locked.  Maps pages in order until one fails; returns how many. */
static uint32_t map_pages(struct SimHandle *handle, struct SimMapping *mapping,
                          const uint32_t *domids, uint32_t domid_stride, const uint32_t *refs,
                          int prot)
{
    uint32_t i;

    for (i = 0; i < mapping->count; i++) {
        uint8_t *address = (uint8_t *)mapping->address + (size_t)i * SIM_PAGE_SIZE;
        uint16_t domid = real_domid(domids[i * domid_stride]);
        uint32_t frame;
        int map = grant_map(handle, domid, refs[i], (prot & PROT_WRITE) != 0, &frame);

        if (map < 0) {
            break;
        }
        mapping->id[i] = (uint32_t)map;
        if (!place_page(address, domid, frame, prot)) {
            grant_unmap((uint32_t)map);
            break;
        }
    }
    return i;
}

static void *map_refs(xengnttab_handle *xgt, uint32_t count, const uint32_t *domids,
                      uint32_t domid_stride, const uint32_t *refs, int prot, uint32_t notify_offset,
                      evtchn_port_t notify_evtchn)
{
    struct SimHandle *handle = sim(xgt);
    size_t size = (size_t)count * SIM_PAGE_SIZE;
    struct SimMapping *mapping;
    uint32_t mapped;

    if (inject_call(SIM_CALL_map)) {
        return NULL;
    }
    mapping = mapping_new(count, notify_evtchn);
    if (!mapping) {
        return NULL;
    }
    mapping->address =
        mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping->address == MAP_FAILED) {
        free(mapping);
        return NULL;
    }
    core_lock();
    process_reap();
    mapped = map_pages(handle, mapping, domids, domid_stride, refs, prot);
    if (mapped == count) {
        struct SimMap *first = &sim_world->map[mapping->id[0]];

        first->notify_offset = notify_offset < SIM_PAGE_SIZE ? (int32_t)notify_offset : -1;
        first->notify_evtchn = (int32_t)notify_evtchn;
        process_tally()->mapped_pages += count;
    } else {
        uint32_t i;

        for (i = 0; i < mapped; i++) {
            grant_unmap(mapping->id[i]);
        }
    }
    core_unlock();
    if (mapped != count) {
        munmap(mapping->address, size);
        free(mapping);
        /* The driver has one error for every reason. */
        errno = EINVAL;
        return NULL;
    }
    handle_add_mapping(handle, mapping);
    if (prot & PROT_WRITE) {
        entry_mapped(mapping->address, count);
    }
    return mapping->address;
}

void *xengnttab_map_grant_ref(xengnttab_handle *xgt, uint32_t domid, uint32_t ref, int prot)
{
    return map_refs(xgt, 1, &domid, 0, &ref, prot, UINT32_MAX, UINT32_MAX);
}

void *xengnttab_map_grant_refs(xengnttab_handle *xgt, uint32_t count, uint32_t *domids,
                               uint32_t *refs, int prot)
{
    return map_refs(xgt, count, domids, 1, refs, prot, UINT32_MAX, UINT32_MAX);
}

void *xengnttab_map_domain_grant_refs(xengnttab_handle *xgt, uint32_t count, uint32_t domid,
                                      uint32_t *refs, int prot)
{
    return map_refs(xgt, count, &domid, 0, refs, prot, UINT32_MAX, UINT32_MAX);
}

void *xengnttab_map_grant_ref_notify(xengnttab_handle *xgt, uint32_t domid, uint32_t ref, int prot,
                                     uint32_t notify_offset, evtchn_port_t notify_port)
{
    return map_refs(xgt, 1, &domid, 0, &ref, prot, notify_offset, notify_port);
}

int xengnttab_unmap(xengnttab_handle *xgt, void *start_address, uint32_t count)
{
    struct SimHandle *handle = sim(xgt);
    struct SimMapping *mapping;
    uint32_t i;

    if (inject_call(SIM_CALL_unmap)) {
        return -1;
    }
    mapping = handle_take_mapping(handle, start_address, count);
    if (!mapping) {
        return -1;
    }
    core_lock();
    for (i = 0; i < count; i++) {
        grant_unmap(mapping->id[i]);
    }
    core_unlock();
    process_tally()->mapped_pages -= count;
    mapping_end(handle, mapping);
    return 0;
}

/* One operation as the hypervisor gets it: at most one page of each side. */
struct CopyOp {
    xengnttab_grant_copy_segment_t *segment;
    uint32_t done; /* bytes of the segment before this operation's */
    uint32_t length;
};

static int copy_side(bool by_ref, const union xengnttab_copy_ptr *side, uint32_t done,
                     bool writable, uint8_t **address)
{
    uint16_t domid;
    uint32_t frame;
    int status;

    if (!by_ref) {
        *address = (uint8_t *)side->virt + done;
        return GNTST_okay;
    }
    domid = real_domid(side->foreign.domid);
    status = grant_resolve(domid, side->foreign.ref, sim_domid, writable, &frame);
    if (status == GNTST_okay) {
        *address =
            domain_memory(domid) + (size_t)frame * SIM_PAGE_SIZE + side->foreign.offset + done;
    }
    return status;
}

static bool side_has_domain(bool by_ref, const union xengnttab_copy_ptr *side)
{
    return !by_ref || domain_tables(real_domid(side->foreign.domid));
}

static void copy_one(const struct CopyOp *op)
{
    xengnttab_grant_copy_segment_t *segment = op->segment;
    bool from_ref = segment->flags & GNTCOPY_source_gref;
    bool to_ref = segment->flags & GNTCOPY_dest_gref;
    int status = GNTST_okay;
    uint8_t *from = NULL;
    uint8_t *to = NULL;

    /* The hypervisor looks up both domains before either grant. */
    if (!side_has_domain(from_ref, &segment->source) || !side_has_domain(to_ref, &segment->dest)) {
        status = GNTST_bad_domain;
    }
    if (status == GNTST_okay) {
        status = copy_side(from_ref, &segment->source, op->done, false, &from);
    }
    if (status == GNTST_okay) {
        status = copy_side(to_ref, &segment->dest, op->done, true, &to);
    }
    if (status == GNTST_okay) {
        memcpy(to, from, op->length);
    } else if (segment->status == GNTST_okay) {
        segment->status = (int16_t)status;
    }
}

static uint32_t local_room(bool by_ref, const union xengnttab_copy_ptr *side, uint32_t done)
{
    if (by_ref) {
        return SIM_PAGE_SIZE;
    }
    return SIM_PAGE_SIZE - (uint32_t)(((uintptr_t)side->virt + done) % SIM_PAGE_SIZE);
}

static bool segment_is_valid(const xengnttab_grant_copy_segment_t *segment)
{
    bool from_ref = segment->flags & GNTCOPY_source_gref;
    bool to_ref = segment->flags & GNTCOPY_dest_gref;

    return (from_ref || to_ref) &&
           !(from_ref && segment->source.foreign.offset + segment->len > SIM_PAGE_SIZE) &&
           !(to_ref && segment->dest.foreign.offset + segment->len > SIM_PAGE_SIZE);
}

/* Operations queued, and sent to the hypervisor when the queue is full. */
struct CopyBatch {
    uint32_t count;
    struct CopyOp op[GNTDEV_COPY_BATCH];
};

static void flush_batch(struct CopyBatch *batch)
{
    uint32_t i;

    for (i = 0; i < batch->count; i++) {
        copy_one(&batch->op[i]);
    }
    batch->count = 0;
}

/* A local side is split where it crosses a page, so one segment may take several operations. */
static void queue_segment(struct CopyBatch *batch, xengnttab_grant_copy_segment_t *segment)
{
    bool from_ref = segment->flags & GNTCOPY_source_gref;
    bool to_ref = segment->flags & GNTCOPY_dest_gref;
    uint32_t done = 0;

    segment->status = GNTST_okay;
    while (done < segment->len) {
        uint32_t length = segment->len - done;
        uint32_t from_room = local_room(from_ref, &segment->source, done);
        uint32_t to_room = local_room(to_ref, &segment->dest, done);

        length = length < from_room ? length : from_room;
        length = length < to_room ? length : to_room;
        if (batch->count == GNTDEV_COPY_BATCH) {
            flush_batch(batch);
        }
        batch->op[batch->count++] = (struct CopyOp){segment, done, length};
        done += length;
    }
}

int xengnttab_grant_copy(xengnttab_handle *xgt, uint32_t count,
                         xengnttab_grant_copy_segment_t *segs)
{
    struct CopyBatch batch = {0};
    uint32_t i;

    (void)xgt;
    if (inject_call(SIM_CALL_copy)) {
        /* As when the driver fails early: nothing was copied, and every status says okay. */
        for (i = 0; i < count; i++) {
            segs[i].status = GNTST_okay;
        }
        return -1;
    }
    for (i = 0; i < count; i++) {
        int status;

        if (!segment_is_valid(&segs[i])) {
            /* Full batches before this one were done; the open one is lost. */
            errno = EINVAL;
            return -1;
        }
        if (inject_segment(&status)) {
            segs[i].status = (int16_t)status;
            continue;
        }
        queue_segment(&batch, &segs[i]);
    }
    flush_batch(&batch);
    return 0;
}

static int no_dmabuf(void)
{
    errno = ENOSYS;
    return -1;
}

int xengnttab_dmabuf_exp_from_refs(xengnttab_handle *xgt, uint32_t domid, uint32_t flags,
                                   uint32_t count, const uint32_t *refs, uint32_t *fd)
{
    (void)xgt;
    (void)domid;
    (void)flags;
    (void)count;
    (void)refs;
    (void)fd;
    return no_dmabuf();
}

int xengnttab_dmabuf_exp_wait_released(xengnttab_handle *xgt, uint32_t fd, uint32_t wait_to_ms)
{
    (void)xgt;
    (void)fd;
    (void)wait_to_ms;
    return no_dmabuf();
}

int xengnttab_dmabuf_imp_to_refs(xengnttab_handle *xgt, uint32_t domid, uint32_t fd, uint32_t count,
                                 uint32_t *refs)
{
    (void)xgt;
    (void)domid;
    (void)fd;
    (void)count;
    (void)refs;
    return no_dmabuf();
}

int xengnttab_dmabuf_imp_release(xengnttab_handle *xgt, uint32_t fd)
{
    (void)xgt;
    (void)fd;
    return no_dmabuf();
}
