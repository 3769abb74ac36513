/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-list.c - qnetctl list: one line for each vif
 */
#include <stdio.h>

#include "tools/verb.h"

enum XnExit verb_list(const struct XnVerbCall *call, GError **error)
{
    enum XnExit status;
    g_autoptr(JsonArray) vifs = verb_query_vifs(call, &status, error);

    if (!vifs) {
        return status;
    }
    if (call->json) {
        verb_print_json(vifs);
        return XN_EXIT_OK;
    }
    printf("%-15s %-12s %-12s %s\n", "VIF", "STATE", "FRONTEND", "ERROR");
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        JsonObject *vif = json_array_get_object_element(vifs, i);

        printf("%-15s %-12s %-12s %s\n", verb_text(vif, "name"), verb_text(vif, "state"),
               verb_text(vif, "frontend_state"), verb_text(vif, "error"));
    }
    return XN_EXIT_OK;
}
