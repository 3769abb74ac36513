/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool-stress.c - shows that the simulator survives its users' deaths and loses no event.
 *
 * usage: stress deaths SEED KILLS      processes in domains 1 to 4 are killed at random moments,
 * KILLS times, while one in dom0 uses its own and checks every byte stress events COUNT two
 * processes send each other COUNT events in turn, then one floods the other, which must see the
 * last
 *
 * Prints TAP.  Domains 1 to 4 must exist and be nobody else's.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xenevtchn.h>
#include <xengnttab.h>

#include "core.h"

#define VICTIMS 4
#define BOARD_SLOTS 64
#define READ_WRITE (PROT_READ | PROT_WRITE)

/* Shared by all: what there is to map and to bind, and how far the survivor came. */
struct Board {
    _Atomic uint32_t ref[VICTIMS + 1][BOARD_SLOTS];
    _Atomic uint32_t evtchn[VICTIMS + 1][BOARD_SLOTS];
    _Atomic uint64_t rounds;
    _Atomic uint64_t faults;
    _Atomic uint32_t stop;
    _Atomic uint64_t counter;
};

static struct Board *board;
static unsigned points;
static unsigned failures;

static void report(bool passed, const char *what)
{
    printf("%s %u - %s\n", passed ? "ok" : "not ok", ++points, what);
    failures += !passed;
}

static void become_domain(unsigned domid)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", domid);
    setenv("XENSIM_DOMID", text, 1);
}

/* --- deaths --- */

/* One of everything that a domain can do with another; results do not matter. */
static void random_call(unsigned self, unsigned *seed, xengnttab_handle *gnttab,
                        xengntshr_handle *gntshr, xenevtchn_handle *evtchn)
{
    unsigned other = (unsigned)rand_r(seed) % VICTIMS + 1;
    unsigned slot = (unsigned)rand_r(seed) % BOARD_SLOTS;
    uint32_t refs[8];
    void *pages;
    int number;

    switch (rand_r(seed) % 4) {
    case 0:
        pages = xengntshr_share_pages(gntshr, other, rand_r(seed) % 8 + 1, refs, 1);
        if (pages) {
            board->ref[self][slot] = refs[0];
            memset(pages, (int)self, SIM_PAGE_SIZE);
        }
        break;
    case 1:
        pages = xengnttab_map_grant_ref(gnttab, other, board->ref[other][slot], READ_WRITE);
        if (pages && rand_r(seed) % 2) {
            xengnttab_unmap(gnttab, pages, 1);
        }
        break;
    case 2:
        number = xenevtchn_bind_unbound_port(evtchn, other);
        if (number > 0) {
            board->evtchn[self][slot] = (uint32_t)number;
        }
        break;
    default:
        number = xenevtchn_bind_interdomain(evtchn, other, board->evtchn[other][slot]);
        if (number > 0) {
            xenevtchn_notify(evtchn, (uint32_t)number);
            if (rand_r(seed) % 2) {
                xenevtchn_unbind(evtchn, (uint32_t)number);
            }
        }
        break;
    }
}

static void run_victim(unsigned self, unsigned seed)
{
    unsigned call;

    become_domain(self);
    for (;;) {
        xengnttab_handle *gnttab = xengnttab_open(NULL, 0);
        xengntshr_handle *gntshr = xengntshr_open(NULL, 0);
        xenevtchn_handle *evtchn = xenevtchn_open(NULL, 0);

        if (!gnttab || !gntshr || !evtchn) {
            fprintf(stderr, "# a victim cannot open: %s\n", strerror(errno));
            _exit(1);
        }
        for (call = 0; call < 200; call++) {
            random_call(self, &seed, gnttab, gntshr, evtchn);
        }
        xenevtchn_close(evtchn);
        xengnttab_close(gnttab);
        xengntshr_close(gntshr);
    }
}

static void expect_at(bool holds, int line)
{
    if (!holds) {
        printf("# the survivor's expectation of line %d does not hold: %s\n", line,
               strerror(errno));
        board->faults++;
    }
}

#define expect(holds) expect_at(holds, __LINE__)

