/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox-filter.c - the system calls that the daemon may make
 *
 * Theory of operation
 *
 * The table below has what the daemon and its libraries call while it runs, found by running every
 * test under the filter. Nothing there starts a program, makes memory executable, opens a socket to
 * the Internet, looks into another process, or changes who we are. Any other call ends the daemon
 * by SIGSYS, after a line in the log that names it; the service manager starts a new one, and
 * guests stay connected. The handler cannot be replaced, since the filter guards it too.
 */
#include "control/sandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "control/sandbox-private.h"

#define CALL(name) SCMP_SYS(name)

static const int filter_calls[] = {
    /* packets, events, the control socket, the log */
    CALL(read),
    CALL(readv),
    CALL(pread64),
    CALL(write),
    CALL(writev),
    CALL(pwrite64),
    CALL(recvfrom),
    CALL(recvmsg),
    CALL(recvmmsg),
    CALL(sendto),
    CALL(sendmsg),
    CALL(sendmmsg),
    CALL(ioctl),
    CALL(poll),
    CALL(ppoll),
    CALL(select),
    CALL(pselect6),
    CALL(epoll_create1),
    CALL(epoll_ctl),
    CALL(epoll_wait),
    CALL(epoll_pwait),
    CALL(epoll_pwait2),
    CALL(eventfd2),
    CALL(timerfd_create),
    CALL(timerfd_settime),
    CALL(timerfd_gettime),
    CALL(pipe2),
    /* xenstored, netlink */
    CALL(connect),
    CALL(bind),
    CALL(listen),
    CALL(accept),
    CALL(accept4),
    CALL(getsockopt),
    CALL(setsockopt),
    CALL(getsockname),
    CALL(getpeername),
    CALL(shutdown),
    /* devices, journals, what /sys says of taps */
    CALL(open),
    CALL(openat),
    CALL(close),
    CALL(fstat),
    CALL(stat),
    CALL(lstat),
    CALL(newfstatat),
    CALL(statx),
    CALL(statfs),
    CALL(fstatfs),
    CALL(access),
    CALL(faccessat),
    CALL(faccessat2),
    CALL(readlink),
    CALL(readlinkat),
    CALL(getdents64),
    CALL(lseek),
    CALL(fcntl),
    CALL(flock),
    CALL(dup),
    CALL(dup3),
    CALL(ftruncate),
    CALL(fallocate),
    CALL(unlink),
    CALL(unlinkat),
    CALL(rmdir),
    CALL(mkdir),
    CALL(mkdirat),
    CALL(rename),
    CALL(renameat),
    CALL(renameat2),
    CALL(fsync),
    CALL(fchmod),
    CALL(chmod),
    CALL(fchmodat),
    /* memory */
    CALL(munmap),
    CALL(mremap),
    CALL(madvise),
    CALL(brk),
    CALL(membarrier),
    /* threads, time */
    CALL(futex),
    CALL(set_robust_list),
    CALL(rseq),
    CALL(sched_yield),
    CALL(sched_getaffinity),
    CALL(getcpu),
    CALL(exit),
    CALL(exit_group),
    CALL(restart_syscall),
    CALL(clock_gettime),
    CALL(clock_getres),
    CALL(clock_nanosleep),
    CALL(nanosleep),
    CALL(gettimeofday),
    CALL(time),
    CALL(getrandom),
    CALL(sysinfo),
    CALL(uname),
    /* signals */
    CALL(rt_sigprocmask),
    CALL(rt_sigreturn),
    CALL(rt_sigpending),
    CALL(sigaltstack),
    CALL(signalfd4),
    /* who we are */
    CALL(getpid),
    CALL(getppid),
    CALL(gettid),
    CALL(getuid),
    CALL(geteuid),
    CALL(getgid),
    CALL(getegid),
    CALL(getrlimit),
    CALL(getrusage),
    CALL(times),
};

struct FilterCondition {
    int call;
    /* Of argument `argument`: those bits of `mask` are `value`. */
    unsigned argument;
    enum scmp_compare compare;
    uint64_t mask;
    uint64_t value;
};

