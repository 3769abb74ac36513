/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool-xensim.c - the simulated host's operator: makes the world, creates and kills domains, looks.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core.h"
#include "guest-store.h"

static const char usage_text[] =
    "usage: xensim VERB ...\n"
    "  boot [-d]            make a new world in $XENSIM_DIR and be dom0's kernel in it; -d: in "
    "the\n"
    "                       background, return when ready\n"
    "  mkdom N              create domain N\n"
    "  store [-d] N         be domain N's xenstore driver, on $XENSIM_DIR/store.N\n"
    "  as N COMMAND...      run a command as domain N\n"
    "  kill N               kill domain N and its processes\n"
    "  gc                   do now what follows from processes having died\n"
    "  dump                 show domains, handles, event channels, grants\n"
    "  stats PID|dN [NAME]  counters of a process, or the sum over domain N's; one with NAME\n"
    "  fail PID RULES       CALL:N[+][:ERROR][,...]: calls that are to fail; '' for none\n";

static int complain(const char *what)
{
    fprintf(stderr, "xensim: %s: %s\n", what, strerror(errno));
    return 1;
}

static int usage(void)
{
    fputs(usage_text, stderr);
    return 2;
}

/* Domain ids come from the command line. */
static bool parse_domain(const char *text, uint16_t *domid)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (end == text || *end || value >= SIM_MAX_DOMAINS) {
        fprintf(stderr, "xensim: '%s' is not a domain id (0 to %u)\n", text, SIM_MAX_DOMAINS - 1);
        return false;
    }
    *domid = (uint16_t)value;
    return true;
}

static bool enter_domain(uint16_t domid)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", domid);
    setenv("XENSIM_DOMID", text, 1);
    if (!core_attach()) {
        fprintf(stderr, "xensim: cannot be domain %u of %s: %s\n", domid, core_directory(),
                strerror(errno));
        return false;
    }
    return true;
}

/* Enter dom0: what all verbs but store and as do. */
static bool enter_host(void)
{
    return enter_domain(0);
}

static int ready_pipe = -1;

/* Continue in a child; the parent waits for announce_ready and exits with its verdict. */
static void go_to_background(void)
{
    int ends[2];
    pid_t child;
    char ready = 0;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        exit(complain("pipe"));
    }
    child = fork();
    if (child < 0) {
        exit(complain("fork"));
    }
    if (child > 0) {
        close(ends[1]);
        exit(read(ends[0], &ready, 1) == 1 ? 0 : 1);
    }
    close(ends[0]);
    ready_pipe = ends[1];
    setsid();
}

static void announce_ready(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (ready_pipe < 0) {
        puts("ready");
        fflush(stdout);
        return;
    }
    /* Who waits for our output must not wait for our end. */
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    close(null);
    if (write(ready_pipe, "r", 1) != 1) {
        exit(1);
    }
    close(ready_pipe);
}

static bool write_boot_file(const char *name, const char *text, off_t size)
{
    char path[4096];
    FILE *file;
    bool written;

    snprintf(path, sizeof(path), "%s/%s", core_directory(), name);
    file = fopen(path, "we");
    if (!file) {
        return false;
    }
    written = fputs(text, file) >= 0 && fflush(file) == 0;
    if (size && ftruncate(fileno(file), size) != 0) {
        written = false;
    }
    return fclose(file) == 0 && written;
}

/* dom0's kernel: it holds the local end of xenstored's connection with dom0. */
static int verb_boot(void)
{
    struct SimHandle *handle;
    char text[16];
    int evtchn;

    if (!core_create()) {
        fprintf(stderr, "xensim: cannot make a world in %s: %s\n", core_directory(),
                strerror(errno));
        return 1;
    }
    if (!enter_host()) {
        return 1;
    }
    handle = handle_open(SIM_HANDLE_EVTCHN);
    if (!handle) {
        return complain("cannot open event channels");
    }
    core_lock();
    evtchn = evtchn_alloc_unbound(handle, 0);
    core_unlock();
    snprintf(text, sizeof(text), "%d", evtchn);
    if (evtchn < 0 || !write_boot_file("xsd_kva", "", SIM_PAGE_SIZE) ||
        !write_boot_file("xsd_port", text, 0)) {
        return complain("cannot set up xenstored's connection");
    }
    announce_ready();
    for (;;) {
        pause();
    }
}

