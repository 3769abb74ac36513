/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-key-test.c - values of keys are taken strictly, and refusals say why
 */
#include <glib.h>
#include <string.h>

#include "xenstore-keys.h"

static bool parses(const struct XnKey *key, const char *text, union XnKeyValue *ret_value)
{
    g_autoptr(GError) error = NULL;
    bool ok;

    memset(ret_value, 0xa5, sizeof(*ret_value));
    ok = store_key_parse(key, text, ret_value, &error);
    if (!ok) {
        g_assert_error(error, XN_STORE_KEY_ERROR, XN_STORE_KEY_ERROR_MALFORMED);
        /* Whoever reads the log must find the key there. */
        g_assert_nonnull(strstr(error->message, key->name));
    }
    return ok;
}

static void test_numbers(void)
{
    static const char *const bad[] = {
        "",    " 1",         "1 ",  "+1",  "-1",  "8x",  "x8",
        "0x8", "4294967296", "1\n", "1.0", "01 ", "--1", "99999999999999999999999"};
    union XnKeyValue value;

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_test_message("'%s'", bad[i]);
        g_assert_false(parses(&key_queue_guest_tx_ring_ref, bad[i], &value));
    }
    g_assert_true(parses(&key_queue_guest_tx_ring_ref, "0", &value));
    g_assert_cmpuint(value.number, ==, 0);
    g_assert_true(parses(&key_queue_guest_tx_ring_ref, "4294967295", &value));
    g_assert_cmpuint(value.number, ==, UINT32_MAX);
}

static void test_ranges(void)
{
    union XnKeyValue value;

    g_assert_false(parses(&key_frontend_multi_queue_num_queues, "0", &value));
    g_assert_true(parses(&key_frontend_multi_queue_num_queues, "1", &value));
    g_assert_true(parses(&key_frontend_multi_queue_num_queues, "8", &value));
    g_assert_false(parses(&key_frontend_multi_queue_num_queues, "9", &value));
    g_assert_false(parses(&key_frontend_multi_queue_num_queues, "4294967297", &value));
    g_assert_false(parses(&key_queue_event_channel, "0", &value));
    g_assert_false(parses(&key_queue_event_channel, "131072", &value));
    g_assert_true(parses(&key_frontend_state, "8", &value));
    g_assert_false(parses(&key_frontend_state, "9", &value));
}

static void test_flags(void)
{
    static const char *const bad[] = {"", "2", "00", "01", "1 ", "true", "-1"};
    union XnKeyValue value;

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_false(parses(&key_frontend_feature_sg, bad[i], &value));
    }
    g_assert_true(parses(&key_frontend_feature_sg, "0", &value));
    g_assert_cmpuint(value.number, ==, 0);
    g_assert_true(parses(&key_frontend_feature_sg, "1", &value));
    g_assert_cmpuint(value.number, ==, 1);
}

static void test_macs(void)
{
    static const char *const bad[] = {
        "",
        "00:16:3e:01:02",
        "00:16:3e:01:02:",
        "00:16:3e:01:02:3",
        "00:16:3e:01:02:03:04",
        "00-16-3e-01-02-03",
        "00:16:3e:01:02:0g",
        "0:16:3e:01:02:03",
        " 00:16:3e:01:02:03",
        "00:16:3e:01:02:03 ",
        "01:16:3e:01:02:03",
        "ff:ff:ff:ff:ff:ff",
    };
    static const uint8_t expected[] = {0x00, 0x16, 0x3e, 0xaB, 0xcD, 0xeF};
    union XnKeyValue value;

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_test_message("'%s'", bad[i]);
        g_assert_false(parses(&key_backend_mac, bad[i], &value));
    }
    g_assert_true(parses(&key_backend_mac, "00:16:3e:aB:cD:eF", &value));
    g_assert_cmpmem(value.mac.octet, 6, expected, 6);
}

static void test_paths(void)
{
    union XnKeyValue value;

    g_assert_true(parses(&key_backend_frontend, "/local/domain/1/device/vif/0", &value));
    g_assert_false(parses(&key_backend_frontend, "device/vif/0", &value));
    g_assert_false(parses(&key_backend_frontend, "", &value));
    g_assert_false(parses(&key_backend_frontend, "/", &value));
}

/* What a guest wrote is quoted, but neither raw nor at length. */
static void test_message(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) long_error = NULL;
    g_autofree char *text = g_strnfill(1000, 'x');
    union XnKeyValue value;

    g_assert_false(
        store_key_parse(&key_frontend_multi_queue_num_queues, "1\n\x1b[2J", &value, &error));
    g_assert_cmpstr(error->message, ==,
                    "multi-queue-num-queues is '1\\n\\033[2J', not a number 1..8");
    g_assert_false(store_key_parse(&key_frontend_feature_sg, text, &value, &long_error));
    g_assert_cmpuint(strlen(long_error->message), <, 100);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/store-key/numbers", test_numbers);
    g_test_add_func("/store-key/ranges", test_ranges);
    g_test_add_func("/store-key/flags", test_flags);
    g_test_add_func("/store-key/macs", test_macs);
    g_test_add_func("/store-key/paths", test_paths);
    g_test_add_func("/store-key/message", test_message);
    return g_test_run();
}
