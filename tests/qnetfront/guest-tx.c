/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest-tx.c - the producer of the guest_tx ring (guest to backend) */
#include "guest-tx.h"

/* Bytes of a ring slot that an answer does not use. */
#define TAIL_OFFSET sizeof(netif_tx_response_t)
#define TAIL_LENGTH (sizeof(netif_tx_request_t) - sizeof(netif_tx_response_t))

_Static_assert(sizeof(netif_tx_request_t) == 12 && sizeof(netif_tx_response_t) == 4,
               "netif.h: a guest_tx slot is 12 bytes, its answer 4");
_Static_assert(sizeof(netif_extra_info_t) == 8, "netif.h: an extra is 8 bytes");

bool guest_tx_open(struct XnGuestTx *guest_tx, xengntshr_handle *gntshr, uint32_t backend,
                   struct XnFailure *failure)
{
    guest_tx->gntshr = gntshr;
    guest_tx->sring = xengntshr_share_pages(gntshr, backend, 1, &guest_tx->ring_ref, 1);
    if (!guest_tx->sring) {
        return fail_errno(failure, "cannot share a guest_tx ring with domain %u", backend);
    }
    SHARED_RING_INIT(guest_tx->sring);
    FRONT_RING_INIT(&guest_tx->ring, guest_tx->sring, XN_PAGE_SIZE);
    guest_tx->pages = xengntshr_share_pages(gntshr, backend, XN_RING_SLOTS, guest_tx->refs, 0);
    if (!guest_tx->pages) {
        fail_errno(failure, "cannot share %d guest_tx pages with domain %u", XN_RING_SLOTS,
                   backend);
        guest_tx_close(guest_tx);
        return false;
    }
    for (unsigned int i = 0; i < XN_RING_SLOTS; i++) {
        guest_tx->free_pages[i] = XN_RING_SLOTS - 1 - i;
    }
    guest_tx->free_count = XN_RING_SLOTS;
    guest_tx->packet_bad = false;
    return true;
}

void guest_tx_close(struct XnGuestTx *guest_tx)
{
    if (guest_tx->pages) {
        xengntshr_unshare(guest_tx->gntshr, guest_tx->pages, XN_RING_SLOTS);
        guest_tx->pages = NULL;
    }
    if (guest_tx->sring) {
        xengntshr_unshare(guest_tx->gntshr, guest_tx->sring, 1);
        guest_tx->sring = NULL;
    }
}

unsigned int guest_tx_room(const struct XnGuestTx *guest_tx)
{
    unsigned int slots = RING_FREE_REQUESTS(&guest_tx->ring);

    if (guest_tx->limit) {
        unsigned int under_way = guest_tx_unanswered(guest_tx);
        unsigned int left = under_way < guest_tx->limit ? guest_tx->limit - under_way : 0;

        slots = slots < left ? slots : left;
    }
    /* Extras take a slot but no page, so pages never run out first; a hostile mode's might. */
    return slots < guest_tx->free_count ? slots : guest_tx->free_count;
}

unsigned int guest_tx_unanswered(const struct XnGuestTx *guest_tx)
{
    return guest_tx->ring.req_prod_pvt - guest_tx->ring.rsp_cons;
}

uint8_t *guest_tx_next_page(const struct XnGuestTx *guest_tx, unsigned int index)
{
    unsigned int page = guest_tx->free_pages[guest_tx->free_count - 1 - index];

    return guest_tx->pages + page * (size_t)XN_PAGE_SIZE;
}

static struct XnGuestTxRecord *put_slot(struct XnGuestTx *guest_tx, const void *bytes, size_t size)
{
    RING_IDX index = guest_tx->ring.req_prod_pvt++;
    struct XnGuestTxRecord *record = &guest_tx->records[index % XN_RING_SLOTS];
    netif_tx_request_t *slot = RING_GET_REQUEST(&guest_tx->ring, index);

    memset(record, 0, sizeof(*record));
    memcpy(&record->request, bytes, size);
    memcpy(slot, &record->request, sizeof(*slot));
    record->page = -1;
    guest_tx->counters.slots++;
    return record;
}

static void put_extra(struct XnGuestTx *guest_tx, netif_extra_info_t extra, bool more)
{
    extra.flags = more ? XEN_NETIF_EXTRA_FLAG_MORE : 0;
    put_slot(guest_tx, &extra, sizeof(extra))->extra = true;
    guest_tx->counters.extras++;
}

static bool has_extras(const struct XnFrameMeta *meta)
{
    return meta->gso_size || meta->hash.found;
}

static void put_extras(struct XnGuestTx *guest_tx, const struct XnFrameMeta *meta)
{
    netif_extra_info_t extra;

    if (meta->gso_size) {
        extra = (netif_extra_info_t){.type = XEN_NETIF_EXTRA_TYPE_GSO};
        extra.u.gso.size = meta->gso_size;
        extra.u.gso.type = meta->gso_type;
        put_extra(guest_tx, extra, meta->hash.found);
    }
    if (meta->hash.found) {
        extra = (netif_extra_info_t){.type = XEN_NETIF_EXTRA_TYPE_HASH};
        extra.u.hash.type = meta->hash.type;
        extra.u.hash.algorithm = XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ;
        for (unsigned int i = 0; i < sizeof(extra.u.hash.value); i++) {
            extra.u.hash.value[i] = meta->hash.value >> 8 * i;
        }
        put_extra(guest_tx, extra, false);
    }
}

