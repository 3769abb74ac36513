/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tap.c - a tap device of this network namespace, with virtio_net_hdr */
#include "tap.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool configure_link(const char *name, const struct XnTapConfig *config,
                           struct XnFailure *failure)
{
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request;
    bool good = control >= 0;

    memset(&request, 0, sizeof(request));
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (good && config->mac) {
        request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
        memcpy(request.ifr_hwaddr.sa_data, config->mac, 6);
        good = ioctl(control, SIOCSIFHWADDR, &request) == 0;
    }
    if (good && config->mtu) {
        request.ifr_mtu = config->mtu;
        good = ioctl(control, SIOCSIFMTU, &request) == 0;
    }
    good = good && ioctl(control, SIOCGIFFLAGS, &request) == 0;
    if (good) {
        request.ifr_flags |= IFF_UP;
        good = ioctl(control, SIOCSIFFLAGS, &request) == 0;
    }
    if (!good) {
        fail_errno(failure, "cannot configure the tap %s", name);
    }
    if (control >= 0) {
        close(control);
    }
    return good;
}

/* Creates the tap, or adds a queue to it. The kernel puts the name into @request. */
static bool attach(int fd, const struct XnTapConfig *config, struct ifreq *request,
                   struct XnFailure *failure)
{
    request->ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    request->ifr_flags |= config->queues > 1 ? IFF_MULTI_QUEUE : 0;
    if (ioctl(fd, TUNSETIFF, request) < 0) {
        return fail_errno(failure, "cannot create the tap %s", config->name);
    }
    return true;
}

static bool set_offloads(int fd, const struct XnTapConfig *config, struct XnFailure *failure)
{
    int header = sizeof(struct virtio_net_hdr);
    unsigned int offload = 0;

    if (config->csum) {
        offload |= TUN_F_CSUM;
        offload |= config->tso4 ? TUN_F_TSO4 | TUN_F_TSO_ECN : 0;
        offload |= config->tso6 ? TUN_F_TSO6 | TUN_F_TSO_ECN : 0;
    }
    if (ioctl(fd, TUNSETVNETHDRSZ, &header) < 0 || ioctl(fd, TUNSETOFFLOAD, offload) < 0) {
        return fail_errno(failure, "cannot set offloads of the tap %s", config->name);
    }
    return true;
}

bool tap_open(const struct XnTapConfig *config, int *fds, struct XnFailure *failure)
{
    struct ifreq request;
    unsigned int count = 0;

    memset(&request, 0, sizeof(request));
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", config->name);
    while (count < config->queues) {
        fds[count] = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
        if (fds[count] < 0) {
            fail_errno(failure, "cannot open /dev/net/tun");
            break;
        }
        if (!attach(fds[count++], config, &request, failure)) {
            break;
        }
    }
    if (!failure->text[0] && set_offloads(fds[0], config, failure) &&
        configure_link(request.ifr_name, config, failure)) {
        return true;
    }
    while (count) {
        close(fds[--count]);
    }
    return false;
}

void tap_set_carrier(int fd, bool on)
{
    int carrier = on;

    /* Kernels before 5.0 lack it; the carrier is then always on. */
    (void)!ioctl(fd, TUNSETCARRIER, &carrier);
}
