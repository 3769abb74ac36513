/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wishes.h - what a guest asks of its backend once it is connected: multicast, headroom
 *
 * Multicast addresses go through the guest_tx ring, a new headroom through xenstore and the states
 * Reconfiguring and Reconfigured. Both happen before the mode's traffic.
 */
#ifndef QNETFRONT_WISHES_H
#define QNETFRONT_WISHES_H

#include "frontend.h"

/* As on the command line; NULL: none. */
struct XnWishes {
    const char *multicast;
    const char *reconfigure;
};

/* Whether the lists can be parsed. */
bool wishes_valid(const struct XnWishes *wishes);

/* Asks for all of it, and checks that the backend answers as it must. */
bool wishes_run(const struct XnWishes *wishes, struct XnFrontend *frontend,
                struct XnFailure *failure);

#endif
