/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake-guest.h - a guest in the memory of a unit test: rings, pages by reference, a network
 *
 * The queue under test is the real one. Grants are an array of pages, events are counted, and the
 * port's descriptor is one end of a socket pair that keeps frames apart, so that a full port and
 * an empty one happen by themselves. Real grants are the business of tests/contract and tests/sim.
 */
#ifndef XN_TESTS_UNIT_DATA_FAKE_GUEST_H
#define XN_TESTS_UNIT_DATA_FAKE_GUEST_H

#include <errno.h>
#include <glib.h>
#include <linux/virtio_net.h>
#include <sys/socket.h>
#include <unistd.h>

#include "data/neighbours.h"
#include "data/queue-private.h"

#ifndef FAKE_PAGES
#define FAKE_PAGES 512u
#endif
#define FAKE_DOMID 7u
#define FAKE_FRAME_ROOM (XN_FRAME_MAX + sizeof(struct virtio_net_hdr))

#define FAKE_GUESTS 3u

struct FakeGuest {
    uint32_t domid;
    uint8_t pages[FAKE_PAGES][XN_PAGE_SIZE];
    uint8_t guest_tx_page[XN_PAGE_SIZE] __attribute__((aligned(4096)));
    uint8_t guest_rx_page[XN_PAGE_SIZE] __attribute__((aligned(4096)));
    netif_tx_front_ring_t guest_tx;
    netif_rx_front_ring_t guest_rx;
    struct XnQueueCounters counters;
    struct XnJournal journal;
    struct XnVifMemory memory;
    struct XnVifShared shared;
    struct XnPortQueue port;
    int network;
    struct XnQueue *queue;
    struct XnTurn *turn;
};

/* What the fake grants and events do; one test at a time. */
static struct {
    /* by domid - FAKE_DOMID */
    struct FakeGuest *guests[FAKE_GUESTS];
    /* the call fails as a whole */
    bool call_fails;
    /* segments with this index in their call fail; -1 for none */
    int failing_segment;
    /* called at the start of each copy call, for guests that write at the wrong moment */
    void (*during_copy)(void);
    unsigned calls;
    unsigned segments;
    unsigned notifies;
} fake;

/* Where one end of a segment is; NULL for a bad reference. */
static uint8_t *fake_end(const union xengnttab_copy_ptr *end, bool foreign, uint32_t length)
{
    uint32_t guest = end->foreign.domid - FAKE_DOMID;
    uint32_t offset = foreign ? end->foreign.offset : (uintptr_t)end->virt % XN_PAGE_SIZE;

    g_assert_cmpuint(offset + length, <=, XN_PAGE_SIZE);
    if (!foreign) {
        return end->virt;
    }
    g_assert_cmpuint(guest, <, FAKE_GUESTS);
    g_assert_nonnull(fake.guests[guest]);
    return end->foreign.ref < FAKE_PAGES ? fake.guests[guest]->pages[end->foreign.ref] + offset
                                         : NULL;
}

bool gnttab_copy(struct XnGnttab *gnttab, XnCopySegment *segments, uint32_t count)
{
    (void)gnttab;
    fake.calls++;
    if (fake.during_copy) {
        fake.during_copy();
    }
    for (uint32_t i = 0; i < count; i++) {
        XnCopySegment *segment = &segments[i];
        uint8_t *from =
            fake_end(&segment->source, segment->flags & GNTCOPY_source_gref, segment->len);
        uint8_t *to = fake_end(&segment->dest, segment->flags & GNTCOPY_dest_gref, segment->len);

        g_assert_cmpuint(segment->flags, !=, 0);
        g_assert_cmpuint(segment->len, >, 0);
        fake.segments++;
        if (fake.call_fails || (int)i == fake.failing_segment || !from || !to) {
            segment->status = GNTST_bad_gntref;
            continue;
        }
        memcpy(to, from, segment->len);
        segment->status = GNTST_okay;
    }
    return !fake.call_fails;
}

uint32_t gnttab_self_grant_ref(const struct XnSelfGrant *grant, uint32_t index)
{
    (void)grant;
    (void)index;
    g_assert_not_reached();
}

struct XnSelfGrant *gnttab_self_grant(uint32_t domid, uint32_t count, GError **error)
{
    (void)domid;
    (void)count;
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "there is no gntalloc here");
    return NULL;
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
    (void)channel;
    fake.notifies++;
}

