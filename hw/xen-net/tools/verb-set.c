/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-set.c - qnetctl set: changes a setting of a vif, at once
 */
#include "tools/verb.h"

static bool run(const struct XnVerbCall *call, GError **error)
{
    JsonObject *arguments = json_object_new();
    g_autoptr(JsonNode) done = NULL;

    json_object_set_string_member(arguments, "vif", call->arguments[0]);
    json_object_set_string_member(arguments, "key", call->arguments[1]);
    json_object_set_string_member(arguments, "value", call->arguments[2]);
    done = client_execute(call->client, "set-vif", arguments, error);
    if (done && call->json) {
        verb_print_json(done);
    }
    return done != NULL;
}

const struct XnVerb verb_set = {
    .name = "set",
    .synopsis = "VIF KEY VALUE",
    .help = "changes rate, rx-rate, rx-csum, gso, csum, admin, direct, max-queues",
    .least = 3,
    .most = 3,
    .run = run,
};
