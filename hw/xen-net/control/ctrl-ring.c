/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl-ring.c - the control ring of a connected vif
 *
 * Theory of operation
 *
 * The messages of the control ring change settings; none belongs to a packet. So the main thread
 * serves the ring, and takes a queue from its worker for the moment in which its table of static
 * grants changes. What a message means stands in netif/ctrl-message.c; here are the ring, the
 * copies of what messages refer to, and the mappings.
 *
 * A guest can send messages as fast as it likes. A dispatch deals with a few, at a priority below
 * that of everything else in the main loop; and when events bring no message, the channel is
 * unmasked only after a while that doubles each time.
 */
#include "control/ctrl-ring.h"

#include <glib-unix.h>
#include <string.h>

#include "netif/ctrl-message.h"
#include "xen/evtchn.h"

/* Messages in one go. */
#define CTRL_RING_BATCH XN_CTRL_JOURNAL_RESPONSES
/* Delays before unmasking, in ms, when events bring nothing. */
#define CTRL_RING_DELAY_MIN 1u
#define CTRL_RING_DELAY_MAX 1024u

struct XnCtrlRing {
    struct XnCtrlRingConfig config;
    void *page;
    xen_netif_ctrl_back_ring_t ring;
    struct XnEvtchn *evtchn;
    uint32_t channel;
    guint source;
    guint idle;
    guint timer;
    guint delay_ms;
    bool broken;
    unsigned mapped;
    /* One for each queue, made when a message is first about it; and the grants in it. */
    struct XnStaticPages *tables[XN_VIF_QUEUES_MAX];
    struct XnStaticGrants *grants[XN_VIF_QUEUES_MAX];
    /* The bytes that a message refers to. */
    uint8_t bytes[XN_PAGE_SIZE];
};

/* Copies `length` bytes between our buffer and the start of the guest's page `ref`. */
static bool ctrl_ring_copy(struct XnCtrlRing *ring, uint32_t ref, uint32_t length, bool to_guest)
{
    XnCopySegment segment = {.len = (uint16_t)length};
    union xengnttab_copy_ptr *theirs = to_guest ? &segment.dest : &segment.source;
    union xengnttab_copy_ptr *ours = to_guest ? &segment.source : &segment.dest;

    theirs->foreign.ref = ref;
    theirs->foreign.domid = (uint16_t)ring->config.domid;
    ours->virt = ring->bytes;
    segment.flags = to_guest ? GNTCOPY_dest_gref : GNTCOPY_source_gref;
    return gnttab_copy(ring->config.gnttab, &segment, 1) && segment.status == GNTST_okay;
}

static void ctrl_ring_unmap(struct XnCtrlRing *ring, struct XnStaticPages *table, uint32_t index)
{
    if (table->pages[index]) {
        gnttab_unmap(ring->config.gnttab, table->pages[index]);
        table->pages[index] = NULL;
        ring->mapped--;
    }
}

static bool ctrl_ring_map(struct XnCtrlRing *ring, struct XnStaticPages *table,
                          const struct XnCtrlEffect *effect)
{
    for (uint32_t i = 0; i < effect->count; i++) {
        uint32_t index = effect->indices[i];
        const struct XnStaticGrant *grant = &table->grants.grants[index];

        table->pages[index] =
            gnttab_map(ring->config.gnttab, ring->config.domid, grant->ref, !grant->readonly, NULL);
        if (!table->pages[index]) {
            for (uint32_t k = 0; k < i; k++) {
                ctrl_ring_unmap(ring, table, effect->indices[k]);
            }
            return false;
        }
        ring->mapped++;
    }
    return true;
}

/* Does the message concern the static grants of a queue that exists? */
static bool ctrl_ring_is_static(const struct XnCtrlRing *ring,
                                const struct xen_netif_ctrl_request *request)
{
    return (request->type == XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING ||
            request->type == XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING ||
            request->type == XEN_NETIF_CTRL_TYPE_GET_GREF_MAPPING_SIZE) &&
           request->data[0] < ring->config.queue_count;
}

static struct XnStaticPages *ctrl_ring_table(struct XnCtrlRing *ring, uint32_t queue)
{
    if (!ring->tables[queue]) {
        uint64_t seed = (uint64_t)g_random_int() << 32 | g_random_int();

        ring->tables[queue] = g_new0(struct XnStaticPages, 1);
        ring->grants[queue] = &ring->tables[queue]->grants;
        static_grant_init(ring->grants[queue], XN_STATIC_GRANTS_MAX, seed);
    }
    return ring->tables[queue];
}