/* Another guest of the same kind, served by the same turn. */
static inline struct FakeGuest *fake_guest_add(uint32_t index, struct XnTurn *turn)
{
    struct FakeGuest *guest = aligned_alloc(XN_PAGE_SIZE, sizeof(*guest));
    struct XnQueueConfig config = {
        .domid = FAKE_DOMID + index,
        .guest_tx_channel = 1,
        .guest_rx_channel = 2,
        .features = {.sg = true,
                     .gso_tcpv4 = true,
                     .gso_tcpv6 = true,
                     .csum_ipv4 = true,
                     .csum_ipv6 = true},
    };
    netif_tx_sring_t *guest_tx_shared;
    netif_rx_sring_t *guest_rx_shared;
    int sockets[2], room = 4 * 1024 * 1024;

    g_assert_nonnull(guest);
    memset(guest, 0, sizeof(*guest));
    guest->domid = FAKE_DOMID + index;
    fake.guests[index] = guest;
    guest_tx_shared = (void *)guest->guest_tx_page;
    guest_rx_shared = (void *)guest->guest_rx_page;
    SHARED_RING_INIT(guest_tx_shared);
    SHARED_RING_INIT(guest_rx_shared);
    FRONT_RING_INIT(&guest->guest_tx, guest_tx_shared, XN_PAGE_SIZE);
    FRONT_RING_INIT(&guest->guest_rx, guest_rx_shared, XN_PAGE_SIZE);
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets),
                    ==, 0);
    setsockopt(sockets[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    guest->port.fd = sockets[0];
    guest->network = sockets[1];
    config.guest_tx_page = guest->guest_tx_page;
    config.guest_rx_page = guest->guest_rx_page;
    config.port = &guest->port;
    config.counters = &guest->counters;
    config.journal = &guest->journal;
    config.shared = &guest->shared;
    guest->shared.memory = &guest->memory;
    hash_init(&guest->memory.hash, 1);
    guest->queue = queue_create(&config, NULL);
    g_assert_nonnull(guest->queue);
    guest->turn = turn;
    return guest;
}

/* A guest with empty rings that takes every offload, and a queue attached to them. */
static struct FakeGuest *fake_guest_new(void)
{
    struct XnTurn *turn = g_new0(struct XnTurn, 1);

    memset(&fake, 0, sizeof(fake));
    fake.failing_segment = -1;
    turn->pool = buffer_pool_create(XN_BUFFERS_PLAIN, 0, NULL);
    g_assert_nonnull(turn->pool);
    turn->copies.pool = turn->pool;
    turn->neighbours = neighbours_create();
    return fake_guest_add(0, turn);
}

/* The process dies and another one adopts the queue with the journal. */
static inline void fake_guest_adopt(struct FakeGuest *guest)
{
    struct XnQueueConfig config = guest->queue->config;

    config.adopted = true;
    config.journal_adopted = true;
    queue_destroy(guest->queue);
    guest->queue = queue_create(&config, NULL);
    g_assert_nonnull(guest->queue);
    guest->queue->guest_tx_ready = true;
    guest->queue->guest_rx_ready = true;
    guest->queue->port_drained = false;
}

/* The guest makes its page `ref` a static grant of the queue. */
static inline void fake_guest_add_static(struct FakeGuest *guest, struct XnStaticPages *table,
                                         uint32_t ref, uint16_t flags)
{
    struct xen_netif_gref entry = {.ref = ref, .flags = flags};
    uint16_t index;

    g_assert_true(static_grant_add(&table->grants, (const uint8_t *)&entry, 1, &index));
    table->pages[index] = guest->pages[ref];
    queue_set_static_pages(guest->queue, table);
}

static inline struct XnStaticPages *fake_static_pages_new(void)
{
    struct XnStaticPages *table = g_new0(struct XnStaticPages, 1);

    static_grant_init(&table->grants, FAKE_PAGES, 1);
    return table;
}

static void fake_guest_free(struct FakeGuest *guest)
{
    queue_destroy(guest->queue);
    if (guest->domid == FAKE_DOMID) {
        neighbours_destroy(guest->turn->neighbours);
        buffer_pool_destroy(guest->turn->pool);
        g_free(guest->turn);
    }
    close(guest->port.fd);
    close(guest->network);
    free(guest);
}

/* A byte that depends on where it stands and on which frame it is in. */
static inline uint8_t fake_byte(uint32_t seed, uint32_t position)
{
    return (uint8_t)(seed * 31u + position * 7u + (position >> 8));
}

#endif
