/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire.c - frames into and out of a network interface, through a packet socket */
#include "wire.h"

#include "vnet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define BUFFER_BYTES (64 << 20)
#define TAG_BYTES 4

static int interface_ioctl(struct XnWire *wire, unsigned long request, struct ifreq *argument)
{
    snprintf(argument->ifr_name, sizeof(argument->ifr_name), "%s", wire->name);
    return ioctl(wire->fd, request, argument);
}

static bool set_options(struct XnWire *wire, bool receive, struct XnFailure *failure)
{
    static const int on = 1;
    static const int bytes = BUFFER_BYTES;

    if (setsockopt(wire->fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) < 0) {
        return fail_errno(failure, "cannot have virtio_net_hdr on a packet socket");
    }
    if (!receive) {
        return true;
    }
    if (setsockopt(wire->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) < 0 ||
        setsockopt(wire->fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) < 0) {
        return fail_errno(failure, "cannot set up the packet socket of %s", wire->name);
    }
    if (setsockopt(wire->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0) {
        return fail_errno(failure, "cannot have %d bytes of socket buffer", bytes);
    }
    return true;
}

bool wire_open(struct XnWire *wire, const char *interface, bool receive, struct XnFailure *failure)
{
    struct sockaddr_ll address = {.sll_family = AF_PACKET};
    struct ifreq request;

    memset(wire, 0, sizeof(*wire));
    memset(&request, 0, sizeof(request));
    snprintf(wire->name, sizeof(wire->name), "%s", interface);
    /* Without a protocol nothing is received until the socket is bound to the interface. */
    wire->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (wire->fd < 0) {
        return fail_errno(failure, "cannot open a packet socket");
    }
    if (interface_ioctl(wire, SIOCGIFINDEX, &request) < 0) {
        fail_errno(failure, "no interface %s", interface);
        wire_close(wire);
        return false;
    }
    address.sll_ifindex = request.ifr_ifindex;
    address.sll_protocol = receive ? htons(ETH_P_ALL) : 0;
    if (!set_options(wire, receive, failure) ||
        bind(wire->fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        fail_errno(failure, "cannot bind to the interface %s", interface);
        wire_close(wire);
        return false;
    }
    return true;
}

void wire_close(struct XnWire *wire)
{
    close(wire->fd);
    wire->fd = -1;
}

bool wire_raise_mtu(struct XnWire *wire, unsigned int length, struct XnFailure *failure)
{
    struct ifreq request;
    int wanted = (int)length - ETH_HLEN;

    memset(&request, 0, sizeof(request));
    if (interface_ioctl(wire, SIOCGIFMTU, &request) < 0) {
        return fail_errno(failure, "cannot read the MTU of %s", wire->name);
    }
    if (request.ifr_mtu >= wanted) {
        return true;
    }
    request.ifr_mtu = wanted;
    if (interface_ioctl(wire, SIOCSIFMTU, &request) < 0) {
        return fail_errno(failure, "cannot set the MTU of %s to %d", wire->name, wanted);
    }
    return true;
}

int wire_send(struct XnWire *wire, const uint8_t *frame, unsigned int length,
              const struct XnFrameMeta *meta)
{
    struct virtio_net_hdr header;
    struct iovec iov[2] = {
        {.iov_base = &header, .iov_len = sizeof(header)},
        {.iov_base = (void *)(uintptr_t)frame, .iov_len = length},
    };

    if (!vnet_from_meta(meta, frame, length, &header)) {
        errno = EINVAL;
        return -1;
    }
    if (writev(wire->fd, iov, 2) >= 0) {
        return 1;
    }
    return errno == EAGAIN || errno == ENOBUFS ? 0 : -1;
}

/* The kernel takes the outermost VLAN tag out of the frame; it is put back where it was. The
 * buffer has room for it in front. */
static void restore_tag(const struct msghdr *message, uint8_t **frame, unsigned int *length)
{
    for (struct cmsghdr *control = CMSG_FIRSTHDR(message); control;
         control = CMSG_NXTHDR((struct msghdr *)(uintptr_t)message, control)) {
        struct tpacket_auxdata aux;
        uint16_t tag[2];

        if (control->cmsg_level != SOL_PACKET || control->cmsg_type != PACKET_AUXDATA) {
            continue;
        }
        memcpy(&aux, CMSG_DATA(control), sizeof(aux));
        if (!(aux.tp_status & TP_STATUS_VLAN_VALID)) {
            continue;
        }
        tag[0] = htons(aux.tp_status & TP_STATUS_VLAN_TPID_VALID ? aux.tp_vlan_tpid : ETH_P_8021Q);
        tag[1] = htons(aux.tp_vlan_tci);
        *frame -= TAG_BYTES;
        memmove(*frame, *frame + TAG_BYTES, 2 * ETH_ALEN);
        memcpy(*frame + 2 * ETH_ALEN, tag, TAG_BYTES);
        *length += TAG_BYTES;
    }
}

int wire_receive(struct XnWire *wire, uint8_t *buffer, unsigned int size, const uint8_t **frame,
                 unsigned int *length, struct XnFrameMeta *meta)
{
    struct virtio_net_hdr header;
    uint8_t *start = buffer + TAG_BYTES;
    struct iovec iov[2] = {
        {.iov_base = &header, .iov_len = sizeof(header)},
        {.iov_base = start, .iov_len = size - TAG_BYTES},
    };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
    } control;
    struct msghdr message = {
        .msg_iov = iov,
        .msg_iovlen = 2,
        .msg_control = &control,
        .msg_controllen = sizeof(control),
    };
    ssize_t got = recvmsg(wire->fd, &message, 0);

    if (got < 0) {
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    }
    *length = got - sizeof(header);
    restore_tag(&message, &start, length);
    *frame = start;
    if (message.msg_flags & MSG_TRUNC || !vnet_to_meta(&header, meta)) {
        wire->refused++;
        *length = 0;
    }
    return 1;
}

unsigned int wire_drops(struct XnWire *wire)
{
    struct tpacket_stats statistics = {0};
    socklen_t size = sizeof(statistics);

    getsockopt(wire->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &size);
    return statistics.tp_drops;
}

bool wire_taken(const struct XnWire *wire, uint64_t *taken)
{
    /* Not /sys: that shows the network namespace it was mounted in, this one shows ours. */
    FILE *stream = fopen("/proc/self/net/dev", "re");
    char line[512];
    bool found = false;

    while (stream && !found && fgets(line, sizeof(line), stream)) {
        char *name = line + strspn(line, " ");
        char *colon = strchr(name, ':');
        uint64_t packets;
        uint64_t dropped;

        if (!colon) {
            continue;
        }
        *colon = 0;
        if (strcmp(name, wire->name) == 0) {
            found =
                sscanf(colon + 1, "%*u %*u %*u %*u %*u %*u %*u %*u %*u %" SCNu64 " %*u %" SCNu64,
                       &packets, &dropped) == 2;
            *taken = packets + dropped;
        }
    }
    if (stream) {
        fclose(stream);
    }
    return found;
}
