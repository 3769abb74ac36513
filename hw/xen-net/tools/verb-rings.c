/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-rings.c - qnetctl rings: where both ends of a vif's rings are, and what they wait for
 */
#include <stdio.h>

#include "tools/verb.h"

static void print_ring(JsonObject *queue, const char *direction)
{
    JsonNode *node = json_object_get_member(queue, direction);
    JsonObject *ring;
    const char *waits;

    if (!node || !JSON_NODE_HOLDS_OBJECT(node)) {
        return;
    }
    ring = json_node_get_object(node);
    waits = verb_text(ring, "waits");
    printf("  %s: grant %" G_GINT64_FORMAT ", event channel %" G_GINT64_FORMAT "%s\n", direction,
           verb_number(ring, "grant"), verb_number(ring, "event_channel"),
           verb_flag(ring, "masked") ? " (masked)" : "");
    printf("    requests: posted %" G_GINT64_FORMAT ", taken %" G_GINT64_FORMAT
           ", event wanted at %" G_GINT64_FORMAT "\n",
           verb_number(ring, "req_prod"), verb_number(ring, "consumed"),
           verb_number(ring, "req_event"));
    printf("    responses: written %" G_GINT64_FORMAT ", event wanted at %" G_GINT64_FORMAT "\n",
           verb_number(ring, "rsp_prod"), verb_number(ring, "rsp_event"));
    printf("    %" G_GINT64_FORMAT " of 256 slots without an answer\n",
           verb_number(ring, "outstanding"));
    if (waits[0] != '-') {
        printf("    waits: %s\n", waits);
    }
    if (verb_number(ring, "held_bytes") > 0) {
        printf("    a frame of %" G_GINT64_FORMAT " bytes waits\n",
               verb_number(ring, "held_bytes"));
    }
}

static void print_rings(JsonArray *queues)
{
    for (guint i = 0; i < json_array_get_length(queues); i++) {
        JsonObject *queue = json_array_get_object_element(queues, i);
        const char *broken = verb_text(queue, "broken");

        printf("queue-%" G_GINT64_FORMAT ", worker %" G_GINT64_FORMAT "\n",
               verb_number(queue, "queue"), verb_number(queue, "worker"));
        if (broken[0] != '-') {
            printf("  not served: %s\n", broken);
        }
        print_ring(queue, "guest_tx");
        print_ring(queue, "guest_rx");
    }
}

static bool run(const struct XnVerbCall *call, GError **error)
{
    g_autoptr(JsonNode) rings = verb_execute_on_vif(call, "query-rings", error);
    g_autoptr(JsonObject) object = json_object_new();

    if (!rings) {
        return false;
    }
    if (call->json) {
        verb_print_json(rings);
        return true;
    }
    json_object_set_member(object, "queues", g_steal_pointer(&rings));
    print_rings(verb_array(object, "queues"));
    return true;
}

const struct XnVerb verb_rings = {
    .name = "rings",
    .synopsis = "VIF",
    .help = "where both ends of its rings are, and what they wait for",
    .least = 1,
    .most = 1,
    .run = run,
};
