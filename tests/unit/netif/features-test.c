/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * features-test.c - every combination of a frontend's feature keys
 */
#include "netif/features.h"

#include <glib.h>
#include <linux/if_tun.h>

enum { COMBINATIONS = 1 << 6 };

static struct XnFeatures combination(unsigned bits)
{
    return (struct XnFeatures){
        .sg = bits & 1,
        .gso_tcpv4 = bits & 2,
        .gso_tcpv6 = bits & 4,
        .csum_ipv4 = bits & 8,
        .csum_ipv6 = bits & 16,
        .guest_rx_notify = bits & 32,
    };
}

static void test_gso_needs_sg_and_its_checksum(void)
{
    for (unsigned bits = 0; bits < COMBINATIONS; bits++) {
        struct XnFeatures wanted = combination(bits);
        struct XnFeatures got = features_normalise(wanted);

        g_assert_cmpint(got.gso_tcpv4, ==, (bits & (1 | 2 | 8)) == (1 | 2 | 8));
        g_assert_cmpint(got.gso_tcpv6, ==, (bits & (1 | 4 | 16)) == (1 | 4 | 16));
    }
}

/* mini-os writes no feature at all, and looks at no flag. */
static void test_csum_needs_sg(void)
{
    for (unsigned bits = 0; bits < COMBINATIONS; bits++) {
        struct XnFeatures got = features_normalise(combination(bits));

        g_assert_cmpint(got.csum_ipv4, ==, (bits & (1 | 8)) == (1 | 8));
        g_assert_cmpint(got.csum_ipv6, ==, (bits & (1 | 16)) == (1 | 16));
    }
}

/* A guest with an XDP program gets no super-frames. */
static void test_headroom(void)
{
    static const struct {
        uint16_t wanted;
        uint16_t got;
    } cases[] = {{0, 0}, {1, 1}, {256, 256}, {257, 256}, {4095, 256}, {4096, 256}, {65535, 256}};

    for (unsigned bits = 0; bits < COMBINATIONS; bits++) {
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
            struct XnFeatures wanted = combination(bits);
            struct XnFeatures got;

            wanted.guest_rx_headroom = cases[i].wanted;
            got = features_normalise(wanted);
            g_assert_cmpuint(got.guest_rx_headroom, ==, cases[i].got);
            g_assert_false(cases[i].wanted > 0 && (got.gso_tcpv4 || got.gso_tcpv6));
            g_assert_cmpuint(features_guest_rx_frame_max(&got), ==,
                             wanted.sg ? 65535 : 4096 - got.guest_rx_headroom);
        }
    }
}

/* Each field on its own makes a difference. */
static void test_equal(void)
{
    for (unsigned a = 0; a < COMBINATIONS; a++) {
        for (unsigned b = 0; b < COMBINATIONS; b++) {
            struct XnFeatures x = combination(a);
            struct XnFeatures y = combination(b);

            g_assert_cmpint(features_equal(&x, &y), ==, a == b);
            y.guest_rx_headroom = 1;
            g_assert_false(features_equal(&x, &y));
        }
    }
}

static void test_normalise_leaves_the_rest(void)
{
    for (unsigned bits = 0; bits < COMBINATIONS; bits++) {
        struct XnFeatures wanted = combination(bits);
        struct XnFeatures got = features_normalise(wanted);

        g_assert_cmpint(got.sg, ==, wanted.sg);
        g_assert_cmpint(got.guest_rx_notify, ==, wanted.guest_rx_notify);
    }
}

static void test_port_offloads(void)
{
    for (unsigned bits = 0; bits < COMBINATIONS; bits++) {
        struct XnFeatures features = features_normalise(combination(bits));
        unsigned offloads = features_port_offloads(&features);

        g_assert_cmpint(!!(offloads & TUN_F_CSUM), ==, features.csum_ipv4 || features.csum_ipv6);
        g_assert_cmpint(!!(offloads & TUN_F_TSO4), ==, features.gso_tcpv4);
        g_assert_cmpint(!!(offloads & TUN_F_TSO6), ==, features.gso_tcpv6);
        g_assert_cmphex(offloads & ~(unsigned)(TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6), ==, 0);
        /* The kernel refuses TSO without CSUM. */
        g_assert_true(offloads == 0 || (offloads & TUN_F_CSUM));
    }
}

static void test_frame_max(void)
{
    for (unsigned bits = 0; bits < COMBINATIONS; bits++) {
        struct XnFeatures features = features_normalise(combination(bits));

        g_assert_cmpuint(features_guest_rx_frame_max(&features), ==, bits & 1 ? 65535 : 4096);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/features/gso-needs-sg-and-its-checksum", test_gso_needs_sg_and_its_checksum);
    g_test_add_func("/features/csum-needs-sg", test_csum_needs_sg);
    g_test_add_func("/features/headroom", test_headroom);
    g_test_add_func("/features/equal", test_equal);
    g_test_add_func("/features/normalise-leaves-the-rest", test_normalise_leaves_the_rest);
    g_test_add_func("/features/port-offloads", test_port_offloads);
    g_test_add_func("/features/frame-max", test_frame_max);
    return g_test_run();
}
