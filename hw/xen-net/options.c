/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - the daemon's command line
 */
#include "options.h"

#include <string.h>

#include "base/paths.h"

/* More workers than this help nobody. */
#define OPTIONS_WORKERS_DEFAULT_MAX 8u
#define OPTIONS_WORKERS_MAX 64

static bool options_fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool options_fail(GError **error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_propagate_error(
        error, g_error_new_valist(G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, format, arguments));
    va_end(arguments);
    g_prefix_error(error, "wrong command line: ");
    return false;
}

static bool options_parse_buffers(const char *text, enum XnBufferKind *ret_kind)
{
    static const char *const names[] = {
        [XN_BUFFERS_AUTO] = "auto",
        [XN_BUFFERS_GRANTED] = "granted",
        [XN_BUFFERS_PLAIN] = "plain",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret_kind = (enum XnBufferKind)i;
            return true;
        }
    }
    return false;
}

bool options_parse(int argc, char **argv, struct XnOptions *ret_options, GError **error)
{
    struct XnOptions options = {
        .workers = MIN(g_get_num_processors(), OPTIONS_WORKERS_DEFAULT_MAX),
        .queue_max = MIN(g_get_num_processors(), XN_VIF_QUEUES_MAX),
        .buffers = XN_BUFFERS_AUTO,
        .log_level = XN_LOG_INFO,
    };
    gboolean version = FALSE;
    gboolean beside_netback = FALSE;
    int workers = (int)options.workers;
    int queue_max = (int)options.queue_max;
    g_autofree char *buffers = NULL;
    g_autofree char *log_level = NULL;
    g_autofree char *control = NULL;
    g_autofree char *journal = NULL;
    const GOptionEntry entries[] = {
        {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version and exit", NULL},
        {"workers", 'w', 0, G_OPTION_ARG_INT, &workers,
         "Threads that move packets (default: one per CPU, at most 8)", "N"},
        {"max-queues", 0, 0, G_OPTION_ARG_INT, &queue_max,
         "Queues that a guest may use (default: one per CPU, at most 8), unless the vif has a key "
         "max-queues",
         "N"},
        {"buffers", 0, 0, G_OPTION_ARG_STRING, &buffers,
         "Packet memory: granted (to ourselves, faster), plain, or auto (default)", "KIND"},
        {"beside-netback", 0, 0, G_OPTION_ARG_NONE, &beside_netback,
         "Run although the kernel's xen-netback is loaded, and leave its vifs alone", NULL},
        {"control", 0, 0, G_OPTION_ARG_FILENAME, &control,
         "Control socket (default: " XN_CONTROL_SOCKET ")", "PATH"},
        {"journal", 0, 0, G_OPTION_ARG_FILENAME, &journal,
         "Where connections are noted, on a tmpfs (default: " XN_JOURNAL_DIRECTORY ")",
         "DIRECTORY"},
        {"log-level", 0, 0, G_OPTION_ARG_STRING, &log_level,
         "error, warning, info (default) or debug", "LEVEL"},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_auto(GStrv) arguments = g_new0(char *, (gsize)argc + 1);

    for (int i = 0; i < argc; i++) {
        arguments[i] = g_strdup(argv[i]);
    }
    g_option_context_set_summary(
        context,
        "Serves the network interfaces of Xen guests (vif) from this domain, in the place\n"
        "of the kernel's xen-netback. Runs in the foreground until SIGTERM, which closes the\n"
        "interfaces, or SIGUSR2, which leaves them to the daemon that starts next.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse_strv(context, &arguments, error)) {
        g_prefix_error(error, "wrong command line: ");
        return false;
    }
    if (arguments[0] && arguments[1]) {
        return options_fail(error, "unexpected '%s', see --help", arguments[1]);
    }
    if (workers < 1 || workers > OPTIONS_WORKERS_MAX) {
        return options_fail(error, "--workers is %d, not 1..%d", workers, OPTIONS_WORKERS_MAX);
    }
    if (queue_max < 1 || queue_max > (int)XN_VIF_QUEUES_MAX) {
        return options_fail(error, "--max-queues is %d, not 1..%u", queue_max, XN_VIF_QUEUES_MAX);
    }
    if (buffers && !options_parse_buffers(buffers, &options.buffers)) {
        return options_fail(error, "--buffers is '%s', not auto, granted or plain", buffers);
    }
    if (log_level && !log_level_parse(log_level, &options.log_level)) {
        return options_fail(error, "--log-level is '%s', not error, warning, info or debug",
                            log_level);
    }
    if (control && control[0] != '/') {
        return options_fail(error, "--control is '%s', not an absolute path", control);
    }
    if (journal && journal[0] != '/') {
        return options_fail(error, "--journal is '%s', not an absolute path", journal);
    }
    options.version = version;
    options.beside_netback = beside_netback;
    options.workers = (unsigned)workers;
    options.queue_max = (unsigned)queue_max;
    options.control = control ? g_steal_pointer(&control) : g_strdup(XN_CONTROL_SOCKET);
    options.journal = journal ? g_steal_pointer(&journal) : g_strdup(XN_JOURNAL_DIRECTORY);
    *ret_options = options;
    return true;
}

void options_clear(struct XnOptions *options)
{
    g_clear_pointer(&options->control, g_free);
    g_clear_pointer(&options->journal, g_free);
}
