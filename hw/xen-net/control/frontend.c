/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frontend.c - what a frontend asks for when it connects
 */
#include "control/frontend.h"

#include "xenstore-keys.h"

static bool frontend_fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool frontend_fail(GError **error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_propagate_error(error, g_error_new_valist(XN_STORE_KEY_ERROR, XN_STORE_KEY_ERROR_MALFORMED,
                                                format, arguments));
    va_end(arguments);
    return false;
}

static bool frontend_read_features(struct XnStore *store, const char *directory,
                                   struct XnFeatures *ret_said, GError **error)
{
    struct XnFeatures wanted = {0};
    bool no_csum_ipv4 = false;
    uint32_t headroom = 0;

    if (!key_frontend_feature_sg_read(store, directory, &wanted.sg, error) ||
        !key_frontend_feature_gso_tcpv4_read(store, directory, &wanted.gso_tcpv4, error) ||
        !key_frontend_feature_gso_tcpv6_read(store, directory, &wanted.gso_tcpv6, error) ||
        !key_frontend_feature_no_csum_offload_read(store, directory, &no_csum_ipv4, error) ||
        !key_frontend_feature_ipv6_csum_offload_read(store, directory, &wanted.csum_ipv6, error) ||
        !key_frontend_feature_guest_rx_notify_read(store, directory, &wanted.guest_rx_notify,
                                                   error) ||
        !key_frontend_xdp_headroom_read(store, directory, &headroom, error)) {
        return false;
    }
    wanted.guest_rx_headroom = (uint16_t)headroom;
    wanted.csum_ipv4 = !no_csum_ipv4;
    *ret_said = wanted;
    return true;
}

/* The split channels count when both are there, as in Linux; else the common one. */
static bool frontend_read_channels(struct XnStore *store, const char *directory,
                                   struct XnFrontendQueue *queue, GError **error)
{
    uint32_t common = 0;
    uint32_t guest_tx = 0;
    uint32_t guest_rx = 0;

    if (!key_queue_event_channel_guest_tx_read(store, directory, &guest_tx, error) ||
        !key_queue_event_channel_guest_rx_read(store, directory, &guest_rx, error)) {
        return false;
    }
    if (guest_tx == 0 || guest_rx == 0) {
        if (!key_queue_event_channel_read(store, directory, &common, error)) {
            return false;
        }
        if (common == 0) {
            return frontend_fail(error, "%s is missing",
                                 guest_tx   ? key_queue_event_channel_guest_rx.name
                                 : guest_rx ? key_queue_event_channel_guest_tx.name
                                            : key_queue_event_channel.name);
        }
        guest_tx = common;
        guest_rx = common;
    }
    queue->guest_tx_channel = guest_tx;
    queue->guest_rx_channel = guest_rx;
    return true;
}

static bool frontend_read_queue(struct XnStore *store, const char *directory,
                                struct XnFrontendQueue *queue, GError **error)
{
    if (!key_queue_guest_tx_ring_ref_read(store, directory, &queue->guest_tx_ref, error) ||
        !key_queue_guest_rx_ring_ref_read(store, directory, &queue->guest_rx_ref, error)) {
        return false;
    }
    if (queue->guest_tx_ref == queue->guest_rx_ref) {
        return frontend_fail(error, "%s and %s are both %u, they need a page each",
                             key_queue_guest_tx_ring_ref.name, key_queue_guest_rx_ring_ref.name,
                             queue->guest_tx_ref);
    }
    return frontend_read_channels(store, directory, queue, error);
}

/* A ring without a channel is refused, as by the kernel's netback. */
static bool frontend_read_ctrl_ring(struct XnStore *store, const char *directory,
                                    struct XnFrontend *frontend, GError **error)
{
    if (!key_frontend_ctrl_ring_ref_read(store, directory, &frontend->ctrl_ref, error) ||
        !key_frontend_event_channel_ctrl_read(store, directory, &frontend->ctrl_channel, error)) {
        return false;
    }
    if (frontend->ctrl_ref == 0) {
        frontend->ctrl_channel = 0;
    } else if (frontend->ctrl_channel == 0) {
        return frontend_fail(error, "%s is %u, but %s is missing", key_frontend_ctrl_ring_ref.name,
                             frontend->ctrl_ref, key_frontend_event_channel_ctrl.name);
    }
    return true;
}

bool frontend_read(struct XnStore *store, const char *directory, unsigned queue_max,
                   struct XnFrontend *ret_frontend, GError **error)
{
    struct XnFrontend frontend = {0};
    bool guest_rx_copy = false;
    uint32_t filter = 0;

    if (!key_frontend_request_guest_rx_copy_read(store, directory, &guest_rx_copy, error)) {
        return false;
    }
    if (!guest_rx_copy) {
        return frontend_fail(error,
                             "%s is not 1: the frontend wants page flipping, which is not "
                             "supported",
                             key_frontend_request_guest_rx_copy.name);
    }
    if (!key_frontend_multi_queue_num_queues_read(store, directory, &frontend.queue_count, error)) {
        return false;
    }
    if (frontend.queue_count > queue_max) {
        return frontend_fail(error, "%s is %u, but %u is the most that was offered",
                             key_frontend_multi_queue_num_queues.name, frontend.queue_count,
                             queue_max);
    }
    if (!frontend_read_features(store, directory, &frontend.said, error) ||
        !key_frontend_request_multicast_control_read(store, directory, &filter, error) ||
        !frontend_read_ctrl_ring(store, directory, &frontend, error)) {
        return false;
    }
    frontend.features = features_normalise(frontend.said);
    frontend.multicast_filter = filter != 0;
    for (unsigned i = 0; i < frontend.queue_count; i++) {
        g_autofree char *queue_directory = frontend.queue_count == 1
                                               ? g_strdup(directory)
                                               : g_strdup_printf("%s/queue-%u", directory, i);

        if (!frontend_read_queue(store, queue_directory, &frontend.queues[i], error)) {
            if (frontend.queue_count > 1) {
                g_prefix_error(error, "queue-%u: ", i);
            }
            return false;
        }
    }
    *ret_frontend = frontend;
    return true;
}

bool frontend_same_rings(const struct XnFrontend *a, const struct XnFrontend *b)
{
    if (a->queue_count != b->queue_count || a->ctrl_channel != b->ctrl_channel ||
        (a->ctrl_channel != 0 && a->ctrl_ref != b->ctrl_ref)) {
        return false;
    }
    for (unsigned i = 0; i < a->queue_count; i++) {
        const struct XnFrontendQueue *x = &a->queues[i];
        const struct XnFrontendQueue *y = &b->queues[i];

        if (x->guest_tx_ref != y->guest_tx_ref || x->guest_rx_ref != y->guest_rx_ref ||
            x->guest_tx_channel != y->guest_tx_channel ||
            x->guest_rx_channel != y->guest_rx_channel) {
            return false;
        }
    }
    return true;
}
