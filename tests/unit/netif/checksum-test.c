/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checksum-test.c - the Internet checksum against RFC 1071's example and a naive sum
 */
#include "netif/checksum.h"

#include <arpa/inet.h>
#include <glib.h>
#include <string.h>

#include "frame.h"

static void test_rfc_example(void)
{
    static const uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

    g_assert_cmphex(ntohs(checksum_fold(checksum_add(0, bytes, sizeof(bytes)))), ==, 0xddf2);
}

static void test_every_short_length_and_alignment(void)
{
    /* One byte more at either end: they must not count. */
    uint8_t buffer[16 + 300 + 1];

    for (size_t offset = 0; offset < 16; offset++) {
        for (size_t length = 0; length <= 300; length++) {
            g_autofree uint8_t *exact = NULL;

            frame_random(buffer, sizeof(buffer));
            exact = g_memdup2(buffer + offset, MAX(length, 1));
            g_assert_cmphex(ntohs(checksum_fold(checksum_add(0, buffer + offset, length))), ==,
                            frame_sum(0, exact, length));
            g_assert_cmphex(checksum_add(0, exact, length), ==,
                            checksum_add(0, buffer + offset, length));
        }
    }
}

static void test_largest_sum(void)
{
    enum { LENGTH = 65535 };
    g_autofree uint8_t *bytes = g_malloc(LENGTH);

    memset(bytes, 0xff, LENGTH);
    g_assert_cmphex(ntohs(checksum_fold(checksum_add(0, bytes, LENGTH))), ==,
                    frame_sum(0, bytes, LENGTH));
}

static void test_parts_add_up(void)
{
    uint8_t bytes[256];

    frame_random(bytes, sizeof(bytes));
    for (size_t cut = 0; cut <= sizeof(bytes); cut += 2) {
        uint64_t sum = checksum_add(0, bytes, cut);

        sum = checksum_add(sum, bytes + cut, sizeof(bytes) - cut);
        g_assert_cmphex(ntohs(checksum_fold(sum)), ==, frame_sum(0, bytes, sizeof(bytes)));
    }
}

static void test_fold_extremes(void)
{
    g_assert_cmphex(checksum_fold(0), ==, 0);
    g_assert_cmphex(checksum_fold(1), ==, 1);
    g_assert_cmphex(checksum_fold(0xffff), ==, 0xffff);
    g_assert_cmphex(checksum_fold(0x10000), ==, 1);
    g_assert_cmphex(checksum_fold(0x1fffe), ==, 0xffff);
    g_assert_cmphex(checksum_fold(0x1ffff), ==, 1);
    g_assert_cmphex(checksum_fold(0xffff0000), ==, 0xffff);
    g_assert_cmphex(checksum_fold(UINT64_MAX), ==, 0xffff);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/checksum/rfc-1071-example", test_rfc_example);
    g_test_add_func("/checksum/every-short-length-and-alignment",
                    test_every_short_length_and_alignment);
    g_test_add_func("/checksum/largest-sum", test_largest_sum);
    g_test_add_func("/checksum/parts-add-up", test_parts_add_up);
    g_test_add_func("/checksum/fold-extremes", test_fold_extremes);
    return g_test_run();
}
