/* SPDX-License-Identifier: GPL-2.0-or-later */
/* static-grants.c - has the backend keep the rings' pages mapped */
#include "static-grants.h"

#include "ctrl-script.h"

#define LIST_ENTRIES (XN_PAGE_SIZE / sizeof(struct xen_netif_gref))
#define PAGES_MAX (2 * XN_RING_SLOTS)
#define STATUS_UNTOUCHED 0xffff

const char *const xn_static_grants_name[XN_STATIC_GRANTS_CHOICES] = {
    [XN_STATIC_GRANTS_NONE] = "none",         [XN_STATIC_GRANTS_ALL] = "all",
    [XN_STATIC_GRANTS_GUEST_RX] = "guest-rx", [XN_STATIC_GRANTS_GUEST_TX] = "guest-tx",
    [XN_STATIC_GRANTS_HALF] = "half",         [XN_STATIC_GRANTS_READ_ONLY] = "read-only",
};

/* The pages of a queue in an order that is always the same. Returns their number. */
static unsigned int collect(const struct XnStaticGrants *grants, unsigned int queue,
                            struct xen_netif_gref *entry)
{
    const struct XnGuestRx *guest_rx = &grants->frontend->queues[queue].guest_rx;
    const struct XnGuestTx *guest_tx = &grants->frontend->queues[queue].guest_tx;
    unsigned int step = grants->choice == XN_STATIC_GRANTS_HALF ? 2 : 1;
    uint16_t guest_rx_flags =
        grants->choice == XN_STATIC_GRANTS_READ_ONLY ? XEN_NETIF_CTRLF_GREF_readonly : 0;
    unsigned int count = 0;

    for (unsigned int i = 0; grants->choice != XN_STATIC_GRANTS_GUEST_TX && i < guest_rx->buffers;
         i += step) {
        entry[count++] =
            (struct xen_netif_gref){guest_rx->refs[i], guest_rx_flags, STATUS_UNTOUCHED};
    }
    for (unsigned int i = 0; grants->choice != XN_STATIC_GRANTS_GUEST_RX && i < XN_RING_SLOTS;
         i += step) {
        entry[count++] = (struct xen_netif_gref){guest_tx->refs[i], XEN_NETIF_CTRLF_GREF_readonly,
                                                 STATUS_UNTOUCHED};
    }
    return count;
}

/* Sends @count entries, in lists of at most a page. */
static bool send_lists(struct XnStaticGrants *grants, uint16_t type, unsigned int queue,
                       const struct xen_netif_gref *entry, unsigned int count,
                       struct XnFailure *failure)
{
    struct XnCtrl *ctrl = &grants->frontend->ctrl;
    struct xen_netif_gref *list = (void *)ctrl->page;
    struct xen_netif_ctrl_response response;

    while (count) {
        unsigned int some = count < LIST_ENTRIES ? count : LIST_ENTRIES;
        struct xen_netif_ctrl_request request = {.type = type,
                                                 .data = {queue, ctrl->page_ref, some}};

        memcpy(list, entry, some * sizeof(*entry));
        if (!ctrl_call(grants->frontend, request, &response, failure)) {
            return false;
        }
        if (response.status != XEN_NETIF_CTRL_STATUS_SUCCESS) {
            return fail(failure, "queue %u: static grants: message %u about %u pages: status %u",
                        queue, type, some, response.status);
        }
        if (type == XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING && response.data != some) {
            return fail(failure, "queue %u: %u static grants of %u deleted", queue, response.data,
                        some);
        }
        for (unsigned int i = 0; type == XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING && i < some; i++) {
            if (list[i].status != XEN_NETIF_CTRL_STATUS_SUCCESS || list[i].ref != entry[i].ref) {
                return fail(failure, "queue %u: entry %u of the deleted static grants: status %u",
                            queue, i, list[i].status);
            }
        }
        entry += some;
        count -= some;
    }
    return true;
}

static bool add_queue(struct XnStaticGrants *grants, unsigned int queue, struct XnFailure *failure)
{
    struct xen_netif_ctrl_request request = {.type = XEN_NETIF_CTRL_TYPE_GET_GREF_MAPPING_SIZE,
                                             .data = {queue}};
    struct xen_netif_ctrl_response response;
    struct xen_netif_gref entry[PAGES_MAX] = {0};
    unsigned int count = collect(grants, queue, entry);

    if (!ctrl_call(grants->frontend, request, &response, failure)) {
        return false;
    }
    if (response.status != XEN_NETIF_CTRL_STATUS_SUCCESS) {
        return fail(failure, "the backend has no static grants: status %u", response.status);
    }
    if (count > response.data) {
        grants->left_out += count - response.data;
        count = response.data;
    }
    if (!send_lists(grants, XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING, queue, entry, count, failure)) {
        return false;
    }
    grants->known[queue] = count;
    grants->added += count;
    return true;
}

bool static_grants_add(struct XnStaticGrants *grants, struct XnFrontend *frontend,
                       enum XnStaticGrantsChoice choice, struct XnFailure *failure)
{
    grants->frontend = frontend;
    grants->choice = choice;
    if (!frontend->ctrl.sring) {
        return fail(failure, "the backend offers no control ring");
    }
    for (unsigned int i = 0; i < frontend->queues_count; i++) {
        if (!add_queue(grants, i, failure)) {
            return false;
        }
    }
    return true;
}

bool static_grants_delete(struct XnStaticGrants *grants, struct XnFailure *failure)
{
    struct xen_netif_gref entry[PAGES_MAX] = {0};

    for (unsigned int i = 0; i < grants->frontend->queues_count; i++) {
        collect(grants, i, entry);
        if (!send_lists(grants, XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING, i, entry, grants->known[i],
                        failure)) {
            return false;
        }
        grants->deleted += grants->known[i];
        grants->known[i] = 0;
    }
    return true;
}
