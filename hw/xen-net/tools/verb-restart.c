/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-restart.c - qnetctl restart: another daemon in the place of this one, unnoticed by guests
 *
 * Theory of operation
 *
 * A daemon that a service manager runs is restarted by that, since it must know. Any other one is
 * made to leave, and its program, which may have been upgraded meanwhile, is started as it was:
 * with its command line, its environment, and what it wrote its log to.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/leave.h"

#define RESTART_TIMEOUT_S 30
#define RESTART_POLL_US 20000

/* How the daemon was started. */
struct XnRestartCommand {
    char *program;
    char **arguments;
    char **environment;
    /* What its standard output and error are; -1: that cannot be opened again. */
    int output;
    int errors;
};

static void restart_command_clear(struct XnRestartCommand *command)
{
    g_free(command->program);
    g_strfreev(command->arguments);
    g_strfreev(command->environment);
    if (command->output >= 0) {
        close(command->output);
    }
    if (command->errors >= 0) {
        close(command->errors);
    }
}

/* The strings of one of /proc's files with zero bytes between them; NULL with an error. */
static char **restart_read_strings(pid_t pid, const char *name, GError **error)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, name);
    g_autofree char *text = NULL;
    g_autoptr(GPtrArray) strings = g_ptr_array_new();
    gsize length = 0;

    if (!g_file_get_contents(path, &text, &length, error)) {
        return NULL;
    }
    for (gsize i = 0; i < length; i += strlen(text + i) + 1) {
        g_ptr_array_add(strings, g_strdup(text + i));
    }
    g_ptr_array_add(strings, NULL);
    return (char **)g_ptr_array_steal(strings, NULL);
}

static int restart_open_output(pid_t pid, int descriptor)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/fd/%d", (int)pid, descriptor);

    return open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
}

static bool restart_read_command(pid_t pid, struct XnRestartCommand *command, GError **error)
{
    g_autofree char *link = g_strdup_printf("/proc/%d/exe", (int)pid);
    g_autofree char *program = g_file_read_link(link, error);

    if (!program) {
        return false;
    }
    if (g_str_has_suffix(program, " (deleted)")) {
        program[strlen(program) - strlen(" (deleted)")] = '\0';
    }
    command->program = g_steal_pointer(&program);
    command->arguments = restart_read_strings(pid, "cmdline", error);
    if (!command->arguments) {
        return false;
    }
    command->environment = restart_read_strings(pid, "environ", error);
    if (!command->environment) {
        return false;
    }
    command->output = restart_open_output(pid, STDOUT_FILENO);
    command->errors = restart_open_output(pid, STDERR_FILENO);
    return true;
}

/* The systemd unit whose main process this is, or NULL. */
static char *restart_find_unit(pid_t pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/cgroup", (int)pid);
    g_autofree char *text = NULL;
    g_autofree char *unit = NULL;
    g_autofree char *main_pid = NULL;
    char *argv[] = {(char *)"systemctl", (char *)"show", (char *)"--property=MainPID",
                    (char *)"--value",   NULL,           NULL};

    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        return NULL;
    }
    unit = g_path_get_basename(g_strstrip(text));
    argv[4] = unit;
    if (!g_str_has_suffix(unit, ".service") ||
        !g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL,
                      NULL, &main_pid, NULL, NULL, NULL) ||
        g_ascii_strtoll(main_pid, NULL, 10) != pid) {
        return NULL;
    }
    return g_steal_pointer(&unit);
}

static bool restart_unit(char *unit, GError **error)
{
    char *argv[] = {(char *)"systemctl", (char *)"restart", unit, NULL};
    int status = 0;
    g_autoptr(GError) local_error = NULL;

    if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status,
                      &local_error) ||
        !g_spawn_check_wait_status(status, &local_error)) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_FAILED, "systemctl restart %s failed: %s", unit,
                    local_error->message);
        return false;
    }
    return true;
}

