/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-state.h - the state machine of a vif
 *
 * Pure: what stands in xenstore and what we remember goes in, one step comes out. The drawing and
 * the table are in vif-state.c.
 */
#ifndef XN_CONTROL_VIF_STATE_H
#define XN_CONTROL_VIF_STATE_H

#include <stdbool.h>
#include <xen/io/xenbus.h>

/* The frontend's state node holds something that is no state. Not a value of enum xenbus_state. */
#define XN_FRONTEND_NONSENSE ((enum xenbus_state)9)

/* Whether this vif may (re)open. */
enum XnVifShut {
    XN_VIF_OPEN,
    /* This connection is over: closed until the frontend has let go of it. */
    XN_VIF_SHUT_UNTIL_RESTART,
    /* Closed until the toolstack makes the vif anew. */
    XN_VIF_SHUT_FOR_GOOD,
};

/* What a step needs to know. */
struct XnVifFacts {
    /* The state that we published last: 1, 2, 4, 5, 6 or 8. */
    enum xenbus_state own;
    enum XnVifShut shut;
    /* The frontend had its time to close. */
    bool waited;
    /* Our own state node as it reads now, XenbusStateUnknown when it is gone. */
    enum xenbus_state node;
    /* The frontend's state, XenbusStateUnknown when there is none. */
    enum xenbus_state frontend;
    bool online;
    /* hotplug-status has read "connected" at some time. */
    bool hotplug_connected;
    /* The frontend's rings are not those that we are connected to. */
    bool rings_changed;
    /* The frontend can take something else now than we give it. Counts while it reconfigures. */
    bool features_changed;
    /* We are connected by a predecessor's word, and nobody serves the rings. */
    bool unserved;
};

/* What to do before the step's state is published. */
enum XnVifAction {
    XN_VIF_NOTHING,
    /* Make the interface and write the feature keys. */
    XN_VIF_PREPARE,
    /* Map the rings and serve them. */
    XN_VIF_CONNECT,
    /* The same, with rings that a predecessor has served until now. */
    XN_VIF_ADOPT,
    /* Give the guest what it can take now, with its rings served on. */
    XN_VIF_RECONFIGURE,
    /* Undo the connection. */
    XN_VIF_DISCONNECT,
    /* The directory is gone, or is a new vif's: forget this one and publish nothing. */
    XN_VIF_DESTROY,
};

struct XnVifStep {
    enum XnVifAction action;
    /* To be published when the action succeeds; our own state if the vif is to rest. */
    enum xenbus_state next;
    enum XnVifShut shut;
};

/* One step towards where the facts want the vif to be. */
struct XnVifStep vif_state_step(const struct XnVifFacts *facts);

/* What is remembered when a vif is found that we have no memory of: its own state... */
enum xenbus_state vif_state_found(enum xenbus_state node);
/* ... and whether it may open. */
enum XnVifShut vif_state_found_shut(enum xenbus_state node);

/* Does the vif wait, for a bounded time, for its frontend to close? */
bool vif_state_is_waiting(const struct XnVifFacts *facts);

/* "Connected" and so on, for people. */
const char *vif_state_name(enum xenbus_state state);

#endif
