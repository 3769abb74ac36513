/* SPDX-License-Identifier: GPL-2.0-or-later */
/* checksum-test.c - the frontend's Internet checksum against known sums */
#include "../../qnetfront/checksum.h"

#include <glib.h>

/* The example of RFC 1071, section 3. */
static void test_rfc_1071(void)
{
    static const uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

    g_assert_cmphex(checksum_fold(checksum_add(0, bytes, sizeof(bytes))), ==, 0xddf2);
}

static void test_ipv4_header(void)
{
    static const uint8_t header[] = {0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                                     0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
    uint16_t sum = checksum_fold(checksum_add(0, header, sizeof(header)));

    g_assert_cmphex((uint16_t)~sum, ==, 0xb861);
}

/* The words one by one, as the RFC words it. */
static uint16_t sum_slowly(const uint8_t *bytes, size_t length)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < length; i++) {
        sum += i % 2 ? bytes[i] : bytes[i] << 8;
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return sum;
}

static void test_every_length(void)
{
    uint8_t bytes[300];

    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = 0xff - i * 37;
    }
    for (size_t length = 0; length < 200; length++) {
        for (size_t at = 0; at < 4; at++) {
            g_assert_cmphex(checksum_fold(checksum_add(0, bytes + at, length)), ==,
                            sum_slowly(bytes + at, length));
        }
    }
}

static void test_parts_add_up(void)
{
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    uint64_t whole = checksum_add(0, bytes, sizeof(bytes));
    uint64_t parts = checksum_add(checksum_add(0, bytes, 6), bytes + 6, 3);

    g_assert_cmphex(checksum_fold(whole), ==, checksum_fold(parts));
}

static void test_pseudo_header(void)
{
    static const uint8_t source[] = {192, 168, 0, 31};
    static const uint8_t target[] = {192, 168, 0, 30};

    /* c0a8 + 001f + c0a8 + 001e + 0011 + 000a, folded. */
    g_assert_cmphex(checksum_fold(checksum_pseudo(source, target, 4, 17, 10)), ==, 0x81a9);
    /* A length beyond 16 bits counts in both halves. */
    g_assert_cmphex(checksum_fold(checksum_pseudo(source, target, 4, 17, 0x1000a)), ==, 0x81aa);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/qnetfront/checksum/rfc-1071", test_rfc_1071);
    g_test_add_func("/qnetfront/checksum/ipv4-header", test_ipv4_header);
    g_test_add_func("/qnetfront/checksum/every-length", test_every_length);
    g_test_add_func("/qnetfront/checksum/parts-add-up", test_parts_add_up);
    g_test_add_func("/qnetfront/checksum/pseudo-header", test_pseudo_header);
    return g_test_run();
}
