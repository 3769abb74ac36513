/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core-grant.c - the grant table: who may use a page, mappings of it, pages shared by reference.
 *
 * Theory of operation
 *
 * domain->entry is the table that guests see (version 1 entries); domain->grant beside it is what
 * the hypervisor keeps: how often a page is mapped, by whom, and its frame at that time.  While it
 * is mapped the mapping domain may go on using it although the owner stopped sharing it; page and
 * reference become free at the last unmap.
 */
#include "core.h"

#include <errno.h>
#include <string.h>

static uint16_t entry_type(grant_entry_v1_t entry)
{
    return entry.flags & GTF_type_mask;
}

static grant_entry_v1_t load_entry(const struct SimDomain *domain, uint32_t ref)
{
    uint64_t raw =
        __atomic_load_n((const uint64_t *)(const void *)&domain->entry[ref], __ATOMIC_ACQUIRE);
    grant_entry_v1_t entry;

    memcpy(&entry, &raw, sizeof(entry));
    return entry;
}

static void set_flags(struct SimDomain *domain, uint32_t ref, uint16_t flags)
{
    __atomic_store_n(&domain->entry[ref].flags, flags, __ATOMIC_RELEASE);
}

int grant_resolve(uint16_t domid, uint32_t ref, uint16_t reader, bool writable, uint32_t *frame)
{
    struct SimDomain *domain = domain_tables(domid);
    grant_entry_v1_t entry;
    const struct SimGrant *grant;

    if (!domain) {
        return GNTST_bad_domain;
    }
    if (ref >= SIM_MAX_REFS) {
        return GNTST_bad_gntref;
    }
    grant = &domain->grant[ref];
    if (grant->pins) {
        if (grant->pin_domid != reader) {
            return GNTST_general_error;
        }
        if (!writable || grant->write_pins) {
            *frame = grant->frame;
            return GNTST_okay;
        }
    }
    entry = load_entry(domain, ref);
    /* Xen has one code for all of these: unused, somebody else's, read-only. */
    if (entry_type(entry) != GTF_permit_access || entry.domid != reader ||
        (writable && (entry.flags & GTF_readonly))) {
        return GNTST_general_error;
    }
    if (entry.frame >= SIM_MAX_FRAMES || !domain_is_alive(domid)) {
        return GNTST_bad_page;
    }
    *frame = entry.frame;
    return GNTST_okay;
}

static int allocate_map(void)
{
    uint32_t tried;

    for (tried = 0; tried < SIM_MAX_MAPS; tried++) {
        uint32_t index = (sim_world->maps_hint + tried) % SIM_MAX_MAPS;

        if (!sim_world->map[index].owner) {
            sim_world->maps_hint = index;
            if (index >= sim_world->maps_top) {
                sim_world->maps_top = index + 1;
            }
            return (int)index;
        }
    }
    return -1;
}

int grant_map(struct SimHandle *handle, uint16_t domid, uint32_t ref, bool writable,
              uint32_t *frame)
{
    struct SimDomain *domain = domain_tables(domid);
    struct SimGrant *grant;
    int index;

    if (grant_resolve(domid, ref, handle->domid, writable, frame) != GNTST_okay) {
        return -1;
    }
    index = allocate_map();
    if (index < 0) {
        return -1;
    }
    sim_world->map[index] = (struct SimMap){.owner = handle->seq,
                                            .ref = ref,
                                            .domid = domid,
                                            .writable = writable,
                                            .notify_offset = -1,
                                            .notify_evtchn = -1};
    grant = &domain->grant[ref];
    grant->frame = *frame;
    grant->pin_domid = handle->domid;
    if (writable) {
        grant->write_pins++;
    }
    grant->pins++;
    domain->pinned_pages++;
    domain->frame_used[*frame] = 1;
    if (ref >= domain->refs_top) {
        domain->refs_top = ref + 1;
    }
    __atomic_or_fetch(&domain->entry[ref].flags, GTF_reading | (writable ? GTF_writing : 0),
                      __ATOMIC_SEQ_CST);
    return index;
}

/* A page that is neither shared nor mapped any more goes back with its reference. */
static void put_grant(struct SimDomain *domain, uint32_t ref)
{
    struct SimGrant *grant = &domain->grant[ref];

    if (grant->owner || grant->pins) {
        return;
    }
    if (grant->allocated) {
        set_flags(domain, ref, 0);
        domain->frame_used[grant->frame] = 0;
        if (grant->frame < domain->first_free_frame) {
            domain->first_free_frame = grant->frame;
        }
        grant->allocated = 0;
    }
    if (ref < domain->first_free_ref) {
        domain->first_free_ref = ref;
    }
}

static void clear_byte(uint16_t domid, uint32_t frame, int32_t offset)
{
    uint8_t *memory = domain_memory(domid);

    if (offset >= 0 && memory) {
        memory[(size_t)frame * SIM_PAGE_SIZE + (size_t)offset] = 0;
    }
}

