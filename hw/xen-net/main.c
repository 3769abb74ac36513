/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - starts the daemon, runs it until it is told to stop, and ends it
 */
#include <errno.h>
#include <glib-unix.h>
#include <linux/magic.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/log.h"
#include "control/backend.h"
#include "control/ctl-commands.h"
#include "control/sandbox.h"
#include "options.h"
#include "service.h"

#define KERNEL_NETBACK "/sys/module/xen_netback"
#define KERNEL_AUTOPROBE "/sys/bus/xen-backend/drivers_autoprobe"

struct XnDaemon {
    GMainLoop *loop;
    struct XnBackend *backend;
    struct XnCtlContext ctl_context;
    struct XnCtlServer *ctl_server;
    /* The journal's directory was not there. */
    bool journal_made;
    int status;
};

/* The kernel must not take the vifs that come from now on, or it would race with us for each. */
static bool check_autoprobe(GError **error)
{
    g_autofree char *autoprobe = NULL;

    if (g_file_get_contents(KERNEL_AUTOPROBE, &autoprobe, NULL, NULL) && autoprobe[0] != '0') {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "the kernel's xen-netback would take the same new vifs: for --beside-netback, "
                    "first run 'echo 0 > " KERNEL_AUTOPROBE "'");
        return false;
    }
    return true;
}

/* What must be right before anything is touched. */
static bool check_host(bool beside_netback, GError **error)
{
    if (beside_netback) {
        if (!check_autoprobe(error)) {
            return false;
        }
    } else if (access(KERNEL_NETBACK, F_OK) == 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "the kernel's xen-netback is loaded and would serve the same vifs: shut down "
                    "the guests that use it, run 'rmmod xen_netback', and put the line 'install "
                    "xen-netback /bin/false' into /etc/modprobe.d/qnetback.conf");
        return false;
    }
    return port_check_host(error);
}

/* A vif needs a few descriptors for each queue; the usual soft limit of 1024 is soon reached. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0) {
            log_debug(NULL, "cannot raise the limit of open files: %s", g_strerror(errno));
        }
    }
}

static bool make_journal_directory(const char *path, GError **error)
{
    struct statfs filesystem;

    if (directory_make(path, 0700) < 0) {
        int saved_errno = errno;

        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved_errno),
                    "cannot create the directory %s: %s%s", path, g_strerror(saved_errno),
                    saved_errno == EACCES ? "; run as root" : "");
        return false;
    }
    if (statfs(path, &filesystem) == 0 && filesystem.f_type != TMPFS_MAGIC &&
        filesystem.f_type != RAMFS_MAGIC) {
        log_warning(NULL, "the journal's directory %s is not on a tmpfs: its disk may slow packets",
                    path);
    }
    return true;
}

static void daemon_event(void *opaque, const struct XnVifEvent *event)
{
    const struct XnDaemon *daemon = opaque;

    ctl_emit_vif_event(daemon->ctl_server, event);
}

static void daemon_ended(void *opaque)
{
    struct XnDaemon *daemon = opaque;

    daemon->status = EXIT_SUCCESS;
    g_main_loop_quit(daemon->loop);
}

static gboolean daemon_signal(gpointer opaque)
{
    struct XnDaemon *daemon = opaque;

    service_say("STOPPING=1");
    backend_stop(daemon->backend);
    return G_SOURCE_CONTINUE;
}

static gboolean daemon_signal_leave(gpointer opaque)
{
    struct XnDaemon *daemon = opaque;

    service_say("STOPPING=1");
    backend_leave(daemon->backend);
    return G_SOURCE_CONTINUE;
}

/*
 * What takes the rights that the daemon was started with; then it gives them up. As the only
 * thread, since capabilities belong to threads.
 */
