/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool-probe.c - makes single calls to the simulated Xen, as told on standard input.
 *
 * One call a line; the answer is one line: "ok", with what the call returned, or the errno's name.
 * Handles are opened at the first call that needs one and kept.  For scripts and for trying things:
 * `xensim as 1 probe`.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xenevtchn.h>
#include <xengnttab.h>

#include "core.h"
#include "probe-store.h"

#define MAX_WORDS 16
#define MAX_RANGES 256

static const char help_text[] =
    "share DOMID COUNT [ro]    share fresh pages: their references\n"
    "unshare REF               the range that begins with this reference\n"
    "map DOMID REF...          map pages, read and write\n"
    "unmap REF                 the range that begins with this reference\n"
    "poke REF TEXT             write to the first page of a shared or mapped range\n"
    "peek REF                  read it\n"
    "copy DOMID REF COUNT      copy a byte COUNT times in one call: the statuses\n"
    "alloc DOMID | bind DOMID N | unbind N | notify N | unmask N\n"
    "wait MILLISECONDS         the event channel that became pending\n"
    "pid                       this process\n"
    "die-locked                be killed while holding the world's lock\n";

struct Range {
    char *pages; /* NULL: free */
    uint32_t count;
    uint32_t ref;
    bool shared;
};

static struct Range ranges[MAX_RANGES];
static xengnttab_handle *gnttab;
static xengntshr_handle *gntshr;
static xenevtchn_handle *evtchn;

static void answer_error(void)
{
    printf("%s\n", strerrorname_np(errno));
}

static void answer_number(int result)
{
    if (result < 0) {
        answer_error();
    } else {
        printf("ok %d\n", result);
    }
}

static struct Range *new_range(char *pages, uint32_t count, uint32_t ref, bool shared)
{
    uint32_t i;

    for (i = 0; i < MAX_RANGES; i++) {
        if (!ranges[i].pages) {
            ranges[i] = (struct Range){pages, count, ref, shared};
            return &ranges[i];
        }
    }
    fputs("probe: too many ranges\n", stderr);
    exit(1);
}

static struct Range *find_range(const char *ref, int shared)
{
    uint32_t i;

    for (i = 0; i < MAX_RANGES; i++) {
        if (ranges[i].pages && ranges[i].ref == (uint32_t)atoi(ref) &&
            (shared < 0 || ranges[i].shared == shared)) {
            return &ranges[i];
        }
    }
    return NULL;
}

static void do_share(char **words, int count)
{
    uint32_t pages = (uint32_t)atoi(words[2]);
    uint32_t *refs = calloc(pages, sizeof(*refs));
    char *address =
        refs ? xengntshr_share_pages(gntshr, (uint32_t)atoi(words[1]), (int)pages, refs, count < 4)
             : NULL;
    uint32_t i;

    if (!address) {
        answer_error();
    } else {
        new_range(address, pages, refs[0], true);
        printf("ok");
        for (i = 0; i < pages; i++) {
            printf(" %u", refs[i]);
        }
        putchar('\n');
    }
    free(refs);
}

static void do_map(char **words, int count)
{
    uint32_t refs[MAX_WORDS];
    uint32_t pages = (uint32_t)count - 2;
    char *address;
    uint32_t i;

    for (i = 0; i < pages; i++) {
        refs[i] = (uint32_t)strtoul(words[i + 2], NULL, 10);
    }
    address = xengnttab_map_domain_grant_refs(gnttab, pages, (uint32_t)atoi(words[1]), refs,
                                              PROT_READ | PROT_WRITE);
    if (!address) {
        answer_error();
        return;
    }
    new_range(address, pages, refs[0], false);
    puts("ok");
}

static void do_release(const char *ref, bool shared)
{
    struct Range *range = find_range(ref, shared);
    int result = -1;

    if (range) {
        result = shared ? xengntshr_unshare(gntshr, range->pages, range->count)
                        : xengnttab_unmap(gnttab, range->pages, range->count);
    } else {
        errno = ENOENT;
    }
    if (result == 0) {
        range->pages = NULL;
    }
    answer_number(result);
}

static void do_access(char **words, int count)
{
    struct Range *range = find_range(words[1], -1);

    if (!range) {
        puts("ENOENT");
    } else if (count == 3) {
        strcpy(range->pages, words[2]);
        puts("ok");
    } else {
        printf("ok %s\n", range->pages);
    }
}

static void do_copy(char **words)
{
    uint32_t count = (uint32_t)atoi(words[3]);
    xengnttab_grant_copy_segment_t *segments = calloc(count, sizeof(*segments));
    char byte;
    uint32_t i;

    for (i = 0; segments && i < count; i++) {
        segments[i].flags = GNTCOPY_source_gref;
        segments[i].source.foreign.domid = (uint16_t)atoi(words[1]);
        segments[i].source.foreign.ref = (uint32_t)strtoul(words[2], NULL, 10);
        segments[i].dest.virt = &byte;
        segments[i].len = 1;
    }
    if (!segments || xengnttab_grant_copy(gnttab, count, segments) != 0) {
        answer_error();
    } else {
        printf("ok");
        for (i = 0; i < count; i++) {
            printf(" %d", segments[i].status);
        }
        putchar('\n');
    }
    free(segments);
}

