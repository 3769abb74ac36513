/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core.c - the world's files: creating and attaching it, its lock, its domains.
 */
#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SIM_MAGIC 0x58534d32u
#define SIM_MEMORY_SIZE ((size_t)SIM_MAX_FRAMES * SIM_PAGE_SIZE)

struct SimWorld *sim_world;
uint16_t sim_domid;
unsigned sim_fork_generation;

static int directory_fd = -1;
static bool fork_handler_installed;
static pthread_mutex_t attach_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t map_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Mappings of domains' files, made at first use and kept: data operations hold pointers. */
static _Atomic(struct SimDomain *) tables[SIM_MAX_DOMAINS];
static _Atomic(uint8_t *) memories[SIM_MAX_DOMAINS];

const char *core_directory(void)
{
    const char *directory = getenv("XENSIM_DIR");

    return directory && *directory ? directory : "/run/xensim";
}

int core_open_file(int flags, const char *prefix, uint64_t number)
{
    char name[64];

    snprintf(name, sizeof(name), "%s.%" PRIu64, prefix, number);
    return openat(directory_fd, name, flags | O_CLOEXEC, 0666);
}

void core_remove_file(const char *prefix, uint64_t number)
{
    char name[64];

    snprintf(name, sizeof(name), "%s.%" PRIu64, prefix, number);
    unlinkat(directory_fd, name, 0);
}

