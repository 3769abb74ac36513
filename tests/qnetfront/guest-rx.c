/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest-rx.c - the consumer of the guest_rx ring (backend to guest) */
#include "guest-rx.h"

#define FLAGS_KNOWN \
    (NETRXF_data_validated | NETRXF_csum_blank | NETRXF_more_data | NETRXF_extra_info)
#define FLAGS_FIRST_SLOT_ONLY (NETRXF_data_validated | NETRXF_csum_blank | NETRXF_extra_info)

_Static_assert(sizeof(netif_rx_request_t) == 8 && sizeof(netif_rx_response_t) == 8,
               "netif.h: a guest_rx slot is 8 bytes both ways");

static uint8_t *page_data(const struct XnGuestRx *guest_rx, unsigned int page)
{
    return guest_rx->pages + page * (size_t)XN_PAGE_SIZE;
}

static uint8_t page_canary(unsigned int page)
{
    return 0xa5 ^ page;
}

static void queue_page(struct XnGuestRx *guest_rx, unsigned int page)
{
    RING_IDX index = guest_rx->ring.req_prod_pvt++;
    netif_rx_request_t *request = RING_GET_REQUEST(&guest_rx->ring, index);
    uint16_t id = page | (guest_rx->small_ids ? 0 : guest_rx->generation++ << 8);

    guest_rx->posted_page[index % XN_RING_SLOTS] = page;
    guest_rx->posted_id[index % XN_RING_SLOTS] = id;
    request->id = id;
    request->pad = 0;
    request->gref = guest_rx->refs[page];
}

bool guest_rx_open(struct XnGuestRx *guest_rx, xengntshr_handle *gntshr, uint32_t backend,
                   unsigned int buffers, bool canary, struct XnFailure *failure)
{
    guest_rx->gntshr = gntshr;
    guest_rx->buffers = buffers;
    guest_rx->canary = canary;
    guest_rx->held_count = 0;
    guest_rx->sring = xengntshr_share_pages(gntshr, backend, 1, &guest_rx->ring_ref, 1);
    if (!guest_rx->sring) {
        return fail_errno(failure, "cannot share a guest_rx ring with domain %u", backend);
    }
    SHARED_RING_INIT(guest_rx->sring);
    FRONT_RING_INIT(&guest_rx->ring, guest_rx->sring, XN_PAGE_SIZE);
    if (!buffers) {
        return true;
    }
    guest_rx->pages = xengntshr_share_pages(gntshr, backend, buffers, guest_rx->refs, 1);
    if (!guest_rx->pages) {
        fail_errno(failure, "cannot share %u guest_rx pages with domain %u", buffers, backend);
        guest_rx_close(guest_rx);
        return false;
    }
    for (unsigned int page = 0; page < buffers; page++) {
        memset(page_data(guest_rx, page), canary ? page_canary(page) : 0, XN_PAGE_SIZE);
        queue_page(guest_rx, page);
    }
    RING_PUSH_REQUESTS(&guest_rx->ring);
    return true;
}

void guest_rx_close(struct XnGuestRx *guest_rx)
{
    if (guest_rx->pages) {
        xengntshr_unshare(guest_rx->gntshr, guest_rx->pages, guest_rx->buffers);
        guest_rx->pages = NULL;
    }
    if (guest_rx->sring) {
        xengntshr_unshare(guest_rx->gntshr, guest_rx->sring, 1);
        guest_rx->sring = NULL;
    }
}

