/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox-test.c - what a process cannot do any more once it is in the sandbox
 *
 * Each test forks: what is given up does not come back. Needs no root; with a kernel that lacks a
 * part of it, the tests of that part skip.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/sandbox-private.h"
#include "control/sandbox.h"

static char *directory;
static char *journal;
static char *control;

static void enter(void)
{
    struct XnSandboxConfig config = {.control = control, .journal = journal};
    g_autoptr(GError) error = NULL;

    if (!sandbox_enter(&config, &error)) {
        g_error("%s", error->message);
    }
}

/* Runs `body` in a child; its status as wait(2) has it, and what it wrote to standard error. */
static int in_child(int (*body)(void), char **ret_output)
{
    char buffer[4096] = {0};
    size_t length = 0;
    int pipes[2], status = 0;
    ssize_t part;
    pid_t child;

    g_assert_cmpint(pipe(pipes), ==, 0);
    child = fork();
    g_assert_cmpint(child, >=, 0);
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        _exit(body());
    }
    close(pipes[1]);
    while (length < sizeof(buffer) - 1 &&
           (part = read(pipes[0], buffer + length, sizeof(buffer) - 1 - length)) > 0) {
        length += (size_t)part;
    }
    close(pipes[0]);
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    *ret_output = g_strdup(buffer);
    return status;
}

static int body_rights(void)
{
    struct rlimit limit;

    enter();
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) {
        return 1;
    }
    if (!XN_SANITIZED && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0) {
        return 2;
    }
    if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max != 0) {
        return 3;
    }
    /* CAP_SYS_CHROOT, of root */
    return chroot("/") == 0 || errno != EPERM ? 4 : 0;
}

static void test_rights_are_gone(void)
{
    g_autofree char *output = NULL;
    int status = in_child(body_rights, &output);

    g_assert_cmpint(status, ==, 0);
}

static int body_files(void)
{
    g_autofree char *inside = g_build_filename(journal, "1.0.0", NULL);
    g_autofree char *outside = g_build_filename(directory, "outside", NULL);
    g_autofree char *text = NULL;
    int fd;

    enter();
    text = sandbox_describe();
    if (!strstr(text, "files limited")) {
        return 77;
    }
    fd = open(inside, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || close(fd) != 0 || unlink(inside) != 0) {
        return 1;
    }
    if (open(outside, O_RDWR | O_CREAT | O_CLOEXEC, 0600) >= 0 || errno != EACCES) {
        return 2;
    }
    if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES) {
        return 3;
    }
    return open("/sys/class", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 ? 0 : 4;
}

static void test_files_are_out_of_reach(void)
{
    g_autofree char *output = NULL;
    int status = in_child(body_files, &output);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        g_test_skip("this kernel has no Landlock");
        return;
    }
    g_assert_cmpint(status, ==, 0);
}

static int filtered(void)
{
    enter();
    sandbox_filter();
    return sandbox_filter_calls() > 0 ? 0 : 77;
}

/* Threads come and go, memory too; what a library may try is refused and nothing else. */
static int body_allowed(void)
{
    g_autofree char *inside = g_build_filename(journal, "2.0.0", NULL);
    g_autoptr(GThread) thread = NULL;
    void *memory;
    int status = filtered();

    if (status != 0) {
        return status;
    }
    thread = g_thread_new("test", (GThreadFunc)g_strdup, "x");
    g_free(g_thread_join(g_steal_pointer(&thread)));
    if (!g_file_set_contents(inside, "x", 1, NULL) || g_unlink(inside) != 0) {
        return 1;
    }
    memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || munmap(memory, 4096) != 0) {
        return 2;
    }
    memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED && errno == EPERM ? 0 : 3;
}

static void test_what_the_daemon_does_is_allowed(void)
{
    g_autofree char *output = NULL;
    int status = in_child(body_allowed, &output);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        g_test_skip("no filter: a sanitizer, or a kernel without seccomp");
        return;
    }
    g_assert_cmpstr(output, ==, "");
    g_assert_cmpint(status, ==, 0);
}

static int violate_exec(void)
{
    return (int)syscall(SYS_execve, "/bin/true", NULL, NULL);
}

static int violate_fork(void)
{
    return (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static int violate_internet(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}

static int violate_ptrace(void)
{
    return (int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static int violate_executable(void)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return mprotect(memory, 4096, PROT_READ | PROT_EXEC);
}

static int violate_user(void)
{
    return (int)syscall(SYS_setuid, 0);
}

static int violate_kill(void)
{
    return kill(getppid(), SIGURG);
}

/* The guard cannot be taken away. */
static int violate_handler(void)
{
    return signal(SIGSYS, SIG_IGN) == SIG_ERR;
}

static int violate_mount(void)
{
    return (int)syscall(SYS_mount, NULL, "/", NULL, 0, NULL);
}

static int (*violation)(void);

static int body_violation(void)
{
    int status = filtered();

    return status != 0 ? status : violation();
}

static void test_violation(gconstpointer which)
{
    g_autofree char *output = NULL;
    int status;

    violation = *(int (*const *)(void))which;
    status = in_child(body_violation, &output);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        g_test_skip("no filter: a sanitizer, or a kernel without seccomp");
        return;
    }
    g_assert_true(WIFSIGNALED(status));
    g_assert_cmpint(WTERMSIG(status), ==, SIGSYS);
    g_assert_nonnull(strstr(output, "error: sandbox: system call "));
}

static int body_no_such_user(void)
{
    struct XnSandboxConfig config = {
        .user = "no-such-user", .control = control, .journal = journal};
    g_autoptr(GError) error = NULL;

    return !sandbox_enter(&config, &error) && strstr(error->message, "there is no user") ? 0 : 1;
}

static void test_unknown_user_is_an_error(void)
{
    g_autofree char *output = NULL;
    int status = in_child(body_no_such_user, &output);

    g_assert_cmpint(status, ==, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*function)(void);
    } violations[] = {
        {"exec", violate_exec},
        {"fork", violate_fork},
        {"internet", violate_internet},
        {"ptrace", violate_ptrace},
        {"executable-memory", violate_executable},
        {"setuid", violate_user},
        {"kill", violate_kill},
        {"handler", violate_handler},
        {"mount", violate_mount},
    };
    int status;

    g_test_init(&argc, &argv, NULL);
    directory = g_dir_make_tmp("sandbox-XXXXXX", NULL);
    journal = g_build_filename(directory, "journal", NULL);
    control = g_build_filename(directory, "control", "ctl.sock", NULL);
    g_assert_cmpint(g_mkdir(journal, 0700), ==, 0);
    g_test_add_func("/control/sandbox/rights-are-gone", test_rights_are_gone);
    g_test_add_func("/control/sandbox/files-are-out-of-reach", test_files_are_out_of_reach);
    g_test_add_func("/control/sandbox/what-the-daemon-does-is-allowed",
                    test_what_the_daemon_does_is_allowed);
    g_test_add_func("/control/sandbox/unknown-user-is-an-error", test_unknown_user_is_an_error);
    for (guint i = 0; i < G_N_ELEMENTS(violations); i++) {
        g_autofree char *path = g_strdup_printf("/control/sandbox/ends-by/%s", violations[i].name);

        g_test_add_data_func(path, &violations[i].function, test_violation);
    }
    status = g_test_run();
    g_rmdir(journal);
    g_rmdir(directory);
    g_free(control);
    g_free(journal);
    g_free(directory);
    return status;
}
