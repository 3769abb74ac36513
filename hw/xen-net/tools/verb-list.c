/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-list.c - qnetctl list: one line for each vif
 */
#include <stdio.h>

#include "tools/verb.h"

static void print_line(const char *name, const char *state, const char *frontend,
                       const char *problem)
{
    printf("%-15s %-12s %-12s %s\n", name, state, frontend, problem);
}

static void print_list(JsonArray *vifs)
{
    print_line("VIF", "STATE", "FRONTEND", "ERROR");
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        JsonObject *vif = json_array_get_object_element(vifs, i);

        print_line(verb_text(vif, "name"), verb_text(vif, "state"),
                   verb_text(vif, "frontend_state"), verb_text(vif, "error"));
    }
}

static bool run(const struct XnVerbCall *call, GError **error)
{
    return verb_show_vifs(call, print_list, error);
}

const struct XnVerb verb_list = {
    .name = "list",
    .help = "all vifs, their states, and why they were closed",
    .run = run,
};
