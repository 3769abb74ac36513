/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-node-test.c - a path or token names exactly one vif, or nothing
 */
#include <glib.h>
#include <string.h>

#include "control/store-node.h"

#define BASE "/local/domain/0/backend/vif"

static void test_numbers(void)
{
    static const char *const bad[] = {"", "00", "01", " 1", "1 ", "-1", "+1", "1a", "0x1", "101"};
    uint32_t number = 77;

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_false(store_node_parse_number(bad[i], 100, &number));
    }
    g_assert_cmpuint(number, ==, 77);
    g_assert_true(store_node_parse_number("0", 100, &number));
    g_assert_cmpuint(number, ==, 0);
    g_assert_true(store_node_parse_number("100", 100, &number));
    g_assert_cmpuint(number, ==, 100);
}

static void test_paths(void)
{
    static const char *const inside[] = {
        BASE "/12/3",
        BASE "/12/3/state",
        BASE "/12/3/a/b/c",
        BASE "/12/3/",
    };
    static const char *const bad[] = {
        BASE,
        BASE "/",
        BASE "/12",
        BASE "/12/",
        BASE "/12/x",
        BASE "/x/3",
        BASE "/12/03",
        BASE "/32752/0",
        BASE "/12/1000000",
        BASE "x/12/3",
        "/local/domain/0/backend/vkbd/12/3",
        "/local/domain/0/backend",
        "@releaseDomain",
        "",
    };
    struct XnVifId id;

    for (size_t i = 0; i < G_N_ELEMENTS(inside); i++) {
        id = (struct XnVifId){0};
        g_assert_true(store_node_parse_path(BASE, inside[i], &id));
        g_assert_cmpuint(id.domid, ==, 12);
        g_assert_cmpuint(id.devid, ==, 3);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_test_message("'%s'", bad[i]);
        g_assert_false(store_node_parse_path(BASE, bad[i], &id));
    }
}

/* What is made from numbers gives the same numbers back, and fits where it must. */
static void test_round_trip(void)
{
    static const struct XnVifId ids[] = {{0, 0}, {1, 0}, {12, 345}, {XN_DOMID_MAX, XN_DEVID_MAX}};

    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
        g_autofree char *token = store_node_token(ids[i]);
        g_autofree char *name = store_node_vif_name(ids[i]);
        g_autofree char *base = store_node_backend_base(5);
        g_autofree char *backend = store_node_backend(5, ids[i]);
        struct XnVifId id = {99, 99};

        g_assert_true(store_node_parse_token(token, &id));
        g_assert_cmpuint(id.domid, ==, ids[i].domid);
        g_assert_cmpuint(id.devid, ==, ids[i].devid);
        id = (struct XnVifId){99, 99};
        g_assert_true(store_node_parse_vif_name(name, &id));
        g_assert_cmpuint(id.domid, ==, ids[i].domid);
        g_assert_cmpuint(id.devid, ==, ids[i].devid);
        id = (struct XnVifId){99, 99};
        g_assert_true(store_node_parse_path(base, backend, &id));
        g_assert_cmpuint(id.domid, ==, ids[i].domid);
        g_assert_cmpuint(id.devid, ==, ids[i].devid);
        g_assert_cmpuint(strlen(name), <=, 15);
    }
}

static void test_tokens(void)
{
    static const char *const bad[] = {"",        "vif",       "vif/",     "vif/1",
                                      "vif/1/",  "vif/1/2/3", "vif/1/2/", "vbd/1/2",
                                      "vif/a/2", "vif//2",    "backend"};
    struct XnVifId id;

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_test_message("'%s'", bad[i]);
        g_assert_false(store_node_parse_token(bad[i], &id));
    }
}

static void test_names(void)
{
    static const char *const bad[] = {"vif1.0-emu", "vif1",    "vif1.",  "vif.1", "tap1.0",
                                      "vif1.0.0",   "vif01.0", "xenbr0", ""};
    struct XnVifId id;

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_test_message("'%s'", bad[i]);
        g_assert_false(store_node_parse_vif_name(bad[i], &id));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/store-node/numbers", test_numbers);
    g_test_add_func("/store-node/paths", test_paths);
    g_test_add_func("/store-node/round-trip", test_round_trip);
    g_test_add_func("/store-node/tokens", test_tokens);
    g_test_add_func("/store-node/names", test_names);
    return g_test_run();
}