void grant_unmap(uint32_t map)
{
    struct SimMap *entry = &sim_world->map[map];
    struct SimDomain *domain = domain_tables(entry->domid);

    if (domain) {
        struct SimGrant *grant = &domain->grant[entry->ref];
        uint16_t clear;

        clear_byte(entry->domid, grant->frame, entry->notify_offset);
        if (entry->writable && grant->write_pins) {
            grant->write_pins--;
        }
        if (grant->pins) {
            grant->pins--;
        }
        if (domain->pinned_pages) {
            domain->pinned_pages--;
        }
        clear = (grant->pins ? 0 : GTF_reading) | (grant->write_pins ? 0 : GTF_writing);
        __atomic_and_fetch(&domain->entry[entry->ref].flags, (uint16_t)~clear, __ATOMIC_SEQ_CST);
        put_grant(domain, entry->ref);
        domain_finish_dying(entry->domid);
    }
    entry->owner = 0;
    if (map < sim_world->maps_hint) {
        sim_world->maps_hint = map;
    }
}

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static int allocate_ref(struct SimDomain *domain)
{
    uint32_t ref;

    for (ref = max_u32(domain->first_free_ref, SIM_FIRST_REF); ref < SIM_MAX_REFS; ref++) {
        /* An entry that a test wrote by hand is not ours to take. */
        if (!domain->grant[ref].owner && !domain->grant[ref].pins && !domain->entry[ref].flags) {
            domain->first_free_ref = ref + 1;
            return (int)ref;
        }
    }
    return -1;
}

static int allocate_frame(struct SimDomain *domain)
{
    uint32_t frame;

    for (frame = max_u32(domain->first_free_frame, SIM_FIRST_FRAME); frame < SIM_MAX_FRAMES;
         frame++) {
        if (!domain->frame_used[frame]) {
            domain->first_free_frame = frame + 1;
            return (int)frame;
        }
    }
    return -1;
}

int grant_share(struct SimHandle *handle, uint16_t remote_domid, bool writable, uint32_t *frame)
{
    struct SimDomain *domain = domain_tables(handle->domid);
    uint8_t *memory = domain_memory(handle->domid);
    int new_frame;
    int ref;

    if (!domain || !memory) {
        return -1;
    }
    ref = allocate_ref(domain);
    new_frame = ref < 0 ? -1 : allocate_frame(domain);
    if (new_frame < 0) {
        if (ref >= 0) {
            domain->first_free_ref = (uint32_t)ref;
        }
        errno = ENOSPC;
        return -1;
    }
    *frame = (uint32_t)new_frame;
    memset(memory + (size_t)*frame * SIM_PAGE_SIZE, 0, SIM_PAGE_SIZE);
    domain->frame_used[*frame] = 1;
    domain->shared_pages++;
    if ((uint32_t)ref >= domain->refs_top) {
        domain->refs_top = (uint32_t)ref + 1;
    }
    domain->grant[ref].frame = *frame;
    domain->grant[ref].allocated = 1;
    domain->grant[ref].notify_offset = -1;
    domain->grant[ref].notify_evtchn = -1;
    domain->grant[ref].owner = handle->seq;
    domain->entry[ref].frame = *frame;
    domain->entry[ref].domid = remote_domid;
    set_flags(domain, (uint32_t)ref, GTF_permit_access | (writable ? 0 : GTF_readonly));
    return ref;
}

void grant_unshare(uint16_t domid, uint32_t ref)
{
    struct SimDomain *domain = domain_tables(domid);
    struct SimGrant *grant = &domain->grant[ref];

    clear_byte(domid, grant->frame, grant->notify_offset);
    grant->owner = 0;
    if (domain->shared_pages) {
        domain->shared_pages--;
    }
    put_grant(domain, ref);
}

/* Counts start from what is certain: mappings with an owner, references with an owner. */
static void repair_domain(uint16_t domid)
{
    struct SimDomain *domain = domain_tables(domid);
    uint32_t ref;

    if (!domain) {
        return;
    }
    domain->pinned_pages = 0;
    domain->shared_pages = 0;
    domain->first_free_ref = 0;
    domain->first_free_frame = 0;
    memset(domain->frame_used, 0, sizeof(domain->frame_used));
    for (ref = 0; ref < domain->refs_top; ref++) {
        domain->grant[ref].pins = 0;
        domain->grant[ref].write_pins = 0;
        if (domain->grant[ref].owner) {
            domain->shared_pages++;
        }
    }
}

static void release_orphans(uint16_t domid)
{
    struct SimDomain *domain = domain_tables(domid);
    uint32_t ref;

    for (ref = 0; domain && ref < domain->refs_top; ref++) {
        struct SimGrant *grant = &domain->grant[ref];
        uint16_t clear = (grant->pins ? 0 : GTF_reading) | (grant->write_pins ? 0 : GTF_writing);

        __atomic_and_fetch(&domain->entry[ref].flags, (uint16_t)~clear, __ATOMIC_SEQ_CST);
        if (grant->owner || grant->pins) {
            domain->frame_used[grant->frame] = 1;
        } else {
            put_grant(domain, ref);
        }
    }
}

void grant_repair(void)
{
    uint32_t domid;
    uint32_t i;

    for (domid = 0; domid < SIM_MAX_DOMAINS; domid++) {
        repair_domain((uint16_t)domid);
    }
    for (i = 0; i < sim_world->maps_top; i++) {
        const struct SimMap *map = &sim_world->map[i];
        struct SimDomain *domain = map->owner ? domain_tables(map->domid) : NULL;

        if (domain) {
            domain->grant[map->ref].pins++;
            domain->grant[map->ref].write_pins += map->writable;
            domain->pinned_pages++;
        }
    }
    for (domid = 0; domid < SIM_MAX_DOMAINS; domid++) {
        release_orphans((uint16_t)domid);
    }
}
