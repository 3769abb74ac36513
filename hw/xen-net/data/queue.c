/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue.c - creation and destruction of a queue's data path
 */
#include <errno.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "data/queue-private.h"

/* How long memory for held frames is kept for the next one. */
#define QUEUE_HELD_KEEP_NS XN_NS_PER_S

/*
 * What a predecessor consumed and did not answer is ours to answer. A journal that counts more than
 * the ring can hold, or more than the guest has posted, belongs to another ring.
 */
static uint32_t queue_adopted_index(uint32_t consumed, uint32_t answered, uint32_t posted)
{
    return consumed - answered <= posted ? consumed : answered;
}

static bool queue_attach(struct XnQueue *queue)
{
    const struct XnQueueConfig *config = &queue->config;
    netif_tx_back_ring_t *guest_tx = &queue->guest_tx_ring;
    netif_rx_back_ring_t *guest_rx = &queue->guest_rx_ring;
    uint32_t guest_tx_posted, guest_rx_posted;

    if (!ring_guest_tx_attach(guest_tx, config->guest_tx_page) ||
        !ring_guest_rx_attach(guest_rx, config->guest_rx_page) ||
        !ring_guest_tx_unconsumed(guest_tx, &guest_tx_posted) ||
        !ring_guest_rx_unconsumed(guest_rx, &guest_rx_posted)) {
        return false;
    }
    if (config->journal_adopted) {
        guest_tx->req_cons = queue_adopted_index(config->journal->guest_tx_consumed,
                                                 guest_tx->req_cons, guest_tx_posted);
        guest_rx->req_cons = queue_adopted_index(config->journal->guest_rx_consumed,
                                                 guest_rx->req_cons, guest_rx_posted);
    }
    queue->guest_tx_paid = guest_tx->rsp_prod_pvt;
    queue->guest_rx_next = guest_rx->rsp_prod_pvt;
    config->journal->guest_tx_consumed = guest_tx->req_cons;
    config->journal->guest_rx_consumed = guest_rx->req_cons;
    return true;
}

struct XnQueue *queue_create(const struct XnQueueConfig *config, GError **error)
{
    struct XnQueue *queue = g_new0(struct XnQueue, 1);

    queue->config = *config;
    queue->evtchn_source = (struct XnPollSource){
        .kind = XN_POLL_EVTCHN, .queue = queue, .fd = evtchn_fd(config->evtchn)};
    queue->port_source =
        (struct XnPollSource){.kind = XN_POLL_PORT, .queue = queue, .fd = config->port->fd};
    if (!queue_attach(queue)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "a ring has more requests outstanding than slots");
        g_free(queue);
        return NULL;
    }
    queue->held = mmap(NULL, sizeof(*queue->held), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (queue->held == MAP_FAILED) {
        int saved = errno;

        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
                    "cannot allocate a queue: %s", g_strerror(saved));
        g_free(queue);
        return NULL;
    }
    return queue;
}

void queue_set_static_pages(struct XnQueue *queue, const struct XnStaticPages *static_pages)
{
    queue->config.static_pages = static_pages;
}

void queue_set_bridge(struct XnQueue *queue, uint32_t bridge)
{
    queue->config.place.bridge = bridge;
}

void queue_set_features(struct XnQueue *queue, const struct XnFeatures *features)
{
    struct XnHeldFrame *held = queue->held;

    queue->config.features = *features;
    if (held->length == 0 || held->segments.count > 0) {
        return;
    }
    if (held->length > features_guest_rx_frame_max(features) ||
        (held->meta.gso_type == XEN_NETIF_GSO_TYPE_TCPV4 && !features->gso_tcpv4) ||
        (held->meta.gso_type == XEN_NETIF_GSO_TYPE_TCPV6 && !features->gso_tcpv6)) {
        counter_add(&queue->config.counters->guest_rx_drop_too_big, 1);
        held->length = 0;
        return;
    }
    held->meta.headroom = features->guest_rx_headroom;
}

uint64_t queue_trim(struct XnQueue *queue, uint64_t now_ns)
{
    if (!queue->held_used || queue->held->length > 0) {
        queue->held_until_ns = 0;
    } else if (queue->held_until_ns == 0) {
        queue->held_until_ns = now_ns + QUEUE_HELD_KEEP_NS;
    } else if (now_ns >= queue->held_until_ns) {
        /* The first page has what is looked at for each frame. */
        madvise((uint8_t *)queue->held + XN_PAGE_SIZE, sizeof(*queue->held) - XN_PAGE_SIZE,
                MADV_DONTNEED);
        queue->held_used = false;
        queue->held_until_ns = 0;
    }
    return queue->held_until_ns;
}

void queue_destroy(struct XnQueue *queue)
{
    if (!queue) {
        return;
    }
    munmap(queue->held, sizeof(*queue->held));
    g_free(queue);
}
