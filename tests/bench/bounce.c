/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bounce.c - two taps, and a loop that gives each what the other one has: the least that any path
 * of packets through a process can cost
 *
 * usage: bounce TAP TAP; runs until it is killed. Offloads pass through, as in qnetback's taps.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Frames from one side before the other one is looked at. */
#define TURN 64

static int open_tap(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0 ||
        ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) < 0) {
        fprintf(stderr, "bounce: %s: %s\n", name, strerror(errno));
        exit(1);
    }
    return fd;
}

/* A frame that the other tap does not take now is lost, as on any interface. */
static void pass(int from, int to)
{
    static unsigned char frame[sizeof(struct virtio_net_hdr) + 65536];

    for (int i = 0; i < TURN; i++) {
        ssize_t length = read(from, frame, sizeof(frame));

        if (length <= 0) {
            return;
        }
        if (write(to, frame, (size_t)length) < 0 && errno != EAGAIN && errno != EIO) {
            fprintf(stderr, "bounce: cannot send: %s\n", strerror(errno));
            exit(1);
        }
    }
}

int main(int argc, char **argv)
{
    struct pollfd taps[2] = {{.events = POLLIN}, {.events = POLLIN}};

    if (argc != 3) {
        fprintf(stderr, "usage: bounce TAP TAP\n");
        return 2;
    }
    taps[0].fd = open_tap(argv[1]);
    taps[1].fd = open_tap(argv[2]);
    while (poll(taps, 2, -1) >= 0 || errno == EINTR) {
        for (int i = 0; i < 2; i++) {
            if (taps[i].revents) {
                pass(taps[i].fd, taps[1 - i].fd);
            }
        }
    }
    return 1;
}
