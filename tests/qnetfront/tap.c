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

static bool configure_tap(int fd, const struct XnTapConfig *config, struct XnFailure *failure)
{
    struct ifreq request;
    int header = sizeof(struct virtio_net_hdr);
    unsigned int offload = 0;

    memset(&request, 0, sizeof(request));
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", config->name);
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    if (ioctl(fd, TUNSETIFF, &request) < 0) {
        return fail_errno(failure, "cannot create the tap %s", config->name);
    }
    if (config->csum) {
        offload |= TUN_F_CSUM;
        offload |= config->tso4 ? TUN_F_TSO4 | TUN_F_TSO_ECN : 0;
        offload |= config->tso6 ? TUN_F_TSO6 | TUN_F_TSO_ECN : 0;
    }
    if (ioctl(fd, TUNSETVNETHDRSZ, &header) < 0 || ioctl(fd, TUNSETOFFLOAD, offload) < 0) {
        return fail_errno(failure, "cannot set offloads of the tap %s", config->name);
    }
    return configure_link(request.ifr_name, config, failure);
}

int tap_open(const struct XnTapConfig *config, struct XnFailure *failure)
{
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0) {
        fail_errno(failure, "cannot open /dev/net/tun");
        return -1;
    }
    if (!configure_tap(fd, config, failure)) {
        close(fd);
        return -1;
    }
    return fd;
}

void tap_set_carrier(int fd, bool on)
{
    int carrier = on;

    /* Kernels before 5.0 lack it; the carrier is then always on. */
    (void)!ioctl(fd, TUNSETCARRIER, &carrier);
}
