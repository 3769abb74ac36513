/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-kexec.c - starts another Linux kernel in a guest, without a boot
 *
 *   guest-kexec KERNEL INITRD
 *
 * KERNEL is a bzImage. Its command line is that of the running kernel.
 * The kernel shuts its devices down, in order, and then asks Xen for a soft reset.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void die(const char *what)
{
    fprintf(stderr, "guest-kexec: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        die(path);
    }
    return fd;
}

int main(int argc, char **argv)
{
    char command_line[2048];
    ssize_t length;
    int fd;

    if (argc != 3) {
        fputs("usage: guest-kexec KERNEL INITRD\n", stderr);
        return 2;
    }
    fd = open_file("/proc/cmdline");
    length = read(fd, command_line, sizeof(command_line));
    if (length <= 0) {
        die("/proc/cmdline");
    }
    /* It ends with a newline; the system call wants a zero byte there. */
    command_line[length - 1] = '\0';
    if (syscall(SYS_kexec_file_load, open_file(argv[1]), open_file(argv[2]), (unsigned long)length,
                command_line, 0UL) != 0) {
        die("the kernel does not take it");
    }
    sync();
    syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
    die("the kernel is not started");
}
