/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl.h - the requesting side of the control ring
 *
 * Theory of operation: requests are answered in any order, so each one's id and type are kept until
 * a response with that id comes. What a message refers to is put into one shared
 * page, the page; further pages are shared when a test wants references that grant something. One
 * thread.
 */
#ifndef QNETFRONT_CTRL_H
#define QNETFRONT_CTRL_H

#include "fail.h"
#include "ring.h"

#include <xengnttab.h>

#define XN_CTRL_SLOTS 128
/* A list of static grants longer than one message, and than one queue's two rings. */
#define XN_CTRL_SPARE_PAGES 640
#define XN_CTRL_READONLY_PAGES 8

struct XnCtrlCounters {
    uint64_t requests;
    uint64_t responses;
    uint64_t wrong_id; /* no request with this id is without a response */
    uint64_t wrong_type; /* not the type of that request */
    uint64_t dirty; /* the unused bytes of a response's slot changed */
    uint64_t notifies; /* events sent */
};

struct XnCtrlRecord {
    uint16_t id;
    uint16_t type;
    bool pending;
};

struct XnCtrl {
    xengntshr_handle *gntshr;
    uint32_t backend;
    xen_netif_ctrl_front_ring_t ring;
    xen_netif_ctrl_sring_t *sring; /* NULL: no control ring */
    uint32_t ring_ref;
    uint8_t *page;
    uint32_t page_ref;
    uint8_t *spare; /* shared on demand, writable */
    uint32_t spare_refs[XN_CTRL_SPARE_PAGES];
    uint8_t *readonly; /* the same, read-only */
    uint32_t readonly_refs[XN_CTRL_READONLY_PAGES];
    uint16_t next_id;
    struct XnCtrlRecord records[XN_CTRL_SLOTS]; /* in no order */
    struct xen_netif_ctrl_request written[XN_CTRL_SLOTS]; /* by ring slot */
    struct XnCtrlCounters counters;
};

/* Shares the ring and the page with @backend. Counters go on over a reconnect. */
bool ctrl_open(struct XnCtrl *ctrl, xengntshr_handle *gntshr, uint32_t backend,
               struct XnFailure *failure);

/* Ends the sharing. Harmless if not open. */
void ctrl_close(struct XnCtrl *ctrl);

/* Requests that can be queued now, and those without a response. */
unsigned int ctrl_room(const struct XnCtrl *ctrl);
unsigned int ctrl_unanswered(const struct XnCtrl *ctrl);

/* Queues a request, of which request->id is chosen here and returned. The caller has checked
 * ctrl_room(). */
uint16_t ctrl_queue(struct XnCtrl *ctrl, const struct xen_netif_ctrl_request *request);

/* Publishes what is queued. True if the backend asked for an event. */
bool ctrl_push(struct XnCtrl *ctrl);

/* Takes one response: 1, 0 if there is none, -1 if the backend's index is impossible. */
int ctrl_take(struct XnCtrl *ctrl, struct xen_netif_ctrl_response *response);

/* Asks for an event with the next response. True if one came meanwhile. */
bool ctrl_arm(struct XnCtrl *ctrl);

/* The reference of a page that grants something, writable (below XN_CTRL_SPARE_PAGES) or not (below
 * XN_CTRL_READONLY_PAGES). */
bool ctrl_spare_ref(struct XnCtrl *ctrl, unsigned int index, bool readonly, uint32_t *ref,
                    struct XnFailure *failure);

/* What no correct backend does. */
uint64_t ctrl_violations(const struct XnCtrlCounters *counters);

#endif
