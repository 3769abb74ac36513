/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox.h - the daemon gives up what it does not need
 *
 * Theory of operation
 *
 * The daemon reads what guests wrote. Should a guest ever get it to do something else, that is to
 * be worth little. So it goes down in stages, as it needs less:
 *
 *   1. as whoever starts it: the control socket, the journal's directory;
 *   2. sandbox_enter(), before there is any other thread: another user, no capability but
 *      CAP_NET_ADMIN, no new privileges by exec, no core and no ptrace, and of the file system only
 *      what it still opens (Landlock): devices, xenstored's socket, the journal, the two
 * directories of its own;
 *   3. each worker, before it sees a queue: no capability at all (base/rights.h);
 *   4. sandbox_filter(), when everything is running: of the system calls only those that it makes.
 *
 * CAP_NET_ADMIN stays with the main thread, since a tap has to be made whenever a vif appears.
 * docs/security.md says what each stage is worth and how it is tested. What a kernel does not have
 * is left out, and the log says so.
 */
#ifndef XN_CONTROL_SANDBOX_H
#define XN_CONTROL_SANDBOX_H

#include <glib.h>
#include <stdbool.h>

/* Directories, separated by colons, that libraries need besides: the simulator's has one. */
#define XN_SANDBOX_PATHS "QNETBACK_SANDBOX_PATHS"

struct XnSandboxConfig {
    /* Whom to become; NULL: stay who we are. */
    const char *user;
    /* The control socket and the journal's directory. */
    const char *control;
    const char *journal;
};

/*
 * Stage 2. Fails, with an error of one line, only when it cannot become `user`, whose the journal's
 * directory then is, with what is in it. That and the control socket exist. Main thread, as the
 * only one.
 */
bool sandbox_enter(const struct XnSandboxConfig *config, GError **error);

/* Stage 4, for all threads that there are and will be. Main thread. */
void sandbox_filter(void);

/* What is in force, in words for the log; to be freed with g_free(). */
char *sandbox_describe(void);

#endif