/* What must always work: an own page through a mapping and a copy, an own event channel. */
static void run_survivor(void)
{
    xengnttab_handle *gnttab = xengnttab_open(NULL, 0);
    xengntshr_handle *gntshr = xengntshr_open(NULL, 0);
    xenevtchn_handle *evtchn = xenevtchn_open(NULL, 0);

    while (!board->stop) {
        uint32_t refs[2];
        char *pages = xengntshr_share_pages(gntshr, 0, 2, refs, 1);
        char *mapped =
            pages ? xengnttab_map_domain_grant_refs(gnttab, 2, 0, refs, READ_WRITE) : NULL;
        xengnttab_grant_copy_segment_t segment = {.flags = GNTCOPY_source_gref, .len = 8};
        struct pollfd polled = {.fd = xenevtchn_fd(evtchn), .events = POLLIN};
        char text[8] = "";
        int first;
        int second;

        expect(mapped != NULL);
        if (!mapped) {
            continue;
        }
        expect(mapped[0] == 0 && mapped[2 * SIM_PAGE_SIZE - 1] == 0);
        memcpy(mapped + SIM_PAGE_SIZE, "survivor", 8);
        segment.source.foreign.ref = refs[1];
        segment.dest.virt = text;
        expect(xengnttab_grant_copy(gnttab, 1, &segment) == 0 && segment.status == GNTST_okay);
        expect(memcmp(text, "survivor", 8) == 0);

        first = xenevtchn_bind_unbound_port(evtchn, 0);
        second = xenevtchn_bind_interdomain(evtchn, 0, (uint32_t)first);
        expect(first > 0 && second > 0);
        expect(poll(&polled, 1, 5000) == 1 && xenevtchn_pending(evtchn) == second);
        expect(xenevtchn_unbind(evtchn, (uint32_t)second) == 0);
        expect(xenevtchn_unbind(evtchn, (uint32_t)first) == 0);

        expect(xengnttab_unmap(gnttab, mapped, 2) == 0);
        expect(xengntshr_unshare(gntshr, pages, 2) == 0);
        board->rounds++;
    }
    _exit(0);
}

static pid_t start_victim(unsigned self, unsigned seed)
{
    pid_t pid = fork();

    if (pid == 0) {
        run_victim(self, seed);
    }
    return pid;
}

static uint32_t found_left;

static void left(const char *what, uint32_t domid, uint32_t number)
{
    if (found_left++ < 10) {
        printf("# left in domain %u: %s %u\n", domid, what, number);
    }
}

static void look_for_leftovers(uint16_t domid, const struct SimDomain *domain)
{
    uint32_t i;

    if (domain->shared_pages || domain->pinned_pages) {
        left("shared pages", domid, domain->shared_pages);
        left("mapped pages", domid, domain->pinned_pages);
    }
    for (i = 1; domid && i < domain->evtchns_top; i++) {
        if (evtchn_state(&domain->evtchn[i]) != SIM_EVTCHN_FREE) {
            left("event channel", domid, i);
        }
    }
    for (i = 0; i < domain->refs_top; i++) {
        if (domain->grant[i].owner || domain->grant[i].pins || domain->grant[i].allocated) {
            left("grant", domid, i);
        }
    }
    for (i = SIM_FIRST_FRAME; i < SIM_MAX_FRAMES; i++) {
        if (domain->frame_used[i]) {
            left("frame", domid, i);
        }
    }
}

static bool world_is_empty(void)
{
    uint32_t i;

    core_lock();
    process_reap();
    for (i = 0; i < SIM_MAX_MAPS; i++) {
        if (sim_world->map[i].owner) {
            left("mapping", sim_world->map[i].domid, sim_world->map[i].ref);
        }
    }
    for (i = 0; i <= VICTIMS; i++) {
        look_for_leftovers((uint16_t)i, domain_tables((uint16_t)i));
    }
    core_unlock();
    return found_left == 0;
}