/* Maps or unmaps what the message changed in a queue's table, and notes it. */
static void ctrl_ring_follow(struct XnCtrlRing *ring, const struct XnCtrlTarget *target,
                             struct XnStaticPages *table, struct XnCtrlEffect *effect,
                             struct xen_netif_ctrl_response *response)
{
    const struct XnCtrlRingConfig *config = &ring->config;
    struct XnGrantJournal *grants = config->grants[effect->queue];

    if (effect->action == XN_CTRL_MAP && !ctrl_ring_map(ring, table, effect)) {
        ctrl_message_undo(target, effect, response);
    }
    for (uint32_t i = 0; i < effect->count; i++) {
        uint32_t index = effect->indices[i];

        if (effect->action == XN_CTRL_MAP) {
            grant_journal_add(grants, config->journal, index, &table->grants.grants[index]);
        } else {
            ctrl_ring_unmap(ring, table, index);
            grant_journal_delete(grants, config->journal, index);
        }
    }
}

static void ctrl_ring_serve(struct XnCtrlRing *ring, const struct xen_netif_ctrl_request *request,
                            struct xen_netif_ctrl_response *ret_response)
{
    const struct XnCtrlRingConfig *config = &ring->config;
    bool is_static = ctrl_ring_is_static(ring, request);
    uint32_t queue = is_static ? request->data[0] : 0;
    struct XnStaticPages *table = is_static ? ctrl_ring_table(ring, queue) : NULL;
    struct XnCtrlTarget target = {
        .hash = config->hash,
        .queue_count = config->queue_count,
        .grants = ring->grants,
    };
    struct XnCtrlFetch fetch = ctrl_message_fetch(&target, request);
    bool fetched = fetch.length == 0 || ctrl_ring_copy(ring, fetch.ref, fetch.length, false);
    struct XnCtrlEffect effect = {0};

    if (table) {
        config->pause(config->opaque, queue, table);
    }
    *ret_response = ctrl_message_execute(&target, request, fetched ? ring->bytes : NULL, &effect);
    if (table) {
        ctrl_ring_follow(ring, &target, table, &effect, ret_response);
        config->resume(config->opaque, queue);
    }
    if (effect.write_back > 0 && !ctrl_ring_copy(ring, fetch.ref, effect.write_back, true)) {
        ret_response->status = XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER;
    }
    if (hash_algorithm(config->hash) != XEN_NETIF_CTRL_HASH_ALGORITHM_NONE) {
        config->steer(config->opaque);
    }
}

static void ctrl_ring_fail(struct XnCtrlRing *ring, const char *reason)
{
    if (!ring->broken) {
        ring->broken = true;
        ring->config.broken(ring->config.opaque, reason);
    }
}

/* Serves up to a batch. Returns how many; *ret_more tells that there are more. */
static uint32_t ctrl_ring_run(struct XnCtrlRing *ring, bool *ret_more)
{
    uint32_t count, done;

    *ret_more = false;
    if (!ring_ctrl_unconsumed(&ring->ring, &count)) {
        ctrl_ring_fail(ring, "control ring: more requests than the ring has slots");
        return 0;
    }
    for (done = 0; done < MIN(count, CTRL_RING_BATCH); done++) {
        struct xen_netif_ctrl_request request;
        struct xen_netif_ctrl_response response;

        ring_ctrl_consume(&ring->ring, &request);
        ctrl_ring_serve(ring, &request, &response);
        ctrl_journal_commit(ring->config.journal, &response);
        ring_ctrl_respond(&ring->ring, &response);
    }
    if (done > 0 && ring_ctrl_push(&ring->ring)) {
        evtchn_notify(ring->evtchn, ring->channel);
    }
    *ret_more = done < count || ring_ctrl_arm(&ring->ring, 1);
    return done;
}

static gboolean ctrl_ring_unmask(gpointer opaque)
{
    struct XnCtrlRing *ring = opaque;

    ring->timer = 0;
    evtchn_unmask(ring->evtchn, ring->channel);
    return G_SOURCE_REMOVE;
}

static gboolean ctrl_ring_continue(gpointer opaque)
{
    struct XnCtrlRing *ring = opaque;
    bool more;

    if (ring->broken) {
        ring->idle = 0;
        return G_SOURCE_REMOVE;
    }
    if (ctrl_ring_run(ring, &more) > 0) {
        ring->delay_ms = 0;
    }
    if (more) {
        return G_SOURCE_CONTINUE;
    }
    ring->idle = 0;
    if (ring->delay_ms == 0) {
        evtchn_unmask(ring->evtchn, ring->channel);
        ring->delay_ms = CTRL_RING_DELAY_MIN;
    } else if (ring->timer == 0) {
        ring->timer = g_timeout_add(ring->delay_ms, ctrl_ring_unmask, ring);
        ring->delay_ms = MIN(ring->delay_ms * 2, CTRL_RING_DELAY_MAX);
    }
    return G_SOURCE_REMOVE;
}