static bool daemon_open(struct XnDaemon *daemon, const struct XnOptions *options, GError **error)
{
    struct XnCtlServerConfig config = {
        .path = options->control,
        .group = options->control_group,
        .commands = ctl_commands,
        .events = ctl_events,
        .opaque = &daemon->ctl_context,
    };
    struct XnSandboxConfig sandbox = {
        .user = options->user,
        .control = options->control,
        .journal = options->journal,
    };

    if (!check_host(options->beside_netback, error) || !backend_check(error)) {
        return false;
    }
    raise_descriptor_limit();
    daemon->ctl_server = ctl_server_create(&config, error);
    if (!daemon->ctl_server) {
        return false;
    }
    daemon->journal_made = access(options->journal, F_OK) < 0;
    return make_journal_directory(options->journal, error) &&
           (!options->sandbox || sandbox_enter(&sandbox, error));
}

static bool daemon_start(struct XnDaemon *daemon, const struct XnOptions *options, GError **error)
{
    struct XnBackendConfig config = {
        .workers = options->workers,
        .buffers = options->buffers,
        .queue_max = options->queue_max,
        .direct_bridges = (const char *const *)options->direct_bridges,
        .journal_directory = options->journal,
        .beside_netback = options->beside_netback,
        .patience = options->patience,
        .ended = daemon_ended,
        .event = daemon_event,
        .opaque = daemon,
    };

    daemon->backend = backend_create(&config, error);
    if (!daemon->backend) {
        return false;
    }
    daemon->ctl_context = (struct XnCtlContext){
        .backend = daemon->backend,
        .workers = options->workers,
        .started = g_get_real_time() / G_USEC_PER_SEC,
    };
    return backend_start(daemon->backend, error);
}

static void daemon_filter(const struct XnOptions *options)
{
    g_autofree char *text = NULL;

    if (!options->sandbox) {
        log_info(NULL, "sandbox: off");
        return;
    }
    sandbox_filter();
    text = sandbox_describe();
    log_info(NULL, "sandbox: %s", text);
}

static int daemon_run(const struct XnOptions *options)
{
    struct XnDaemon daemon = {.status = EXIT_FAILURE};
    g_autoptr(GError) error = NULL;
    bool opened;
    guint terminate;
    guint interrupt;
    guint leave;

    service_connect();
    opened = daemon_open(&daemon, options, &error);
    daemon.loop = g_main_loop_new(NULL, FALSE);
    terminate = g_unix_signal_add(SIGTERM, daemon_signal, &daemon);
    interrupt = g_unix_signal_add(SIGINT, daemon_signal, &daemon);
    leave = g_unix_signal_add(SIGUSR2, daemon_signal_leave, &daemon);
    if (opened && daemon_start(&daemon, options, &error)) {
        ctl_server_start(daemon.ctl_server);
        daemon_filter(options);
        log_info(NULL, "version " XN_VERSION ", %u workers, %s buffers, control socket %s",
                 options->workers,
                 backend_buffer_kind(daemon.backend) == XN_BUFFERS_GRANTED ? "granted" : "plain",
                 options->control);
        service_say("READY=1");
        service_start_watchdog();
        g_main_loop_run(daemon.loop);
    } else {
        log_error(NULL, "%s", error->message);
        /* A start that fails leaves no trace. */
        if (daemon.journal_made) {
            rmdir(options->journal);
        }
    }
    g_source_remove(terminate);
    g_source_remove(interrupt);
    g_source_remove(leave);
    ctl_server_free(g_steal_pointer(&daemon.ctl_server));
    backend_free(daemon.backend);
    g_main_loop_unref(daemon.loop);
    return daemon.status;
}

int main(int argc, char **argv)
{
    struct XnOptions options;
    g_autoptr(GError) error = NULL;
    int status;

    /* For the characters of --help. */
    setlocale(LC_CTYPE, "");
    g_set_prgname("qnetback");
    log_init(XN_LOG_INFO);
    if (!options_parse(argc, argv, &options, &error)) {
        log_error(NULL, "%s", error->message);
        return EXIT_FAILURE;
    }
    if (options.version) {
        puts("qnetback " XN_VERSION);
        options_clear(&options);
        return EXIT_SUCCESS;
    }
    log_init(options.log_level);
    signal(SIGPIPE, SIG_IGN);
    status = daemon_run(&options);
    options_clear(&options);
    return status;
}
