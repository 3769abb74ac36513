/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostile-ring.c - attacks through the guest_tx and guest_rx rings of a connected vif
 *
 * Each attack queues requests by hand, in records that tell what answer belongs to them, so that
 * the account of the answers is the same as for good packets.
 */
#include "frame.h"
#include "hostile.h"

#define GREF_BAD 60000u
#define FLAG_BROKEN 0x8000 /* an undefined flag */

static uint32_t page_ref(const struct XnHostileRun *run, unsigned int page)
{
    return run->frontend->queues[0].guest_tx.refs[page];
}

static void put(struct XnHostileRun *run, netif_tx_request_t request, bool last)
{
    guest_tx_queue_raw(&run->frontend->queues[0].guest_tx, &request, false, last);
}

static void put_extra(struct XnHostileRun *run, uint8_t type, uint8_t flags, uint16_t gso_size,
                      bool last)
{
    netif_tx_request_t slot = {0};
    netif_extra_info_t extra = {.type = type, .flags = flags};

    extra.u.gso.type = XEN_NETIF_GSO_TYPE_TCPV4;
    extra.u.gso.size = gso_size;
    memcpy(&slot, &extra, sizeof(extra));
    guest_tx_queue_raw(&run->frontend->queues[0].guest_tx, &slot, true, last);
}

static void push(struct XnHostileRun *run)
{
    frontend_push_guest_tx(run->frontend, &run->frontend->queues[0]);
    xenevtchn_notify(run->frontend->evtchn, run->frontend->queues[0].evtchn_guest_tx);
}

/* A well-formed frame of @length bytes in page 0 (only what fits). */
static void prepare_frame(struct XnHostileRun *run, unsigned int length)
{
    struct XnFrameSpec spec = {.seed = run->options->seed, .length = length, .kind = XN_FRAME_UDP4};
    static uint8_t frame[XN_FRAME_MAX + 1];

    memcpy(spec.target, run->options->target, 6);
    memcpy(spec.source, run->options->source, 6);
    frame_spec_settle(&spec);
    frame_build(&spec, frame);
    for (unsigned int page = 0; page * XN_PAGE_SIZE < length; page++) {
        unsigned int left = length - page * XN_PAGE_SIZE;

        memcpy(run->frontend->queues[0].guest_tx.pages + page * XN_PAGE_SIZE,
               frame + page * XN_PAGE_SIZE, left < XN_PAGE_SIZE ? left : XN_PAGE_SIZE);
    }
}

/* The producer index moves without requests behind it, to @argument from what is answered. */
static void act_guest_tx_jump(struct XnHostileRun *run, int64_t argument)
{
    netif_tx_sring_t *sring = run->frontend->queues[0].guest_tx.sring;

    run->broken_ring = true;
    sring->req_prod = sring->rsp_prod + (uint32_t)argument;
    xen_wmb();
    xenevtchn_notify(run->frontend->evtchn, run->frontend->queues[0].evtchn_guest_tx);
}

static void act_guest_rx_jump(struct XnHostileRun *run, int64_t argument)
{
    netif_rx_sring_t *sring = run->frontend->queues[0].guest_rx.sring;

    run->broken_ring = true;
    sring->req_prod = sring->rsp_prod + (uint32_t)argument;
    xen_wmb();
    xenevtchn_notify(run->frontend->evtchn, run->frontend->queues[0].evtchn_guest_rx);
}

/* The indices that belong to the backend are its own business: ours does not read them. */
static void act_guest_tx_response_index(struct XnHostileRun *run, int64_t argument)
{
    run->broken_ring = true;
    prepare_frame(run, 64);
    run->frontend->queues[0].guest_tx.sring->rsp_prod += (uint32_t)argument;
    put(run, (netif_tx_request_t){.gref = page_ref(run, 0), .size = 64}, true);
    push(run);
}

static void act_crosses_page(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, 1000);
    put(run, (netif_tx_request_t){.gref = page_ref(run, 0), .offset = argument, .size = 1000},
        true);
    push(run);
}

static void act_second_slot_crosses_page(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, 1100);
    put(run,
        (netif_tx_request_t){.gref = page_ref(run, 0), .size = 1100, .flags = NETTXF_more_data},
        false);
    put(run, (netif_tx_request_t){.gref = page_ref(run, 1), .offset = argument, .size = 1000},
        true);
    push(run);
}

static void act_extra_type(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, 64);
    put(run, (netif_tx_request_t){.gref = page_ref(run, 0), .size = 64, .flags = NETTXF_extra_info},
        false);
    put_extra(run, argument, 0, 1448, true);
    push(run);
}

static void act_gso_size(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, 3000);
    put(run,
        (netif_tx_request_t){
            .gref = page_ref(run, 0), .size = 3000, .flags = NETTXF_extra_info | NETTXF_csum_blank},
        false);
    put_extra(run, XEN_NETIF_EXTRA_TYPE_GSO, 0, argument, true);
    push(run);
}

/* extra_info is set and nothing follows: the chain's end is not in the ring. */
static void act_extra_missing(struct XnHostileRun *run, int64_t argument)
{
    (void)argument;
    prepare_frame(run, 64);
    put(run, (netif_tx_request_t){.gref = page_ref(run, 0), .size = 64, .flags = NETTXF_extra_info},
        true);
    push(run);
}

