/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool-store-wait.c - wait until a xenstore node has a value, or is gone.
 *
 * usage: store-wait PATH VALUE|--gone [SECONDS]     exit status 0, or 1 when the time is up
 * Prints what the node held last when the time is up.  10 seconds unless told otherwise.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <xenstore.h>

static long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool matches(const char *value, const char *wanted)
{
    if (strcmp(wanted, "--gone") == 0) {
        return !value;
    }
    return value && strcmp(value, wanted) == 0;
}

/* A watch fires once at registration, so nothing is missed between a read and the wait. */
static bool wait_for_event(struct xs_handle *store, long milliseconds)
{
    struct pollfd polled = {.fd = xs_fileno(store), .events = POLLIN};
    char **event = xs_check_watch(store);

    if (!event) {
        if (poll(&polled, 1, (int)milliseconds) == 0) {
            return false;
        }
        event = xs_check_watch(store);
    }
    free(event);
    return true;
}

int main(int argc, char **argv)
{
    struct xs_handle *store;
    long deadline;

    if (argc < 3 || argc > 4) {
        fputs("usage: store-wait PATH VALUE|--gone [SECONDS]\n", stderr);
        return 2;
    }
    deadline = now_ms() + (argc == 4 ? (long)(atof(argv[3]) * 1000) : 10000);
    store = xs_open(0);
    if (!store || !xs_watch(store, argv[1], "wait")) {
        fprintf(stderr, "store-wait: cannot watch %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    for (;;) {
        unsigned length;
        char *value = xs_read(store, XBT_NULL, argv[1], &length);
        long left = deadline - now_ms();

        if (matches(value, argv[2])) {
            free(value);
            xs_close(store);
            return 0;
        }
        if (left <= 0 || !wait_for_event(store, left)) {
            fprintf(stderr, "store-wait: %s is %s, not %s\n", argv[1], value ? value : "absent",
                    argv[2]);
            free(value);
            xs_close(store);
            return 1;
        }
        free(value);
    }
}
