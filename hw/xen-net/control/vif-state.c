/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-state.c - the state machine of a vif
 *
 * Theory of operation
 *
 *                     prepare             connect            reconfigure
 *     Initialising(1) ------> InitWait(2) ------> Connected(4) <------> Reconfigured(8)
 *            |                 |      ^                 |                      |
 *            |                 |      |                 | disconnect           | disconnect
 *            |                 v      | prepare         |                      |
 *            +-----------> Closing(5) |  <--------------+----------------------+
 *                              |      |
 *                              +-> Closed(6)
 *
 * What the facts ask for is a target: InitWait, Connected, Reconfigured, Closing or Closed. The
 * table below has, for each state that we can be in and each target, the one legal step towards it;
 * steps are taken until the vif is where it should be. So a frontend that jumps from Connected to
 * Initialising (a kexec, a reloaded driver) sees us publish 5, 6 and 2.
 *
 * A connected frontend that goes to Reconfiguring(7) has changed what it can take (an extension of
 * Linux's: headroom for an XDP program). We apply that and answer with Reconfigured, in which we
 * rest only as long as the frontend waits there for us.
 *
 * A vif that is shut does not open: the toolstack has asked for closing (it writes 5 into our own
 * state node), a connection failed, a ring is broken. Its frontend, if it lives, gets a bounded
 * time to close; then we close alone. A vif that is shut until a restart opens again once it is
 * closed and its frontend has been seen to let go: gone, Closed, or Initialising.
 *
 * A vif that is found Connected or Reconfigured, with a frontend that is so too, lost its daemon
 * and nothing else. It is adopted: its rings are served on, no state is written, and its guest does
 * not notice.
 *
 * The first step of a new vif is always the one to InitWait, whatever its frontend does: the
 * toolstack waits for it to run the hotplug script, and some frontends spin until they see it.
 */
#include "control/vif-state.h"

#include <stddef.h>

/*
 * States that we publish. 3 and 7 are none of them: some frontends spin or panic on them. So do
 * some on 8, but only one that knows what it means makes us publish that.
 */
#define STATE_COUNT (XenbusStateReconfigured + 1)

static const struct {
    enum XnVifAction action;
    enum xenbus_state next;
} vif_state_table[STATE_COUNT][STATE_COUNT] = {
    [XenbusStateInitialising] =
        {
            [XenbusStateInitWait] = {XN_VIF_PREPARE, XenbusStateInitWait},
            [XenbusStateConnected] = {XN_VIF_PREPARE, XenbusStateInitWait},
            [XenbusStateReconfigured] = {XN_VIF_PREPARE, XenbusStateInitWait},
            [XenbusStateClosing] = {XN_VIF_NOTHING, XenbusStateClosing},
            [XenbusStateClosed] = {XN_VIF_NOTHING, XenbusStateClosing},
        },
    [XenbusStateInitWait] =
        {
            [XenbusStateInitWait] = {XN_VIF_NOTHING, XenbusStateInitWait},
            [XenbusStateConnected] = {XN_VIF_CONNECT, XenbusStateConnected},
            [XenbusStateReconfigured] = {XN_VIF_CONNECT, XenbusStateConnected},
            [XenbusStateClosing] = {XN_VIF_NOTHING, XenbusStateClosing},
            [XenbusStateClosed] = {XN_VIF_NOTHING, XenbusStateClosing},
        },
    [XenbusStateConnected] =
        {
            [XenbusStateInitWait] = {XN_VIF_DISCONNECT, XenbusStateClosing},
            [XenbusStateConnected] = {XN_VIF_NOTHING, XenbusStateConnected},
            [XenbusStateReconfigured] = {XN_VIF_RECONFIGURE, XenbusStateReconfigured},
            [XenbusStateClosing] = {XN_VIF_DISCONNECT, XenbusStateClosing},
            [XenbusStateClosed] = {XN_VIF_DISCONNECT, XenbusStateClosing},
        },
    [XenbusStateReconfigured] =
        {
            [XenbusStateInitWait] = {XN_VIF_DISCONNECT, XenbusStateClosing},
            [XenbusStateConnected] = {XN_VIF_NOTHING, XenbusStateConnected},
            [XenbusStateReconfigured] = {XN_VIF_NOTHING, XenbusStateReconfigured},
            [XenbusStateClosing] = {XN_VIF_DISCONNECT, XenbusStateClosing},
            [XenbusStateClosed] = {XN_VIF_DISCONNECT, XenbusStateClosing},
        },
    [XenbusStateClosing] =
        {
            [XenbusStateInitWait] = {XN_VIF_NOTHING, XenbusStateClosed},
            [XenbusStateConnected] = {XN_VIF_NOTHING, XenbusStateClosed},
            [XenbusStateReconfigured] = {XN_VIF_NOTHING, XenbusStateClosed},
            [XenbusStateClosing] = {XN_VIF_NOTHING, XenbusStateClosing},
            [XenbusStateClosed] = {XN_VIF_NOTHING, XenbusStateClosed},
        },
    [XenbusStateClosed] =
        {
            [XenbusStateInitWait] = {XN_VIF_PREPARE, XenbusStateInitWait},
            [XenbusStateConnected] = {XN_VIF_PREPARE, XenbusStateInitWait},
            [XenbusStateReconfigured] = {XN_VIF_PREPARE, XenbusStateInitWait},
            [XenbusStateClosing] = {XN_VIF_NOTHING, XenbusStateClosed},
            [XenbusStateClosed] = {XN_VIF_NOTHING, XenbusStateClosed},
        },
};

/* Is there a frontend that will answer our Closing? */
static bool frontend_is_active(enum xenbus_state frontend)
{
    return frontend == XenbusStateInitialised || frontend == XenbusStateConnected ||
           frontend == XenbusStateClosing || frontend == XenbusStateReconfiguring;
}

static bool frontend_has_let_go(enum xenbus_state frontend)
{
    return frontend == XenbusStateUnknown || frontend == XenbusStateInitialising ||
           frontend == XenbusStateClosed;
}

/* Do we serve its rings, or claim to? */
static bool vif_state_is_connected(enum xenbus_state own)
{
    return own == XenbusStateConnected || own == XenbusStateReconfigured;
}

static enum XnVifShut vif_state_shut(const struct XnVifFacts *facts)
{
    enum XnVifShut shut = facts->shut;
    enum XnVifShut wanted = XN_VIF_OPEN;

    if (shut == XN_VIF_SHUT_UNTIL_RESTART && facts->own == XenbusStateClosed &&
        frontend_has_let_go(facts->frontend)) {
        shut = XN_VIF_OPEN;
    }
    if (facts->node != facts->own || (facts->own == XenbusStateClosing && !facts->online)) {
        /* The toolstack asks. A frontend that has yet to start does not count as a restart. */
        wanted = facts->frontend == XenbusStateInitialising ? XN_VIF_SHUT_FOR_GOOD
                                                            : XN_VIF_SHUT_UNTIL_RESTART;
    } else if (facts->own != XenbusStateInitialising && !frontend_is_active(facts->frontend) &&
               !frontend_has_let_go(facts->frontend)) {
        wanted = XN_VIF_SHUT_UNTIL_RESTART;
    }
    return wanted > shut ? wanted : shut;
}

static enum xenbus_state vif_state_target(const struct XnVifFacts *facts, enum XnVifShut shut)
{
    if (shut != XN_VIF_OPEN) {
        return frontend_is_active(facts->frontend) && !facts->waited ? XenbusStateClosing
                                                                     : XenbusStateClosed;
    }
    if (facts->own == XenbusStateInitialising) {
        return facts->online ? XenbusStateInitWait : XenbusStateClosed;
    }
    switch (facts->frontend) {
    case XenbusStateUnknown:
        /* In InitWait it may have yet to appear. */
        return facts->own == XenbusStateInitWait && facts->online ? XenbusStateInitWait
                                                                  : XenbusStateClosed;
    case XenbusStateInitialising:
        return facts->online ? XenbusStateInitWait : XenbusStateClosed;
    case XenbusStateInitialised:
        if (vif_state_is_connected(facts->own)) {
            return XenbusStateConnected;
        }
        return facts->online ? XenbusStateInitWait : XenbusStateClosed;
    case XenbusStateConnected:
    case XenbusStateReconfiguring:
        if (vif_state_is_connected(facts->own) && facts->rings_changed) {
            return XenbusStateInitWait;
        }
        if (!vif_state_is_connected(facts->own) && !facts->online) {
            return XenbusStateClosed;
        }
        if (!vif_state_is_connected(facts->own) && !facts->hotplug_connected) {
            return XenbusStateInitWait;
        }
        return facts->frontend == XenbusStateConnected ? XenbusStateConnected
                                                       : XenbusStateReconfigured;
    case XenbusStateClosing:
        return XenbusStateClosing;
    default:
        return XenbusStateClosed;
    }
}

struct XnVifStep vif_state_step(const struct XnVifFacts *facts)
{
    struct XnVifStep step = {.shut = vif_state_shut(facts)};
    enum xenbus_state target;

    if (facts->node == XenbusStateUnknown ||
        (facts->node == XenbusStateInitialising && facts->own != XenbusStateInitialising)) {
        step.action = XN_VIF_DESTROY;
        step.next = facts->own;
        return step;
    }
    target = vif_state_target(facts, step.shut);
    step.action = vif_state_table[facts->own][target].action;
    step.next = vif_state_table[facts->own][target].next;
    if (vif_state_is_connected(facts->own) && vif_state_is_connected(target)) {
        if (facts->unserved) {
            step.action = XN_VIF_ADOPT;
        } else if (target == XenbusStateReconfigured && facts->features_changed) {
            step.action = XN_VIF_RECONFIGURE;
        }
    }
    return step;
}

enum xenbus_state vif_state_found(enum xenbus_state node)
{
    switch (node) {
    case XenbusStateInitialising:
    case XenbusStateInitWait:
    case XenbusStateClosing:
    case XenbusStateClosed:
    case XenbusStateReconfigured:
        return node;
    default:
        return XenbusStateConnected;
    }
}

enum XnVifShut vif_state_found_shut(enum xenbus_state node)
{
    return node == XenbusStateInitialising || node == XenbusStateInitWait ||
                   vif_state_is_connected(node)
               ? XN_VIF_OPEN
               : XN_VIF_SHUT_UNTIL_RESTART;
}

bool vif_state_is_waiting(const struct XnVifFacts *facts)
{
    return facts->own == XenbusStateClosing && facts->shut != XN_VIF_OPEN && !facts->waited &&
           frontend_is_active(facts->frontend);
}

const char *vif_state_name(enum xenbus_state state)
{
    static const char *const names[] = {
        [XenbusStateUnknown] = "Unknown",
        [XenbusStateInitialising] = "Initialising",
        [XenbusStateInitWait] = "InitWait",
        [XenbusStateInitialised] = "Initialised",
        [XenbusStateConnected] = "Connected",
        [XenbusStateClosing] = "Closing",
        [XenbusStateClosed] = "Closed",
        [XenbusStateReconfiguring] = "Reconfiguring",
        [XenbusStateReconfigured] = "Reconfigured",
    };

    return (size_t)state < sizeof(names) / sizeof(names[0]) ? names[state] : "nonsense";
}
