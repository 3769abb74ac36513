/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctrl.c - the requesting side of the control ring */
#include "ctrl.h"

/* Ids that come again late, and use all 16 bits. */
#define ID_STEP 0x1235

#define TAIL_OFFSET sizeof(struct xen_netif_ctrl_response)
#define TAIL_LENGTH (sizeof(struct xen_netif_ctrl_request) - TAIL_OFFSET)

_Static_assert(sizeof(struct xen_netif_ctrl_request) == 16 &&
                   sizeof(struct xen_netif_ctrl_response) == 12,
               "netif.h: a slot of the control ring is 16 bytes, its response 12");

bool ctrl_open(struct XnCtrl *ctrl, xengntshr_handle *gntshr, uint32_t backend,
               struct XnFailure *failure)
{
    ctrl->gntshr = gntshr;
    ctrl->backend = backend;
    memset(ctrl->records, 0, sizeof(ctrl->records));
    ctrl->sring = xengntshr_share_pages(gntshr, backend, 1, &ctrl->ring_ref, 1);
    if (!ctrl->sring) {
        return fail_errno(failure, "cannot share a control ring with domain %u", backend);
    }
    SHARED_RING_INIT(ctrl->sring);
    FRONT_RING_INIT(&ctrl->ring, ctrl->sring, XN_PAGE_SIZE);
    ctrl->page = xengntshr_share_pages(gntshr, backend, 1, &ctrl->page_ref, 1);
    if (!ctrl->page) {
        fail_errno(failure, "cannot share a page with domain %u", backend);
        ctrl_close(ctrl);
        return false;
    }
    return true;
}

static void unshare(struct XnCtrl *ctrl, void *pages, uint32_t count)
{
    if (pages) {
        xengntshr_unshare(ctrl->gntshr, pages, count);
    }
}

void ctrl_close(struct XnCtrl *ctrl)
{
    unshare(ctrl, ctrl->readonly, XN_CTRL_READONLY_PAGES);
    unshare(ctrl, ctrl->spare, XN_CTRL_SPARE_PAGES);
    unshare(ctrl, ctrl->page, 1);
    unshare(ctrl, ctrl->sring, 1);
    ctrl->readonly = ctrl->spare = ctrl->page = NULL;
    ctrl->sring = NULL;
}

unsigned int ctrl_room(const struct XnCtrl *ctrl)
{
    return RING_FREE_REQUESTS(&ctrl->ring);
}

unsigned int ctrl_unanswered(const struct XnCtrl *ctrl)
{
    return ctrl->ring.req_prod_pvt - ctrl->ring.rsp_cons;
}

static struct XnCtrlRecord *find_pending(struct XnCtrl *ctrl, uint16_t id)
{
    for (unsigned int i = 0; i < XN_CTRL_SLOTS; i++) {
        if (ctrl->records[i].pending && ctrl->records[i].id == id) {
            return &ctrl->records[i];
        }
    }
    return NULL;
}

/* Slots become free by responses, records by the right ones: a backend that gives wrong ones makes
 * the oldest records be used again. */
static struct XnCtrlRecord *free_record(struct XnCtrl *ctrl)
{
    for (unsigned int i = 0; i < XN_CTRL_SLOTS; i++) {
        if (!ctrl->records[i].pending) {
            return &ctrl->records[i];
        }
    }
    return &ctrl->records[ctrl->ring.req_prod_pvt % XN_CTRL_SLOTS];
}

uint16_t ctrl_queue(struct XnCtrl *ctrl, const struct xen_netif_ctrl_request *request)
{
    struct XnCtrlRecord *record = free_record(ctrl);
    RING_IDX index = ctrl->ring.req_prod_pvt++;
    struct xen_netif_ctrl_request *written = &ctrl->written[index % XN_CTRL_SLOTS];

    do {
        ctrl->next_id += ID_STEP;
    } while (find_pending(ctrl, ctrl->next_id));
    *record = (struct XnCtrlRecord){ctrl->next_id, request->type, true};
    *written = *request;
    written->id = ctrl->next_id;
    *RING_GET_REQUEST(&ctrl->ring, index) = *written;
    ctrl->counters.requests++;
    return ctrl->next_id;
}

bool ctrl_push(struct XnCtrl *ctrl)
{
    int notify;

    if (ctrl->ring.req_prod_pvt == ctrl->sring->req_prod) {
        return false;
    }
    RING_PUSH_REQUESTS_AND_CHECK_NOTIFY(&ctrl->ring, notify);
    return notify;
}

int ctrl_take(struct XnCtrl *ctrl, struct xen_netif_ctrl_response *response)
{
    RING_IDX produced = ctrl->sring->rsp_prod;
    uint8_t slot[sizeof(struct xen_netif_ctrl_request)];
    const uint8_t *written;
    struct XnCtrlRecord *record;

    xen_rmb();
    if (produced - ctrl->ring.rsp_cons > ctrl_unanswered(ctrl)) {
        return -1;
    }
    if (produced == ctrl->ring.rsp_cons) {
        return 0;
    }
    memcpy(slot, RING_GET_RESPONSE(&ctrl->ring, ctrl->ring.rsp_cons), sizeof(slot));
    memcpy(response, slot, sizeof(*response));
    written = (const uint8_t *)&ctrl->written[ctrl->ring.rsp_cons % XN_CTRL_SLOTS];
    ctrl->ring.rsp_cons++;
    ctrl->counters.responses++;
    ctrl->counters.dirty += memcmp(slot + TAIL_OFFSET, written + TAIL_OFFSET, TAIL_LENGTH) != 0;
    record = find_pending(ctrl, response->id);
    if (!record) {
        ctrl->counters.wrong_id++;
        return 1;
    }
    ctrl->counters.wrong_type += response->type != record->type;
    record->pending = false;
    return 1;
}

bool ctrl_arm(struct XnCtrl *ctrl)
{
    int more;

    RING_FINAL_CHECK_FOR_RESPONSES(&ctrl->ring, more);
    return more;
}

bool ctrl_spare_ref(struct XnCtrl *ctrl, unsigned int index, bool readonly, uint32_t *ref,
                    struct XnFailure *failure)
{
    uint8_t **pages = readonly ? &ctrl->readonly : &ctrl->spare;
    uint32_t *refs = readonly ? ctrl->readonly_refs : ctrl->spare_refs;
    unsigned int count = readonly ? XN_CTRL_READONLY_PAGES : XN_CTRL_SPARE_PAGES;

    if (index >= count) {
        return fail(failure, "there are only %u such pages", count);
    }
    if (!*pages) {
        *pages = xengntshr_share_pages(ctrl->gntshr, ctrl->backend, count, refs, !readonly);
    }
    if (!*pages) {
        return fail_errno(failure, "cannot share %u pages with domain %u", count, ctrl->backend);
    }
    *ref = refs[index];
    return true;
}

uint64_t ctrl_violations(const struct XnCtrlCounters *counters)
{
    return counters->wrong_id + counters->wrong_type + counters->dirty;
}
