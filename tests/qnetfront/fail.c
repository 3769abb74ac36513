/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fail.c - what went wrong, in words, from where it is known to where it is reported */
#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 0))) static bool take_reason(struct XnFailure *failure,
                                                              const char *format, va_list arguments)
{
    if (failure->text[0]) {
        return false;
    }
    vsnprintf(failure->text, sizeof(failure->text), format, arguments);
    return true;
}

bool fail(struct XnFailure *failure, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    take_reason(failure, format, arguments);
    va_end(arguments);
    return false;
}

bool fail_errno(struct XnFailure *failure, const char *format, ...)
{
    int code = errno;
    va_list arguments;

    va_start(arguments, format);
    if (take_reason(failure, format, arguments)) {
        size_t used = strlen(failure->text);

        snprintf(failure->text + used, sizeof(failure->text) - used, ": %s", strerror(code));
    }
    va_end(arguments);
    errno = code;
    return false;
}
