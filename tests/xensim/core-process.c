/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core-process.c - who is alive: process slots and the handles that processes hold.
 *
 * Theory of operation
 *
 * Slot S is taken by locking byte S of the file "processes" (a POSIX record lock, which belongs to
 * the process, is not inherited by fork, and goes away with the process however it dies).  F_GETLK
 * tells another process whether the owner lives.  No process may close a second descriptor of that
 * file, which would drop its lock: only this file opens it, once.
 *
 * A handle slot holds a sequence number that is never used again; owners of event channels, shares
 * and mappings are named by it, so a stale name matches nothing.
 */
#include "core-entry.h"
#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int lock_fd = -1;
static int own_slot = -1;
static unsigned own_generation;

/* Write ends of peers' FIFOs, one per handle slot: the number is kept, dup3 changes what it is. */
static _Atomic uint64_t wake_seq[SIM_MAX_HANDLES];
static int wake_fd[SIM_MAX_HANDLES];
static pthread_mutex_t wake_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct flock slot_lock(uint32_t slot)
{
    return (struct flock){
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)slot, .l_len = 1};
}

int process_slot_pid(uint32_t slot)
{
    struct flock lock = slot_lock(slot);

    if (fcntl(lock_fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
        return 0;
    }
    return lock.l_pid;
}

static bool process_is_dead(uint32_t slot)
{
    struct flock lock = slot_lock(slot);

    return (int)slot != own_slot && fcntl(lock_fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

static bool open_lock_file(void)
{
    char path[4096];

    if (lock_fd >= 0 && own_generation == sim_fork_generation) {
        return true;
    }
    /* After a fork the inherited descriptor is as good: the lock did not come with it. */
    if (lock_fd < 0) {
        if ((size_t)snprintf(path, sizeof(path), "%s/processes", core_directory()) >=
            sizeof(path)) {
            errno = ENAMETOOLONG;
            return false;
        }
        lock_fd = open(path, O_RDWR | O_CLOEXEC);
    }
    own_slot = -1;
    own_generation = sim_fork_generation;
    return lock_fd >= 0;
}

static bool take_slot(void)
{
    uint32_t tried;

    for (tried = 0; tried < SIM_MAX_PROCESSES; tried++) {
        uint32_t slot = sim_world->next_process++ % SIM_MAX_PROCESSES;
        struct SimProcess *process = &sim_world->process[slot];
        struct flock lock = slot_lock(slot);

        if (process->live || fcntl(lock_fd, F_SETLK, &lock) != 0) {
            continue;
        }
        memset(process, 0, sizeof(*process));
        process->used = 1;
        process->domid = sim_domid;
        process->pid = getpid();
        process->live = 1;
        own_slot = (int)slot;
        return true;
    }
    errno = EMFILE;
    return false;
}

bool process_register(void)
{
    bool taken = false;

    if (!open_lock_file()) {
        return false;
    }
    core_lock();
    process_reap();
    if (sim_world->domain_state[sim_domid] == SIM_DOMAIN_ALIVE) {
        taken = take_slot();
    } else {
        errno = ENOENT;
    }
    core_unlock();
    if (taken) {
        inject_init(process_tally());
    }
    return taken;
}

struct SimTally *process_tally(void)
{
    return &sim_world->process[own_slot].tally;
}

unsigned process_reap(void)
{
    unsigned found = 0;
    uint32_t slot;
    uint32_t handle;

    for (slot = 0; slot < SIM_MAX_PROCESSES; slot++) {
        struct SimProcess *process = &sim_world->process[slot];

        if (!process->live || !process_is_dead(slot)) {
            continue;
        }
        for (handle = 0; handle < SIM_MAX_HANDLES; handle++) {
            if (sim_world->handle[handle].seq && sim_world->handle[handle].process == slot) {
                handle_release(handle);
            }
        }
        process->live = 0;
        found++;
    }
    return found;
}

void process_repair_world(void)
{
    uint32_t domid;

    for (domid = 0; domid < SIM_MAX_DOMAINS; domid++) {
        if (sim_world->domain_state[domid] != SIM_DOMAIN_ABSENT) {
            evtchn_repair_domain((uint16_t)domid);
        }
    }
    grant_repair();
}

static int take_handle_slot(enum SimHandleKind kind)
{
    uint64_t seq = sim_world->next_seq;
    uint32_t slot;

    for (slot = 0; slot < SIM_MAX_HANDLES; slot++) {
        struct SimHandleEntry *entry = &sim_world->handle[slot];

        if (!entry->seq) {
            entry->kind = kind;
            entry->process = (uint32_t)own_slot;
            entry->domid = sim_domid;
            /* In this order: a number must never be given out again. */
            sim_world->next_seq = seq + 1;
            entry->seq = seq;
            return (int)slot;
        }
    }
    errno = EMFILE;
    return -1;
}

static int open_handle_fd(enum SimHandleKind kind, uint64_t seq)
{
    char path[4096];
    int fd;

    if (kind != SIM_HANDLE_EVTCHN) {
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    }
    if ((size_t)snprintf(path, sizeof(path), "%s/handle.%llu", core_directory(),
                         (unsigned long long)seq) >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (mkfifo(path, 0666) != 0) {
        return -1;
    }
    chmod(path, 0666);
    /* Read and write: never at end of file, and no SIGPIPE for a peer when we die. */
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        unlink(path);
    }
    return fd;
}

struct SimHandle *handle_open(enum SimHandleKind kind)
{
    struct SimHandle *handle;
    int slot;

    if (!core_attach()) {
        return NULL;
    }
    handle = calloc(1, sizeof(*handle));
    if (!handle) {
        return NULL;
    }
    handle->kind = kind;
    handle->domid = sim_domid;
    handle->restricted_to = -1;
    handle->fork_generation = sim_fork_generation;
    pthread_mutex_init(&handle->mutex, NULL);
    core_lock();
    process_reap();
    slot = take_handle_slot(kind);
    if (slot >= 0) {
        handle->slot = (uint32_t)slot;
        handle->seq = sim_world->handle[slot].seq;
        handle->fd = open_handle_fd(kind, handle->seq);
        if (handle->fd < 0) {
            sim_world->handle[slot].seq = 0;
            slot = -1;
        }
    }
    core_unlock();
    if (slot < 0) {
        free(handle);
        return NULL;
    }
    return handle;
}

struct SimHandle *handle_open_call(enum SimHandleKind kind, enum SimCall call)
{
    return core_attach() && !inject_call(call) ? handle_open(kind) : NULL;
}

void handle_release(uint32_t slot)
{
    struct SimHandleEntry *entry = &sim_world->handle[slot];
    uint16_t domid = entry->domid;
    struct SimDomain *domain = domain_tables(domid);
    uint64_t seq = entry->seq;
    uint32_t i;

    switch (entry->kind) {
    case SIM_HANDLE_EVTCHN:
        for (i = 1; domain && i < domain->evtchns_top; i++) {
            if (domain->evtchn[i].owner == seq) {
                evtchn_close(domid, i);
            }
        }
        core_remove_file("handle", seq);
        break;
    case SIM_HANDLE_GNTTAB:
        for (i = 0; i < sim_world->maps_top; i++) {
            if (sim_world->map[i].owner == seq) {
                int32_t notify = sim_world->map[i].notify_evtchn;

                grant_unmap(i);
                if (notify >= 0) {
                    evtchn_send(domid, (uint32_t)notify);
                }
            }
        }
        break;
    case SIM_HANDLE_GNTSHR:
        for (i = SIM_FIRST_REF; domain && i < domain->refs_top; i++) {
            if (domain->grant[i].owner == seq) {
                int32_t notify = domain->grant[i].notify_evtchn;

                grant_unshare(domid, i);
                if (notify >= 0) {
                    evtchn_send(domid, (uint32_t)notify);
                }
            }
        }
        break;
    default:
        break;
    }
    entry->kind = SIM_HANDLE_FREE;
    entry->seq = 0;
}

void handle_close(struct SimHandle *handle)
{
    if (handle->fork_generation == sim_fork_generation) {
        if (handle->mappings) {
            return;
        }
        core_lock();
        /* Already released when the domain was killed. */
        if (sim_world->handle[handle->slot].seq == handle->seq) {
            handle_release(handle->slot);
        }
        core_unlock();
    }
    close(handle->fd);
    pthread_mutex_destroy(&handle->mutex);
    free(handle);
}

/* The write end of a handle's FIFO, or -1 when the handle is gone. */
static int wake_descriptor(uint32_t slot, uint64_t seq)
{
    int fd;

    if (wake_seq[slot] == seq) {
        return wake_fd[slot];
    }
    pthread_mutex_lock(&wake_mutex);
    if (wake_seq[slot] != seq) {
        fd = core_open_file(O_RDWR | O_NONBLOCK, "handle", seq);
        if (fd < 0) {
            pthread_mutex_unlock(&wake_mutex);
            return -1;
        }
        if (wake_seq[slot]) {
            /* Another thread may be about to write to the old one: never free the number. */
            dup3(fd, wake_fd[slot], O_CLOEXEC);
            close(fd);
        } else {
            wake_fd[slot] = fd;
        }
        wake_seq[slot] = seq;
    }
    fd = wake_fd[slot];
    pthread_mutex_unlock(&wake_mutex);
    return fd;
}

void handle_wake(uint32_t slot, uint64_t seq, uint32_t evtchn)
{
    int saved = errno;
    /* The event channel may have been closed since its event was raised. */
    int fd = seq ? wake_descriptor(slot, seq) : -1;

    if (fd >= 0 && write(fd, &evtchn, sizeof(evtchn)) != sizeof(evtchn)) {
        perror("xensim: an event was lost");
    }
    errno = saved;
}

struct SimMapping *mapping_new(uint32_t count, uint32_t notify_evtchn)
{
    struct SimMapping *mapping =
        count ? calloc(1, sizeof(*mapping) + count * sizeof(mapping->id[0])) : NULL;

    if (!mapping) {
        errno = EINVAL;
        return NULL;
    }
    mapping->count = count;
    mapping->notify_evtchn = (int32_t)notify_evtchn;
    return mapping;
}

void handle_add_mapping(struct SimHandle *handle, struct SimMapping *mapping)
{
    pthread_mutex_lock(&handle->mutex);
    mapping->next = handle->mappings;
    handle->mappings = mapping;
    pthread_mutex_unlock(&handle->mutex);
}

struct SimMapping *handle_take_mapping(struct SimHandle *handle, void *address, uint32_t count)
{
    struct SimMapping **link;
    struct SimMapping *mapping;

    pthread_mutex_lock(&handle->mutex);
    for (link = &handle->mappings; (mapping = *link); link = &mapping->next) {
        if (mapping->address == address && mapping->count == count) {
            *link = mapping->next;
            break;
        }
    }
    pthread_mutex_unlock(&handle->mutex);
    if (mapping) {
        entry_unmapped(address, count);
        munmap(address, (size_t)count * SIM_PAGE_SIZE);
    } else {
        errno = EINVAL;
    }
    return mapping;
}

void mapping_end(const struct SimHandle *handle, struct SimMapping *mapping)
{
    if (mapping->notify_evtchn >= 0) {
        evtchn_send(handle->domid, (uint32_t)mapping->notify_evtchn);
    }
    free(mapping);
}
