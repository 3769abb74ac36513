/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qnetctl.c - the control tool: finds the verb and reports how it went
 *
 * Theory of operation
 *
 * Each verb has options of its own. They are known only when the verb is: so the verb is looked for
 * first, and then the whole command line is parsed with its options, which stand behind it, and
 * the common ones, which may stand anywhere.
 */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "tools/verb.h"

/* clang-format off */
static const struct XnVerb *const verbs[] = {
    &verb_list,
    &verb_doctor,
    &verb_show,
    &verb_top,
    &verb_stats,
    &verb_counters,
    &verb_events,
    &verb_set,
    &verb_capture,
    &verb_rings,
    &verb_kick,
    &verb_log_level,
    &verb_drain,
    &verb_restart,
};
/* clang-format on */

static void describe_options(GString *text, const GOptionEntry *options)
{
    for (; options && options->long_name; options++) {
        g_autofree char *option =
            g_strconcat("--", options->long_name, options->arg_description ? "=" : "",
                        options->arg_description, NULL);

        g_string_append_printf(text, "      %-20s %s\n", option, options->description);
    }
}

static char *describe_verbs(void)
{
    GString *text = g_string_new("Verbs:\n");

    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++) {
        g_autofree char *call =
            g_strconcat(verbs[i]->name, verbs[i]->synopsis ? " " : "", verbs[i]->synopsis, NULL);

        g_string_append_printf(text, "  %-24s %s\n", call, verbs[i]->help);
        describe_options(text, verbs[i]->options);
    }
    g_string_append(text,
                    "\nExit status: 0 all right, 1 the daemon refused or it cannot be done, 2 "
                    "wrong usage,\n3 no daemon, 4 no such vif, 5 no permission, 6 the daemon is "
                    "busy or being restarted,\n7 the output cannot be written, 8 the doctor found "
                    "something.");
    return g_string_free(text, FALSE);
}

/* An error without a message is one that nobody has to be told of. */
static int complain(const GError *error)
{
    if (error->message[0] != '\0') {
        fprintf(stderr, "qnetctl: %s\n", error->message);
    }
    return error->domain == XN_EXIT_ERROR ? error->code : XN_EXIT_USAGE;
}

/* The first word that is no option, nor an option's value; NULL when it is not a verb. */
static const struct XnVerb *find_verb(int argc, char **argv, const char **ret_word)
{
    int i = 1;

    while (i < argc && argv[i][0] == '-') {
        i += strcmp(argv[i], "--control") == 0 ? 2 : 1;
    }
    *ret_word = i < argc ? argv[i] : NULL;
    for (size_t j = 0; *ret_word && j < G_N_ELEMENTS(verbs); j++) {
        if (strcmp(*ret_word, verbs[j]->name) == 0) {
            return verbs[j];
        }
    }
    return NULL;
}

/* `word` may be NULL: there was none. */
static void no_verb(const char *word, GError **error)
{
    g_set_error(error, XN_EXIT_ERROR, XN_EXIT_USAGE,
                word ? "there is no verb '%s', see --help" : "which verb? see --help", word);
}

/* `arguments` are the verb's. */
static bool check_arguments(const struct XnVerb *verb, char **arguments, GError **error)
{
    guint count = g_strv_length(arguments);

    if (count > verb->most) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_USAGE, "unexpected '%s', see --help",
                    arguments[verb->most]);
        return false;
    }
    if (count < verb->least) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_USAGE, "usage: qnetctl %s %s", verb->name,
                    verb->synopsis);
        return false;
    }
    return true;
}

static bool run_verb(const struct XnVerb *verb, struct XnVerbCall *call, GError **error)
{
    bool done;

    if (!check_arguments(verb, call->arguments, error)) {
        return false;
    }
    if (!verb->offline) {
        call->client = client_open(call->control, error);
        if (!call->client) {
            return false;
        }
    }
    done = verb->run(call, error);
    client_close(call->client);
    /* What was printed before a failure is to be seen, too. */
    return verb_flush(done ? error : NULL) && done;
}

int main(int argc, char **argv)
{
    gboolean json = FALSE;
    gboolean version = FALSE;
    g_autofree char *control = NULL;
    g_autofree char *description = describe_verbs();
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON instead of text", NULL},
        {"control", 0, 0, G_OPTION_ARG_FILENAME, &control,
         "Control socket (default: " XN_CONTROL_SOCKET ")", "PATH"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version and exit", NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new("VERB [ARGUMENT...]");
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) arguments = g_new0(char *, (gsize)argc + 1);
    struct XnVerbCall call = {0};
    const struct XnVerb *verb;
    const char *word;

    for (int i = 0; i < argc; i++) {
        arguments[i] = g_strdup(argv[i]);
    }
    g_set_prgname("qnetctl");
    setlocale(LC_CTYPE, "");
    signal(SIGPIPE, SIG_IGN);
    verb = find_verb(argc, argv, &word);
    g_option_context_set_summary(context, "Asks and tells the running qnetback.");
    g_option_context_set_description(context, description);
    g_option_context_add_main_entries(context, entries, NULL);
    if (verb && verb->options) {
        g_option_context_add_main_entries(context, verb->options, NULL);
    }
    if (!g_option_context_parse_strv(context, &arguments, &error)) {
        if (word && word == argv[1] && !verb) {
            /* The options of a verb that we do not know are not what is wrong. */
            g_clear_error(&error);
            no_verb(word, &error);
        }
        return complain(error);
    }
    if (version) {
        puts("qnetctl " XN_VERSION);
        return XN_EXIT_OK;
    }
    if (!verb) {
        no_verb(word, &error);
        return complain(error);
    }
    call.control = control ? control : XN_CONTROL_SOCKET;
    call.json = json;
    call.arguments = &arguments[2];
    return run_verb(verb, &call, &error) ? XN_EXIT_OK : complain(error);
}
