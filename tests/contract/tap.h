/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tap.h - test results in the Test Anything Protocol, on standard output.
 */
#ifndef CONTRACT_TAP_H
#define CONTRACT_TAP_H

#include <stdbool.h>

/* One test point; the name says what holds.  Returns `passed`. */
bool tap_ok(bool passed, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As tap_ok(got == wanted), showing both when they differ. */
bool tap_is(long got, long wanted, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As tap_is(result, -1) with errno being this. */
bool tap_fails_with(long result, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void tap_skip(const char *name, const char *reason);
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Nothing can go on: ends the program. */
void tap_bail_out(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* The plan; returns the exit status. */
int tap_done(void);

#endif