static const struct FilterCondition filter_conditions[] = {
    {CALL(socket), 0, SCMP_CMP_EQ, AF_UNIX, 0},
    {CALL(socket), 0, SCMP_CMP_EQ, AF_NETLINK, 0},
    {CALL(mmap), 2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0},
    {CALL(mprotect), 2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0},
    /* Threads, no processes. */
    {CALL(clone), 0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD},
    /* Only the simulator's libraries make FIFOs, which are harmless. */
    {CALL(mknod), 1, SCMP_CMP_MASKED_EQ, S_IFMT, S_IFIFO},
    {CALL(mknodat), 2, SCMP_CMP_MASKED_EQ, S_IFMT, S_IFIFO},
    {CALL(rt_sigaction), 0, SCMP_CMP_NE, SIGSYS, 0},
    {CALL(prctl), 0, SCMP_CMP_EQ, PR_SET_NAME, 0},
    /* Reads a limit, or whether a process lives. */
    {CALL(prlimit64), 2, SCMP_CMP_EQ, 0, 0},
    {CALL(kill), 1, SCMP_CMP_EQ, 0, 0},
};

/* What is refused without ending the daemon: a library tries another way. */
static const struct {
    int call;
    int error;
} filter_refusals[] = {
    {CALL(clone3), ENOSYS},
    {CALL(sched_setaffinity), EPERM},
};

static unsigned calls;

unsigned sandbox_filter_calls(void)
{
    return calls;
}

/* Says what happened, in a signal handler; then the same again, unhandled. */
static void filter_violated(int number, siginfo_t *info, void *context)
{
    char digits[12], *digit = digits + sizeof(digits);
    static const char before[] = "error: sandbox: system call ";
    static const char after[] =
        " is not allowed: this is a mistake of ours or an attack; ending. Please report it\n";
    unsigned call = (unsigned)info->si_syscall;
    ssize_t ignored;

    (void)context;
    do {
        *--digit = (char)('0' + call % 10);
        call /= 10;
    } while (call > 0);
    ignored = write(STDERR_FILENO, before, sizeof(before) - 1);
    ignored = write(STDERR_FILENO, digit, (size_t)(digits + sizeof(digits) - digit));
    ignored = write(STDERR_FILENO, after, sizeof(after) - 1);
    (void)ignored;
    /* Forbidden, while the signal is blocked: the kernel ends the process by it. */
    signal(number, SIG_DFL);
    _exit(128 + number);
}

static int filter_fill(scmp_filter_ctx filter)
{
    int status = 0;

    for (guint i = 0; i < G_N_ELEMENTS(filter_calls) && status == 0; i++) {
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, filter_calls[i], 0);
    }
    for (guint i = 0; i < G_N_ELEMENTS(filter_conditions) && status == 0; i++) {
        const struct FilterCondition *row = &filter_conditions[i];

        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, row->call, 1,
                                  SCMP_CMP(row->argument, row->compare, row->mask, row->value));
    }
    /* A thread may send its own process a signal: abort() does. */
    if (status == 0) {
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, CALL(tgkill), 1,
                                  SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
    }
    if (status == 0) {
        status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), CALL(mmap), 1,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
    }
    for (guint i = 0; i < G_N_ELEMENTS(filter_refusals) && status == 0; i++) {
        status = seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned)filter_refusals[i].error),
                                  filter_refusals[i].call, 0);
    }
    return status;
}

void sandbox_filter(void)
{
    struct sigaction action = {.sa_sigaction = filter_violated, .sa_flags = SA_SIGINFO};
    scmp_filter_ctx filter;
    int status;

    /* A sanitizer makes calls of its own. */
    if (XN_SANITIZED) {
        return;
    }
    /* The C library loads it when a thread ends, which would be too late: it is code. */
    if (!dlopen("libgcc_s.so.1", RTLD_NOW)) {
        log_debug(NULL, "sandbox: %s", dlerror());
    }
    sigemptyset(&action.sa_mask);
    sigaction(SIGSYS, &action, NULL);
    filter = seccomp_init(SCMP_ACT_TRAP);
    status = filter ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;
    if (status == 0) {
        status = filter_fill(filter);
    }
    if (status == 0) {
        status = seccomp_load(filter);
    }
    if (status == 0) {
        calls = G_N_ELEMENTS(filter_calls) + G_N_ELEMENTS(filter_conditions) + 1;
    } else {
        log_warning(NULL, "sandbox: cannot filter system calls: %s", g_strerror(-status));
    }
    seccomp_release(filter);
}
