/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preload.c - what a xenstore daemon needs beside the libraries, through LD_PRELOAD.
 *
 * oxenstored raises its limit of open files at start and gives up when it may not, as in a user
 * namespace.  The C xenstored reads the boot event channel and page from /proc/xen, which here are
 * files of $XENSIM_DIR.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* The path to open instead, in the buffer if it changes. */
static const char *redirect(const char *path, char *buffer, size_t size)
{
    const char *directory = getenv("XENSIM_DIR");

    if (!directory || strncmp(path, "/proc/xen/", 10) != 0) {
        return path;
    }
    snprintf(buffer, size, "%s/%s", directory, path + 10);
    return buffer;
}

static int open_as(const char *symbol, const char *path, int flags, int mode)
{
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, symbol);
    char buffer[4096];

    return real(redirect(path, buffer, sizeof(buffer)), flags, mode);
}

#define WRAP_OPEN(name)                           \
    int name(const char *path, int flags, ...)    \
    {                                             \
        va_list arguments;                        \
        int mode = 0;                             \
                                                  \
        if (flags & (O_CREAT | O_TMPFILE)) {      \
            va_start(arguments, flags);           \
            mode = va_arg(arguments, int);        \
            va_end(arguments);                    \
        }                                         \
        return open_as(#name, path, flags, mode); \
    }

WRAP_OPEN(open)
WRAP_OPEN(open64)

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    (void)resource;
    (void)limit;
    return 0;
}
