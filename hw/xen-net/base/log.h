/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.h - what the daemon tells its administrator
 *
 * Lines go to the journal when systemd started us, to standard error else. A line about one vif
 * names it first ("vif1.0: connected"); the journal gets the name as the field XN_SUBJECT too.
 * Lines that a guest can cause pass a limiter, so that no guest fills a disk: the vif's where it is
 * at hand, else one for all guests at the place in the source (log_shared).
 */
#ifndef XN_BASE_LOG_H
#define XN_BASE_LOG_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum XnLogLevel {
    XN_LOG_ERROR,
    XN_LOG_WARNING,
    XN_LOG_INFO,
    XN_LOG_DEBUG,
};

/*
 * Takes over GLib's log of this process; lines above `highest` are not written. May be called again
 * to change that. Main thread.
 */
void log_init(enum XnLogLevel highest);

/* What log_init() was called with last. */
enum XnLogLevel log_level(void);
const char *log_level_name(enum XnLogLevel level);

/* Reads "error", "warning", "info" or "debug"; false for anything else. */
bool log_level_parse(const char *name, enum XnLogLevel *ret_level);

/*
 * Writes one line. `subject` (a vif's name) may be NULL. Control characters come out as '?', so a
 * value that a guest chose cannot forge a line. Any thread.
 */
void log_write(enum XnLogLevel level, const char *subject, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

#define log_error(...) log_write(XN_LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(XN_LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_write(XN_LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_write(XN_LOG_DEBUG, __VA_ARGS__)

/* Most lines that one guest's vif can cause within a second. */
#define XN_LOG_LIMIT 10u

/* One limiter, for one vif. All zero is a fresh one. Owned by one thread. */
struct XnLogLimit {
    /* When the last XN_LOG_LIMIT lines passed, `next` being the oldest of them. */
    uint64_t passed_ns[XN_LOG_LIMIT];
    unsigned next;
    unsigned count;
    uint64_t suppressed;
};

/*
 * May a line be written at `now_ns` (clock.h)? If so, *ret_suppressed becomes the number of lines
 * that were refused since the last one that passed.
 */
bool log_limit_pass(struct XnLogLimit *limit, uint64_t now_ns, uint64_t *ret_suppressed);

/* One limiter for what any guest may cause at one place, on any thread. All zero is a fresh one. */
struct XnLogSharedLimit {
    GMutex lock;
    struct XnLogLimit limit;
};

/* As log_write(), unless the limiter refuses it. */
void log_write_shared(struct XnLogSharedLimit *limit, enum XnLogLevel level, const char *subject,
                      const char *format, ...) G_GNUC_PRINTF(4, 5);

/* The same with a limiter of its own. */
#define log_shared(...)                             \
    do {                                            \
        static struct XnLogSharedLimit log_limit_;  \
        log_write_shared(&log_limit_, __VA_ARGS__); \
    } while (0)

/* Writes a line that a guest caused, unless the limiter refuses it; says how many were refused. */
void log_write_limited(struct XnLogLimit *limit, uint64_t now_ns, enum XnLogLevel level,
                       const char *subject, const char *format, ...) G_GNUC_PRINTF(5, 6);

#endif
