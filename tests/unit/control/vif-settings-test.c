/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-settings-test.c - the rate of a vif, as it changes
 */
#include "control/vif-settings.h"

#include <glib.h>

#include "base/log.h"

static void test_changes(void)
{
    struct XnVifRate rate = {0};

    /* No key, as with most vifs: that is no change, and nothing is said. */
    g_assert_false(vif_settings_take_rate(&rate, NULL, "guest_tx", "vif1.0"));
    g_assert_true(vif_settings_take_rate(&rate, "500000,50000", "guest_tx", "vif1.0"));
    g_assert_cmpuint(rate.rate.bytes, ==, 500000);
    g_assert_cmpuint(rate.rate.interval_us, ==, 50000);
    g_assert_false(vif_settings_take_rate(&rate, "500000,50000", "guest_tx", "vif1.0"));
    g_assert_true(vif_settings_take_rate(&rate, "1000,50000", "guest_tx", "vif1.0"));
    g_assert_cmpuint(rate.rate.bytes, ==, 1000);
    g_assert_true(vif_settings_take_rate(&rate, NULL, "guest_tx", "vif1.0"));
    g_assert_cmpuint(rate.rate.bytes, ==, 0);
    g_assert_null(rate.text);
}

/* A mistake means unlimited, and is not said again for as long as it stands there. */
static void test_mistakes(void)
{
    static const char *const mistakes[] = {
        "",        "fast",   "1000", "1000,",        ",50000",
        "0,50000", "1000,0", "-1,5", "1000,50000,1", "1e3,50000"};

    for (size_t i = 0; i < G_N_ELEMENTS(mistakes); i++) {
        struct XnVifRate rate = {0};

        g_assert_true(vif_settings_take_rate(&rate, "7,8", "guest_rx", "vif1.0"));
        g_assert_true(vif_settings_take_rate(&rate, mistakes[i], "guest_rx", "vif1.0"));
        g_assert_cmpuint(rate.rate.bytes, ==, 0);
        g_assert_false(vif_settings_take_rate(&rate, mistakes[i], "guest_rx", "vif1.0"));
        g_assert_true(vif_settings_take_rate(&rate, NULL, "guest_rx", "vif1.0"));
    }
}

int main(int argc, char **argv)
{
    log_init(XN_LOG_ERROR);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vif-settings/changes", test_changes);
    g_test_add_func("/vif-settings/mistakes", test_mistakes);
    return g_test_run();
}
