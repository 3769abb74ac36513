/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qnetctl.c - the control tool: finds the verb and reports how it went
 */
#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "tools/verb.h"

static const struct {
    const char *name;
    /* Most arguments it takes. */
    unsigned arguments;
    const char *help;
    XnVerb function;
} verbs[] = {
    {"list", 0, "list           all vifs, their states, and why they were closed", verb_list},
    {"stats", 1, "stats [VIF]    the counters of each queue", verb_stats},
};

static char *describe_verbs(void)
{
    GString *text = g_string_new("Verbs:\n");

    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++) {
        g_string_append_printf(text, "  %s\n", verbs[i].help);
    }
    g_string_append(text, "\nExit status: 0 all right, 1 the daemon refused or broke off, 2 wrong "
                          "usage,\n3 no daemon, 4 no such vif.");
    return g_string_free(text, FALSE);
}

static int complain(enum XnExit status, const char *message)
{
    fprintf(stderr, "qnetctl: %s\n", message);
    return status;
}

static int run_verb(size_t verb, const char *control, char **arguments, bool json)
{
    struct XnVerbCall call = {.arguments = arguments, .json = json};
    g_autoptr(GError) error = NULL;
    enum XnExit status;

    if (g_strv_length(arguments) > verbs[verb].arguments) {
        g_autofree char *text =
            g_strdup_printf("unexpected '%s', see --help", arguments[verbs[verb].arguments]);

        return complain(XN_EXIT_USAGE, text);
    }
    call.client = client_open(control, &error);
    if (!call.client) {
        bool none = g_error_matches(error, XN_CLIENT_ERROR, XN_CLIENT_ERROR_NO_DAEMON);

        return complain(none ? XN_EXIT_NO_DAEMON : XN_EXIT_FAILED, error->message);
    }
    status = verbs[verb].function(&call, &error);
    client_close(call.client);
    if (status != XN_EXIT_OK) {
        return complain(status, error->message);
    }
    if (fflush(stdout) != 0) {
        return complain(XN_EXIT_FAILED, "cannot write the output");
    }
    return XN_EXIT_OK;
}

int main(int argc, char **argv)
{
    gboolean json = FALSE;
    gboolean version = FALSE;
    g_autofree char *control = NULL;
    g_autofree char *description = describe_verbs();
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one line of JSON", NULL},
        {"control", 0, 0, G_OPTION_ARG_FILENAME, &control,
         "Control socket (default: " XN_CONTROL_SOCKET ")", "PATH"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version and exit", NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new("VERB [ARGUMENT...]");
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) arguments = g_new0(char *, (gsize)argc + 1);

    for (int i = 0; i < argc; i++) {
        arguments[i] = g_strdup(argv[i]);
    }
    g_set_prgname("qnetctl");
    g_option_context_set_summary(context, "Asks and tells the running qnetback.");
    g_option_context_set_description(context, description);
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse_strv(context, &arguments, &error)) {
        return complain(XN_EXIT_USAGE, error->message);
    }
    if (version) {
        puts("qnetctl " XN_VERSION);
        return XN_EXIT_OK;
    }
    if (!arguments[0] || !arguments[1]) {
        return complain(XN_EXIT_USAGE, "which verb? see --help");
    }
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++) {
        if (strcmp(arguments[1], verbs[i].name) == 0) {
            return run_verb(i, control ? control : XN_CONTROL_SOCKET, &arguments[2], json);
        }
    }
    return complain(XN_EXIT_USAGE, "there is no such verb, see --help");
}
