/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evtchn.h - the event channels of one queue
 *
 * One handle for each queue, restricted to the guest's domain where the kernel can do that, so
 * that a handle is of no use against anybody else. Used by the worker that owns the queue; opened,
 * bound and closed by the control plane before and after.
 */
#ifndef XN_XEN_EVTCHN_H
#define XN_XEN_EVTCHN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct XnEvtchn;

/* Opens /dev/xen/evtchn for channels to domain `domid`. NULL with an error. */
struct XnEvtchn *evtchn_open(uint32_t domid, GError **error);

/* Closes it with all its channels; NULL is fine. */
void evtchn_close(struct XnEvtchn *evtchn);

/*
 * Binds to the guest's channel `remote`. Returns our channel (> 0), or 0 with an error. A fresh
 * channel has an event pending already.
 */
uint32_t evtchn_bind(struct XnEvtchn *evtchn, uint32_t remote, GError **error);

/* Readable when an event is waiting; does not block. */
int evtchn_fd(const struct XnEvtchn *evtchn);

/* Takes one waiting event: its channel, masked from now on; 0 when there is none. */
uint32_t evtchn_take(struct XnEvtchn *evtchn);

/* Lets the channel raise events again; one that came meanwhile is delivered at once. */
void evtchn_unmask(struct XnEvtchn *evtchn, uint32_t channel);

/* Sends an event to the guest. */
void evtchn_notify(struct XnEvtchn *evtchn, uint32_t channel);

#endif
