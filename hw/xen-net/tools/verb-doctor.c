/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-doctor.c - qnetctl doctor: what is wrong, and what to do
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tools/checks.h"
#include "tools/verb.h"

/* The guest's domain that is asked for; -1: all. */
static bool doctor_parse_domain(const char *text, gint64 *ret_domid, GError **error)
{
    guint64 domid = 0;

    *ret_domid = -1;
    if (!text) {
        return true;
    }
    if (!g_ascii_string_to_unsigned(text, 10, 0, 32751, &domid, NULL)) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_USAGE, "'%s' is no domain's number", text);
        return false;
    }
    *ret_domid = (gint64)domid;
    return true;
}

static struct XnHostFacts doctor_look_at_host(void)
{
    struct XnHostFacts facts = {
        .netback_loaded = access("/sys/module/xen_netback", F_OK) == 0,
        .gntdev = access("/dev/xen/gntdev", F_OK) == 0,
        .tun = access("/dev/net/tun", F_OK) == 0,
    };
    g_autofree char *cpuinfo = NULL;
    struct utsname name;

    if (uname(&name) == 0) {
        sscanf(name.release, "%u.%u", &facts.kernel_major, &facts.kernel_minor);
    }
    if (g_file_get_contents("/proc/cpuinfo", &cpuinfo, NULL, NULL)) {
        facts.amd = strstr(cpuinfo, "AuthenticAMD") != NULL;
    }
    return facts;
}

/* False with an error when there is a daemon and it cannot be asked. */
static bool doctor_look_at_daemon(struct XnVerbCall *call, const struct XnHostFacts *facts,
                                  gint64 domid, GPtrArray *findings, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    g_autoptr(JsonNode) status = NULL;
    g_autoptr(JsonArray) vifs = NULL;
    gint64 now = g_get_real_time() / G_USEC_PER_SEC;
    bool any = false;

    call->client = client_open(call->control, &local_error);
    if (!call->client && local_error->code == XN_EXIT_NO_DAEMON) {
        checks_host(facts, NULL, findings);
        return true;
    }
    if (!call->client) {
        g_propagate_error(error, g_steal_pointer(&local_error));
        return false;
    }
    status = verb_query_status(call->client, error);
    vifs = status ? verb_query_vifs(call, NULL, error) : NULL;
    if (!vifs) {
        return false;
    }
    checks_host(facts, json_node_get_object(status), findings);
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        JsonObject *vif = json_array_get_object_element(vifs, i);

        if (domid < 0 || verb_number(vif, "domid") == domid) {
            any = true;
            checks_vif(vif, now, findings);
        }
    }
    if (domid >= 0 && !any) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_NO_VIF,
                    "domain %" G_GINT64_FORMAT " has no vif here, see 'qnetctl list'", domid);
        return false;
    }
    return true;
}

static void doctor_print_json(GPtrArray *findings)
{
    g_autoptr(JsonNode) node = json_node_new(JSON_NODE_ARRAY);
    JsonArray *list = json_array_new();

    for (guint i = 0; i < findings->len; i++) {
        const struct XnFinding *finding = g_ptr_array_index(findings, i);
        JsonObject *object = json_object_new();

        json_object_set_string_member(object, "subject", finding->subject);
        json_object_set_string_member(object, "severity", finding->problem ? "problem" : "note");
        json_object_set_string_member(object, "finding", finding->text);
        json_object_set_string_member(object, "advice", finding->advice);
        json_array_add_object_element(list, object);
    }
    json_node_take_array(node, list);
    verb_print_json(node);
}

/* Returns how many problems there are. */
static unsigned doctor_print(GPtrArray *findings, bool json)
{
    unsigned problems = 0;

    for (guint i = 0; i < findings->len; i++) {
        const struct XnFinding *finding = g_ptr_array_index(findings, i);

        problems += finding->problem;
        if (!json) {
            printf("%s: %s%s; %s\n", finding->subject, finding->problem ? "" : "(note) ",
                   finding->text, finding->advice);
        }
    }
    if (json) {
        doctor_print_json(findings);
    } else if (findings->len == 0) {
        puts("nothing is wrong");
    }
    return problems;
}

static bool run(const struct XnVerbCall *call, GError **error)
{
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
    struct XnVerbCall own = *call;
    struct XnHostFacts facts = doctor_look_at_host();
    gint64 domid;
    bool done;
    unsigned problems;

    if (!doctor_parse_domain(call->arguments[0], &domid, error)) {
        return false;
    }
    done = doctor_look_at_daemon(&own, &facts, domid, findings, error);
    client_close(own.client);
    if (!done) {
        return false;
    }
    problems = doctor_print(findings, call->json);
    if (!verb_flush(error)) {
        return false;
    }
    if (problems > 0) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_FINDINGS, "%u problem%s found", problems,
                    problems == 1 ? " was" : "s were");
    }
    return problems == 0;
}

const struct XnVerb verb_doctor = {
    .name = "doctor",
    .synopsis = "[DOMID]",
    .help = "what is wrong, and what to do",
    .most = 1,
    .offline = true,
    .run = run,
};
