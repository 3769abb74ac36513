/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-link.c - what a vif tells about its interface in the host
 *
 * Theory of operation
 *
 * The interface is looked at when it, its bridge, or its place in a bridge changed, and when the
 * hotplug script is done. The keys are written only when their value is another than before, since
 * each write wakes up whoever watches the directory.
 *
 * The carrier is what the administrator made of the interface, not what the kernel says of a tap:
 * that is set by ourselves, when the guest connects.
 */
#include "control/vif-link.h"

#include <net/ethernet.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/vif-store.h"

void vif_link_init(struct XnVifLink *link, struct XnLinkWatch *watch, unsigned index)
{
    *link = (struct XnVifLink){.watch = watch, .index = index, .stale = true, .carrier = -1};
}

bool vif_link_changed(struct XnVifLink *link, unsigned index)
{
    if (link->index == 0 || (index != 0 && index != link->index && index != link->link.bridge)) {
        return false;
    }
    link->stale = true;
    return true;
}

/* An interface that has gone elsewhere (another network namespace) is taken for up. */
static bool vif_link_is_up(struct XnVifLink *link, const char *name)
{
    g_autoptr(GError) error = NULL;
    struct XnLink bridge;

    link->joined = false;
    if (!link_watch_read(link->watch, link->index, &link->link, &error)) {
        log_shared(XN_LOG_DEBUG, name, "%s", error->message);
        return true;
    }
    if (!link->link.up || link->link.bridge == 0) {
        return link->link.up;
    }
    if (!link_watch_read(link->watch, link->link.bridge, &bridge, &error)) {
        log_shared(XN_LOG_DEBUG, name, "bridge: %s", error->message);
        return true;
    }
    link->joined = bridge.up && link->link.forwards && !bridge.filters_vlans;
    return bridge.up;
}

bool vif_link_follow(struct XnVifLink *link, struct XnStore *store, const char *directory,
                     const char *frontend_directory, const char *name, GError **error)
{
    bool up;

    if (!link->stale || link->index == 0) {
        return true;
    }
    up = vif_link_is_up(link, name);
    if (link->carrier < 0 || up != (link->carrier == 1)) {
        if (!vif_store_write_carrier(store, directory, up, error)) {
            return false;
        }
        if (link->carrier >= 0) {
            log_info(name, "the interface or its bridge was set %s", up ? "up" : "down");
        }
        link->carrier = up;
    }
    if (frontend_directory && link->link.mtu != 0 && link->mtu != link->link.mtu) {
        g_autoptr(GError) local_error = NULL;

        link->mtu = link->link.mtu;
        if (!vif_store_write_mtu(store, frontend_directory, link->mtu, &local_error)) {
            log_shared(XN_LOG_DEBUG, name, "cannot tell the guest its MTU: %s",
                       local_error->message);
        }
    }
    link->stale = false;
    return true;
}

static void vif_link_set_mtu(struct XnVifLink *link, unsigned mtu, const char *name)
{
    g_autoptr(GError) error = NULL;

    if (link_watch_set_mtu(link->watch, link->index, mtu, &error)) {
        log_write_limited(&link->log_limit, clock_now_ns(), XN_LOG_INFO, name,
                          "the interface's MTU is %u now", mtu);
    } else {
        log_write_limited(&link->log_limit, clock_now_ns(), XN_LOG_WARNING, name, "%s",
                          error->message);
    }
    link->stale = true;
}

static void vif_link_remember_mtu(struct XnVifLink *link, struct XnStore *store,
                                  const char *directory, const char *name)
{
    g_autoptr(GError) error = NULL;

    if (!vif_store_write_lowered(store, directory, link->mtu_lowered_from, &error)) {
        log_shared(XN_LOG_DEBUG, name, "cannot remember the interface's MTU: %s", error->message);
    }
}

void vif_link_lower_mtu(struct XnVifLink *link, struct XnStore *store, const char *directory,
                        const char *name)
{
    struct XnLink now;

    if (link_watch_read(link->watch, link->index, &now, NULL) && now.mtu > ETHERMTU) {
        link->mtu_lowered_from = now.mtu;
        vif_link_remember_mtu(link, store, directory, name);
        vif_link_set_mtu(link, ETHERMTU, name);
    }
}

void vif_link_restore_mtu(struct XnVifLink *link, struct XnStore *store, const char *directory,
                          const char *name)
{
    struct XnLink now;

    if (link->mtu_lowered_from == 0) {
        return;
    }
    /* Somebody may have set another one meanwhile. */
    if (link_watch_read(link->watch, link->index, &now, NULL) && now.mtu == ETHERMTU) {
        vif_link_set_mtu(link, link->mtu_lowered_from, name);
    }
    link->mtu_lowered_from = 0;
    vif_link_remember_mtu(link, store, directory, name);
}
