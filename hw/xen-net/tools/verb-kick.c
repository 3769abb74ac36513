/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-kick.c - qnetctl kick: has a vif's rings looked at, as if its guest had raised an event
 */
#include "tools/verb.h"

static bool run(const struct XnVerbCall *call, GError **error)
{
    g_autoptr(JsonNode) done = verb_execute_on_vif(call, "kick", error);

    if (done && call->json) {
        verb_print_json(done);
    }
    return done != NULL;
}

const struct XnVerb verb_kick = {
    .name = "kick",
    .synopsis = "VIF",
    .help = "looks at its rings as if its guest had raised an event",
    .least = 1,
    .most = 1,
    .run = run,
};