void guest_tx_queue(struct XnGuestTx *guest_tx, const struct XnSlot *slot, unsigned int count,
                    const struct XnFrameMeta *meta)
{
    struct XnGuestTxRecord *record = NULL;
    uint32_t total = 0;

    for (unsigned int i = 0; i < count; i++) {
        total += slot[i].size;
    }
    for (unsigned int i = 0; i < count; i++) {
        unsigned int page = guest_tx->free_pages[--guest_tx->free_count];
        netif_tx_request_t request = {
            .gref = guest_tx->refs[page],
            .offset = slot[i].offset,
            .id = page | (guest_tx->small_ids ? 0 : guest_tx->generation++ << 8),
            /* The first slot tells the size of the whole packet. */
            .size = i ? slot[i].size : total,
            .flags = i + 1 < count ? NETTXF_more_data : 0,
        };

        if (i == 0) {
            request.flags |= meta->csum_blank ? NETTXF_csum_blank : 0;
            request.flags |= meta->data_validated ? NETTXF_data_validated : 0;
            request.flags |= has_extras(meta) ? NETTXF_extra_info : 0;
        }
        record = put_slot(guest_tx, &request, sizeof(request));
        record->page = page;
        if (i == 0) {
            put_extras(guest_tx, meta);
        }
    }
    /* A packet of one slot ends with its extra. */
    guest_tx->records[(guest_tx->ring.req_prod_pvt - 1) % XN_RING_SLOTS].last = true;
    guest_tx->counters.packets++;
    guest_tx->counters.bytes += total;
}

void guest_tx_queue_copy(struct XnGuestTx *guest_tx, const uint8_t *frame,
                         const struct XnSlot *slot, unsigned int count,
                         const struct XnFrameMeta *meta)
{
    for (unsigned int i = 0; i < count; i++) {
        memcpy(guest_tx_next_page(guest_tx, i) + slot[i].offset, frame, slot[i].size);
        frame += slot[i].size;
    }
    guest_tx_queue(guest_tx, slot, count, meta);
}

void guest_tx_queue_raw(struct XnGuestTx *guest_tx, const netif_tx_request_t *request, bool extra,
                        bool last)
{
    struct XnGuestTxRecord *record = put_slot(guest_tx, request, sizeof(*request));

    record->extra = extra;
    record->last = last;
    guest_tx->counters.packets += last;
    guest_tx->counters.extras += extra;
}

bool guest_tx_push(struct XnGuestTx *guest_tx)
{
    int notify;

    if (guest_tx->ring.req_prod_pvt == guest_tx->sring->req_prod) {
        return false;
    }
    RING_PUSH_REQUESTS_AND_CHECK_NOTIFY(&guest_tx->ring, notify);
    guest_tx->counters.pushes++;
    return notify;
}

static void count_status(struct XnGuestTxCounters *counters, int16_t status)
{
    switch (status) {
    case NETIF_RSP_OKAY:
        counters->okay++;
        break;
    case NETIF_RSP_ERROR:
        counters->error++;
        break;
    case NETIF_RSP_DROPPED:
        counters->dropped++;
        break;
    case NETIF_RSP_NULL:
        counters->null++;
        break;
    default:
        counters->strange++;
        break;
    }
}

static void take_answer(struct XnGuestTx *guest_tx, const uint8_t *slot,
                        const struct XnGuestTxRecord *record)
{
    struct XnGuestTxCounters *counters = &guest_tx->counters;
    netif_tx_response_t response;

    memcpy(&response, slot, sizeof(response));
    count_status(counters, response.status);
    counters->wrong_null += (response.status == NETIF_RSP_NULL) != record->extra;
    counters->wrong_id += !record->extra && response.id != record->request.id;
    counters->dirty += memcmp(slot + TAIL_OFFSET, (const uint8_t *)&record->request + TAIL_OFFSET,
                              TAIL_LENGTH) != 0;
    if (!record->extra && response.status != NETIF_RSP_OKAY) {
        guest_tx->packet_bad = true;
    }
    if (record->last) {
        counters->answered++;
        counters->packets_bad += guest_tx->packet_bad;
        guest_tx->packet_bad = false;
    }
}

int guest_tx_reap(struct XnGuestTx *guest_tx)
{
    RING_IDX produced = guest_tx->sring->rsp_prod;
    unsigned int count = produced - guest_tx->ring.rsp_cons;

    xen_rmb();
    if (count > guest_tx_unanswered(guest_tx)) {
        return -1;
    }
    while (guest_tx->ring.rsp_cons != produced) {
        RING_IDX index = guest_tx->ring.rsp_cons++;
        struct XnGuestTxRecord *record = &guest_tx->records[index % XN_RING_SLOTS];

        take_answer(guest_tx, (const uint8_t *)RING_GET_RESPONSE(&guest_tx->ring, index), record);
        if (record->page >= 0) {
            guest_tx->free_pages[guest_tx->free_count++] = record->page;
            record->page = -1;
        }
    }
    return count;
}

bool guest_tx_arm(struct XnGuestTx *guest_tx)
{
    RING_IDX consumed = guest_tx->ring.rsp_cons;

    guest_tx->sring->rsp_event = consumed + guest_tx_unanswered(guest_tx) / 2 + 1;
    xen_mb();
    return guest_tx->sring->rsp_prod != consumed;
}

uint64_t guest_tx_violations(const struct XnGuestTxCounters *counters)
{
    return counters->strange + counters->wrong_id + counters->wrong_null + counters->dirty;
}
