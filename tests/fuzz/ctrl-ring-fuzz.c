/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl-ring-fuzz.c - the control ring: any messages, any bytes in the pages that they name
 *
 * The ring and the messages are the real ones, grants and events are fakes, and the main loop runs
 * when the input says so. Pages that a message maps are counted: with the ring gone none is left.
 * The table of the hash never names a queue that does not exist (XSA-270). A successor that takes
 * the ring over has the same pages mapped.
 */
#include <glib.h>
#include <unistd.h>
#include <sys/eventfd.h>

#include "control/ctrl-ring.h"
#include "fuzz.h"
#include "netif/ring.h"
#include "xen/evtchn.h"

#define PAGES 16u
#define QUEUES 4u
#define STEPS_MAX 300u
#define RING_REF 0u

static struct {
    uint8_t pages[PAGES][XN_PAGE_SIZE] __attribute__((aligned(4096)));
    unsigned mapped;
    unsigned paused[QUEUES];
    bool broken;
    uint32_t fail_every;
    uint32_t calls;
    int event;
    struct XnHash hash;
    struct XnCtrlJournal journal;
    struct XnGrantJournal grants[QUEUES];
} world;

static bool fails(void)
{
    world.calls++;
    return world.fail_every != 0 && world.calls % world.fail_every == 0;
}

void *gnttab_map(struct XnGnttab *gnttab, uint32_t domid, uint32_t ref, bool writable,
                 GError **error)
{
    (void)gnttab;
    (void)domid;
    (void)writable;
    if (ref >= PAGES || (ref != RING_REF && fails())) {
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "no such grant");
        return NULL;
    }
    world.mapped++;
    return world.pages[ref];
}

void gnttab_unmap(struct XnGnttab *gnttab, void *page)
{
    (void)gnttab;
    if (page) {
        g_assert(world.mapped > 0);
        world.mapped--;
    }
}

bool gnttab_copy(struct XnGnttab *gnttab, XnCopySegment *segments, uint32_t count)
{
    bool from_guest = segments[0].flags == GNTCOPY_source_gref;
    const union xengnttab_copy_ptr *theirs = from_guest ? &segments[0].source : &segments[0].dest;
    uint8_t *ours = from_guest ? segments[0].dest.virt : segments[0].source.virt;

    (void)gnttab;
    g_assert(count == 1);
    g_assert(theirs->foreign.offset + segments[0].len <= XN_PAGE_SIZE);
    if (theirs->foreign.ref >= PAGES || fails()) {
        segments[0].status = GNTST_bad_gntref;
        return true;
    }
    segments[0].status = GNTST_okay;
    memcpy(from_guest ? ours : world.pages[theirs->foreign.ref],
           from_guest ? world.pages[theirs->foreign.ref] : ours, segments[0].len);
    return true;
}

struct XnEvtchn *evtchn_open(uint32_t domid, GError **error)
{
    (void)domid;
    (void)error;
    return (struct XnEvtchn *)&world;
}

void evtchn_close(struct XnEvtchn *evtchn)
{
    (void)evtchn;
}

uint32_t evtchn_bind(struct XnEvtchn *evtchn, uint32_t remote, GError **error)
{
    (void)evtchn;
    (void)error;
    return remote;
}

int evtchn_fd(const struct XnEvtchn *evtchn)
{
    (void)evtchn;
    return world.event;
}

uint32_t evtchn_take(struct XnEvtchn *evtchn)
{
    eventfd_t value;

    (void)evtchn;
    return eventfd_read(world.event, &value) == 0 ? 1 : 0;
}

void evtchn_unmask(struct XnEvtchn *evtchn, uint32_t channel)
{
    (void)evtchn;
    (void)channel;
}

void evtchn_notify(struct XnEvtchn *evtchn, uint32_t channel)
{
    (void)evtchn;
    (void)channel;
}

