/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * static-grants.h - has the backend keep the rings' pages mapped
 *
 * Theory of operation: nothing changes in the rings. Every page was shared before, and is used
 * again and again; its reference is made known to the backend once, in lists over the control ring,
 * and taken back at the end. Pages of guest_tx are made known as read-only, as they are shared.
 */
#ifndef QNETFRONT_STATIC_GRANTS_H
#define QNETFRONT_STATIC_GRANTS_H

#include "frontend.h"

/* Which pages of each queue. */
enum XnStaticGrantsChoice {
    XN_STATIC_GRANTS_NONE,
    XN_STATIC_GRANTS_ALL,
    XN_STATIC_GRANTS_GUEST_RX,
    XN_STATIC_GRANTS_GUEST_TX,
    XN_STATIC_GRANTS_HALF, /* every other page of both */
    XN_STATIC_GRANTS_READ_ONLY, /* all, and none may be written to: of no use for guest_rx */
    XN_STATIC_GRANTS_CHOICES
};

extern const char *const xn_static_grants_name[XN_STATIC_GRANTS_CHOICES];

struct XnStaticGrants {
    struct XnFrontend *frontend;
    enum XnStaticGrantsChoice choice;
    uint64_t added; /* references in all */
    uint64_t deleted;
    uint64_t left_out; /* did not fit into the backend's table */
    unsigned int known[XN_QUEUES_MAX]; /* references that the backend has now */
};

/* Makes the chosen pages of all queues known. False if the backend refuses. */
bool static_grants_add(struct XnStaticGrants *grants, struct XnFrontend *frontend,
                       enum XnStaticGrantsChoice choice, struct XnFailure *failure);

/* Takes them back, and checks the status of each entry. */
bool static_grants_delete(struct XnStaticGrants *grants, struct XnFailure *failure);

#endif
