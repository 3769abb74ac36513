/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tap.c - test results in the Test Anything Protocol, on standard output.
 */
#include "tap.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned points;
static unsigned failures;

__attribute__((format(printf, 2, 0))) static void print_point(bool passed, const char *format,
                                                              va_list arguments)
{
    printf("%s %u - ", passed ? "ok" : "not ok", ++points);
    vprintf(format, arguments);
    putchar('\n');
    if (!passed) {
        failures++;
    }
}

bool tap_ok(bool passed, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_point(passed, format, arguments);
    va_end(arguments);
    return passed;
}

bool tap_is(long got, long wanted, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_point(got == wanted, format, arguments);
    va_end(arguments);
    if (got != wanted) {
        tap_note("got %ld, wanted %ld", got, wanted);
    }
    return got == wanted;
}

bool tap_fails_with(long result, int error, const char *format, ...)
{
    int got = errno;
    bool passed = result == -1 && got == error;
    va_list arguments;

    va_start(arguments, format);
    print_point(passed, format, arguments);
    va_end(arguments);
    if (!passed && result == -1) {
        tap_note("failed with '%s', wanted '%s'", strerror(got), strerror(error));
    } else if (!passed) {
        tap_note("returned %ld, wanted it to fail with '%s'", result, strerror(error));
    }
    return passed;
}

void tap_skip(const char *name, const char *reason)
{
    printf("ok %u - %s # SKIP %s\n", ++points, name, reason);
}

void tap_note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    printf("# ");
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

void tap_bail_out(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    printf("Bail out! ");
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    exit(1);
}

int tap_done(void)
{
    printf("1..%u\n", points);
    return failures ? 1 : 0;
}
