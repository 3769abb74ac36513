/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core.h - the simulated hypervisor's shared state, and the operations on it.
 *
 * Theory of operation
 *
 * There is no hypervisor process.  All state is memory shared by every process of a simulated
 * host, in files of one directory ($XENSIM_DIR, on a tmpfs):
 *
 *   world       struct SimWorld: the lock, domains' states, processes, handles, grant mappings
 *   domain.N    struct SimDomain: event channels and grant table of domain N
 *   memory.N    the RAM of domain N, sparse; its frame F is at offset F * 4096
 *   processes   empty; process slot S holds a POSIX record lock on byte S for as long as it lives
 *   handle.Q    a FIFO per open event-channel handle with sequence number Q
 *
 * Each process is one simulated domain's: $XENSIM_DOMID (default 0).  Control operations (open,
 * bind, share, map, close) take the world's robust mutex.  Data operations (grant copy, notify,
 * unmask) take no lock; the only system call among them is the write that wakes a sleeping peer.
 *
 * A process that dies is noticed by the next control operation of any process, which finds the
 * dead one's record lock gone and does what the kernel does when a device file is closed.  The
 * mutex left locked by a dead process is repaired first (process_repair_world).
 *
 * libxensim.so holds one copy of this per process; the shim libraries and the xensim tool use it.
 */
#ifndef XENSIM_CORE_H
#define XENSIM_CORE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xen/xen.h>
#include <xen/grant_table.h>

#include "core-inject.h"

#define SIM_PAGE_SIZE 4096u
#define SIM_MAX_DOMAINS DOMID_FIRST_RESERVED
#define SIM_MAX_EVTCHNS 16384u
#define SIM_MAX_PROCESSES 1024u
#define SIM_MAX_HANDLES 4096u
#define SIM_MAX_MAPS 262144u
#define SIM_MAX_REFS 65536u
#define SIM_MAX_FRAMES 65536u
/* Refs and frames below these are the platform's: xenstore's and the console's. */
#define SIM_FIRST_REF 8u
#define SIM_FIRST_FRAME 16u
/* Where `xensim store` puts a domain's xenstore ring. */
#define SIM_XENSTORE_FRAME 1u

enum SimDomainState {
    SIM_DOMAIN_ABSENT,
    SIM_DOMAIN_ALIVE,
    /* Killed, but another domain still maps some of its pages: what `xl list` calls (null). */
    SIM_DOMAIN_DYING,
};

enum SimHandleKind { SIM_HANDLE_FREE, SIM_HANDLE_EVTCHN, SIM_HANDLE_GNTTAB, SIM_HANDLE_GNTSHR };

enum SimEvtchnState {
    SIM_EVTCHN_FREE,
    SIM_EVTCHN_UNBOUND,
    SIM_EVTCHN_INTERDOMAIN,
    SIM_EVTCHN_VIRQ,
};

/*
 * One event channel.  The word says everything that changes without the lock:
 * bit 0 pending, bit 1 masked (it is, from its delivery to its unmask), bits 2-4 the state,
 * bits 32-63 a generation that grows with each use of this number.
 */
struct SimEvtchn {
    _Atomic uint64_t word;
    _Atomic uint64_t peer; /* interdomain only: domid << 48 | evtchn << 32 | low generation */
    _Atomic uint64_t owner; /* the handle's sequence number, 0: none */
    uint32_t handle; /* the handle's slot */
    uint16_t remote_domid; /* unbound: who may bind it; interdomain: who did */
    uint16_t virq;
};

/* What the hypervisor and the owner's kernel know of a grant, beside the entry that guests see. */
struct SimGrant {
    _Atomic uint64_t owner; /* the gntshr handle that shares it; 0: nobody any more */
    _Atomic uint32_t pins; /* mappings of it */
    _Atomic uint32_t write_pins;
    uint32_t frame; /* of the pinned or shared page */
    uint16_t pin_domid;
    uint16_t allocated; /* page and reference were allocated by grant_share */
    int32_t notify_offset; /* byte to clear at unshare, -1: none */
    int32_t notify_evtchn; /* event channel to notify then, -1: none */
};

/* Zeroes are a valid, empty domain. */
struct SimDomain {
    uint32_t evtchns_top; /* no event channel was ever used from here on */
    uint32_t refs_top;
    uint32_t first_free_ref; /* no free one below */
    uint32_t first_free_frame;
    uint32_t shared_pages;
    uint32_t pinned_pages; /* mappings of this domain's pages, by anybody */
    struct SimEvtchn evtchn[SIM_MAX_EVTCHNS];
    _Alignas(8) grant_entry_v1_t entry[SIM_MAX_REFS];
    struct SimGrant grant[SIM_MAX_REFS];
    uint8_t frame_used[SIM_MAX_FRAMES];
};

/* One page mapped by grant reference: Xen's maptrack entry. */
struct SimMap {
    uint64_t owner; /* the gnttab handle; 0: free */
    uint32_t ref;
    uint16_t domid;
    uint16_t writable;
    int32_t notify_offset;
    int32_t notify_evtchn;
};

struct SimProcess {
    uint8_t used; /* slot taken */
    uint8_t live; /* not yet found dead; a dead one's counters stay readable until reuse */
    uint16_t domid;
    int32_t pid;
    struct SimTally tally;
};

struct SimHandleEntry {
    _Atomic uint64_t seq; /* 0: free */
    uint32_t kind;
    uint32_t process;
    uint16_t domid;
};

struct SimWorld {
    uint32_t magic;
    uint32_t size;
    pthread_mutex_t mutex;
    uint64_t next_seq;
    uint32_t next_process; /* slots are reused round-robin, so that ended ones stay readable */
    uint32_t maps_top;
    uint32_t maps_hint;
    _Atomic uint8_t domain_state[SIM_MAX_DOMAINS];
    struct SimProcess process[SIM_MAX_PROCESSES];
    struct SimHandleEntry handle[SIM_MAX_HANDLES];
    struct SimMap map[SIM_MAX_MAPS];
};

