/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link-watch.h - what becomes of the host's network interfaces
 *
 * The kernel tells of every interface that changes. As with xenstore's events, a change is only a
 * hint to look: what counts is what link_watch_read() says then. Interfaces are known by their
 * index, since hotplug scripts rename them. One thread, which polls link_watch_fd().
 */
#ifndef XN_PORT_LINK_WATCH_H
#define XN_PORT_LINK_WATCH_H

#include <glib.h>
#include <linux/netlink.h>
#include <stdbool.h>

/* One interface, as it is at the moment. */
struct XnLink {
    unsigned index;
    /* The administrator's up or down, which says nothing about who is at the other end. */
    bool up;
    /* In bytes, without the Ethernet header. */
    unsigned mtu;
    /* Index of the bridge that it is a port of; 0: of none. */
    unsigned bridge;
    /* As that port: frames go to and come from all other ports, neither blocked nor isolated. */
    bool forwards;
    /* As a bridge: which port gets a frame depends on its VLAN. */
    bool filters_vlans;
};

struct XnLinkWatch;

/* Begins to listen. NULL with an error. */
struct XnLinkWatch *link_watch_open(GError **error);

/* NULL is fine. */
void link_watch_close(struct XnLinkWatch *watch);

/* Readable when link_watch_next() may have something. */
int link_watch_fd(const struct XnLinkWatch *watch);

/*
 * Takes one change; does not block. False when there is none. Else *ret_index is the interface that
 * changed or is gone, 0 when changes were lost: then any may have.
 */
bool link_watch_next(struct XnLinkWatch *watch, unsigned *ret_index);

/* What interface `index` is like. False with an error, G_FILE_ERROR_NODEV when it is gone. */
bool link_watch_read(struct XnLinkWatch *watch, unsigned index, struct XnLink *ret_link,
                     GError **error);

/* Sets the MTU of interface `index`. */
bool link_watch_set_mtu(struct XnLinkWatch *watch, unsigned index, unsigned mtu, GError **error);

/* Reads one message of rtnetlink, RTM_NEWLINK or RTM_DELLINK. False when it is none. Pure. */
bool link_watch_parse(const struct nlmsghdr *message, struct XnLink *ret_link);

#endif
