/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-link.h - what a vif tells about its interface in the host
 *
 * Two keys follow the interface: "carrier" in our own directory says whether it and its bridge are
 * up, "mtu" in the frontend's what MTU the guest may use. Main thread.
 */
#ifndef XN_CONTROL_VIF_LINK_H
#define XN_CONTROL_VIF_LINK_H

#include "base/log.h"
#include "port/link-watch.h"
#include "xen/store.h"

struct XnVifLink {
    struct XnLinkWatch *watch;
    /* Of the interface; 0: there is none yet. */
    unsigned index;
    /* To be looked at again. */
    bool stale;
    struct XnLink link;
    /* Its bridge passes every frame between it and any other such interface. */
    bool joined;
    /* As published last; -1: not yet. */
    int carrier;
    /* As published last; 0: not yet. */
    unsigned mtu;
    /* What it was before it was lowered for a guest without scatter-gather; 0: it was not. */
    unsigned mtu_lowered_from;
    /* For what the guest causes by connecting again and again. */
    struct XnLogLimit log_limit;
};

/* For the interface `index`. `watch` outlives it. */
void vif_link_init(struct XnVifLink *link, struct XnLinkWatch *watch, unsigned index);

/* Interface `index` changed, 0: any may have. Returns whether that is of interest here. */
bool vif_link_changed(struct XnVifLink *link, unsigned index);

/*
 * Brings the keys up to date: "carrier" in `directory`, and "mtu" in `frontend_directory` unless
 * that is NULL. Does nothing when nothing changed. False with an error when xenstore fails.
 */
bool vif_link_follow(struct XnVifLink *link, struct XnStore *store, const char *directory,
                     const char *frontend_directory, const char *name, GError **error);

/*
 * A guest whose frames have one slot can have no larger MTU than Ethernet's: the interface gets
 * that, as with the kernel's netback, and its own one back when the guest has gone, or another has
 * come. What its own one is stands in `directory`, so that the next daemon knows.
 */
void vif_link_lower_mtu(struct XnVifLink *link, struct XnStore *store, const char *directory,
                        const char *name);
void vif_link_restore_mtu(struct XnVifLink *link, struct XnStore *store, const char *directory,
                          const char *name);

#endif