static int verb_mkdom(uint16_t domid)
{
    bool created;

    if (!enter_host()) {
        return 1;
    }
    core_lock();
    process_reap();
    created = domain_create(domid);
    core_unlock();
    if (!created) {
        fprintf(stderr, "xensim: cannot create domain %u: %s\n", domid,
                errno == EBUSY ? "its predecessor is still dying (pages are mapped)"
                               : strerror(errno));
        return 1;
    }
    return 0;
}

static int verb_store(uint16_t domid)
{
    if (!enter_domain(domid) || !guest_store_start()) {
        return 1;
    }
    announce_ready();
    guest_store_serve();
    return 0;
}

static int verb_as(uint16_t domid, char **command)
{
    char text[4096];

    snprintf(text, sizeof(text), "%u", domid);
    setenv("XENSIM_DOMID", text, 1);
    if (domid) {
        snprintf(text, sizeof(text), "%s/store.%u", core_directory(), domid);
        setenv("XENSTORED_PATH", text, 1);
    }
    execvp(command[0], command);
    return complain(command[0]);
}

static int verb_kill(uint16_t domid)
{
    if (!domid) {
        fputs("xensim: domain 0 cannot be killed\n", stderr);
        return 1;
    }
    if (!enter_host()) {
        return 1;
    }
    if (!domain_kill(domid)) {
        fprintf(stderr, "xensim: there is no domain %u\n", domid);
        return 1;
    }
    return 0;
}

static int verb_gc(void)
{
    unsigned dead;

    if (!enter_host()) {
        return 1;
    }
    core_lock();
    dead = process_reap();
    core_unlock();
    printf("%u\n", dead);
    return 0;
}

static void dump_evtchns(uint16_t domid, const struct SimDomain *domain)
{
    static const char *const states[] = {"free", "unbound", "interdomain", "virq"};
    uint32_t number;

    for (number = 1; number < domain->evtchns_top; number++) {
        const struct SimEvtchn *evtchn = &domain->evtchn[number];
        enum SimEvtchnState state = evtchn_state(evtchn);
        uint64_t word = evtchn->word;

        if (state == SIM_EVTCHN_FREE) {
            continue;
        }
        printf("evtchn d%u/%u %s", domid, number, states[state]);
        if (state == SIM_EVTCHN_VIRQ) {
            printf(" virq %u", evtchn->virq);
        } else {
            printf(" remote d%u", evtchn->remote_domid);
        }
        if (state == SIM_EVTCHN_INTERDOMAIN) {
            printf("/%u", (unsigned)(uint16_t)(evtchn->peer >> 32));
        }
        printf(" handle %" PRIu64 "%s%s\n", (uint64_t)evtchn->owner, word & 1 ? " pending" : "",
               word & 2 ? " masked" : "");
    }
}

static int verb_dump(void)
{
    uint32_t i;

    if (!enter_host()) {
        return 1;
    }
    core_lock();
    process_reap();
    for (i = 0; i < SIM_MAX_DOMAINS; i++) {
        const struct SimDomain *domain = domain_tables((uint16_t)i);

        if (domain) {
            printf("domain %u %s shared-pages %u mapped-by-others %u\n", i,
                   domain_is_alive((uint16_t)i) ? "alive" : "dying", domain->shared_pages,
                   domain->pinned_pages);
            dump_evtchns((uint16_t)i, domain);
        }
    }
    for (i = 0; i < SIM_MAX_HANDLES; i++) {
        static const char *const kinds[] = {"free", "evtchn", "gnttab", "gntshr"};
        const struct SimHandleEntry *handle = &sim_world->handle[i];

        if (handle->seq) {
            printf("handle %" PRIu64 " %s domain %u pid %d\n", (uint64_t)handle->seq,
                   kinds[handle->kind], handle->domid, sim_world->process[handle->process].pid);
        }
    }
    for (i = 0; i < sim_world->maps_top; i++) {
        const struct SimMap *map = &sim_world->map[i];

        if (map->owner) {
            printf("map d%u ref %u %s handle %" PRIu64 "\n", map->domid, map->ref,
                   map->writable ? "rw" : "ro", map->owner);
        }
    }
    core_unlock();
    return 0;
}

/* Print a counter, or only its value when it is the one asked for; true: it was. */
static bool print_counter(const char *name, const char *suffix, int64_t value, const char *wanted)
{
    char full[64];

    snprintf(full, sizeof(full), "%s%s", name, suffix);
    if (wanted && strcmp(wanted, full) == 0) {
        printf("%" PRId64 "\n", value);
        return true;
    }
    if (!wanted) {
        printf("%s %" PRId64 "\n", full, value);
    }
    return false;
}

