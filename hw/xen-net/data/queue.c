/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue.c - creation and destruction of a queue's data path
 */
#include <errno.h>
#include <sys/mman.h>

#include "data/queue-private.h"

struct XnQueue *queue_create(const struct XnQueueConfig *config, GError **error)
{
    struct XnQueue *queue = g_new0(struct XnQueue, 1);

    queue->config = *config;
    queue->evtchn_source = (struct XnPollSource){
        .kind = XN_POLL_EVTCHN, .queue = queue, .fd = evtchn_fd(config->evtchn)};
    queue->port_source =
        (struct XnPollSource){.kind = XN_POLL_PORT, .queue = queue, .fd = config->port->fd};
    if (!ring_guest_tx_attach(&queue->guest_tx_ring, config->guest_tx_page) ||
        !ring_guest_rx_attach(&queue->guest_rx_ring, config->guest_rx_page)) {
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

void queue_destroy(struct XnQueue *queue)
{
    if (!queue) {
        return;
    }
    munmap(queue->held, sizeof(*queue->held));
    g_free(queue);
}
