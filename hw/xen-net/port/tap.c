/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tap.c - the port that is a tap device, driven by readv and writev
 *
 * Theory of operation
 *
 * The tap carries a struct virtio_net_hdr before each frame (IFF_VNET_HDR), so checksum and
 * segmentation offload pass through it untouched. It is made before the vif is announced, and must
 * survive what hotplug scripts do to it: set down, renamed, given another MAC and MTU, put into a
 * bridge. So it is known by its file descriptors and its index, and a name is asked for whenever
 * one is needed. The interface is persistent: it stays in its bridge while no daemon runs, and goes
 * when it is closed on purpose.
 *
 * A queue is a descriptor, and exists only while it takes part: a vif that is not connected has
 * one.
 */
#include "port/port.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "port/link-set.h"

#define TAP_DEVICE "/dev/net/tun"

/* IFF_NO_CARRIER of newer headers. */
#define TAP_NO_CARRIER 0x0040

/* Where the kernel shows a tap's flags. */
#define TAP_SYSFS "/sys/class/net"

struct XnPort {
    unsigned index;
    bool carrier;
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

static const char *tap_device_advice(int error)
{
    return error == EACCES ? "run as root, or let this user open it" : "load the module tun";
}

bool port_check_host(GError **error)
{
    return access(TAP_DEVICE, R_OK | W_OK) == 0 ||
           tap_fail(error, "cannot use", TAP_DEVICE, tap_device_advice(errno));
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
 * tap of many queues stays one when it is opened again with another number, even with one. A kernel
 * that does not know the flag for it sets the carrier each time.
 */
static bool tap_attach(struct XnPortQueue *queue, const char *name, bool carrier, GError **error)
{
    int header_size = sizeof(struct virtio_net_hdr);
    struct ifreq request = {0};

    queue->fd = open(TAP_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (queue->fd < 0) {
        return tap_fail(error, "cannot open", TAP_DEVICE, tap_device_advice(errno));
    }
    g_strlcpy(request.ifr_name, name, sizeof(request.ifr_name));
    request.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_MULTI_QUEUE |
                                (carrier ? 0 : TAP_NO_CARRIER));
    if (ioctl(queue->fd, TUNSETIFF, &request) < 0) {
        return tap_fail(error, "cannot make the tap", name, tap_attach_advice(errno));
    }
    if (ioctl(queue->fd, TUNSETVNETHDRSZ, &header_size) < 0) {
        return tap_fail(error, "cannot set the header size of the tap", name, NULL);
    }
    return true;
}

static void tap_detach(struct XnPortQueue *queue)
{
    if (queue->fd >= 0) {
        close(queue->fd);
        queue->fd = -1;
    }
}

/*
 * The address that Xen's scripts give to backend interfaces: the highest, so that a bridge never
 * takes it for its own.
 */
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

/*
 * A tap of many queues can be opened by several programs, which then take each other's frames. The
 * kernel shows as many queues as there are descriptors, and ours is the first.
 */
static bool tap_is_ours(const char *name, GError **error)
{
    g_autofree char *second = g_build_filename(TAP_SYSFS, name, "queues", "rx-1", NULL);

    if (access(second, F_OK) < 0) {
        return true;
    }
    errno = EBUSY;
    return tap_fail(error, "cannot take the tap", name, tap_attach_advice(errno));
}

static bool tap_set_index(struct XnPort *port, const char *name, GError **error)
{
    port->index = if_nametoindex(name);
    return port->index != 0 || tap_fail(error, "cannot find the tap", name, NULL);
}

/* An alias that somebody has given it stays. */
static void tap_set_label(const struct XnPort *port, const char *name, const char *label)
{
    g_autofree char *path = g_build_filename(TAP_SYSFS, name, "ifalias", NULL);
    g_autofree char *alias = NULL;

    if (!g_file_get_contents(path, &alias, NULL, NULL) || alias[0] != '\0') {
        return;
    }
    if (!link_set_alias(port->index, label)) {
        log_debug(name, "cannot set the alias: %s", g_strerror(errno));
    }
}

struct XnPort *port_open(const char *name, const char *label, unsigned queue_count, bool carrier,
                         GError **error)
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
    if (!tap_attach(&port->queues[0], name, carrier, error)) {
        port_leave(port);
        return NULL;
    }
    port->attached = 1;
    if (!tap_is_ours(name, error) || !tap_set_index(port, name, error)) {
        port_leave(port);
        return NULL;
    }
    tap_set_label(port, name, label);
    if (!tap_set_persistent(port, true, error) || !tap_set_address(port, name, error) ||
        !port_set_carrier(port, carrier, error)) {
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
        tap_detach(&port->queues[i]);
    }
    g_free(port);
}

unsigned port_index(const struct XnPort *port)
{
    return port->index;
}

static bool tap_is_persistent(const char *name)
{
    g_autofree char *path = g_build_filename(TAP_SYSFS, name, "tun_flags", NULL);
    g_autofree char *text = NULL;

    return g_file_get_contents(path, &text, NULL, NULL) &&
           (g_ascii_strtoull(text, NULL, 16) & IFF_PERSIST) != 0;
}

bool port_exists(const char *name)
{
    return tap_is_persistent(name);
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

char *port_label(const char *name)
{
    g_autofree char *path = g_build_filename(TAP_SYSFS, name, "ifalias", NULL);
    g_autofree char *alias = NULL;

    if (!g_file_get_contents(path, &alias, NULL, NULL) || g_strstrip(alias)[0] == '\0') {
        return g_strdup(name);
    }
    return g_steal_pointer(&alias);
}

struct XnPortQueue *port_queue(struct XnPort *port, unsigned index)
{
    g_assert(index < port->queue_count);
    return &port->queues[index];
}

/* The name that the interface has now. */
static bool tap_get_name(const struct XnPort *port, char *ret_name, GError **error)
{
    struct ifreq request = {0};

    if (ioctl(port->queues[0].fd, TUNGETIFF, &request) < 0) {
        return tap_fail(error, "cannot find the name of", "the tap", NULL);
    }
    g_strlcpy(ret_name, request.ifr_name, IFNAMSIZ);
    return true;
}

bool port_set_queues(struct XnPort *port, unsigned count, GError **error)
{
    char name[IFNAMSIZ];

    g_assert(count >= 1 && count <= port->queue_count);
    if (port->attached < count && !tap_get_name(port, name, error)) {
        return false;
    }
    while (port->attached < count) {
        struct XnPortQueue *queue = &port->queues[port->attached];

        if (!tap_attach(queue, name, port->carrier, error)) {
            tap_detach(queue);
            return false;
        }
        port->attached++;
    }
    while (port->attached > count) {
        port->attached--;
        tap_detach(&port->queues[port->attached]);
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
    port->carrier = on;
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
