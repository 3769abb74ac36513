/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl-message.h - one request of the control ring, and its response
 *
 * Theory of operation
 *
 * A request is a type and three numbers; some refer to a page of the guest with a key, a table or a
 * list. Nothing here touches that page. The caller, with a private copy of the request:
 *
 *   1. ctrl_message_fetch: which bytes of which grant are needed; copies them, if any;
 *   2. ctrl_message_execute: does what was asked and returns the response;
 *   3. maps or unmaps the static grants that the effect names; a page that a frame on its way still
 *      refers to stays mapped, and the response waits. If mapping fails: ctrl_message_undo;
 *   4. copies the list back to its page if the effect says so;
 *   5. puts the response into the ring.
 *
 * Every rule stands in xen/io/netif.h, at the message it is about. Where that leaves a choice, we
 * do as Linux's netback does, except that a key which is too long is answered with BUFFER_OVERFLOW.
 * Grants that the toolstack made for the guest are refused wherever they are named: by its xenstore
 * page a guest would have us write into its own conversation with xenstored.
 */
#ifndef XN_NETIF_CTRL_MESSAGE_H
#define XN_NETIF_CTRL_MESSAGE_H

#include "netif/hash.h"
#include "netif/static-grant.h"

/* What the requests of a vif act on; the caller owns it all. */
struct XnCtrlTarget {
    struct XnHash *hash;
    uint32_t queue_count;
    /*
     * The tables of the queues, of which only that of the queue in the request is looked at; NULL:
     * static grants are not supported.
     */
    struct XnStaticGrants *const *grants;
};

/* Bytes from the start of a granted page; length 0: nothing is needed. At most a page. */
struct XnCtrlFetch {
    uint32_t ref;
    uint32_t length;
};

enum XnCtrlAction {
    XN_CTRL_NOTHING,
    /* Map the new grants at the indices named, or unmap those that were there. */
    XN_CTRL_MAP,
    XN_CTRL_UNMAP,
};

/* What is left to do for the caller before it responds. */
struct XnCtrlEffect {
    enum XnCtrlAction action;
    /* Which queue's table, and which places in it. */
    uint32_t queue;
    uint32_t count;
    uint16_t indices[XN_STATIC_GRANT_LIST_MAX];
    /* Bytes of the buffer to be copied back to where they came from. */
    uint32_t write_back;
};

/*
 * The bytes that the request needs. None for a request that will be refused as it stands, so a
 * guest cannot make us copy for nothing. One thread, like all of this.
 */
struct XnCtrlFetch ctrl_message_fetch(const struct XnCtrlTarget *target,
                                      const struct xen_netif_ctrl_request *request);

/*
 * Executes the request. `bytes` is the private copy of what ctrl_message_fetch() asked for, of any
 * alignment; NULL when that copy failed, which makes the request fail. The target must be as it was
 * at the fetch. Every byte of the response and of *ret_effect's valid fields is defined.
 */
struct xen_netif_ctrl_response ctrl_message_execute(const struct XnCtrlTarget *target,
                                                    const struct xen_netif_ctrl_request *request,
                                                    uint8_t *bytes,
                                                    struct XnCtrlEffect *ret_effect);

/*
 * Takes XN_CTRL_MAP back, for when not all of the grants could be mapped: the table is as it was
 * before, the response becomes INVALID_PARAMETER. The caller unmaps what it did map.
 */
void ctrl_message_undo(const struct XnCtrlTarget *target, struct XnCtrlEffect *effect,
                       struct xen_netif_ctrl_response *response);

#endif
