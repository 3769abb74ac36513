/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fail.h - what went wrong, in words, from where it is known to where it is reported */
#ifndef QNETFRONT_FAIL_H
#define QNETFRONT_FAIL_H

#include <stdbool.h>

struct XnFailure {
    char text[256];
};

/* Formats the reason, unless an earlier one is kept there, and returns false. */
bool fail(struct XnFailure *failure, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with ": " and the words for errno. */
bool fail_errno(struct XnFailure *failure, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
