/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - the daemon's command line and configuration file
 *
 * Theory of operation: each option of the command line, but for those that say what to do now
 * (--help, --version, --config), is also a key of the configuration file. The file becomes a
 * command line of its own, which is checked alone, so that an error names the file; then it stands
 * before the real one, whose options come later and win.
 */
#include "options.h"

#include <string.h>

#include "base/clock.h"
#include "base/paths.h"

/* More workers than this help nobody. */
#define OPTIONS_WORKERS_DEFAULT_MAX 8u
#define OPTIONS_WORKERS_MAX 64
/* A day, in milliseconds. */
#define OPTIONS_PATIENCE_MAX (24 * 3600 * 1000)

#define OPTIONS_FILE XN_SYSCONFDIR "/qnetback/qnetback.conf"
#define OPTIONS_GROUP "qnetback"

static bool options_fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool options_fail(GError **error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_propagate_error(
        error, g_error_new_valist(G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, format, arguments));
    va_end(arguments);
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

/* One command line, without the program's name. */
static bool options_parse_arguments(const GPtrArray *arguments, struct XnOptions *ret_options,
                                    GError **error)
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
    g_autofree char *direct = NULL;
    int drain_ms = XN_GUEST_RX_DRAIN_MS;
    int stall_ms = XN_GUEST_RX_STALL_MS;
    g_autofree char *buffers = NULL;
    g_autofree char *log_level = NULL;
    g_autofree char *control = NULL;
    g_autofree char *control_group = NULL;
    g_autofree char *journal = NULL;
    g_autofree char *config = NULL;
    g_autofree char *sandbox = NULL;
    g_autofree char *user = NULL;
    const GOptionEntry entries[] = {
        {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version and exit", NULL},
        {"config", 'c', 0, G_OPTION_ARG_FILENAME, &config,
         "Configuration file (default: " OPTIONS_FILE ", if it exists)", "FILE"},
        {"workers", 'w', 0, G_OPTION_ARG_INT, &workers,
         "Threads that move packets (default: one per CPU, at most 8)", "N"},
        {"max-queues", 0, 0, G_OPTION_ARG_INT, &queue_max,
         "Queues that a guest may use (default: one per CPU, at most 8), unless the vif has a key "
         "max-queues",
         "N"},
        {"direct", 0, 0, G_OPTION_ARG_STRING, &direct,
         "Copy frames between guests on these bridges directly, past the bridge and its filters, "
         "unless the vif has a key direct",
         "BRIDGE,..."},
        {"buffers", 0, 0, G_OPTION_ARG_STRING, &buffers,
         "Packet memory: granted (to ourselves, faster), plain, or auto (default)", "KIND"},
        {"beside-netback", 0, 0, G_OPTION_ARG_NONE, &beside_netback,
         "Run although the kernel's xen-netback is loaded, and leave its vifs alone", NULL},
        {"guest-rx-drain", 0, 0, G_OPTION_ARG_INT, &drain_ms,
         "How long a frame waits for buffers of its guest before it is dropped (default: 10000; "
         "0: for ever)",
         "MS"},
        {"guest-rx-stall", 0, 0, G_OPTION_ARG_INT, &stall_ms,
         "After how long without a frame taken a guest's interface loses its carrier (default: "
         "60000; 0: never)",
         "MS"},
        {"control", 0, 0, G_OPTION_ARG_FILENAME, &control,
         "Control socket (default: " XN_CONTROL_SOCKET ")", "PATH"},
        {"control-group", 0, 0, G_OPTION_ARG_STRING, &control_group,
         "Group whose members may use the control socket (default: only root may)", "GROUP"},
        {"journal", 0, 0, G_OPTION_ARG_FILENAME, &journal,
         "Where connections are noted, on a tmpfs (default: " XN_JOURNAL_DIRECTORY ")",
         "DIRECTORY"},
        {"user", 'u', 0, G_OPTION_ARG_STRING, &user,
         "Become this user when everything that takes root is open (default: stay)", "USER"},
        {"sandbox", 0, 0, G_OPTION_ARG_STRING, &sandbox,
         "on (default): give up what is not needed: capabilities, files, system calls; or off",
         "WHETHER"},
        {"log-level", 0, 0, G_OPTION_ARG_STRING, &log_level,
         "error, warning, info (default) or debug", "LEVEL"},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_auto(GStrv) words = g_new0(char *, (gsize)arguments->len + 2);

    words[0] = g_strdup("qnetback");
    for (guint i = 0; i < arguments->len; i++) {
        words[i + 1] = g_strdup(g_ptr_array_index(arguments, i));
    }
    g_option_context_set_summary(
        context,
        "Serves the network interfaces of Xen guests (vif) from this domain, in the place\n"
        "of the kernel's xen-netback. Runs in the foreground until SIGTERM, which closes the\n"
        "interfaces, or SIGUSR2, which leaves them to the daemon that starts next.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse_strv(context, &words, error)) {
        return false;
    }
    if (words[0] && words[1]) {
        return options_fail(error, "unexpected '%s', see --help", words[1]);
    }
    if (workers < 1 || workers > OPTIONS_WORKERS_MAX) {
        return options_fail(error, "--workers is %d, not 1..%d", workers, OPTIONS_WORKERS_MAX);
    }
    if (queue_max < 1 || queue_max > (int)XN_VIF_QUEUES_MAX) {
        return options_fail(error, "--max-queues is %d, not 1..%u", queue_max, XN_VIF_QUEUES_MAX);
    }
    if (drain_ms < 0 || drain_ms > OPTIONS_PATIENCE_MAX) {
        return options_fail(error, "--guest-rx-drain is %d, not 0..%d", drain_ms,
                            OPTIONS_PATIENCE_MAX);
    }
    if (stall_ms < 0 || stall_ms > OPTIONS_PATIENCE_MAX) {
        return options_fail(error, "--guest-rx-stall is %d, not 0..%d", stall_ms,
                            OPTIONS_PATIENCE_MAX);
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
    if (sandbox && strcmp(sandbox, "on") != 0 && strcmp(sandbox, "off") != 0) {
        return options_fail(error, "--sandbox is '%s', not on or off", sandbox);
    }
    if (user && sandbox && strcmp(sandbox, "off") == 0) {
        return options_fail(error, "--user is '%s', which needs --sandbox=on", user);
    }
    options.sandbox = !sandbox || strcmp(sandbox, "on") == 0;
    options.user = g_steal_pointer(&user);
    options.version = version;
    options.beside_netback = beside_netback;
    options.workers = (unsigned)workers;
    options.queue_max = (unsigned)queue_max;
    options.direct_bridges = direct ? g_strsplit(direct, ",", -1) : NULL;
    options.patience.drain_ns = (uint64_t)drain_ms * XN_NS_PER_MS;
    options.patience.stall_ns = (uint64_t)stall_ms * XN_NS_PER_MS;
    options.control = control ? g_steal_pointer(&control) : g_strdup(XN_CONTROL_SOCKET);
    options.control_group = g_steal_pointer(&control_group);
    options.journal = journal ? g_steal_pointer(&journal) : g_strdup(XN_JOURNAL_DIRECTORY);
    options.config = g_steal_pointer(&config);
    *ret_options = options;
    return true;
}

/*
 * The file's keys as options, "--workers=4" and so on; none for a file that does not exist, unless
 * it was asked for. NULL with an error.
 */
static GPtrArray *options_read_file(const char *path, bool asked_for, GError **error)
{
    static const char *const not_keys[] = {"beside-netback", "config", "help", "version", NULL};
    g_autoptr(GPtrArray) arguments = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autoptr(GError) local_error = NULL;
    g_auto(GStrv) groups = NULL;
    g_auto(GStrv) keys = NULL;

    if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &local_error)) {
        if (!asked_for && g_error_matches(local_error, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
            return g_steal_pointer(&arguments);
        }
        g_propagate_error(error, g_steal_pointer(&local_error));
        return NULL;
    }
    groups = g_key_file_get_groups(file, NULL);
    for (size_t i = 0; groups[i]; i++) {
        if (strcmp(groups[i], OPTIONS_GROUP) != 0) {
            options_fail(error, "unknown section [%s], there is only [" OPTIONS_GROUP "]",
                         groups[i]);
            return NULL;
        }
    }
    keys = g_key_file_get_keys(file, OPTIONS_GROUP, NULL, NULL);
    for (size_t i = 0; keys && keys[i]; i++) {
        g_autofree char *value = g_key_file_get_string(file, OPTIONS_GROUP, keys[i], error);

        if (!value) {
            return NULL;
        }
        /* (A key without its hyphens is no word of the command line.) */
        if (g_strv_contains(not_keys, keys[i]) || strlen(keys[i]) < 2 || strchr(keys[i], '=')) {
            options_fail(error, "unknown key '%s'", keys[i]);
            return NULL;
        }
        g_ptr_array_add(arguments, g_strdup_printf("--%s=%s", keys[i], g_strstrip(value)));
    }
    return g_steal_pointer(&arguments);
}

bool options_parse(int argc, char **argv, struct XnOptions *ret_options, GError **error)
{
    g_autoptr(GPtrArray) given = g_ptr_array_new();
    g_autoptr(GPtrArray) arguments = NULL;
    struct XnOptions alone;
    g_autofree char *path = NULL;

    for (int i = 1; i < argc; i++) {
        g_ptr_array_add(given, argv[i]);
    }
    if (!options_parse_arguments(given, &alone, error)) {
        g_prefix_error(error, "wrong command line: ");
        return false;
    }
    if (alone.version) {
        *ret_options = alone;
        return true;
    }
    path = g_strdup(alone.config ? alone.config : OPTIONS_FILE);
    arguments = options_read_file(path, alone.config != NULL, error);
    options_clear(&alone);
    if (!arguments || !options_parse_arguments(arguments, &alone, error)) {
        g_prefix_error(error, "wrong configuration file %s: ", path);
        return false;
    }
    options_clear(&alone);
    for (int i = 1; i < argc; i++) {
        g_ptr_array_add(arguments, g_strdup(argv[i]));
    }
    return options_parse_arguments(arguments, ret_options, error);
}

void options_clear(struct XnOptions *options)
{
    g_clear_pointer(&options->direct_bridges, g_strfreev);
    g_clear_pointer(&options->control, g_free);
    g_clear_pointer(&options->control_group, g_free);
    g_clear_pointer(&options->journal, g_free);
    g_clear_pointer(&options->user, g_free);
    g_clear_pointer(&options->config, g_free);
}
