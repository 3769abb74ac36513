/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tap.c - the port that is a tap device, driven by readv and writev
 *
 * Theory of operation
 *
 * The tap carries a struct virtio_net_hdr before each frame (IFF_VNET_HDR), so checksum and
 * segmentation offload pass through it untouched. It is made before the vif is announced, and must
 * survive what hotplug scripts do to it: set down, renamed, given another MAC and MTU, put into a
 * bridge. So it is known by its file descriptors, its name is used once. The interface is
 * persistent: it stays in its bridge while no daemon runs, and goes when it is closed on purpose.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "port/port.h"

#define TAP_DEVICE "/dev/net/tun"

/* Where the kernel shows a tap's flags. */
#define TAP_SYSFS "/sys/class/net"

struct XnPort {
    unsigned queue_count;
    /* Queues that take part: the first so many. */
    unsigned attached;
    struct XnPortQueue queues[];
};

static bool tap_fail(GError **error, const char *what, const char *name, const char *advice)
{
    int saved = errno;

    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved), "%s %s: %s%s%s", what, name,
                g_strerror(saved), advice ? "; " : "", advice ? advice : "");
    return false;
}

static const char *tap_attach_advice(int error)
{
    switch (error) {
    case EBUSY:
        return "another program holds this interface";
    case EPERM:
        return "run as root or with CAP_NET_ADMIN";
    case EINVAL:
        return "an interface of this name and another kind exists";
    default:
        return NULL;
    }
}

/*
 * Opens one more descriptor of the interface `name`, making the interface when it is the first. A
 * tap of many queues stays one when it is opened again with another number, even with one.
 */
static bool tap_attach(struct XnPortQueue *queue, const char *name, GError **error)
{
    int header_size = sizeof(struct virtio_net_hdr);
    struct ifreq request = {0};

    queue->fd = open(TAP_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (queue->fd < 0) {
        return tap_fail(error, "cannot open", TAP_DEVICE,
                        errno == ENOENT || errno == ENODEV ? "load the module tun"
                                                           : "may this user open it?");
    }
    g_strlcpy(request.ifr_name, name, sizeof(request.ifr_name));
    request.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_MULTI_QUEUE);
    if (ioctl(queue->fd, TUNSETIFF, &request) < 0) {
        return tap_fail(error, "cannot make the tap", name, tap_attach_advice(errno));
    }
    if (ioctl(queue->fd, TUNSETVNETHDRSZ, &header_size) < 0) {
        return tap_fail(error, "cannot set the header size of the tap", name, NULL);
    }
    return true;
}

/* The address that Xen's scripts give to backend interfaces: the highest, so that a bridge never
 * takes it for its own. */
static bool tap_set_address(const struct XnPort *port, const char *name, GError **error)
{
    static const unsigned char address[6] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct ifreq request = {0};

    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    memcpy(request.ifr_hwaddr.sa_data, address, sizeof(address));
    if (ioctl(port->queues[0].fd, SIOCSIFHWADDR, &request) < 0) {
        return tap_fail(error, "cannot set the MAC address of the tap", name, NULL);
    }
    return true;
}

static bool tap_set_persistent(const struct XnPort *port, bool persistent, GError **error)
{
    if (ioctl(port->queues[0].fd, TUNSETPERSIST, (unsigned long)persistent) < 0) {
        return tap_fail(error, "cannot set the persistence of", "the tap", NULL);
    }
    return true;
}

struct XnPort *port_open(const char *name, unsigned queue_count, bool carrier, GError **error)
{
    struct XnPort *port;

