/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit.h - how qnetctl ends: its exit statuses, which are the codes of its errors
 */
#ifndef XN_TOOLS_EXIT_H
#define XN_TOOLS_EXIT_H

#include <glib.h>

/* The errors of this program; their codes are enum XnExit. */
#define XN_EXIT_ERROR (exit_error_quark())
GQuark exit_error_quark(void);

/* Documented in qnetctl(1). */
enum XnExit {
    XN_EXIT_OK = 0,
    /* The daemon refused, or what was asked for cannot be done. */
    XN_EXIT_FAILED = 1,
    XN_EXIT_USAGE = 2,
    /* Nobody listens. */
    XN_EXIT_NO_DAEMON = 3,
    XN_EXIT_NO_VIF = 4,
    /* We may not. */
    XN_EXIT_DENIED = 5,
    /* The daemon went away or does not answer: it is busy, or is being restarted. */
    XN_EXIT_BUSY = 6,
    /* Nobody reads what we print, or a file cannot be written. */
    XN_EXIT_OUTPUT = 7,
    /* The doctor has found something. */
    XN_EXIT_FINDINGS = 8,
};

#endif
