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
    unsigned int queues; /* at least 1 */
    bool csum, tso4, tso6; /* what the stack above may leave undone */
};

/* Creates the tap, up, with a non-blocking descriptor for each queue in @fds. The interface goes
 * when they are closed. */
bool tap_open(const struct XnTapConfig *config, int *fds, struct XnFailure *failure);

/* Tells the stack above whether the other side is there. */
void tap_set_carrier(int fd, bool on);

#endif