/* A chain of @argument extras. */
static void act_extra_chain(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, 64);
    put(run, (netif_tx_request_t){.gref = page_ref(run, 0), .size = 64, .flags = NETTXF_extra_info},
        false);
    for (int64_t i = 1; i <= argument; i++) {
        put_extra(run, XEN_NETIF_EXTRA_TYPE_HASH, i < argument ? XEN_NETIF_EXTRA_FLAG_MORE : 0, 0,
                  i == argument);
    }
    push(run);
}

/* more_data is set and nothing follows. */
static void act_unfinished(struct XnHostileRun *run, int64_t argument)
{
    (void)argument;
    prepare_frame(run, 200);
    put(run, (netif_tx_request_t){.gref = page_ref(run, 0), .size = 200, .flags = NETTXF_more_data},
        true);
    push(run);
}

/* @argument data slots of 100 bytes each. */
static void act_slots(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, XN_PAGE_SIZE);
    for (int64_t i = 0; i < argument; i++) {
        put(run,
            (netif_tx_request_t){.gref = page_ref(run, 0),
                                 .offset = i * 100,
                                 .id = i,
                                 .size = i ? 100 : argument * 100,
                                 .flags = i + 1 < argument ? NETTXF_more_data : 0},
            i + 1 == argument);
    }
    push(run);
}

/* A frame of 128 bytes and @argument empty slots after it. */
static void act_empty_slots(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, 128);
    for (int64_t i = 0; i <= argument; i++) {
        put(run,
            (netif_tx_request_t){.gref = page_ref(run, i),
                                 .id = i,
                                 .size = i ? 0 : 128,
                                 .flags = i < argument ? NETTXF_more_data : 0},
            i == argument);
    }
    push(run);
}

static void act_size(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, 64);
    put(run, (netif_tx_request_t){.gref = page_ref(run, 0), .size = argument}, true);
    push(run);
}

/* Three slots, of which slot @argument has a reference that grants nothing. */
static void act_bad_gref(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, 3000);
    for (int i = 0; i < 3; i++) {
        put(run,
            (netif_tx_request_t){.gref = i == argument ? GREF_BAD : page_ref(run, i),
                                 .id = i,
                                 .size = i ? 1000 : 3000,
                                 .flags = i < 2 ? NETTXF_more_data : 0},
            i == 2);
    }
    push(run);
}

/* A packet of @argument bytes by its first slot, with 2000 more in the second. */
static void act_rest_larger(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, 2000);
    put(run,
        (netif_tx_request_t){.gref = page_ref(run, 0), .size = argument, .flags = NETTXF_more_data},
        false);
    put(run, (netif_tx_request_t){.gref = page_ref(run, 1), .id = 1, .size = 2000}, true);
    push(run);
}

/* 18 slots of whole pages: 73728 bytes, of which a 16-bit size keeps 8192. */
static void act_wrapped_size(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, 64);
    for (int64_t i = 0; i < argument; i++) {
        put(run,
            (netif_tx_request_t){.gref = page_ref(run, i),
                                 .id = i,
                                 .size = i ? XN_PAGE_SIZE : (uint16_t)(argument * XN_PAGE_SIZE),
                                 .flags = i + 1 < argument ? NETTXF_more_data : 0},
            i + 1 == argument);
    }
    push(run);
}

static void act_flags(struct XnHostileRun *run, int64_t argument)
{
    prepare_frame(run, 64);
    put(run, (netif_tx_request_t){.gref = page_ref(run, 0), .size = 64, .flags = argument}, true);
    push(run);
}

/* A blank checksum in a frame that has no place for one. */
static void act_blank_nonsense(struct XnHostileRun *run, int64_t argument)
{
    uint8_t *page = run->frontend->queues[0].guest_tx.pages;

    prepare_frame(run, 64);
    memset(page + 12, (int)argument, 52);
    put(run, (netif_tx_request_t){.gref = page_ref(run, 0), .size = 64, .flags = NETTXF_csum_blank},
        true);
    push(run);
}

/* All 256 slots with the same bad packet at once. */
static void act_flood_short(struct XnHostileRun *run, int64_t argument)
{
    for (int64_t i = 0; i < argument; i++) {
        put(run, (netif_tx_request_t){.gref = page_ref(run, 0), .id = i, .size = 13}, true);
    }
    push(run);
}

static void act_event_storm(struct XnHostileRun *run, int64_t argument)
{
    for (int64_t i = 0; i < argument && !xn_stop_requested; i++) {
        xenevtchn_notify(run->frontend->evtchn, run->frontend->queues[0].evtchn_guest_tx);
        xenevtchn_notify(run->frontend->evtchn, run->frontend->queues[0].evtchn_guest_rx);
    }
}

