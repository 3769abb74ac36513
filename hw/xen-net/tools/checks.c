/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks.c - what may be wrong with a host or a vif, and what to do about it
 */
#include "tools/checks.h"

#include <string.h>

#include "base/counters.h"
#include "tools/verb.h"

/* Grant copies for user programs came with Linux 4.8. */
#define CHECKS_KERNEL_MAJOR 4u
#define CHECKS_KERNEL_MINOR 8u

void finding_free(struct XnFinding *finding)
{
    g_free(finding->subject);
    g_free(finding->text);
    g_free(finding);
}

/* Takes `text`. */
static void checks_add(GPtrArray *findings, const char *subject, bool problem, char *text,
                       const char *advice)
{
    struct XnFinding *finding = g_new(struct XnFinding, 1);

    *finding = (struct XnFinding){g_strdup(subject), problem, text, advice};
    g_ptr_array_add(findings, finding);
}

static void checks_say(GPtrArray *findings, const char *subject, bool problem, const char *text,
                       const char *advice)
{
    checks_add(findings, subject, problem, g_strdup(text), advice);
}

void checks_host(const struct XnHostFacts *facts, JsonObject *status, GPtrArray *findings)
{
    if (facts->netback_loaded) {
        checks_say(
            findings, "host", true, "the kernel's xen-netback is loaded",
            "it would serve the same vifs: blacklist xen-netback in /etc/modprobe.d, and run "
            "'rmmod xen_netback' when no guest uses it");
    }
    if (facts->kernel_major < CHECKS_KERNEL_MAJOR ||
        (facts->kernel_major == CHECKS_KERNEL_MAJOR && facts->kernel_minor < CHECKS_KERNEL_MINOR)) {
        checks_add(findings, "host", true,
                   g_strdup_printf("Linux %u.%u has no grant copy for programs",
                                   facts->kernel_major, facts->kernel_minor),
                   "use Linux 4.8 or later in this domain");
    }
    if (!facts->gntdev) {
        checks_say(findings, "host", true, "there is no /dev/xen/gntdev",
                   "run 'modprobe xen-gntdev xen-evtchn'; is this a Xen domain?");
    }
    if (!facts->tun) {
        checks_say(findings, "host", true, "there is no /dev/net/tun", "run 'modprobe tun'");
    }
    if (facts->amd) {
        checks_say(findings, "host", false,
                   "the processor is AMD's: HVM guests may have their grant "
                   "table uncached, and then send slowly",
                   "set xen_platform_pci_bar_uc=0 in the xl.cfg of HVM guests with Linux 5.19 or "
                   "later");
    }
    if (!status) {
        checks_say(findings, "host", true, "the daemon does not run, or does not answer",
                   "run 'systemctl start qnetback' and read its log, 'journalctl -u qnetback'");
        return;
    }
    if (strcmp(verb_text(status, "buffers"), "plain") == 0) {
        checks_say(findings, "host", false,
                   "packet buffers are plain, which makes each copy dearer",
                   "load xen-gntalloc with limit=4096, and restart the daemon");
    }
}

/* Does it wait for somebody, and for whom? */
static void checks_connecting(JsonObject *vif, const char *name, GPtrArray *findings)
{
    const char *frontend = verb_text(vif, "frontend_state");

    if (strcmp(verb_text(vif, "state"), "InitWait") != 0) {
        return;
    }
    if (verb_flag(vif, "hotplug_failed")) {
        checks_say(findings, name, true, "the hotplug script failed",
                   "see 'qnetctl show', the log, and /var/log/xen/xen-hotplug.log");
    } else if (!verb_flag(vif, "hotplug_connected")) {
        checks_say(findings, name, true, "no hotplug script has set up the interface",
                   "is script= in the guest's vif right? In a driver domain, 'xl devd' must run");
    } else if (strcmp(frontend, "Initialising") == 0 || strcmp(frontend, "Unknown") == 0) {
        checks_say(findings, name, false, "the guest's frontend is silent",
                   "is the guest still booting, or without a driver (xen-netfront)?");
    }
}

/* An error of long ago is told with its age. */
static void checks_error(JsonObject *vif, const char *name, gint64 now, GPtrArray *findings)
{
    const char *error = verb_text(vif, "error");
    gint64 since = verb_number(vif, "error_time");
    g_autofree char *age = NULL;

    if (strcmp(error, "-") == 0) {
        return;
    }
    age = since > 0 && since <= now ? g_strdup_printf(", %" G_GINT64_FORMAT " s ago", now - since)
                                    : g_strdup("");
    checks_add(findings, name, true, g_strdup_printf("closed%s: %s", age, error),
               strstr(error, "grant")
                   ? "is the guest short of grants? Raise max_grant_frames= in its "
                     "xl.cfg, or set max-queues lower"
                   : "detach and attach the vif, or restart the guest");
}

