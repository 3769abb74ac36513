/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-guest.h - a guest in the memory of a benchmark: rings, pages, and a network that costs
 * nothing
 *
 * The queue that is measured is the real one. Around it everything is as cheap as can be, so that
 * what is left is the data path's own cost: a grant copy is a look-up and memcpy, an event is
 * counted, the port takes every frame at once, and gives frames of which only the headers are
 * written. To be included by one file of a program, which is linked with libqnetback.a.
 */
#ifndef XN_TESTS_BENCH_GUEST_H
#define XN_TESTS_BENCH_GUEST_H

#include <linux/virtio_net.h>
#include <stdlib.h>

#include "data/queue-private.h"

#define BENCH_GUESTS 2u
#define BENCH_HEADERS 54u
#define BENCH_MSS 1448u
/* Frames that are larger are TCP super-frames. */
#define BENCH_MTU_FRAME 9014u

struct BenchGuest {
    /* Page i is lent by ring slot i of its direction. */
    uint8_t guest_tx_pages[XN_RING_SIZE][XN_PAGE_SIZE];
    uint8_t guest_rx_pages[XN_RING_SIZE][XN_PAGE_SIZE];
    uint8_t guest_tx_ring_page[XN_PAGE_SIZE];
    uint8_t guest_rx_ring_page[XN_PAGE_SIZE];
    uint32_t domid;
    netif_tx_front_ring_t guest_tx;
    netif_rx_front_ring_t guest_rx;
    struct XnQueueCounters counters;
    struct XnJournal journal;
    struct XnVifMemory memory;
    struct XnVifShared shared;
    struct XnStaticPages static_pages;
    /* The frame that is sent and received again and again. */
    uint32_t frame_size;
    struct virtio_net_hdr header;
    uint8_t headers[BENCH_HEADERS];
    uint64_t notifies;
    struct XnQueue *queue;
    struct XnTurn *turn;
};

static struct BenchGuest *bench_guests[BENCH_GUESTS];

/* --- what the queue is linked with in the place of Xen and of a tap --- */

/* References: 0 ... 255 are pages for guest_tx, those after them for guest_rx. */
static uint8_t *bench_page(struct BenchGuest *guest, uint32_t ref)
{
    return ref < XN_RING_SIZE ? guest->guest_tx_pages[ref]
                              : guest->guest_rx_pages[ref - XN_RING_SIZE];
}

bool gnttab_copy(struct XnGnttab *gnttab, XnCopySegment *segments, uint32_t count)
{
    (void)gnttab;
    for (uint32_t i = 0; i < count; i++) {
        XnCopySegment *segment = &segments[i];
        bool from_guest = segment->flags == GNTCOPY_source_gref;
        union xengnttab_copy_ptr *theirs = from_guest ? &segment->source : &segment->dest;
        uint8_t *page;

        if (theirs->foreign.domid >= BENCH_GUESTS || theirs->foreign.ref >= 2 * XN_RING_SIZE ||
            theirs->foreign.offset + segment->len > XN_PAGE_SIZE) {
            segment->status = GNTST_bad_gntref;
            continue;
        }
        page = bench_page(bench_guests[theirs->foreign.domid], theirs->foreign.ref) +
               theirs->foreign.offset;
        if (from_guest) {
            memcpy(segment->dest.virt, page, segment->len);
        } else {
            memcpy(page, segment->source.virt, segment->len);
        }
        segment->status = GNTST_okay;
    }
    return true;
}

uint32_t gnttab_self_grant_ref(const struct XnSelfGrant *grant, uint32_t index)
{
    (void)grant;
    (void)index;
    abort();
}

struct XnSelfGrant *gnttab_self_grant(uint32_t domid, uint32_t count, GError **error)
{
    (void)domid;
    (void)count;
    (void)error;
    abort();
}

void gnttab_self_grant_free(struct XnSelfGrant *grant)
{
    (void)grant;
}

uint8_t *gnttab_self_grant_pages(const struct XnSelfGrant *grant)
{
    (void)grant;
    return NULL;
}

int evtchn_fd(const struct XnEvtchn *evtchn)
{
    (void)evtchn;
    return -1;
}

void evtchn_notify(struct XnEvtchn *evtchn, uint32_t channel)
{
    (void)evtchn;
    bench_guests[channel]->notifies++;
}

