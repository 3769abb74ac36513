/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shim-gnttab-share.c - the other half of libxengnttab.so.1: granting own pages to other domains.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xengnttab.h>

#include "core.h"

static struct SimHandle *sim(xengntshr_handle *xgs)
{
    return (struct SimHandle *)(void *)xgs;
}

/* Pages that a domain may share in all; $XENSIM_GNTALLOC_LIMIT as gntalloc's module parameter. */
static uint32_t page_limit(void)
{
    const char *text = getenv("XENSIM_GNTALLOC_LIMIT");

    return text && *text ? (uint32_t)strtoul(text, NULL, 10) : SIM_MAX_REFS;
}

xengntshr_handle *xengntshr_open(struct xentoollog_logger *logger, unsigned open_flags)
{
    (void)logger;
    (void)open_flags;
    if (page_limit() == 0) {
        /* No /dev/xen/gntalloc. */
        errno = ENOENT;
        return NULL;
    }
    return (xengntshr_handle *)(void *)handle_open_call(SIM_HANDLE_GNTSHR, SIM_CALL_gntshr_open);
}

int xengntshr_close(xengntshr_handle *xgs)
{
    if (xgs) {
        handle_close(sim(xgs));
    }
    return 0;
}

int xengntshr_fd(xengntshr_handle *xgs)
{
    return sim(xgs)->fd;
}

/* Frames mostly come in ascending runs: one mmap for each. */
static void *map_frames(const uint32_t *frames, uint32_t count)
{
    int fd = core_open_memory(sim_domid);
    uint8_t *address = mmap(NULL, (size_t)count * SIM_PAGE_SIZE, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint32_t i;
    uint32_t run;

    if (fd < 0 || address == MAP_FAILED) {
        if (fd >= 0) {
            close(fd);
        }
        return NULL;
    }
    for (i = 0; i < count; i += run) {
        for (run = 1; i + run < count && frames[i + run] == frames[i] + run; run++) {
        }
        if (mmap(address + (size_t)i * SIM_PAGE_SIZE, (size_t)run * SIM_PAGE_SIZE,
                 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                 (off_t)frames[i] * SIM_PAGE_SIZE) == MAP_FAILED) {
            munmap(address, (size_t)count * SIM_PAGE_SIZE);
            close(fd);
            return NULL;
        }
    }
    close(fd);
    return address;
}

/* Locked.  All pages or none. */
static bool share_frames(struct SimHandle *handle, uint32_t domid, uint32_t count, bool writable,
                         uint32_t *refs, uint32_t *frames)
{
    struct SimDomain *domain = domain_tables(handle->domid);
    uint32_t done;

    if (!domain || domain->shared_pages + count > page_limit()) {
        errno = ENOSPC;
        return false;
    }
    for (done = 0; done < count; done++) {
        int ref = grant_share(handle, (uint16_t)domid, writable, &frames[done]);

        if (ref < 0) {
            while (done--) {
                grant_unshare(handle->domid, refs[done]);
            }
            errno = ENOSPC;
            return false;
        }
        refs[done] = (uint32_t)ref;
    }
    return true;
}

static void unshare_frames(struct SimHandle *handle, const uint32_t *refs, uint32_t count)
{
    uint32_t i;

    core_lock();
    for (i = 0; i < count; i++) {
        struct SimDomain *domain = domain_tables(handle->domid);

        /* Released already if the domain was killed. */
        if (domain && domain->grant[refs[i]].owner == handle->seq) {
            grant_unshare(handle->domid, refs[i]);
        }
    }
    core_unlock();
}

static void *share(xengntshr_handle *xgs, uint32_t domid, int count, uint32_t *refs, bool writable,
                   uint32_t notify_offset, evtchn_port_t notify_evtchn)
{
    struct SimHandle *handle = sim(xgs);
    struct SimMapping *mapping;
    uint32_t *frames;
    bool shared;

    if (inject_call(SIM_CALL_share)) {
        return NULL;
    }
    mapping = mapping_new(count > 0 ? (uint32_t)count : 0, notify_evtchn);
    if (!mapping) {
        return NULL;
    }
    frames = calloc(mapping->count, sizeof(*frames));
    if (!frames) {
        free(mapping);
        return NULL;
    }
    core_lock();
    process_reap();
    shared = share_frames(handle, domid, mapping->count, writable, mapping->id, frames);
    if (shared) {
        struct SimGrant *first = &domain_tables(handle->domid)->grant[mapping->id[0]];

        first->notify_offset = notify_offset < SIM_PAGE_SIZE ? (int32_t)notify_offset : -1;
        first->notify_evtchn = (int32_t)notify_evtchn;
    }
    core_unlock();
    if (shared) {
        mapping->address = map_frames(frames, mapping->count);
        if (!mapping->address) {
            unshare_frames(handle, mapping->id, mapping->count);
            errno = ENOMEM;
        }
    }
    free(frames);
    if (!mapping->address) {
        free(mapping);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        refs[i] = mapping->id[i];
    }
    process_tally()->shared_pages += count;
    handle_add_mapping(handle, mapping);
    return mapping->address;
}

void *xengntshr_share_pages(xengntshr_handle *xgs, uint32_t domid, int count, uint32_t *refs,
                            int writable)
{
    return share(xgs, domid, count, refs, writable != 0, UINT32_MAX, UINT32_MAX);
}

void *xengntshr_share_page_notify(xengntshr_handle *xgs, uint32_t domid, uint32_t *ref,
                                  int writable, uint32_t notify_offset, evtchn_port_t notify_port)
{
    return share(xgs, domid, 1, ref, writable != 0, notify_offset, notify_port);
}

int xengntshr_unshare(xengntshr_handle *xgs, void *start_address, uint32_t count)
{
    struct SimHandle *handle = sim(xgs);
    struct SimMapping *mapping;

    if (inject_call(SIM_CALL_unshare)) {
        return -1;
    }
    mapping = handle_take_mapping(handle, start_address, count);
    if (!mapping) {
        return -1;
    }
    unshare_frames(handle, mapping->id, count);
    process_tally()->shared_pages -= count;
    mapping_end(handle, mapping);
    return 0;
}