static void add_tally(struct SimTally *sum, const struct SimTally *tally, bool live)
{
    uint32_t call;

    for (call = 0; call < SIM_CALL_COUNT; call++) {
        sum->calls[call] += tally->calls[call];
        sum->failed[call] += tally->failed[call];
    }
    if (live) {
        sum->mapped_pages += tally->mapped_pages;
        sum->shared_pages += tally->shared_pages;
    }
}

/* The newest process with this pid in any slot, alive or ended. */
static struct SimProcess *find_process(int pid)
{
    struct SimProcess *found = NULL;
    uint32_t i;

    for (i = 0; i < SIM_MAX_PROCESSES; i++) {
        struct SimProcess *process = &sim_world->process[i];

        if (process->used && process->pid == pid && (!found || process->live)) {
            found = process;
        }
    }
    if (!found) {
        fprintf(stderr, "xensim: no process %d has opened the simulated Xen\n", pid);
    }
    return found;
}

static int verb_stats(const char *whose, const char *wanted)
{
    struct SimTally sum = {0};
    bool found = false;
    uint32_t i;

    if (!enter_host()) {
        return 1;
    }
    core_lock();
    process_reap();
    core_unlock();
    if (whose[0] == 'd') {
        uint16_t domid;

        if (!parse_domain(whose + 1, &domid)) {
            return 1;
        }
        for (i = 0; i < SIM_MAX_PROCESSES; i++) {
            if (sim_world->process[i].used && sim_world->process[i].domid == domid) {
                add_tally(&sum, &sim_world->process[i].tally, sim_world->process[i].live);
            }
        }
    } else {
        const struct SimProcess *process = find_process(atoi(whose));

        if (!process) {
            return 1;
        }
        add_tally(&sum, &process->tally, process->live);
    }
    for (i = 0; i < SIM_CALL_COUNT; i++) {
        found |= print_counter(inject_call_name(i), "", (int64_t)sum.calls[i], wanted);
        found |= print_counter(inject_call_name(i), "_failed", (int64_t)sum.failed[i], wanted);
    }
    found |= print_counter("mapped_pages", "", sum.mapped_pages, wanted);
    found |= print_counter("shared_pages", "", sum.shared_pages, wanted);
    if (wanted && !found) {
        fprintf(stderr, "xensim: there is no counter '%s'\n", wanted);
        return 1;
    }
    return 0;
}

static int verb_fail(const char *pid, const char *rules)
{
    struct SimProcess *process;
    const char *bad;

    if (!enter_host()) {
        return 1;
    }
    process = find_process(atoi(pid));
    if (!process) {
        return 1;
    }
    if (!inject_set_rules(&process->tally, rules, &bad)) {
        fprintf(stderr, "xensim: '%s' is not CALL:N[+][:ERROR] with a known CALL\n", bad);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    bool background = argc > 2 && strcmp(argv[2], "-d") == 0;
    char **rest = argv + (background ? 3 : 2);
    int count = argc - (background ? 3 : 2);
    uint16_t domid;

    if (background) {
        go_to_background();
    }
    if (strcmp(verb, "boot") == 0 && count == 0) {
        return verb_boot();
    }
    if (strcmp(verb, "gc") == 0 && count == 0) {
        return verb_gc();
    }
    if (strcmp(verb, "dump") == 0 && count == 0) {
        return verb_dump();
    }
    if (strcmp(verb, "stats") == 0 && (count == 1 || count == 2)) {
        return verb_stats(rest[0], count == 2 ? rest[1] : NULL);
    }
    if (strcmp(verb, "fail") == 0 && count == 2) {
        return verb_fail(rest[0], rest[1]);
    }
    if (count < 1 || !strchr("mska", verb[0]) || !verb[0]) {
        return usage();
    }
    if (!parse_domain(rest[0], &domid)) {
        return 1;
    }
    if (strcmp(verb, "mkdom") == 0 && count == 1) {
        return verb_mkdom(domid);
    }
    if (strcmp(verb, "store") == 0 && count == 1) {
        return verb_store(domid);
    }
    if (strcmp(verb, "kill") == 0 && count == 1) {
        return verb_kill(domid);
    }
    if (strcmp(verb, "as") == 0 && count > 1) {
        return verb_as(domid, rest + 1);
    }
    return usage();
}
