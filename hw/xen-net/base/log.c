/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.c - what the daemon tells its administrator
 */
#include "base/log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static const struct {
    const char *name;
    GLogLevelFlags flag;
    /* The journal's and syslog's number. */
    const char *priority;
    /* What a line on standard error begins with. */
    const char *prefix;
} log_levels[] = {
    /* G_LOG_LEVEL_ERROR would abort the program. */
    [XN_LOG_ERROR] = {"error", G_LOG_LEVEL_CRITICAL, "3", "error: "},
    [XN_LOG_WARNING] = {"warning", G_LOG_LEVEL_WARNING, "4", "warning: "},
    [XN_LOG_INFO] = {"info", G_LOG_LEVEL_INFO, "6", ""},
    [XN_LOG_DEBUG] = {"debug", G_LOG_LEVEL_DEBUG, "7", "debug: "},
};

static enum XnLogLevel log_highest = XN_LOG_INFO;
static bool log_to_journal;
static bool log_ready;

static enum XnLogLevel log_level_from_flags(GLogLevelFlags flags)
{
    if (flags & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL)) {
        return XN_LOG_ERROR;
    }
    if (flags & G_LOG_LEVEL_WARNING) {
        return XN_LOG_WARNING;
    }
    return flags & G_LOG_LEVEL_DEBUG ? XN_LOG_DEBUG : XN_LOG_INFO;
}

/* GLib's own lines come here as well as ours. */
static GLogWriterOutput log_writer(GLogLevelFlags flags, const GLogField *fields, gsize count,
                                   gpointer opaque G_GNUC_UNUSED)
{
    enum XnLogLevel level = log_level_from_flags(flags);
    const char *message = "";

    if (level > log_highest) {
        return G_LOG_WRITER_HANDLED;
    }
    if (log_to_journal &&
        g_log_writer_journald(flags, fields, count, NULL) == G_LOG_WRITER_HANDLED) {
        return G_LOG_WRITER_HANDLED;
    }
    for (gsize i = 0; i < count; i++) {
        if (strcmp(fields[i].key, "MESSAGE") == 0) {
            message = fields[i].value;
        }
    }
    fprintf(stderr, "%s: %s%s\n", g_get_prgname() ? g_get_prgname() : "qnetback",
            log_levels[level].prefix, message);
    return G_LOG_WRITER_HANDLED;
}

void log_init(enum XnLogLevel highest)
{
    log_highest = highest;
    if (!log_ready) {
        log_ready = true;
        log_to_journal = g_log_writer_is_journald(fileno(stderr));
        g_log_set_writer_func(log_writer, NULL, NULL);
    }
}

enum XnLogLevel log_level(void)
{
    return log_highest;
}

const char *log_level_name(enum XnLogLevel level)
{
    return log_levels[level].name;
}

bool log_level_parse(const char *name, enum XnLogLevel *ret_level)
{
    for (size_t i = 0; i < G_N_ELEMENTS(log_levels); i++) {
        if (strcmp(name, log_levels[i].name) == 0) {
            *ret_level = (enum XnLogLevel)i;
            return true;
        }
    }
    return false;
}

static void log_line(enum XnLogLevel level, const char *subject, const char *text)
{
    g_autofree char *line = g_strconcat(subject ? subject : "", subject ? ": " : "", text, NULL);
    GLogField fields[] = {
        {"PRIORITY", log_levels[level].priority, -1},
        {"MESSAGE", line, -1},
        {"GLIB_DOMAIN", "qnetback", -1},
        {"XN_SUBJECT", subject, -1},
    };

    for (char *c = line; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
    g_log_structured_array(log_levels[level].flag, fields,
                           subject ? G_N_ELEMENTS(fields) : G_N_ELEMENTS(fields) - 1);
}

void log_write(enum XnLogLevel level, const char *subject, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list arguments;

    if (level > log_highest) {
        return;
    }
    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    log_line(level, subject, text);
}

bool log_limit_pass(struct XnLogLimit *limit, uint64_t now_ns, uint64_t *ret_suppressed)
{
    if (limit->count == XN_LOG_LIMIT && now_ns - limit->passed_ns[limit->next] < XN_NS_PER_S) {
        limit->suppressed++;
        return false;
    }
    limit->passed_ns[limit->next] = now_ns;
    limit->next = (limit->next + 1) % XN_LOG_LIMIT;
    limit->count = MIN(limit->count + 1, XN_LOG_LIMIT);
    *ret_suppressed = limit->suppressed;
    limit->suppressed = 0;
    return true;
}

static void log_line_after(enum XnLogLevel level, const char *subject, const char *text,
                           uint64_t suppressed)
{
    if (suppressed > 0) {
        g_autofree char *more = g_strdup_printf(
            "%s (%" G_GUINT64_FORMAT " lines before it were left out)", text, (guint64)suppressed);

        log_line(level, subject, more);
    } else {
        log_line(level, subject, text);
    }
}

void log_write_limited(struct XnLogLimit *limit, uint64_t now_ns, enum XnLogLevel level,
                       const char *subject, const char *format, ...)
{
    g_autofree char *text = NULL;
    uint64_t suppressed = 0;
    va_list arguments;

    if (level > log_highest || !log_limit_pass(limit, now_ns, &suppressed)) {
        return;
    }
    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    log_line_after(level, subject, text, suppressed);
}

void log_write_shared(struct XnLogSharedLimit *limit, enum XnLogLevel level, const char *subject,
                      const char *format, ...)
{
    g_autofree char *text = NULL;
    uint64_t suppressed = 0;
    va_list arguments;
    bool pass;

    if (level > log_highest) {
        return;
    }
    g_mutex_lock(&limit->lock);
    pass = log_limit_pass(&limit->limit, clock_now_ns(), &suppressed);
    g_mutex_unlock(&limit->lock);
    if (!pass) {
        return;
    }
    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    log_line_after(level, subject, text, suppressed);
}