unsigned int guest_rx_slots_needed(uint32_t length, unsigned int extras)
{
    return (length + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE + extras;
}

/* Number of slots of the packet that begins at the first unread answer, 0 if its end is not
 * published yet. Reads each slot by itself: what is judged later is read again, once. */
static unsigned int find_packet(const struct XnGuestRx *guest_rx, unsigned int available)
{
    bool extra = false;
    bool more = true;

    for (unsigned int i = 0; i < available; i++) {
        const netif_rx_response_t *slot =
            RING_GET_RESPONSE(&guest_rx->ring, guest_rx->ring.rsp_cons + i);

        if (extra) {
            netif_extra_info_t info;

            memcpy(&info, slot, sizeof(info));
            extra = info.flags & XEN_NETIF_EXTRA_FLAG_MORE;
        } else {
            /* Linux reads extras after the first slot only, and so does this. */
            extra = i == 0 && slot->flags & NETRXF_extra_info;
            more = slot->flags & NETRXF_more_data;
        }
        if (!extra && !more) {
            return i + 1;
        }
    }
    return 0;
}

static void check_canary(struct XnGuestRx *guest_rx, unsigned int page, unsigned int from,
                         unsigned int length)
{
    const uint8_t *data = page_data(guest_rx, page);
    uint8_t expected = page_canary(page);
    unsigned int after = from + length;

    for (unsigned int i = 0; i < from; i++) {
        if (data[i] != expected) {
            guest_rx->counters.canary++;
            return;
        }
    }
    if (after < XN_PAGE_SIZE &&
        (data[after] != expected ||
         memcmp(data + after, data + after + 1, XN_PAGE_SIZE - after - 1) != 0)) {
        guest_rx->counters.canary++;
    }
}

static bool take_gso(const netif_extra_info_t *info, struct XnFrameMeta *meta)
{
    bool known = info->u.gso.type == XEN_NETIF_GSO_TYPE_TCPV4 ||
                 info->u.gso.type == XEN_NETIF_GSO_TYPE_TCPV6;
    bool twice = meta->gso_size;

    meta->gso_type = info->u.gso.type;
    meta->gso_size = info->u.gso.size;
    return known && !twice && info->u.gso.size && !info->u.gso.pad && !info->u.gso.features;
}

static bool take_hash(const netif_extra_info_t *info, struct XnFrameMeta *meta)
{
    const uint8_t *value = info->u.hash.value;
    bool twice = meta->hash.found;

    meta->hash.found = true;
    meta->hash.type = info->u.hash.type;
    meta->hash.value = value[0] | value[1] << 8 | value[2] << 16 | (uint32_t)value[3] << 24;
    return !twice && info->u.hash.algorithm == XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ &&
           info->u.hash.type <= _XEN_NETIF_CTRL_HASH_TYPE_IPV6_TCP;
}

/* Linux's extension: netif.h has no name for it. */
static bool take_headroom(const netif_extra_info_t *info, struct XnGuestRxPacket *packet)
{
    uint16_t word[3]; /* headroom, padding */
    bool twice = packet->headroom;

    memcpy(word, &info->u, sizeof(word));
    packet->headroom = word[0];
    return !twice && word[0] && !word[1] && !word[2];
}

/* Reads one extra; returns whether another follows. */
static bool take_extra(struct XnGuestRx *guest_rx, const netif_rx_response_t *slot,
                       struct XnGuestRxPacket *packet)
{
    netif_extra_info_t info;
    bool good = false;

    memcpy(&info, slot, sizeof(info));
    packet->extras++;
    if (info.type == XEN_NETIF_EXTRA_TYPE_GSO) {
        good = take_gso(&info, &packet->meta);
    } else if (info.type == XEN_NETIF_EXTRA_TYPE_HASH) {
        good = take_hash(&info, &packet->meta);
    } else if (info.type == XN_EXTRA_TYPE_XDP) {
        good = take_headroom(&info, packet);
    }
    if (!good) {
        guest_rx->counters.wrong_extra++;
        packet->bad = true;
    }
    if (info.flags & ~XEN_NETIF_EXTRA_FLAG_MORE) {
        guest_rx->counters.wrong_extra++;
    }
    return info.flags & XEN_NETIF_EXTRA_FLAG_MORE;
}

static void take_data(struct XnGuestRx *guest_rx, const netif_rx_response_t *response,
                      unsigned int page, struct XnGuestRxPacket *packet)
{
    struct XnGuestRxCounters *counters = &guest_rx->counters;
    struct XnGuestRxPart *part = &packet->part[packet->parts];

    if (response->status < 0) {
        counters->errors++;
        packet->bad = true;
        return;
    }
    if (response->status == 0 || response->offset + response->status > XN_PAGE_SIZE ||
        packet->parts == XN_GUEST_RX_PARTS) {
        counters->wrong_size++;
        packet->bad = true;
        return;
    }
    if (guest_rx->canary) {
        check_canary(guest_rx, page, response->offset, response->status);
    }
    /* Only the first slot may begin behind headroom. */
    counters->wrong_headroom += response->offset != (packet->parts ? 0 : guest_rx->headroom);
    counters->slots_unfilled +=
        response->flags & NETRXF_more_data && response->offset + response->status != XN_PAGE_SIZE;
    part->data = page_data(guest_rx, page) + response->offset;
    part->length = response->status;
    packet->parts++;
    packet->length += part->length;
}

static bool flags_legal(uint16_t flags, bool first)
{
    if (flags & ~FLAGS_KNOWN || (!first && flags & FLAGS_FIRST_SLOT_ONLY)) {
        return false;
    }
    /* Windows frontends assert this. */
    return !(flags & NETRXF_csum_blank) || flags & NETRXF_data_validated;
}

static void take_packet(struct XnGuestRx *guest_rx, unsigned int slots,
                        struct XnGuestRxPacket *packet)
{
    struct XnGuestRxCounters *counters = &guest_rx->counters;
    bool extra = false;

    for (unsigned int i = 0; i < slots; i++) {
        RING_IDX index = guest_rx->ring.rsp_cons++;
        unsigned int page = guest_rx->posted_page[index % XN_RING_SLOTS];
        netif_rx_response_t response = *RING_GET_RESPONSE(&guest_rx->ring, index);

        packet->page[packet->slots++] = page;
        if (extra) {
            extra = take_extra(guest_rx, &response, packet);
            if (guest_rx->canary) {
                check_canary(guest_rx, page, 0, 0);
            }
            continue;
        }
        counters->wrong_id += response.id != guest_rx->posted_id[index % XN_RING_SLOTS];
        counters->wrong_flags += !flags_legal(response.flags, i == 0);
        if (i == 0) {
            packet->meta.csum_blank = response.flags & NETRXF_csum_blank;
            packet->meta.data_validated = response.flags & NETRXF_data_validated;
            extra = response.flags & NETRXF_extra_info;
        }
        take_data(guest_rx, &response, page, packet);
    }
}

int guest_rx_receive(struct XnGuestRx *guest_rx, struct XnGuestRxPacket *packet)
{
    struct XnGuestRxCounters *counters = &guest_rx->counters;
    unsigned int available = guest_rx->sring->rsp_prod - guest_rx->ring.rsp_cons;
    unsigned int slots;

    if (available > guest_rx->ring.req_prod_pvt - guest_rx->ring.rsp_cons) {
        return -1;
    }
    if (!available) {
        return 0;
    }
    xen_rmb();
    slots = find_packet(guest_rx, available);
    if (!slots) {
        counters->partial++;
        return 0;
    }
    packet->parts = packet->slots = packet->extras = 0;
    packet->length = packet->headroom = 0;
    packet->bad = false;
    packet->meta = (struct XnFrameMeta){0};
    take_packet(guest_rx, slots, packet);
    counters->packets++;
    counters->bytes += packet->length;
    counters->slots += packet->slots;
    counters->extras += packet->extras;
    counters->wrong_headroom += packet->headroom != guest_rx->headroom;
    counters->slots_excess +=
        !packet->bad &&
        packet->slots != guest_rx_slots_needed(packet->headroom + packet->length, packet->extras);
    if (packet->slots > counters->slots_most) {
        counters->slots_most = packet->slots;
    }
    if (packet->length > counters->length_most) {
        counters->length_most = packet->length;
    }
    return 1;
}

void guest_rx_repost(struct XnGuestRx *guest_rx, const struct XnGuestRxPacket *packet)
{
    for (unsigned int i = 0; i < packet->slots; i++) {
        unsigned int page = packet->page[i];

        if (guest_rx->canary) {
            memset(page_data(guest_rx, page), page_canary(page), XN_PAGE_SIZE);
        }
        guest_rx->held[guest_rx->held_count++] = page;
    }
    if (guest_rx->held_count >= guest_rx->refill) {
        while (guest_rx->held_count) {
            queue_page(guest_rx, guest_rx->held[--guest_rx->held_count]);
        }
    }
}

bool guest_rx_push(struct XnGuestRx *guest_rx)
{
    int notify;

    if (guest_rx->ring.req_prod_pvt == guest_rx->sring->req_prod) {
        return false;
    }
    RING_PUSH_REQUESTS_AND_CHECK_NOTIFY(&guest_rx->ring, notify);
    guest_rx->counters.pushes++;
    return notify;
}

bool guest_rx_arm(struct XnGuestRx *guest_rx)
{
    int more;

    RING_FINAL_CHECK_FOR_RESPONSES(&guest_rx->ring, more);
    return more;
}

uint64_t guest_rx_violations(const struct XnGuestRxCounters *counters)
{
    return counters->slots_excess + counters->slots_unfilled + counters->errors +
           counters->wrong_id + counters->wrong_flags + counters->wrong_size +
           counters->wrong_extra + counters->wrong_headroom + counters->canary + counters->partial;
}
