/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-explain-test.c - why a feature is on or off
 */
#include <string.h>

#include "control/vif-explain.h"

/* A frontend that offers everything, under these switches, after `change`. */
static struct XnFrontend frontend_under(const struct XnVifSwitches *switches,
                                        void (*change)(struct XnFeatures *said))
{
    struct XnFrontend frontend = {
        .said = {.sg = true,
                 .gso_tcpv4 = true,
                 .gso_tcpv6 = true,
                 .csum_ipv4 = true,
                 .csum_ipv6 = true},
        .queue_count = 1,
    };

    if (change) {
        change(&frontend.said);
    }
    frontend.features = vif_settings_restrict(switches, frontend.said);
    return frontend;
}

static void assert_why(const struct XnFrontend *frontend, const struct XnVifSwitches *switches,
                       const char *name, bool on, const char *part)
{
    struct XnVifFeature features[XN_VIF_FEATURES];

    vif_explain(frontend, switches, false, features);
    for (unsigned i = 0; i < XN_VIF_FEATURES; i++) {
        if (strcmp(features[i].name, name) == 0) {
            g_test_message("%s: %s", name, features[i].why);
            g_assert_true(features[i].on == on);
            g_assert_nonnull(strstr(features[i].why, part));
            return;
        }
    }
    g_assert_not_reached();
}

static void no_gso6(struct XnFeatures *said)
{
    said->gso_tcpv6 = false;
}

static void no_sg(struct XnFeatures *said)
{
    said->sg = false;
}

static void no_csum4(struct XnFeatures *said)
{
    said->csum_ipv4 = false;
}

static void headroom(struct XnFeatures *said)
{
    said->guest_rx_headroom = 256;
}

static void test_frontend(void)
{
    struct XnVifSwitches none = {0};
    struct XnFrontend frontend = frontend_under(&none, NULL);

    assert_why(&frontend, &none, "gso_tcpv4", true, "takes super-frames");
    assert_why(&frontend, &none, "csum_ipv6", true, "understands blank checksums");
    assert_why(&frontend, &none, "multi_queue", false, "one queue");
    assert_why(&frontend, &none, "ctrl_ring", false, "no control ring");
    frontend = frontend_under(&none, no_gso6);
    assert_why(&frontend, &none, "gso_tcpv4", true, "");
    assert_why(&frontend, &none, "gso_tcpv6", false, "does not write feature-gso-tcpv6");
    frontend = frontend_under(&none, no_sg);
    assert_why(&frontend, &none, "sg", false, "one page");
    assert_why(&frontend, &none, "gso_tcpv4", false, "feature-sg");
    assert_why(&frontend, &none, "csum_ipv4", false, "feature-sg");
    frontend = frontend_under(&none, no_csum4);
    assert_why(&frontend, &none, "csum_ipv4", false, "feature-no-csum-offload");
    assert_why(&frontend, &none, "gso_tcpv4", false, "no blank checksums");
    assert_why(&frontend, &none, "gso_tcpv6", true, "");
    frontend = frontend_under(&none, headroom);
    assert_why(&frontend, &none, "gso_tcpv4", false, "XDP");
    assert_why(&frontend, &none, "csum_ipv4", true, "");
}

static void test_administrator(void)
{
    struct XnVifSwitches switches = {.no_gso = true};
    struct XnFrontend frontend = frontend_under(&switches, NULL);

    assert_why(&frontend, &switches, "gso_tcpv4", false, "administrator has set gso off");
    assert_why(&frontend, &switches, "csum_ipv4", true, "");
    switches = (struct XnVifSwitches){.no_csum = true};
    frontend = frontend_under(&switches, NULL);
    assert_why(&frontend, &switches, "csum_ipv4", false, "administrator has set csum off");
    assert_why(&frontend, &switches, "gso_tcpv6", false, "administrator has switched the checksum");
    switches = (struct XnVifSwitches){.fill_csum = true};
    frontend = frontend_under(&switches, NULL);
    assert_why(&frontend, &switches, "csum_ipv6", false, "rx-csum to fill");
    /* The guest's own word comes first: switching it back on would change nothing. */
    frontend = frontend_under(&switches, no_csum4);
    assert_why(&frontend, &switches, "csum_ipv4", false, "feature-no-csum-offload");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vif-explain/frontend", test_frontend);
    g_test_add_func("/vif-explain/administrator", test_administrator);
    return g_test_run();
}