static int deaths(unsigned seed, unsigned kills)
{
    pid_t victim[VICTIMS];
    pid_t survivor;
    unsigned i;

    printf("# seed %u\n", seed);
    fflush(stdout);
    survivor = fork();
    if (survivor == 0) {
        run_survivor();
    }
    for (i = 0; i < VICTIMS; i++) {
        victim[i] = start_victim(i + 1, seed + i);
    }
    for (i = 0; i < kills; i++) {
        struct timespec pause = {.tv_nsec = rand_r(&seed) % 8000000};
        unsigned which = (unsigned)rand_r(&seed) % VICTIMS;
        int status;

        nanosleep(&pause, NULL);
        kill(victim[which], SIGKILL);
        waitpid(victim[which], &status, 0);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
            printf("# a victim ended by itself: wait status %#x\n", (unsigned)status);
            board->faults++;
        }
        victim[which] = start_victim(which + 1, (unsigned)rand_r(&seed));
    }
    for (i = 0; i < VICTIMS; i++) {
        kill(victim[i], SIGKILL);
        waitpid(victim[i], NULL, 0);
    }
    board->stop = 1;
    waitpid(survivor, NULL, 0);
    printf("# %u killed, the survivor made %llu rounds\n", kills + VICTIMS,
           (unsigned long long)board->rounds);
    report(board->rounds > 0, "a process in dom0 went on working");
    report(board->faults == 0, "and saw nothing wrong");
    report(world_is_empty(), "nothing that the killed ones held is left");
    return failures != 0;
}

/* --- events --- */

/* The next event within five seconds; it is unmasked at once. */
static bool take_event(xenevtchn_handle *evtchn)
{
    struct pollfd polled = {.fd = xenevtchn_fd(evtchn), .events = POLLIN};
    int number;

    if (poll(&polled, 1, 5000) != 1) {
        return false;
    }
    number = xenevtchn_pending(evtchn);
    xenevtchn_unmask(evtchn, (uint32_t)number);
    return number > 0;
}

static void run_echo(unsigned count)
{
    xenevtchn_handle *evtchn;
    int number;
    unsigned i;

    become_domain(1);
    evtchn = xenevtchn_open(NULL, 0);
    number = xenevtchn_bind_unbound_port(evtchn, 0);
    board->evtchn[1][0] = (uint32_t)number;
    for (i = 0; i < count; i++) {
        if (!take_event(evtchn)) {
            _exit(1);
        }
        xenevtchn_notify(evtchn, (uint32_t)number);
    }
    /* The flood: whatever was sent last must be seen. */
    while (board->counter < count) {
        if (!take_event(evtchn)) {
            _exit(2);
        }
    }
    _exit(0);
}

static int events(unsigned count)
{
    pid_t echo = fork();
    xenevtchn_handle *evtchn;
    unsigned answers = 0;
    int number;
    int status;
    unsigned i;

    if (echo == 0) {
        run_echo(count);
    }
    while (!board->evtchn[1][0]) {
        usleep(1000);
    }
    evtchn = xenevtchn_open(NULL, 0);
    number = xenevtchn_bind_interdomain(evtchn, 1, board->evtchn[1][0]);
    report(number > 0 && take_event(evtchn), "bound, with the first event");
    for (i = 0; i < count; i++) {
        xenevtchn_notify(evtchn, (uint32_t)number);
        answers += take_event(evtchn);
    }
    report(answers == count, "each event was answered");
    for (i = 0; i < count; i++) {
        board->counter++;
        xenevtchn_notify(evtchn, (uint32_t)number);
    }
    xenevtchn_close(evtchn);
    waitpid(echo, &status, 0);
    report(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the last event of a flood was seen");
    return failures != 0;
}

int main(int argc, char **argv)
{
    int status = 2;

    setvbuf(stdout, NULL, _IOLBF, 0);
    board = mmap(NULL, sizeof(*board), READ_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED || !core_attach()) {
        perror("stress");
        return 1;
    }
    if (argc == 4 && strcmp(argv[1], "deaths") == 0) {
        status = deaths((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
    } else if (argc == 3 && strcmp(argv[1], "events") == 0) {
        status = events((unsigned)atoi(argv[2]));
    } else {
        fputs("usage: stress deaths SEED KILLS | stress events COUNT\n", stderr);
        return status;
    }
    printf("1..%u\n", points);
    return status;
}