static void restart_set_up_child(gpointer opaque G_GNUC_UNUSED)
{
    setsid();
}

/* Starts the program in the background. */
static bool restart_start(const struct XnRestartCommand *command, GError **error)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_autoptr(GError) local_error = NULL;

    g_ptr_array_add(argv, command->program);
    for (char **i = command->arguments; *i; i++) {
        g_ptr_array_add(argv, *i);
    }
    g_ptr_array_add(argv, NULL);
    if (!g_spawn_async_with_fds("/", (char **)argv->pdata, command->environment,
                                G_SPAWN_FILE_AND_ARGV_ZERO, restart_set_up_child, NULL, NULL, -1,
                                command->output, command->errors, &local_error)) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_FAILED,
                    "the daemon has ended, but cannot be started again: %s", local_error->message);
        return false;
    }
    return true;
}

/* Waits until another process than `old` answers. Its number, or -1 with an error. */
static pid_t restart_wait(const char *control, pid_t old, GError **error)
{
    gint64 end = g_get_monotonic_time() + RESTART_TIMEOUT_S * G_USEC_PER_SEC;

    while (g_get_monotonic_time() < end) {
        struct XnClient *client = client_open(control, NULL);
        g_autoptr(JsonNode) status = client ? verb_query_status(client, NULL) : NULL;
        pid_t pid = status ? (pid_t)verb_number(json_node_get_object(status), "pid") : old;

        client_close(client);
        if (pid != old) {
            return pid;
        }
        g_usleep(RESTART_POLL_US);
    }
    g_set_error(error, XN_EXIT_ERROR, XN_EXIT_BUSY,
                "no new daemon has answered within %d s; see its log", RESTART_TIMEOUT_S);
    return -1;
}

static bool restart_is_ours(pid_t pid, GError **error)
{
    g_autofree char *path = g_strdup_printf("/proc/%d", (int)pid);
    struct stat status;

    if (stat(path, &status) < 0 || status.st_uid != geteuid()) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_DENIED,
                    "process %d is another user's: restart it by what started it", (int)pid);
        return false;
    }
    return true;
}

static bool restart_daemon(struct XnClient *client, pid_t pid, GError **error)
{
    g_autofree char *unit = restart_find_unit(pid);
    struct XnRestartCommand command = {.output = -1, .errors = -1};
    g_autoptr(GError) local_error = NULL;
    bool done;

    if (unit) {
        return restart_unit(unit, error);
    }
    if (!restart_is_ours(pid, error)) {
        return false;
    }
    if (!restart_read_command(pid, &command, &local_error)) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_DENIED,
                    "cannot see how process %d was started: %s", (int)pid, local_error->message);
        restart_command_clear(&command);
        return false;
    }
    done = leave_daemon(client, pid, error) && restart_start(&command, error);
    restart_command_clear(&command);
    return done;
}

static bool run(const struct XnVerbCall *call, GError **error)
{
    g_autoptr(JsonNode) status = verb_query_status(call->client, error);
    int connected = status ? leave_count_connected(call, error) : -1;
    pid_t old;
    pid_t now;

    if (connected < 0) {
        return false;
    }
    old = (pid_t)verb_number(json_node_get_object(status), "pid");
    if (!restart_daemon(call->client, old, error)) {
        return false;
    }
    now = restart_wait(call->control, old, error);
    if (now < 0) {
        return false;
    }
    if (call->json) {
        printf("{\"pid\":%d,\"old_pid\":%d,\"connected\":%d}\n", (int)now, (int)old, connected);
    } else {
        printf("process %d serves in the place of %d; %d vif%s connected\n", (int)now, (int)old,
               connected, connected == 1 ? " was" : "s were");
    }
    return true;
}

const struct XnVerb verb_restart = {
    .name = "restart",
    .help = "another daemon in the place of this one; guests do not notice",
    .run = run,
};
