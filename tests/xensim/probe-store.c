/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe-store.c - the probe's calls to xenstore.
 */
#include "probe-store.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <xenstore.h>

#include "store-changes.h"

const char probe_store_help[] =
    "read PATH | list PATH | write PATH [VALUE] | mkdir PATH | rm PATH\n"
    "change VERB PATH [VALUE]  is kept, without an answer, until\n"
    "commit                    makes all that was kept one transaction (store-changes.h)\n"
    "await PATH VALUE[|VALUE...] MILLISECONDS   microseconds that it took, or what it is instead;\n"
    "                          --gone: no node\n"
    "watch PATH | transaction  open one and keep it\n"
    "watches                   how many watches oxenstored has, of all clients, if they are few\n"
    "owned DOMID               how many nodes oxenstored has counted for a domain\n";

static struct xs_handle *store;
static struct StoreChanges changes;

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void answer(bool done)
{
    printf("%s\n", done ? "ok" : strerrorname_np(errno));
}

static void do_read(const char *path)
{
    char *value = xs_read(store, XBT_NULL, path, NULL);

    if (value) {
        printf("ok %s\n", value);
    } else {
        answer(false);
    }
    free(value);
}

static void do_list(const char *path)
{
    unsigned count = 0;
    char **names = xs_directory(store, XBT_NULL, path, &count);

    if (!names) {
        answer(false);
        return;
    }
    printf("ok");
    for (unsigned i = 0; i < count; i++) {
        printf(" %s", names[i]);
    }
    putchar('\n');
    free(names);
}

static void do_change(char **words, int count)
{
    char line[1024];

    snprintf(line, sizeof(line), "%s\t%s\t%s", words[1], words[2], count > 3 ? words[3] : "");
    store_changes_add(&changes, line);
}

static void do_commit(void)
{
    const struct StoreChange *failed;
    bool done = store_changes_apply(&changes, store, &failed);

    if (failed) {
        printf("%s %s %s\n", strerrorname_np(errno), failed->verb, failed->path);
    } else {
        answer(done);
    }
    store_changes_clear(&changes);
}

/* Is it one of those wanted, which are separated by bars? */
static bool is_value(const char *value, const char *wanted)
{
    const char *text = value ? value : "--gone";
    size_t length = strlen(text);

    for (const char *item = wanted; item; item = strchr(item, '|') ? strchr(item, '|') + 1 : NULL) {
        if (strcspn(item, "|") == length && strncmp(item, text, length) == 0) {
            return true;
        }
    }
    return false;
}

/* A watch fires once at registration, so nothing is missed between a read and the wait. */
static void do_await(const char *path, const char *wanted, const char *milliseconds)
{
    uint64_t start = now_us();
    uint64_t end = start + strtoul(milliseconds, NULL, 10) * UINT64_C(1000);
    struct pollfd polled = {.fd = xs_fileno(store), .events = POLLIN};
    char *value = NULL;
    uint64_t now;

    if (!xs_watch(store, path, "await")) {
        answer(false);
        return;
    }
    for (;;) {
        char **event;

        while ((event = xs_check_watch(store))) {
            free(event);
        }
        free(value);
        value = xs_read(store, XBT_NULL, path, NULL);
        now = now_us();
        if (is_value(value, wanted) || now >= end) {
            break;
        }
        poll(&polled, 1, (int)((end - now) / 1000) + 1);
    }
    if (is_value(value, wanted)) {
        printf("ok %llu\n", (unsigned long long)(now - start));
    } else {
        printf("%s\n", value ? value : "--gone");
    }
    free(value);
    xs_unwatch(store, path, "await");
}

/*
 * These two are questions that only oxenstored knows, and only dom0 may ask. An answer that is
 * longer than a message may be, from a hundred watches on, ends the connection: so it gets one of
 * its own.
 */
static void do_watches(void)
{
    struct xs_handle *once = xs_open(0);
    char *text = once ? xs_debug_command(once, "watches", (void *)"", 1) : NULL;
    unsigned count = 0;

    if (once) {
        xs_close(once);
    }
    if (!text) {
        puts("E2BIG");
        return;
    }
    for (const char *at = text; (at = strchr(at, '\n')); at++) {
        count++;
    }
    printf("ok %u\n", count);
    free(text);
}

static void do_owned(const char *domid)
{
    char *text = xs_debug_command(store, "quota", (void *)domid, (unsigned)strlen(domid) + 1);

    unsigned count = 0;

    if (!text) {
        answer(false);
        return;
    }
    /* "domN quota: NODES/LIMIT", or "not set" for one that never owned a node. */
    sscanf(text, "%*s %*s %u", &count);
    printf("ok %u\n", count);
    free(text);
}

bool probe_store_call(char **words, int count)
{
    static const char *const verbs[] = {"read",  "list",        "write",   "mkdir",
                                        "rm",    "change",      "commit",  "await",
                                        "watch", "transaction", "watches", "owned"};
    bool known = false;

    for (unsigned i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
        known |= strcmp(words[0], verbs[i]) == 0;
    }
    if (known && !store) {
        store = xs_open(0);
        if (!store) {
            answer(false);
            return true;
        }
    }
    if (strcmp(words[0], "read") == 0 && count == 2) {
        do_read(words[1]);
    } else if (strcmp(words[0], "list") == 0 && count == 2) {
        do_list(words[1]);
    } else if (strcmp(words[0], "write") == 0 && (count == 2 || count == 3)) {
        const char *value = count > 2 ? words[2] : "";

        answer(xs_write(store, XBT_NULL, words[1], value, (unsigned)strlen(value)));
    } else if (strcmp(words[0], "mkdir") == 0 && count == 2) {
        answer(xs_mkdir(store, XBT_NULL, words[1]));
    } else if (strcmp(words[0], "rm") == 0 && count == 2) {
        answer(xs_rm(store, XBT_NULL, words[1]));
    } else if (strcmp(words[0], "change") == 0 && (count == 3 || count == 4)) {
        do_change(words, count);
    } else if (strcmp(words[0], "commit") == 0 && count == 1) {
        do_commit();
    } else if (strcmp(words[0], "await") == 0 && count == 4) {
        do_await(words[1], words[2], words[3]);
    } else if (strcmp(words[0], "watch") == 0 && count == 2) {
        answer(xs_watch(store, words[1], "probe"));
    } else if (strcmp(words[0], "transaction") == 0) {
        answer(xs_transaction_start(store) != XBT_NULL);
    } else if (strcmp(words[0], "watches") == 0 && count == 1) {
        do_watches();
    } else if (strcmp(words[0], "owned") == 0 && count == 2) {
        do_owned(words[1]);
    } else {
        return false;
    }
    return true;
}