    if (strlen(name) >= IFNAMSIZ) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NAMETOOLONG,
                    "interface name %s is longer than %d characters", name, IFNAMSIZ - 1);
        return NULL;
    }
    port = g_malloc0(sizeof(*port) + queue_count * sizeof(port->queues[0]));
    for (unsigned i = 0; i < queue_count; i++) {
        port->queues[i].fd = -1;
    }
    port->queue_count = queue_count;
    for (unsigned i = 0; i < queue_count; i++) {
        if (!tap_attach(&port->queues[i], name, error)) {
            port_close(port);
            return NULL;
        }
        port->attached++;
    }
    if (!tap_set_persistent(port, true, error) || !tap_set_address(port, name, error) ||
        !port_set_queues(port, 1, error) || !port_set_carrier(port, carrier, error)) {
        port_close(port);
        return NULL;
    }
    return port;
}

void port_close(struct XnPort *port)
{
    if (port && port->queues[0].fd >= 0) {
        tap_set_persistent(port, false, NULL);
    }
    port_leave(port);
}

void port_leave(struct XnPort *port)
{
    if (!port) {
        return;
    }
    for (unsigned i = 0; i < port->queue_count; i++) {
        if (port->queues[i].fd >= 0) {
            close(port->queues[i].fd);
        }
    }
    g_free(port);
}

static bool tap_is_persistent(const char *name)
{
    g_autofree char *path = g_build_filename(TAP_SYSFS, name, "tun_flags", NULL);
    g_autofree char *text = NULL;

    return g_file_get_contents(path, &text, NULL, NULL) &&
           (g_ascii_strtoull(text, NULL, 16) & IFF_PERSIST) != 0;
}

char **port_list_left(void)
{
    g_autoptr(GDir) directory = g_dir_open(TAP_SYSFS, 0, NULL);
    GPtrArray *names = g_ptr_array_new();
    const char *name;

    while (directory && (name = g_dir_read_name(directory)) != NULL) {
        if (tap_is_persistent(name)) {
            g_ptr_array_add(names, g_strdup(name));
        }
    }
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

struct XnPortQueue *port_queue(struct XnPort *port, unsigned index)
{
    g_assert(index < port->queue_count);
    return &port->queues[index];
}

bool port_set_queues(struct XnPort *port, unsigned count, GError **error)
{
    g_assert(count >= 1 && count <= port->queue_count);
    while (port->attached != count) {
        bool attach = port->attached < count;
        unsigned index = attach ? port->attached : port->attached - 1;
        struct ifreq request = {.ifr_flags = attach ? IFF_ATTACH_QUEUE : IFF_DETACH_QUEUE};

        if (ioctl(port->queues[index].fd, TUNSETQUEUE, &request) < 0) {
            return tap_fail(error, "cannot set the number of queues of", "the tap", NULL);
        }
        port->attached = attach ? port->attached + 1 : port->attached - 1;
    }
    return true;
}

bool port_set_offloads(struct XnPort *port, unsigned offloads, GError **error)
{
    if (ioctl(port->queues[0].fd, TUNSETOFFLOAD, (unsigned long)offloads) < 0) {
        return tap_fail(error, "cannot set the offloads of", "the tap", NULL);
    }
    return true;
}

bool port_set_carrier(struct XnPort *port, bool on, GError **error)
{
    int carrier = on;

    if (ioctl(port->queues[0].fd, TUNSETCARRIER, &carrier) < 0) {
        return tap_fail(error, "cannot set the carrier of", "the tap",
                        errno == ENOTTY || errno == EINVAL ? "Linux 5.0 or newer is needed" : NULL);
    }
    return true;
}

int port_queue_send(struct XnPortQueue *queue, const struct iovec *iov, int iov_count)
{
    return writev(queue->fd, iov, iov_count) < 0 ? errno : 0;
}

ssize_t port_queue_receive(struct XnPortQueue *queue, const struct iovec *iov, int iov_count)
{
    ssize_t length = readv(queue->fd, iov, iov_count);

    if (length < 0) {
        return -errno;
    }
    if (length < (ssize_t)sizeof(struct virtio_net_hdr)) {
        return -EIO;
    }
    return length - (ssize_t)sizeof(struct virtio_net_hdr);
}
