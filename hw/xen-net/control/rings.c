/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rings.c - a vif's rings at the moment, as JSON
 */
#include "control/rings.h"

static void add_number(JsonObject *object, const char *name, uint64_t value)
{
    json_object_set_int_member(object, name, (gint64)value);
}

/*
 * Indices wrap, distances do not: `outstanding` requests the guest has no answer to, `unconsumed`
 * ones we have not taken.
 */
static JsonObject *describe_ring(const struct XnRingView *view, uint32_t ref, uint32_t channel)
{
    JsonObject *object = json_object_new();

    add_number(object, "grant", ref);
    add_number(object, "event_channel", channel);
    add_number(object, "req_prod", view->req_prod);
    add_number(object, "req_event", view->req_event);
    add_number(object, "rsp_prod", view->rsp_prod);
    add_number(object, "rsp_event", view->rsp_event);
    add_number(object, "consumed", view->consumed);
    add_number(object, "outstanding", view->req_prod - view->rsp_prod);
    add_number(object, "unconsumed", view->req_prod - view->consumed);
    return object;
}

static JsonObject *describe_guest_tx(const struct XnQueueView *view,
                                     const struct XnFrontendQueue *queue)
{
    JsonObject *object =
        describe_ring(&view->guest_tx, queue->guest_tx_ref, queue->guest_tx_channel);
    const char *waits = view->guest_tx_port_full             ? "the interface takes no more frames"
                        : view->guest_tx_no_credit           ? "the rate limit is reached"
                        : view->guest_tx_waits_for_neighbour ? "a neighbour has no buffers"
                                                             : NULL;

    json_object_set_boolean_member(object, "masked", view->guest_tx_masked);
    json_object_set_string_member(object, "waits", waits);
    return object;
}

static JsonObject *describe_guest_rx(const struct XnQueueView *view,
                                     const struct XnFrontendQueue *queue)
{
    JsonObject *object =
        describe_ring(&view->guest_rx, queue->guest_rx_ref, queue->guest_rx_channel);
    const char *waits = view->guest_rx_no_credit          ? "the rate limit is reached"
                        : view->guest_rx_slots_needed > 0 ? "the guest has posted too few buffers"
                                                          : NULL;

    json_object_set_boolean_member(object, "masked", view->guest_rx_masked);
    json_object_set_string_member(object, "waits", waits);
    add_number(object, "slots_needed", view->guest_rx_slots_needed);
    add_number(object, "held_bytes", view->guest_rx_held);
    return object;
}

JsonNode *rings_describe(struct XnVif *vif)
{
    struct XnConnection *connection = vif_connection(vif);
    const struct XnFrontend *frontend = connection_frontend(connection);
    JsonNode *node = json_node_new(JSON_NODE_ARRAY);
    JsonArray *list = json_array_new();

    for (unsigned i = 0; i < frontend->queue_count; i++) {
        JsonObject *object = json_object_new();
        struct XnQueueView view;
        unsigned worker;

        connection_inspect(connection, i, &view, &worker);
        add_number(object, "queue", i);
        add_number(object, "worker", worker);
        json_object_set_string_member(object, "broken", view.broken_reason);
        add_number(object, "spurious_events", view.spurious_events);
        json_object_set_object_member(object, "guest_tx",
                                      describe_guest_tx(&view, &frontend->queues[i]));
        json_object_set_object_member(object, "guest_rx",
                                      describe_guest_rx(&view, &frontend->queues[i]));
        json_array_add_object_element(list, object);
    }
    json_node_take_array(node, list);
    return node;
}
