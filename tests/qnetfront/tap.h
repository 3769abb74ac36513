/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tap.h - a tap device of this network namespace, with virtio_net_hdr */
#ifndef QNETFRONT_TAP_H
#define QNETFRONT_TAP_H

#include "fail.h"

#include <stdint.h>

struct XnTapConfig {
    const char *name; /* may contain %d */
    const uint8_t *mac; /* NULL: the kernel's choice */
    unsigned int mtu; /* 0: the kernel's choice */
    bool csum, tso4, tso6; /* what the stack above may leave undone */
};

/* Creates the tap, up, and returns its non-blocking descriptor, -1 on failure. The interface goes
 * when it is closed. */
int tap_open(const struct XnTapConfig *config, struct XnFailure *failure);

/* Tells the stack above whether the other side is there. */
void tap_set_carrier(int fd, bool on);

#endif