/* A range of pages got from a handle by this process. */
struct SimMapping {
    struct SimMapping *next;
    void *address;
    uint32_t count;
    int32_t notify_evtchn;
    uint32_t id[]; /* gnttab: indices of world->map; gntshr: grant references */
};

/* An open handle, private to the process that opened it; freed by handle_close. */
struct SimHandle {
    enum SimHandleKind kind;
    int fd;
    uint32_t slot;
    uint64_t seq;
    uint16_t domid;
    int32_t restricted_to; /* evtchn: only this remote domid, -1: any */
    unsigned fork_generation;
    pthread_mutex_t mutex; /* guards mappings */
    struct SimMapping *mappings;
};

/* core.c: attaching, locking, domains */

/* This process's world, and the domain it runs in; set by core_attach and constant after it. */
extern struct SimWorld *sim_world;
extern uint16_t sim_domid;
/* Grows in each fork: a handle from before it may only be closed. */
extern unsigned sim_fork_generation;

const char *core_directory(void);
/* Make a new world in the (empty) directory.  False with errno set: EEXIST when there is one. */
bool core_create(void);
/* False with errno set: ENOENT when there is no world, EINVAL for a bad $XENSIM_DOMID. */
bool core_attach(void);
void core_lock(void);
void core_unlock(void);
/* A file of the world; flags as open(2).  Below zero with errno set. */
int core_open_file(int flags, const char *prefix, uint64_t number);
void core_remove_file(const char *prefix, uint64_t number);
int core_open_memory(uint16_t domid);

bool domain_is_alive(uint16_t domid);
/* The domain's tables and RAM mapped here, for an alive or dying domain; else NULL. */
struct SimDomain *domain_tables(uint16_t domid);
uint8_t *domain_memory(uint16_t domid);
/* Locked.  False with errno set: EEXIST, EBUSY while a dying domain has the number. */
bool domain_create(uint16_t domid);
/* Locked.  A dying domain whose last page was unmapped is gone. */
void domain_finish_dying(uint16_t domid);
/* Kill the domain's processes and the domain.  False with errno ESRCH. */
bool domain_kill(uint16_t domid);

/* core-process.c: liveness of processes, handles */

bool process_register(void);
/* Locked.  Release what dead processes left; returns how many were found dead. */
unsigned process_reap(void);
void process_repair_world(void);
/* This process's call counters; never NULL after core_attach. */
struct SimTally *process_tally(void);
/* The id of the live process in this slot as this process sees it, 0: dead or not visible. */
int process_slot_pid(uint32_t slot);

struct SimHandle *handle_open(enum SimHandleKind kind);
/* The same for a library's call, which is counted, and fails when it is to. */
struct SimHandle *handle_open_call(enum SimHandleKind kind, enum SimCall call);
/* A handle with mappings left stays open in the world, as a mapped device file does. */
void handle_close(struct SimHandle *handle);
/* Locked. */
void handle_release(uint32_t slot);
void handle_wake(uint32_t slot, uint64_t seq, uint32_t evtchn);
/* A mapping of @count pages that is nowhere yet; NULL with EINVAL for none. */
struct SimMapping *mapping_new(uint32_t count, uint32_t notify_evtchn);
void handle_add_mapping(struct SimHandle *handle, struct SimMapping *mapping);
/* The mapping, out of the list and out of memory; NULL with EINVAL if there is no such one. */
struct SimMapping *handle_take_mapping(struct SimHandle *handle, void *address, uint32_t count);
/* Raises the event that was asked for, and frees. */
void mapping_end(const struct SimHandle *handle, struct SimMapping *mapping);

/* core-evtchn.c: event channels */

enum SimEvtchnState evtchn_state(const struct SimEvtchn *evtchn);
struct SimEvtchn *evtchn_of(uint16_t domid, uint32_t number);
/* All three locked; the new number, or -1 with errno set. */
int evtchn_alloc_unbound(struct SimHandle *handle, uint16_t remote_domid);
int evtchn_bind_interdomain(struct SimHandle *handle, uint16_t remote_domid, uint32_t remote);
int evtchn_bind_virq(struct SimHandle *handle, uint16_t virq);
/* Locked. */
void evtchn_close(uint16_t domid, uint32_t number);
void evtchn_send(uint16_t domid, uint32_t number);
void evtchn_unmask(struct SimHandle *handle, uint32_t number);
/* Raise a virtual interrupt in a domain; false: nobody bound it. */
bool evtchn_raise_virq(uint16_t domid, uint16_t virq);
void evtchn_repair_domain(uint16_t domid);

/* core-grant.c: the grant table */

/*
 * May `reader` use this grant?  GNTST_okay and the frame, or Xen's status code.  Without lock:
 * what grant copy does.
 */
int grant_resolve(uint16_t domid, uint32_t ref, uint16_t reader, bool writable, uint32_t *frame);
/* Locked.  Map one page for a handle: the index in world->map and the frame, or -1. */
int grant_map(struct SimHandle *handle, uint16_t domid, uint32_t ref, bool writable,
              uint32_t *frame);
void grant_unmap(uint32_t map);
/* Locked.  Share one fresh zeroed page: its reference, or -1 with errno ENOSPC. */
int grant_share(struct SimHandle *handle, uint16_t remote_domid, bool writable, uint32_t *frame);
void grant_unshare(uint16_t domid, uint32_t ref);
/* Locked.  After a process died holding the lock: recount from world->map. */
void grant_repair(void);

#endif
