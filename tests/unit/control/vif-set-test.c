/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-set-test.c - what an administrator may change, and in which words
 */
#include <string.h>

#include "control/vif-set.h"
#include "netif/credit.h"

static void assert_set(const char *setting, const char *value, const char *key, const char *text)
{
    const struct XnKey *got = NULL;
    g_autofree char *got_text = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_true(vif_set_convert(setting, value, &got, &got_text, &error));
    g_assert_no_error(error);
    g_assert_cmpstr(got->name, ==, key);
    g_assert_cmpstr(got_text, ==, text);
}

static void assert_refused(const char *setting, const char *value)
{
    const struct XnKey *key = NULL;
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;

    g_test_message("%s '%s'", setting, value);
    g_assert_false(vif_set_convert(setting, value, &key, &text, &error));
    g_assert_nonnull(error);
    g_assert_null(key);
    g_assert_null(text);
    g_assert_null(strchr(error->message, '\n'));
}

static void test_rate(void)
{
    /* As in xl-network-configuration(5): 50 ms unless it says otherwise. */
    assert_set("rate", "10Mb/s", "rate", "62500,50000");
    assert_set("rate", "250KB/s", "rate", "12500,50000");
    assert_set("rate", "1GB/s", "rate", "50000000,50000");
    assert_set("rate", "1MB/s@20ms", "rate", "20000,20000");
    assert_set("rate", "8000b/s@1s", "rate", "1000,1000000");
    assert_set("rate", "1000B/s@1000us", "rate", "1,1000");
    assert_set("rate", "40000,10000", "rate", "40000,10000");
    assert_set("rate", "none", "rate", NULL);
    assert_set("rx-rate", "10Mb/s", "rx-rate", "62500,50000");
}

static void test_rate_refused(void)
{
    static const char *const wrong[] = {
        "",
        "0",
        "10",
        "0Mb/s",
        "-1Mb/s",
        "10Mb",
        "10Mb/h",
        "10Tb/s",
        "10M/s",
        "10Mb/s@",
        "10Mb/s@ms",
        "10Mb/s@20",
        "10Mb/s@0s",
        "10Mb/s@1h",
        "10Mb/s20ms",
        "10 Mb/s",
        "1b/s@1us",
        "1,2,3",
        "1,",
        "Mb/s",
        "10Mb/s ",
        "99999999999b/s",
        "1Mb/s@99999s",
        "10mb/s",
        "4294967294GB/s@1000s",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        assert_refused("rate", wrong[i]);
        assert_refused("rx-rate", wrong[i]);
    }
}

/* What we write must be what we read: else a limit would be none. */
static void test_rate_is_understood(void)
{
    static const char *const rates[] = {"1b/s@1000s", "4294967294GB/s@100ms", "1Gb/s@1us",
                                        "3B/s@1s"};

    for (size_t i = 0; i < G_N_ELEMENTS(rates); i++) {
        const struct XnKey *key;
        g_autofree char *text = NULL;
        struct XnCreditRate rate;
        const char *reason = NULL;

        g_assert_true(vif_set_convert("rate", rates[i], &key, &text, NULL));
        g_test_message("%s is %s", rates[i], text);
        g_assert_true(credit_parse(text, &rate, &reason));
        g_assert_null(reason);
    }
}

static void test_words(void)
{
    assert_set("rx-csum", "fill", "rx-csum", "fill");
    assert_set("rx-csum", "offload", "rx-csum", NULL);
    assert_set("gso", "on", "gso", NULL);
    assert_set("gso", "off", "gso", "0");
    assert_set("csum", "off", "csum", "0");
    assert_set("admin", "down", "admin-down", "1");
    assert_set("admin", "up", "admin-down", NULL);
    assert_set("direct", "on", "direct", "1");
    assert_set("direct", "off", "direct", "0");
    assert_set("direct", "default", "direct", NULL);
    assert_set("max-queues", "8", "max-queues", "8");
    assert_set("max-queues", "default", "max-queues", NULL);
    assert_refused("rx-csum", "on");
    assert_refused("gso", "1");
    assert_refused("csum", "");
    assert_refused("admin", "Down");
    assert_refused("direct", "none");
    assert_refused("max-queues", "0");
    assert_refused("max-queues", "9");
    assert_refused("max-queues", "two");
    assert_refused("mac", "00:16:3e:00:00:01");
    assert_refused("", "");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vif-set/rate", test_rate);
    g_test_add_func("/vif-set/rate-refused", test_rate_refused);
    g_test_add_func("/vif-set/rate-is-understood", test_rate_is_understood);
    g_test_add_func("/vif-set/words", test_words);
    return g_test_run();
}
