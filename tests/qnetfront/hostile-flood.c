/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostile-flood.c - attacks that go on for a while: events, bad packets, a ring that is rewritten
 */
#include "hostile.h"

#define GREF_BAD 60000u
#define FRAME_BYTES 64
/* The most slots that one round of act_packets queues. */
#define ROUND_SLOTS 20
/* Rewrites between two looks at the clock and at the backend's state. */
#define REWRITES 1000

static struct XnFrontendQueue *queue_of(struct XnHostileRun *run)
{
    return &run->frontend->queues[0];
}

static void notify(struct XnHostileRun *run)
{
    xenevtchn_notify(run->frontend->evtchn, queue_of(run)->evtchn_guest_tx);
    xenevtchn_notify(run->frontend->evtchn, queue_of(run)->evtchn_guest_rx);
}

/* Events with nothing to do, for @argument milliseconds. */
static void act_events(struct XnHostileRun *run, int64_t argument)
{
    uint64_t end = clock_ms() + (uint64_t)argument;

    while (clock_ms() < end && !xn_stop_requested) {
        for (unsigned int i = 0; i < REWRITES; i++) {
            notify(run);
        }
    }
}

/* @count slots of @size bytes each in a packet of @total. */
static void put_packet(struct XnHostileRun *run, unsigned int count, uint32_t gref, uint16_t total,
                       uint16_t size)
{
    for (unsigned int i = 0; i < count; i++) {
        netif_tx_request_t request = {
            .gref = gref,
            .id = i,
            .size = i ? size : total,
            .flags = i + 1 < count ? NETTXF_more_data : 0,
        };

        guest_tx_queue_raw(&queue_of(run)->guest_tx, &request, false, i + 1 == count);
    }
}

/* @argument packets, all that a backend answers with an error and one that is good in turn. */
static void act_packets(struct XnHostileRun *run, int64_t argument)
{
    struct XnGuestTx *guest_tx = &queue_of(run)->guest_tx;
    uint32_t good = guest_tx->refs[0];

    for (int64_t i = 0; i < argument && !xn_stop_requested && frontend_alive(run->frontend);) {
        if (guest_tx_reap(guest_tx) < 0) {
            run->broken_ring = true;
            return;
        }
        if (guest_tx_room(guest_tx) < ROUND_SLOTS) {
            frontend_push_guest_tx(run->frontend, queue_of(run));
            if (!guest_tx_arm(guest_tx)) {
                frontend_wait(run->frontend, -1, 0, 100);
            }
            continue;
        }
        switch (i++ % 6) {
        case 0:
            put_packet(run, 1, good, 13, 0);
            break;
        case 1:
            put_packet(run, 20, good, 2000, 100);
            break;
        case 2:
            put_packet(run, 1, GREF_BAD, FRAME_BYTES, 0);
            break;
        case 3:
            put_packet(run, 2, good, FRAME_BYTES, 2000);
            break;
        case 4:
            put_packet(run, 17, good, (uint16_t)(17 * XN_PAGE_SIZE), XN_PAGE_SIZE);
            break;
        default:
            put_packet(run, 1, good, FRAME_BYTES, 0);
            break;
        }
    }
    frontend_push_guest_tx(run->frontend, queue_of(run));
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/*
 * Makes requests visible and changes them while the backend reads them, for @argument milliseconds
 * (XSA-155). With `gently`, what it finds is always well-formed, so the backend has no reason to
 * stop.
 */
static void rewrite(struct XnHostileRun *run, int64_t argument, bool gently)
{
    static const uint16_t wild[] = {0, 1, 13, 14, 64, 4095, 4096, 4097, 8192, 65535};
    static const uint16_t tame[] = {0, 13, 14, 64, 1500, 4096};
    struct XnGuestTx *guest_tx = &queue_of(run)->guest_tx;
    netif_tx_sring_t *sring = guest_tx->sring;
    uint64_t end = clock_ms() + (uint64_t)argument;
    uint32_t random = run->options->seed;
    RING_IDX produced = sring->req_prod;

    run->broken_ring = true;
    for (unsigned int i = 0; i < XN_RING_SLOTS; i++) {
        sring->ring[i].req = (netif_tx_request_t){.gref = guest_tx->refs[i], .size = FRAME_BYTES};
    }
    while (clock_ms() < end && !xn_stop_requested && frontend_alive(run->frontend)) {
        /* Always further, and never beyond what is answered. */
        produced += next_random(&random) % (sring->rsp_prod + XN_RING_SLOTS - produced + 1);
        sring->req_prod = produced;
        xen_wmb();
        notify(run);
        for (unsigned int i = 0; i < REWRITES; i++) {
            unsigned int slot = next_random(&random) % XN_RING_SLOTS;
            volatile netif_tx_request_t *request = &sring->ring[slot].req;

            if (gently) {
                request->flags = next_random(&random) & (NETTXF_csum_blank | NETTXF_data_validated);
                request->offset = 0;
                request->size = tame[next_random(&random) % (sizeof(tame) / sizeof(*tame))];
            } else {
                request->flags = next_random(&random);
                request->offset = wild[next_random(&random) % (sizeof(wild) / sizeof(*wild))];
                request->size = wild[next_random(&random) % (sizeof(wild) / sizeof(*wild))];
            }
            request->gref = next_random(&random) % 4 ? guest_tx->refs[slot] : GREF_BAD;
        }
        frontend_wait(run->frontend, -1, 0, 0);
    }
}

static void act_rewrite(struct XnHostileRun *run, int64_t argument)
{
    rewrite(run, argument, false);
}

static void act_rewrite_gently(struct XnHostileRun *run, int64_t argument)
{
    rewrite(run, argument, true);
}

const struct XnHostileAttack hostile_flood_attacks[] = {
    {"event-flood", "events with nothing to do for 2 s", XN_HOSTILE_SERVE, true, act_events, 2000},
    {"packet-flood", "60000 packets of every kind of error", XN_HOSTILE_ERROR, true, act_packets,
     60000},
    {"rewritten", "requests that change while they are read", XN_HOSTILE_LIVE, true, act_rewrite,
     300},
    {"rewritten-gently", "the same, but always well-formed", XN_HOSTILE_SERVE, true,
     act_rewrite_gently, 300},
};

const unsigned int hostile_flood_attacks_count =
    sizeof(hostile_flood_attacks) / sizeof(*hostile_flood_attacks);