static bool open_directory(void)
{
    if (directory_fd < 0) {
        directory_fd = open(core_directory(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    return directory_fd >= 0;
}

static struct SimWorld *map_world(int fd)
{
    void *address = mmap(NULL, sizeof(struct SimWorld), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return address == MAP_FAILED ? NULL : address;
}

bool core_create(void)
{
    pthread_mutexattr_t attributes;
    struct SimWorld *world;
    int fd;

    if (!open_directory()) {
        return false;
    }
    /* The file gets its name when it is complete: whoever can open it can use it. */
    fd = openat(directory_fd, "world.new", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        return false;
    }
    fchmod(fd, 0666);
    world = ftruncate(fd, sizeof(*world)) == 0 ? map_world(fd) : NULL;
    close(fd);
    fd = openat(directory_fd, "processes", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (!world || fd < 0) {
        return false;
    }
    fchmod(fd, 0666);
    close(fd);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&world->mutex, &attributes);
    world->size = sizeof(*world);
    world->next_seq = 1;
    world->domain_state[0] = SIM_DOMAIN_ALIVE;
    world->magic = SIM_MAGIC;
    munmap(world, sizeof(*world));
    if (linkat(directory_fd, "world.new", directory_fd, "world", 0) != 0) {
        return false;
    }
    unlinkat(directory_fd, "world.new", 0);
    return true;
}

static void forget_after_fork(void)
{
    /* The parent's handles are not ours; a new open makes this a process of its own. */
    sim_fork_generation++;
    sim_world = NULL;
    pthread_mutex_init(&attach_mutex, NULL);
    pthread_mutex_init(&map_mutex, NULL);
}

static bool parse_domid(uint16_t *domid)
{
    const char *text = getenv("XENSIM_DOMID");
    char *end;
    unsigned long value;

    if (!text || !*text) {
        *domid = 0;
        return true;
    }
    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno || *end || value >= SIM_MAX_DOMAINS) {
        fprintf(stderr, "xensim: XENSIM_DOMID=%s is not a domain id (0 to %u)\n", text,
                SIM_MAX_DOMAINS - 1);
        errno = EINVAL;
        return false;
    }
    *domid = (uint16_t)value;
    return true;
}

static bool attach_world(void)
{
    struct SimWorld *world;
    int fd;

    if (!parse_domid(&sim_domid) || !open_directory()) {
        return false;
    }
    fd = openat(directory_fd, "world", O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    world = map_world(fd);
    close(fd);
    if (!world) {
        return false;
    }
    if (world->magic != SIM_MAGIC || world->size != sizeof(*world)) {
        fprintf(stderr, "xensim: %s/world was made by another build; boot a new world\n",
                core_directory());
        munmap(world, sizeof(*world));
        errno = EPROTO;
        return false;
    }
    if (!fork_handler_installed) {
        pthread_atfork(NULL, NULL, forget_after_fork);
        fork_handler_installed = true;
    }
    sim_world = world;
    if (!process_register()) {
        sim_world = NULL;
        munmap(world, sizeof(*world));
        return false;
    }
    return true;
}

bool core_attach(void)
{
    bool attached;

    pthread_mutex_lock(&attach_mutex);
    attached = sim_world || attach_world();
    pthread_mutex_unlock(&attach_mutex);
    return attached;
}

/*
 * A robust mutex can lose a wake-up: when the waiter that was woken is killed before it runs and
 * somebody else has taken the lock meanwhile, the other sleepers are told by nobody.  So no sleep
 * is for ever.
 */
void core_lock(void)
{
    int result = pthread_mutex_trylock(&sim_world->mutex);

    while (result == EBUSY || result == ETIMEDOUT) {
        struct timespec deadline;

        clock_gettime(CLOCK_MONOTONIC, &deadline);
        deadline.tv_nsec += 50 * 1000 * 1000;
        if (deadline.tv_nsec >= 1000 * 1000 * 1000) {
            deadline.tv_nsec -= 1000 * 1000 * 1000;
            deadline.tv_sec++;
        }
        result = pthread_mutex_clocklock(&sim_world->mutex, CLOCK_MONOTONIC, &deadline);
    }
    if (result == EOWNERDEAD) {
        process_repair_world();
        pthread_mutex_consistent(&sim_world->mutex);
    }
}

void core_unlock(void)
{
    pthread_mutex_unlock(&sim_world->mutex);
}

bool domain_is_alive(uint16_t domid)
{
    return domid < SIM_MAX_DOMAINS && sim_world->domain_state[domid] == SIM_DOMAIN_ALIVE;
}

static int open_sized(const char *prefix, uint16_t domid, size_t size)
{
    int fd = core_open_file(O_RDWR | O_CREAT, prefix, domid);

    if (fd >= 0) {
        fchmod(fd, 0666);
        if (ftruncate(fd, (off_t)size) != 0) {
            close(fd);
            return -1;
        }
    }
    return fd;
}

int core_open_memory(uint16_t domid)
{
    return open_sized("memory", domid, SIM_MEMORY_SIZE);
}

static void *map_file(int fd, size_t size)
{
    void *address;

    if (fd < 0) {
        return NULL;
    }
    address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    close(fd);
    return address == MAP_FAILED ? NULL : address;
}

struct SimDomain *domain_tables(uint16_t domid)
{
    struct SimDomain *domain;

    if (domid >= SIM_MAX_DOMAINS || sim_world->domain_state[domid] == SIM_DOMAIN_ABSENT) {
        return NULL;
    }
    domain = tables[domid];
    if (!domain) {
        pthread_mutex_lock(&map_mutex);
        domain = tables[domid];
        if (!domain) {
            domain = map_file(open_sized("domain", domid, sizeof(*domain)), sizeof(*domain));
            tables[domid] = domain;
        }
        pthread_mutex_unlock(&map_mutex);
    }
    return domain;
}

uint8_t *domain_memory(uint16_t domid)
{
    uint8_t *memory;

    if (domid >= SIM_MAX_DOMAINS || sim_world->domain_state[domid] == SIM_DOMAIN_ABSENT) {
        return NULL;
    }
    memory = memories[domid];
    if (!memory) {
        pthread_mutex_lock(&map_mutex);
        memory = memories[domid];
        if (!memory) {
            memory = map_file(core_open_memory(domid), SIM_MEMORY_SIZE);
            memories[domid] = memory;
        }
        pthread_mutex_unlock(&map_mutex);
    }
    return memory;
}

/* Back to zeroes without changing the files' size: other processes keep them mapped. */
static void wipe_file(int fd, size_t size)
{
    if (fd >= 0) {
        if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)size) != 0) {
            perror("xensim: cannot wipe a domain");
        }
        close(fd);
    }
}

bool domain_create(uint16_t domid)
{
    if (sim_world->domain_state[domid] != SIM_DOMAIN_ABSENT) {
        errno = sim_world->domain_state[domid] == SIM_DOMAIN_DYING ? EBUSY : EEXIST;
        return false;
    }
    wipe_file(open_sized("domain", domid, sizeof(struct SimDomain)), sizeof(struct SimDomain));
    wipe_file(core_open_memory(domid), SIM_MEMORY_SIZE);
    sim_world->domain_state[domid] = SIM_DOMAIN_ALIVE;
    return true;
}

void domain_finish_dying(uint16_t domid)
{
    struct SimDomain *domain = domain_tables(domid);

    if (!domain || sim_world->domain_state[domid] != SIM_DOMAIN_DYING || domain->pinned_pages) {
        return;
    }
    sim_world->domain_state[domid] = SIM_DOMAIN_ABSENT;
    wipe_file(open_sized("domain", domid, sizeof(*domain)), sizeof(*domain));
    wipe_file(core_open_memory(domid), SIM_MEMORY_SIZE);
}

/* A domain's processes stop with it.  Only those that hold a record lock of this world. */
static void kill_processes(uint16_t domid)
{
    struct timespec pause = {.tv_nsec = 2 * 1000 * 1000};
    unsigned tries;
    uint32_t slot;

    for (slot = 0; slot < SIM_MAX_PROCESSES; slot++) {
        const struct SimProcess *process = &sim_world->process[slot];

        if (!process->live || process->domid != domid) {
            continue;
        }
        for (tries = 0; tries < 1000; tries++) {
            int pid = process_slot_pid(slot);

            if (pid <= 0 || pid == getpid()) {
                break;
            }
            kill(pid, SIGKILL);
            nanosleep(&pause, NULL);
        }
    }
}

bool domain_kill(uint16_t domid)
{
    struct SimDomain *domain;
    uint32_t slot;
    uint32_t number;

    if (!domain_is_alive(domid)) {
        errno = ESRCH;
        return false;
    }
    kill_processes(domid);
    core_lock();
    process_reap();
    domain = domain_tables(domid);
    for (slot = 0; slot < SIM_MAX_HANDLES; slot++) {
        if (sim_world->handle[slot].seq && sim_world->handle[slot].domid == domid) {
            handle_release(slot);
        }
    }
    for (number = 1; number < domain->evtchns_top; number++) {
        evtchn_close(domid, number);
    }
    sim_world->domain_state[domid] = SIM_DOMAIN_DYING;
    domain_finish_dying(domid);
    core_unlock();
    evtchn_raise_virq(0, VIRQ_DOM_EXC);
    return true;
}