int port_queue_send(struct XnPortQueue *queue, const struct iovec *iov, int iov_count)
{
    (void)queue;
    (void)iov;
    (void)iov_count;
    return 0;
}

/* `fd` is the number of the guest. */
ssize_t port_queue_receive(struct XnPortQueue *queue, const struct iovec *iov, int iov_count)
{
    const struct BenchGuest *guest = bench_guests[queue->fd];

    (void)iov_count;
    memcpy(iov[0].iov_base, &guest->header, sizeof(guest->header));
    memcpy(iov[1].iov_base, guest->headers, sizeof(guest->headers));
    return guest->frame_size;
}

/* --- the guest --- */

static struct XnPortQueue bench_ports[BENCH_GUESTS];

/* From now on frames have this size. */
static void bench_guest_set_frame(struct BenchGuest *guest, uint32_t size)
{
    static const uint8_t ethernet[14] = {0x00, 0x16, 0x3e, 0, 0, 1,    0x00,
                                         0x16, 0x3e, 0,    0, 2, 0x08, 0x00};
    static const uint8_t addresses[8] = {10, 0, 0, 2, 10, 0, 0, 1};
    uint8_t *h = guest->headers;
    uint32_t ip_length = size - 14;

    guest->frame_size = size;
    memset(h, 0, BENCH_HEADERS);
    memcpy(h, ethernet, sizeof(ethernet));
    h[14] = 0x45;
    h[16] = (uint8_t)(ip_length >> 8);
    h[17] = (uint8_t)ip_length;
    h[22] = 64;
    h[23] = 6;
    memcpy(h + 26, addresses, sizeof(addresses));
    h[34 + 12] = 5 << 4;
    guest->header = (struct virtio_net_hdr){
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
        .hdr_len = BENCH_HEADERS,
        .csum_start = 34,
        .csum_offset = 16,
        .gso_type = size > BENCH_MTU_FRAME ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_NONE,
        .gso_size = size > BENCH_MTU_FRAME ? BENCH_MSS : 0,
    };
    for (uint32_t i = 0; i < XN_RING_SIZE; i++) {
        memcpy(guest->guest_tx_pages[i], h, BENCH_HEADERS);
    }
}

static void *bench_alloc(size_t size)
{
    void *memory = aligned_alloc(XN_PAGE_SIZE, (size + XN_PAGE_SIZE - 1) & ~(XN_PAGE_SIZE - 1ul));

    if (!memory) {
        abort();
    }
    memset(memory, 0, size);
    return memory;
}

static struct BenchGuest *bench_guest_create(uint32_t domid, uint16_t headroom)
{
    struct BenchGuest *guest = bench_alloc(sizeof(*guest));
    struct XnQueueConfig config = {
        .domid = domid,
        .guest_tx_page = guest->guest_tx_ring_page,
        .guest_rx_page = guest->guest_rx_ring_page,
        .guest_tx_channel = domid,
        .guest_rx_channel = domid,
        .port = &bench_ports[domid],
        .counters = &guest->counters,
        .journal = &guest->journal,
        .shared = &guest->shared,
        .features = {.sg = true,
                     .gso_tcpv4 = true,
                     .gso_tcpv6 = true,
                     .csum_ipv4 = true,
                     .csum_ipv6 = true,
                     .guest_rx_headroom = headroom},
    };
    netif_tx_sring_t *guest_tx_shared = (void *)guest->guest_tx_ring_page;
    netif_rx_sring_t *guest_rx_shared = (void *)guest->guest_rx_ring_page;

    guest->domid = domid;
    bench_guests[domid] = guest;
    bench_ports[domid].fd = (int)domid;
    SHARED_RING_INIT(guest_tx_shared);
    SHARED_RING_INIT(guest_rx_shared);
    FRONT_RING_INIT(&guest->guest_tx, guest_tx_shared, XN_PAGE_SIZE);
    FRONT_RING_INIT(&guest->guest_rx, guest_rx_shared, XN_PAGE_SIZE);
    guest->shared.memory = &guest->memory;
    hash_init(&guest->memory.hash, 1);
    guest->queue = queue_create(&config, NULL);
    guest->turn = bench_alloc(sizeof(*guest->turn));
    guest->turn->pool = buffer_pool_create(XN_BUFFERS_PLAIN, 0, NULL);
    if (!guest->queue || !guest->turn->pool) {
        abort();
    }
    guest->turn->copies.pool = guest->turn->pool;
    return guest;
}