static gboolean ctrl_ring_event(gint fd G_GNUC_UNUSED, GIOCondition condition G_GNUC_UNUSED,
                                gpointer opaque)
{
    struct XnCtrlRing *ring = opaque;

    if (evtchn_take(ring->evtchn) != 0 && ring->idle == 0) {
        ring->idle = g_idle_add(ctrl_ring_continue, ring);
    }
    return G_SOURCE_CONTINUE;
}

/* Maps the static grants that a predecessor had; one that cannot be mapped is none any more. */
static void ctrl_ring_restore_table(struct XnCtrlRing *ring, uint32_t queue)
{
    const struct XnCtrlRingConfig *config = &ring->config;
    struct XnStaticPages *table;

    if (grant_journal_is_empty(config->grants[queue])) {
        return;
    }
    table = ctrl_ring_table(ring, queue);
    grant_journal_restore(config->grants[queue], config->journal, &table->grants);
    for (uint32_t i = 0; i < XN_STATIC_GRANTS_MAX; i++) {
        struct XnCtrlEffect effect = {.count = 1, .indices = {(uint16_t)i}};

        if (static_grant_find(&table->grants, table->grants.grants[i].ref) == i &&
            !ctrl_ring_map(ring, table, &effect)) {
            static_grant_delete_indices(&table->grants, effect.indices, 1);
            grant_journal_forget(config->grants[queue], i);
        }
    }
    config->pause(config->opaque, queue, table);
    config->resume(config->opaque, queue);
}

/* Goes on where a predecessor ended: answers what it did and did not publish. */
static void ctrl_ring_restore(struct XnCtrlRing *ring)
{
    struct XnCtrlJournal *journal = ring->config.journal;
    uint32_t posted, count;

    for (uint32_t i = 0; i < ring->config.queue_count; i++) {
        ctrl_ring_restore_table(ring, i);
    }
    if (!ring_ctrl_unconsumed(&ring->ring, &posted)) {
        posted = 0;
    }
    count = ctrl_journal_resume(journal, ring->ring.rsp_prod_pvt, posted);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = ring->ring.rsp_prod_pvt;
        struct xen_netif_ctrl_request ignored;

        ring_ctrl_consume(&ring->ring, &ignored);
        ring_ctrl_respond(&ring->ring, &journal->responses[index % XN_CTRL_JOURNAL_RESPONSES]);
    }
    if (count > 0) {
        ring_ctrl_push(&ring->ring);
    }
    /* The predecessor may have died before it told. */
    evtchn_notify(ring->evtchn, ring->channel);
}

struct XnCtrlRing *ctrl_ring_open(const struct XnCtrlRingConfig *config, GError **error)
{
    struct XnCtrlRing *ring = g_new0(struct XnCtrlRing, 1);

    ring->config = *config;
    ring->page = gnttab_map(config->gnttab, config->domid, config->ref, true, error);
    if (!ring->page) {
        goto fail;
    }
    ring->mapped = 1;
    if (!ring_ctrl_attach(&ring->ring, ring->page)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "more requests are outstanding than the ring has slots");
        goto fail;
    }
    ring->evtchn = evtchn_open(config->domid, error);
    if (!ring->evtchn) {
        goto fail;
    }
    ring->channel = evtchn_bind(ring->evtchn, config->channel, error);
    if (ring->channel == 0) {
        goto fail;
    }
    if (config->adopted) {
        ctrl_ring_restore(ring);
    } else {
        ctrl_journal_resume(config->journal, ring->ring.rsp_prod_pvt, 0);
    }
    ring->source = g_unix_fd_add(evtchn_fd(ring->evtchn), G_IO_IN, ctrl_ring_event, ring);
    return ring;

fail:
    g_prefix_error(error, "control ring: ");
    ctrl_ring_close(ring);
    return NULL;
}

void ctrl_ring_close(struct XnCtrlRing *ring)
{
    if (!ring) {
        return;
    }
    for (guint i = 0; i < XN_VIF_QUEUES_MAX; i++) {
        for (uint32_t k = 0; ring->tables[i] && k < XN_STATIC_GRANTS_MAX; k++) {
            ctrl_ring_unmap(ring, ring->tables[i], k);
        }
        g_free(ring->tables[i]);
    }
    if (ring->source != 0) {
        g_source_remove(ring->source);
    }
    if (ring->idle != 0) {
        g_source_remove(ring->idle);
    }
    if (ring->timer != 0) {
        g_source_remove(ring->timer);
    }
    evtchn_close(ring->evtchn);
    gnttab_unmap(ring->config.gnttab, ring->page);
    g_free(ring);
}

unsigned ctrl_ring_mapped(const struct XnCtrlRing *ring)
{
    return ring ? ring->mapped : 0;
}
