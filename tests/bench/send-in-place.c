/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * send-in-place.c - from which size on a mapped frame is better sent from where it lies
 *
 * Two ways to give a frame in the guest's memory to a tap: copy it whole and send the copy, or copy
 * the headers (which must be checked in private memory) and send the rest in place. Prints, for
 * each size, the CPU time of the second divided by that of the first, the better of several rounds
 * each. The guest's memory is larger than the caches, as the pages of a busy ring are. Needs a
 * network namespace of its own: unshare --net.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define HEADERS 256u
#define FRAME_ROOM 65536u
#define FRAMES 256u
#define ROUNDS 5
#define BYTES_PER_ROUND 200000000u

static void fail(const char *what)
{
    fprintf(stderr, "send-in-place: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int open_tap(void)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || control < 0 || ioctl(fd, TUNSETIFF, &request) < 0) {
        fail("cannot make a tap");
    }
    request.ifr_mtu = 65521;
    if (ioctl(control, SIOCSIFMTU, &request) < 0) {
        fail("cannot set its MTU");
    }
    request.ifr_flags = IFF_UP;
    if (ioctl(control, SIOCSIFFLAGS, &request) < 0) {
        fail("cannot set it up");
    }
    close(control);
    return fd;
}

static unsigned char *memory(size_t size)
{
    unsigned char *bytes =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (bytes == MAP_FAILED) {
        fail("cannot allocate memory");
    }
    memset(bytes, 0x55, size);
    return bytes;
}

static double cpu_ns(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return ((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec) * 1e9 +
           ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec) * 1e3;
}

/* CPU time per frame of `size` bytes. */
static double measure(int tap, unsigned char *guest, unsigned char *own, size_t size, bool in_place)
{
    size_t copied = in_place && size > HEADERS ? HEADERS : size;
    unsigned count = BYTES_PER_ROUND / (unsigned)(size + 4000);
    double start = cpu_ns();

    for (unsigned i = 0; i < count; i++) {
        struct virtio_net_hdr header = {0};
        unsigned char *frame = guest + (size_t)(i % FRAMES) * FRAME_ROOM;
        struct iovec iov[3] = {
            {&header, sizeof(header)}, {own, copied}, {frame + copied, size - copied}};

        memcpy(own, frame, copied);
        if (writev(tap, iov, copied < size ? 3 : 2) < 0) {
            fail("cannot send");
        }
    }
    return (cpu_ns() - start) / count;
}

int main(void)
{
    static const size_t sizes[] = {300,   600,   1514,  3000,  4096, 9014,
                                   16384, 24576, 32768, 49152, 65535};
    unsigned char *guest = memory((size_t)FRAMES * FRAME_ROOM);
    unsigned char *own = memory(FRAME_ROOM);
    int tap = open_tap();

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        double copy = 1e18, in_place = 1e18;

        for (int round = 0; round < ROUNDS; round++) {
            double a = measure(tap, guest, own, sizes[i], false);
            double b = measure(tap, guest, own, sizes[i], true);

            copy = a < copy ? a : copy;
            in_place = b < in_place ? b : in_place;
        }
        printf("ratio send-in-place.%zu %.3f\n", sizes[i], in_place / copy);
    }
    return 0;
}