/* Posts guest_rx buffers that grant nothing: the ring is drained first. */
static void act_guest_rx_bad_gref(struct XnHostileRun *run, int64_t argument)
{
    struct XnGuestRx *guest_rx = &run->frontend->queues[0].guest_rx;

    (void)argument;
    for (unsigned int i = 0; i < XN_RING_SLOTS; i++) {
        RING_GET_REQUEST(&guest_rx->ring, i)->gref = GREF_BAD + i;
    }
    xen_wmb();
    xenevtchn_notify(run->frontend->evtchn, run->frontend->queues[0].evtchn_guest_rx);
}

#define RING(attack_name, words, expectation, function, value)                                     \
    {                                                                                              \
        .name = attack_name, .what = words, .expect = XN_HOSTILE_##expectation, .connected = true, \
        .act = function, .argument = value                                                         \
    }

const struct XnHostileAttack hostile_ring_attacks[] = {
    RING("guest-tx-jump-257", "guest_tx producer one beyond the ring", CLOSE, act_guest_tx_jump,
         257),
    RING("guest-tx-jump-half", "guest_tx producer 2^31 ahead", CLOSE, act_guest_tx_jump,
         INT64_C(1) << 31),
    RING("guest-tx-jump-back", "guest_tx producer one back", CLOSE, act_guest_tx_jump, -1),
    RING("guest-rx-jump-257", "guest_rx producer one beyond the ring", CLOSE, act_guest_rx_jump,
         257),
    RING("guest-rx-jump-half", "guest_rx producer 2^31 ahead", CLOSE, act_guest_rx_jump,
         INT64_C(1) << 31),
    RING("guest-rx-jump-back", "guest_rx producer one back", CLOSE, act_guest_rx_jump, -1),
    RING("guest-tx-response-index", "overwrites the backend's response index", SERVE,
         act_guest_tx_response_index, 1000),
    RING("crosses-page", "a slot that crosses its page by one byte", CLOSE, act_crosses_page, 3097),
    RING("offset-huge", "a slot at offset 65535", CLOSE, act_crosses_page, 65535),
    RING("second-crosses-page", "a continuation slot that crosses its page", CLOSE,
         act_second_slot_crosses_page, 3097),
    RING("extra-type-0", "an extra of type 0", CLOSE, act_extra_type, 0),
    RING("extra-type-6", "an extra of an unknown type", CLOSE, act_extra_type, 6),
    RING("extra-type-255", "an extra of type 255", CLOSE, act_extra_type, 255),
    RING("extra-missing", "an extra is announced and does not come", CLOSE, act_extra_missing, 0),
    RING("extra-chain-30", "30 extras in a row", LIVE, act_extra_chain, 30),
    RING("gso-size-0", "GSO with segments of 0 bytes", CLOSE, act_gso_size, 0),
    RING("gso-udp", "TCP segmentation of a UDP frame", LIVE, act_gso_size, 1448),
    RING("unfinished", "more_data is set and nothing follows", CLOSE, act_unfinished, 0),
    RING("slots-18", "18 slots, the protocol's least", SERVE, act_slots, 18),
    RING("slots-19", "19 slots", LIVE, act_slots, 19),
    RING("slots-20", "20 slots", LIVE, act_slots, 20),
    RING("slots-22", "22 slots", CLOSE, act_slots, 22),
    RING("slots-40", "40 slots", CLOSE, act_slots, 40),
    RING("empty-slots-1", "an empty continuation slot", SERVE, act_empty_slots, 1),
    RING("empty-slots-17", "17 empty continuation slots", SERVE, act_empty_slots, 17),
    RING("size-0", "an empty packet", ERROR, act_size, 0),
    RING("size-13", "a packet of 13 bytes", ERROR, act_size, 13),
    RING("size-14", "a packet of 14 bytes", SERVE, act_size, 14),
    RING("size-4097", "one slot of more than a page", CLOSE, act_size, 4097),
    RING("bad-gref-first", "the first slot's reference grants nothing", ERROR, act_bad_gref, 0),
    RING("bad-gref-middle", "a middle slot's reference grants nothing", ERROR, act_bad_gref, 1),
    RING("bad-gref-last", "the last slot's reference grants nothing", ERROR, act_bad_gref, 2),
    RING("rest-larger", "the second slot is larger than the whole packet", ERROR, act_rest_larger,
         1000),
    RING("rest-equal", "nothing is left for the first slot", LIVE, act_rest_larger, 2000),
    RING("wrapped-size", "17 whole pages in a 16-bit size", ERROR, act_wrapped_size, 17),
    RING("flags-undefined", "undefined flags", LIVE, act_flags, FLAG_BROKEN),
    RING("csum-blank-zeros", "a blank checksum in a frame of zeros", LIVE, act_blank_nonsense, 0),
    RING("csum-blank-ones", "a blank checksum in a frame of ones", LIVE, act_blank_nonsense, 255),
    RING("flood-short", "a ring full of packets of 13 bytes", ERROR, act_flood_short, 256),
    RING("event-storm", "200000 events with nothing to do", SERVE, act_event_storm, 100000),
    RING("guest-rx-bad-gref", "guest_rx buffers that grant nothing", LIVE, act_guest_rx_bad_gref,
         0),
};

const unsigned int hostile_ring_attacks_count =
    sizeof(hostile_ring_attacks) / sizeof(*hostile_ring_attacks);
