/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool-private-host.c - runs a command in namespaces of its own, which end with it.
 *
 * usage: private-host [--userns] COMMAND [ARGUMENT...]
 *
 * Theory of operation
 *
 * Three processes: this one, outside; process 1 of the new namespaces; COMMAND.  SIGTERM, SIGINT
 * and SIGHUP travel inward as SIGTERM; COMMAND then has ten seconds.  When COMMAND ends, process 1
 * ends, and the kernel kills all others in its namespace and drops mounts and network devices. When
 * this process is killed, process 1 dies by its parent-death signal.
 *
 * The exit status is COMMAND's, 128 + N when signal N killed it; 77 when there can be no
 * namespaces.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXIT_SKIP 77
#define GRACE_SECONDS 10

static sigset_t old_mask;

static _Noreturn void cannot(const char *what)
{
    fprintf(stderr, "cannot %s: %s\n", what, strerror(errno));
    exit(EXIT_SKIP);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) < 0) {
        cannot(path);
    }
    close(fd);
}

/* The caller becomes root inside, and nobody else exists there. */
static void map_users(uid_t uid, gid_t gid)
{
    char text[64];

    write_file("/proc/self/setgroups", "deny");
    snprintf(text, sizeof(text), "0 %u 1", uid);
    write_file("/proc/self/uid_map", text);
    snprintf(text, sizeof(text), "0 %u 1", gid);
    write_file("/proc/self/gid_map", text);
}

static void make_namespaces(bool userns)
{
    int flags = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC;
    uid_t uid = getuid();
    gid_t gid = getgid();

    if (unshare(flags | (userns ? CLONE_NEWUSER : 0)) != 0) {
        cannot("make namespaces: run as root, or allow user namespaces");
    }
    if (userns) {
        map_users(uid, gid);
    }
}

static int exit_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/*
 * Wait for a child, passing the first signal on to it.  After that it has `grace` seconds, if not
 * 0; then -1.  Other children, that is orphans given to process 1, are only reaped.
 */
static int supervise(pid_t child, const sigset_t *signals, int grace)
{
    struct timespec tick = {.tv_nsec = 100 * 1000 * 1000};
    time_t deadline = 0;

    for (;;) {
        int status;
        pid_t ended;
        int caught;

        while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
            if (ended == child) {
                return exit_status(status);
            }
        }
        if (deadline && time(NULL) > deadline) {
            return -1;
        }
        caught = sigtimedwait(signals, NULL, &tick);
        if (caught > 0 && caught != SIGCHLD && !deadline) {
            kill(child, SIGTERM);
            deadline = grace ? time(NULL) + grace : (time_t)INT32_MAX;
        }
    }
}

static pid_t start_command(char **command)
{
    pid_t pid = fork();

    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &old_mask, NULL);
        execvp(command[0], command);
        fprintf(stderr, "%s: %s\n", command[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    return pid;
}

/* Process 1 of the namespaces. */
static int run_inside(char **command, const sigset_t *signals, int parent_lives)
{
    pid_t child;
    int status;
    char byte;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(parent_lives, &byte, 1) != 1) {
        return 1;
    }
    close(parent_lives);
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        cannot("mount /proc in the new namespaces");
    }
    child = start_command(command);
    status = child < 0 ? 1 : supervise(child, signals, GRACE_SECONDS);
    return status < 0 ? 128 + SIGKILL : status;
}

int main(int argc, char **argv)
{
    bool userns = argc > 1 && strcmp(argv[1], "--userns") == 0;
    char **command = argv + (userns ? 2 : 1);
    sigset_t signals;
    int ends[2];
    pid_t init;

    if (!command[0]) {
        fputs("usage: private-host [--userns] COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &old_mask);
    make_namespaces(userns);
    if (pipe2(ends, O_CLOEXEC) != 0 || (init = fork()) < 0) {
        cannot("start a process in the new namespaces");
    }
    if (init == 0) {
        close(ends[1]);
        return run_inside(command, &signals, ends[0]);
    }
    close(ends[0]);
    if (write(ends[1], "p", 1) != 1) {
        return 1;
    }
    /* LeakSanitizer would start a thread, which fails once process 1 of our children is gone. */
    _exit(supervise(init, &signals, 0));
}
