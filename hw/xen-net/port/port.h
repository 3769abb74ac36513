/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * port.h - the contract of a network endpoint
 *
 * A port is what a vif looks like to the host's network: an interface with a name, which hotplug
 * scripts put into a bridge. It has one queue for each queue of the vif. The control plane makes
 * and destroys ports and their queues; a queue's send and receive belong to one worker.
 */
#ifndef XN_PORT_PORT_H
#define XN_PORT_PORT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct XnPort;

/* One queue of a port. `fd` is to be polled; it does not block. */
struct XnPortQueue {
    int fd;
};

/* Can interfaces be made at all? False with an error that says what to do. */
bool port_check_host(GError **error);

/*
 * Creates the interface `name`, down, with the MAC fe:ff:ff:ff:ff:ff, or takes over the one that
 * exists when nobody holds it. It can have `queue_count` (1 ... 256) queues, of which the first
 * takes part. With `carrier` the host's network does not notice that the interface was left.
 * `label` is by what it is found again when somebody renames it. NULL with an error that says what
 * to do.
 */
struct XnPort *port_open(const char *name, const char *label, unsigned queue_count, bool carrier,
                         GError **error);

/* Removes the interface; NULL is fine. The workers must have let go of its queues. */
void port_close(struct XnPort *port);

/*
 * Lets go of the interface but leaves it in its bridge, for a later port_open(), by this process or
 * another; so does the end of the process. NULL is fine.
 */
void port_leave(struct XnPort *port);

/* Is there an interface of this name that may have been left so? */
bool port_exists(const char *name);

/* Names of the interfaces that may have been left so; to be freed with g_strfreev(), never NULL. */
char **port_list_left(void);

/* The label of the interface `name`, or that name; to be freed with g_free(). */
char *port_label(const char *name);

/* The interface's index, by which it is known for as long as it exists. */
unsigned port_index(const struct XnPort *port);

/* Queue `index` < queue_count; lives as long as the port, its `fd` while it takes part. */
struct XnPortQueue *port_queue(struct XnPort *port, unsigned index);

/*
 * The first `count` (1 ... queue_count) queues take part: frames are spread over them by flow. No
 * worker may have a queue that comes or goes.
 */
bool port_set_queues(struct XnPort *port, unsigned count, GError **error);

/* Frames may be received with these offloads (TUN_F_* of linux/if_tun.h) now. Main thread. */
bool port_set_offloads(struct XnPort *port, unsigned offloads, GError **error);

/* Tells the host's network whether the other end is there. Main thread. */
bool port_set_carrier(struct XnPort *port, bool on, GError **error);

/*
 * Gives one frame to the network: iov[0] is a struct virtio_net_hdr, the rest the frame. Returns
 * 0, or a positive errno: EAGAIN when it takes no more now (poll for POLLOUT), EIO when the
 * interface is down, EINVAL when it does not like the header. The frame stays the caller's.
 */
int port_queue_send(struct XnPortQueue *queue, const struct iovec *iov, int iov_count);

/*
 * Takes one frame from the network: iov[0] is a struct virtio_net_hdr, the rest at least 65535
 * bytes. Returns the frame's length without that header, -EAGAIN when there is none, or another
 * negative errno.
 */
ssize_t port_queue_receive(struct XnPortQueue *queue, const struct iovec *iov, int iov_count);

#endif