static void do_wait(const char *milliseconds)
{
    struct pollfd polled = {.fd = xenevtchn_fd(evtchn), .events = POLLIN};

    if (poll(&polled, 1, atoi(milliseconds)) != 1) {
        puts("EAGAIN");
        return;
    }
    answer_number(xenevtchn_pending(evtchn));
}

/* Opens what a call needs; false after answering why it cannot. */
static bool open_for(const char *verb)
{
    static const char *const of_gntshr[] = {"share", "unshare", NULL};
    static const char *const of_gnttab[] = {"map", "unmap", "copy", NULL};
    static const char *const of_evtchn[] = {"alloc",  "bind", "unbind", "notify",
                                            "unmask", "wait", NULL};
    bool opened = true;
    int i;

    for (i = 0; of_gntshr[i]; i++) {
        if (strcmp(verb, of_gntshr[i]) == 0 && !gntshr) {
            gntshr = xengntshr_open(NULL, 0);
            opened = gntshr != NULL;
        }
    }
    for (i = 0; of_gnttab[i]; i++) {
        if (strcmp(verb, of_gnttab[i]) == 0 && !gnttab) {
            gnttab = xengnttab_open(NULL, 0);
            opened = gnttab != NULL;
        }
    }
    for (i = 0; of_evtchn[i]; i++) {
        if (strcmp(verb, of_evtchn[i]) == 0 && !evtchn) {
            evtchn = xenevtchn_open(NULL, 0);
            opened = evtchn != NULL;
        }
    }
    if (!opened) {
        answer_error();
    }
    return opened;
}

static bool do_grants(char **words, int count)
{
    if (strcmp(words[0], "share") == 0 && count >= 3) {
        do_share(words, count);
    } else if (strcmp(words[0], "map") == 0 && count >= 3) {
        do_map(words, count);
    } else if (strcmp(words[0], "unshare") == 0 && count == 2) {
        do_release(words[1], true);
    } else if (strcmp(words[0], "unmap") == 0 && count == 2) {
        do_release(words[1], false);
    } else if ((strcmp(words[0], "poke") == 0 && count == 3) ||
               (strcmp(words[0], "peek") == 0 && count == 2)) {
        do_access(words, count);
    } else if (strcmp(words[0], "copy") == 0 && count == 4) {
        do_copy(words);
    } else {
        return false;
    }
    return true;
}

static bool do_evtchns(char **words, int count)
{
    uint32_t number = count > 1 ? (uint32_t)atoi(words[1]) : 0;

    if (strcmp(words[0], "alloc") == 0 && count == 2) {
        answer_number(xenevtchn_bind_unbound_port(evtchn, number));
    } else if (strcmp(words[0], "bind") == 0 && count == 3) {
        answer_number(xenevtchn_bind_interdomain(evtchn, number, (uint32_t)atoi(words[2])));
    } else if (strcmp(words[0], "unbind") == 0 && count == 2) {
        answer_number(xenevtchn_unbind(evtchn, number));
    } else if (strcmp(words[0], "notify") == 0 && count == 2) {
        answer_number(xenevtchn_notify(evtchn, number));
    } else if (strcmp(words[0], "unmask") == 0 && count == 2) {
        answer_number(xenevtchn_unmask(evtchn, number));
    } else if (strcmp(words[0], "wait") == 0 && count == 2) {
        do_wait(words[1]);
    } else {
        return false;
    }
    return true;
}

static bool do_others(char **words)
{
    if (strcmp(words[0], "pid") == 0) {
        printf("ok %d\n", getpid());
    } else if (strcmp(words[0], "die-locked") == 0) {
        core_lock();
        raise(SIGKILL);
    } else {
        return false;
    }
    return true;
}

int main(void)
{
    char line[1024];

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!core_attach()) {
        answer_error();
        return 1;
    }
    while (fgets(line, sizeof(line), stdin)) {
        char *words[MAX_WORDS];
        char *save = NULL;
        char *word = strtok_r(line, " \n", &save);
        int count = 0;

        while (word && count < MAX_WORDS) {
            words[count++] = word;
            word = strtok_r(NULL, " \n", &save);
        }
        if (!count || !open_for(words[0])) {
            continue;
        }
        if (!do_grants(words, count) && !do_evtchns(words, count) && !do_others(words) &&
            !probe_store_call(words, count)) {
            fputs(help_text, stderr);
            fputs(probe_store_help, stderr);
            puts("EINVAL");
        }
    }
    return 0;
}
