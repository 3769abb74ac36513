/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks-test.c - what the doctor finds, and what it does not
 */
#include <string.h>

#include "tools/checks.h"

#define NOW 1000

/* The members of a healthy vif but those that `more`, a list of members, sets. */
static GPtrArray *examine(const char *more)
{
    g_autofree char *text = g_strdup_printf(
        "{\"name\":\"vif1.0\",\"state\":\"Connected\",\"frontend_state\":\"Connected\","
        "\"hotplug_connected\":true,\"interface\":\"vif1.0\",\"interface_up\":true,"
        "\"bridge\":\"xenbr0\",\"settings\":{\"admin_up\":true},\"negotiation\":[{\"name\":\"sg\","
        "\"on\":true,\"why\":\"\"}],\"queues_used\":1,\"queues\":[{}]%s%s}",
        more ? "," : "", more ? more : "");
    GPtrArray *findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) error = NULL;

    json_parser_load_from_data(parser, text, -1, &error);
    g_assert_no_error(error);
    checks_vif(json_node_get_object(json_parser_get_root(parser)), NOW, findings);
    return findings;
}

static void assert_finding(const GPtrArray *findings, bool problem, const char *text,
                           const char *advice)
{
    for (guint i = 0; i < findings->len; i++) {
        const struct XnFinding *finding = g_ptr_array_index(findings, i);

        g_test_message("%s: %s; %s", finding->subject, finding->text, finding->advice);
        if (strstr(finding->text, text) && strstr(finding->advice, advice)) {
            g_assert_true(finding->problem == problem);
            return;
        }
    }
    g_test_message("not found: %s; %s", text, advice);
    g_test_fail();
}

static void assert_vif(const char *more, bool problem, const char *text, const char *advice)
{
    g_autoptr(GPtrArray) findings = examine(more);

    assert_finding(findings, problem, text, advice);
}

static void test_healthy(void)
{
    g_autoptr(GPtrArray) findings = examine(NULL);

    g_assert_cmpuint(findings->len, ==, 0);
}

static void test_vif(void)
{
    assert_vif("\"error\":\"cannot connect: grant 7\",\"error_time\":940", true,
               "closed, 60 s ago: cannot connect", "max_grant_frames");
    assert_vif("\"error\":\"a ring\"", true, "closed: a ring", "detach and attach");
    assert_vif("\"state\":\"InitWait\",\"hotplug_connected\":false", true, "no hotplug script",
               "xl devd");
    assert_vif("\"state\":\"InitWait\",\"hotplug_connected\":false,\"hotplug_failed\":true", true,
               "script failed", "xen-hotplug.log");
    assert_vif("\"state\":\"InitWait\",\"frontend_state\":\"Initialising\"", false, "silent",
               "xen-netfront");
    assert_vif("\"stalled\":true", true, "stalled", "kick");
    assert_vif("\"interface\":\"lan0\"", false, "is called lan0", "xentop");
    assert_vif("\"interface_up\":false", true, "vif1.0 is down", "ip link set up");
    assert_vif("\"bridge\":null", false, "in no bridge", "vif-route");
    assert_vif("\"settings\":{\"admin_up\":false}", true, "set down", "admin up");
    assert_vif("\"complaint\":\"rate is x\"", true, "rate is x", "qnetctl set");
    assert_vif("\"polled\":true", false, "polled", "quota");
    assert_vif("\"negotiation\":[{\"name\":\"gso_tcpv4\",\"on\":false,\"why\":\"by whom\"}]", false,
               "gso_tcpv4 is off: by whom", "switch it on");
    assert_vif("\"queues\":[{},{}]", false, "1 of 2 queues", "max_grant_frames");
    assert_vif("\"queues\":[{\"guest_tx_drop_port\":7}]", false, "7 frames were dropped: the port",
               "interface was down");
}

static void test_host(void)
{
    struct XnHostFacts sound = {.gntdev = true, .tun = true, .kernel_major = 6, .kernel_minor = 1};
    struct XnHostFacts broken = {
        .netback_loaded = true, .kernel_major = 4, .kernel_minor = 7, .amd = true};
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
    g_autoptr(JsonObject) status = json_object_new();

    json_object_set_string_member(status, "buffers", "granted");
    checks_host(&sound, status, findings);
    g_assert_cmpuint(findings->len, ==, 0);
    checks_host(&broken, NULL, findings);
    assert_finding(findings, true, "xen-netback is loaded", "blacklist");
    assert_finding(findings, true, "Linux 4.7 has no grant copy", "4.8");
    assert_finding(findings, true, "/dev/xen/gntdev", "modprobe");
    assert_finding(findings, true, "/dev/net/tun", "modprobe tun");
    assert_finding(findings, false, "AMD", "xen_platform_pci_bar_uc=0");
    assert_finding(findings, true, "daemon does not run", "systemctl start");
    json_object_set_string_member(status, "buffers", "plain");
    checks_host(&sound, status, findings);
    assert_finding(findings, false, "buffers are plain", "xen-gntalloc");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/checks/healthy", test_healthy);
    g_test_add_func("/checks/vif", test_vif);
    g_test_add_func("/checks/host", test_host);
    return g_test_run();
}