static void checks_interface(JsonObject *vif, const char *name, GPtrArray *findings)
{
    const char *interface = verb_text(vif, "interface");

    if (strcmp(interface, "-") == 0) {
        return;
    }
    if (strcmp(interface, name) != 0) {
        checks_add(findings, name, false, g_strdup_printf("its interface is called %s", interface),
                   "xentop looks for vifX.Y: it shows no traffic of this vif (vifname=)");
    }
    if (!verb_flag(vif, "hotplug_connected")) {
        return;
    }
    if (!verb_flag(vif, "interface_up")) {
        checks_add(findings, name, true, g_strdup_printf("the interface %s is down", interface),
                   "run 'ip link set up' for it; did the hotplug script fail?");
    }
    if (strcmp(verb_text(vif, "bridge"), "-") == 0) {
        checks_add(findings, name, false,
                   g_strdup_printf("the interface %s is in no bridge", interface),
                   "right with vif-route and vif-nat; else put it into its bridge");
    }
}

static void checks_settings(JsonObject *vif, const char *name, GPtrArray *findings)
{
    JsonNode *node = json_object_get_member(vif, "settings");

    if (node && JSON_NODE_HOLDS_OBJECT(node) &&
        !verb_flag(json_node_get_object(node), "admin_up")) {
        checks_say(findings, name, true, "set down by the administrator: all frames are dropped",
                   "run 'qnetctl set VIF admin up'");
    }
    if (strcmp(verb_text(vif, "complaint"), "-") != 0) {
        checks_add(findings, name, true, g_strdup(verb_text(vif, "complaint")),
                   "correct the key in the vif's directory, or use 'qnetctl set'");
    }
    if (verb_flag(vif, "polled")) {
        checks_say(findings, name, false, "xenstored gives no watch for its frontend: it is polled",
                   "the quota of watches of this domain is used up; raise quota-maxwatch");
    }
}

/* Only offloads: what else is off is a matter of taste. */
static void checks_features(JsonObject *vif, const char *name, GPtrArray *findings)
{
    JsonArray *features = verb_array(vif, "negotiation");
    gint64 used = verb_number(vif, "queues_used");
    gint64 offered = json_array_get_length(verb_array(vif, "queues"));

    for (guint i = 0; i < json_array_get_length(features); i++) {
        JsonObject *feature = json_array_get_object_element(features, i);
        const char *feature_name = verb_text(feature, "name");

        if (!verb_flag(feature, "on") &&
            (strcmp(feature_name, "sg") == 0 || g_str_has_prefix(feature_name, "csum_") ||
             g_str_has_prefix(feature_name, "gso_"))) {
            checks_add(findings, name, false,
                       g_strdup_printf("%s is off: %s", feature_name, verb_text(feature, "why")),
                       "large transfers are slower without; switch it on where it says");
        }
    }
    if (used > 0 && used < offered) {
        checks_add(findings, name, false,
                   g_strdup_printf("the guest uses %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                                   " queues",
                                   used, offered),
                   "it has fewer vCPUs, or its grant table is too small (max_grant_frames=)");
    }
}

static const char *checks_drop_advice(const char *reason)
{
    if (strcmp(reason, "admin_down") == 0) {
        return "run 'qnetctl set VIF admin up'";
    }
    if (strcmp(reason, "port") == 0) {
        return "the interface was down; is it up now?";
    }
    if (strcmp(reason, "bad_grant") == 0) {
        return "the guest's driver is at fault";
    }
    return "see 'qnetctl counters' for what it means";
}

static void checks_drops(JsonObject *vif, const char *name, GPtrArray *findings)
{
    JsonArray *queues = verb_array(vif, "queues");

    for (size_t i = 0; i < counters_queue_table_length; i++) {
        const struct XnCounterInfo *info = &counters_queue_table[i];
        gint64 count = 0;

        for (guint j = 0; info->reason && j < json_array_get_length(queues); j++) {
            count += verb_number(json_array_get_object_element(queues, j), info->name);
        }
        if (count > 0 && strcmp(info->reason, "multicast") != 0) {
            checks_add(
                findings, name, false,
                g_strdup_printf("%" G_GINT64_FORMAT " frames were dropped: %s", count, info->help),
                checks_drop_advice(info->reason));
        }
    }
}

void checks_vif(JsonObject *vif, gint64 now, GPtrArray *findings)
{
    const char *name = verb_text(vif, "name");

    checks_error(vif, name, now, findings);
    checks_connecting(vif, name, findings);
    if (verb_flag(vif, "stalled")) {
        checks_say(
            findings, name, true, "stalled: the guest takes no frames",
            "is the guest paused, hung or very busy? 'qnetctl kick VIF' helps if an event got "
            "lost");
    }
    checks_settings(vif, name, findings);
    checks_interface(vif, name, findings);
    checks_features(vif, name, findings);
    checks_drops(vif, name, findings);
}