/* All pages become static grants: mapped once. */
static void bench_guest_map_all(struct BenchGuest *guest)
{
    static_grant_init(&guest->static_pages.grants, 2 * XN_RING_SIZE, 1);
    for (uint32_t ref = 0; ref < 2 * XN_RING_SIZE; ref++) {
        struct xen_netif_gref entry = {.ref = ref};
        uint16_t index;

        if (!static_grant_add(&guest->static_pages.grants, (const uint8_t *)&entry, 1, &index)) {
            abort();
        }
        guest->static_pages.pages[index] = bench_page(guest, ref);
    }
    queue_set_static_pages(guest->queue, &guest->static_pages);
}

static void bench_guest_free(struct BenchGuest *guest)
{
    queue_destroy(guest->queue);
    buffer_pool_destroy(guest->turn->pool);
    free(guest->turn);
    bench_guests[guest->domid] = NULL;
    free(guest);
}

/* Data slots of the frame, with so many bytes left free at its start. */
static inline uint32_t bench_guest_slots(const struct BenchGuest *guest, uint32_t headroom)
{
    return (headroom + guest->frame_size + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE;
}

static void bench_guest_post_extra(struct BenchGuest *guest)
{
    netif_extra_info_t *extra =
        (void *)RING_GET_REQUEST(&guest->guest_tx, guest->guest_tx.req_prod_pvt++);

    memset(extra, 0, sizeof(*extra));
    extra->type = XEN_NETIF_EXTRA_TYPE_GSO;
    extra->u.gso.size = BENCH_MSS;
    extra->u.gso.type = XEN_NETIF_GSO_TYPE_TCPV4;
}

/* Takes back what was answered, and fills the guest_tx ring with frames. */
static void bench_guest_send(struct BenchGuest *guest)
{
    netif_tx_front_ring_t *ring = &guest->guest_tx;
    uint32_t slots = bench_guest_slots(guest, 0);
    bool super = guest->header.gso_size > 0;

    ring->rsp_cons = ring->sring->rsp_prod;
    while (RING_FREE_REQUESTS(ring) >= slots + super) {
        for (uint32_t k = 0; k < slots; k++) {
            uint32_t index = ring->req_prod_pvt++;
            netif_tx_request_t *request = RING_GET_REQUEST(ring, index);
            uint32_t left = guest->frame_size - k * XN_PAGE_SIZE;

            *request = (netif_tx_request_t){
                .gref = index % XN_RING_SIZE,
                .id = (uint16_t)index,
                .size = (uint16_t)(k == 0 ? guest->frame_size : MIN(left, XN_PAGE_SIZE)),
                .flags = (uint16_t)((k + 1 < slots ? NETTXF_more_data : 0) |
                                    (k == 0 ? NETTXF_csum_blank | NETTXF_data_validated : 0) |
                                    (k == 0 && super ? NETTXF_extra_info : 0)),
            };
            if (k == 0 && super) {
                bench_guest_post_extra(guest);
            }
        }
    }
    RING_PUSH_REQUESTS(ring);
    /* As Linux's netfront: an event when half of what is under way has been answered. */
    ring->sring->rsp_event = ring->rsp_cons + (ring->req_prod_pvt - ring->rsp_cons) / 2 + 1;
    guest->queue->guest_tx_ready = true;
}

/* Takes what was received, and posts all buffers again. */
static void bench_guest_receive(struct BenchGuest *guest)
{
    netif_rx_front_ring_t *ring = &guest->guest_rx;

    ring->rsp_cons = ring->sring->rsp_prod;
    while (!RING_FULL(ring)) {
        uint32_t index = ring->req_prod_pvt++;
        netif_rx_request_t *request = RING_GET_REQUEST(ring, index);

        *request = (netif_rx_request_t){.id = (uint16_t)index,
                                        .gref = XN_RING_SIZE + index % XN_RING_SIZE};
    }
    RING_PUSH_REQUESTS(ring);
    ring->sring->rsp_event = ring->rsp_cons + 1;
    guest->queue->guest_rx_ready = true;
}

#endif