static void fake_pause(void *opaque, uint32_t queue, const struct XnStaticPages *static_pages)
{
    (void)opaque;
    g_assert(queue < QUEUES && static_pages != NULL);
    g_assert(world.paused[queue] == 0);
    world.paused[queue]++;
}

static void fake_resume(void *opaque, uint32_t queue)
{
    (void)opaque;
    g_assert(queue < QUEUES && world.paused[queue] == 1);
    world.paused[queue]--;
}

static void fake_steer(void *opaque)
{
    (void)opaque;
}

static void fake_broken(void *opaque, const char *reason)
{
    (void)opaque;
    g_assert(reason != NULL && !world.broken);
    world.broken = true;
}

static void run_loop(void)
{
    eventfd_write(world.event, 1);
    for (int i = 0; i < 40 && g_main_context_iteration(NULL, FALSE); i++) {
    }
    for (uint32_t value = 0; value < 256; value++) {
        g_assert(hash_queue(&world.hash, value) < QUEUES);
    }
}

static void step(struct FuzzInput *input, xen_netif_ctrl_front_ring_t *front)
{
    struct xen_netif_ctrl_request request;
    uint32_t offset;

    switch (fuzz_u8(input) % 8) {
    case 0:
        offset = fuzz_range(input, 0, XN_PAGE_SIZE - 32);
        fuzz_bytes(input, world.pages[fuzz_u8(input) % PAGES] + offset, 32);
        break;
    case 1:
        front->sring->req_prod = fuzz_u32(input);
        break;
    case 2:
        world.fail_every = fuzz_u8(input);
        break;
    case 3:
    case 4:
    case 5:
        request = (struct xen_netif_ctrl_request){.id = fuzz_u8(input)};
        request.type = fuzz_u8(input) % 16;
        request.data[0] = fuzz_u32(input);
        request.data[1] = fuzz_u32(input);
        request.data[2] = fuzz_u32(input);
        memcpy(RING_GET_REQUEST(front, front->req_prod_pvt), &request, sizeof(request));
        front->req_prod_pvt++;
        front->sring->req_prod = front->req_prod_pvt;
        break;
    default:
        run_loop();
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct FuzzInput input = {data, size};
    struct XnCtrlRingConfig config = {
        .domid = 1,
        .ref = RING_REF,
        .channel = 1,
        .queue_count = QUEUES,
        .hash = &world.hash,
        .journal = &world.journal,
        .pause = fake_pause,
        .resume = fake_resume,
        .steer = fake_steer,
        .broken = fake_broken,
    };
    xen_netif_ctrl_sring_t *shared = (void *)world.pages[RING_REF];
    xen_netif_ctrl_front_ring_t front;
    struct XnCtrlRing *ring;
    unsigned mapped;

    memset(&world, 0, sizeof(world));
    world.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    hash_init(&world.hash, QUEUES);
    SHARED_RING_INIT(shared);
    FRONT_RING_INIT(&front, shared, XN_PAGE_SIZE);
    for (uint32_t i = 0; i < QUEUES; i++) {
        config.grants[i] = &world.grants[i];
    }
    ring = ctrl_ring_open(&config, NULL);
    g_assert(ring);
    for (uint32_t i = 0; input.left > 0 && i < STEPS_MAX; i++) {
        step(&input, &front);
    }
    run_loop();
    g_assert(ctrl_ring_mapped(ring) == world.mapped);
    g_assert(world.mapped <= 1 + QUEUES * XN_STATIC_GRANTS_MAX);
    mapped = world.mapped;
    ctrl_ring_close(ring);
    g_assert(world.mapped == 0);
    world.fail_every = 0;
    config.adopted = true;
    /* The guest may have broken its ring. */
    ring = ctrl_ring_open(&config, NULL);
    g_assert(!ring || world.mapped == mapped);
    ctrl_ring_close(ring);
    g_assert(world.mapped == 0);
    close(world.event);
    return 0;
}
