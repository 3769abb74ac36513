/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash-test.c - the frontend's idea of hashes, against the published Toeplitz vectors
 */
#include "../../qnetfront/hash.h"

#include <arpa/inet.h>
#include <glib.h>

/* "Verifying the RSS Hash Calculation", Microsoft: addresses and ports, hash without and with the
 * ports. */
static const struct {
    int family;
    const char *source, *target;
    uint16_t source_port, target_port;
    uint32_t addresses, with_ports;
} vectors[] = {
    {AF_INET, "66.9.149.187", "161.142.100.80", 2794, 1766, 0x323e8fc2, 0x51ccc178},
    {AF_INET, "199.92.111.2", "65.69.140.83", 14230, 4739, 0xd718262a, 0xc626b0ea},
    {AF_INET, "24.19.198.95", "12.22.207.184", 12898, 38024, 0xd2d0a5de, 0x5c2b394a},
    {AF_INET, "38.27.205.30", "209.142.163.6", 48228, 2217, 0x82989176, 0xafc7327f},
    {AF_INET, "153.39.163.191", "202.188.127.2", 44251, 1303, 0x5d1809c5, 0x10e828a2},
    {AF_INET6, "3ffe:2501:200:1fff::7", "3ffe:2501:200:3::1", 2794, 1766, 0x2cc18cd5, 0x40207d3d},
    {AF_INET6, "3ffe:501:8::260:97ff:fe40:efab", "ff02::1", 14230, 4739, 0x0f0c461c, 0xdde51bbf},
    {AF_INET6, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", "fe80::200:f8ff:fe21:67cf", 44251, 38024,
     0x4b61e985, 0x02d1feef},
};

static void send_number(struct XnHashConfig *config, uint16_t type, uint32_t number)
{
    struct xen_netif_ctrl_request request = {.type = type, .data = {number}};

    hash_apply(config, &request, NULL);
}

static void configure(struct XnHashConfig *config, uint32_t queues, uint32_t types)
{
    struct xen_netif_ctrl_request request = {.type = XEN_NETIF_CTRL_TYPE_SET_HASH_KEY,
                                             .data = {0, XN_HASH_KEY_MAX}};

    hash_reset(config, queues);
    send_number(config, XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM,
                XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ);
    hash_apply(config, &request, xn_hash_default_key);
    send_number(config, XEN_NETIF_CTRL_TYPE_SET_HASH_FLAGS, types);
}

static void test_toeplitz(void)
{
    for (unsigned int i = 0; i < G_N_ELEMENTS(vectors); i++) {
        size_t size = vectors[i].family == AF_INET ? 4 : 16;
        uint16_t ports[2] = {htons(vectors[i].source_port), htons(vectors[i].target_port)};
        uint8_t input[36];

        g_assert_cmpint(inet_pton(vectors[i].family, vectors[i].source, input), ==, 1);
        g_assert_cmpint(inet_pton(vectors[i].family, vectors[i].target, input + size), ==, 1);
        memcpy(input + 2 * size, ports, sizeof(ports));
        g_assert_cmphex(hash_toeplitz(xn_hash_default_key, XN_HASH_KEY_MAX, input, 2 * size), ==,
                        vectors[i].addresses);
        g_assert_cmphex(hash_toeplitz(xn_hash_default_key, XN_HASH_KEY_MAX, input, 2 * size + 4),
                        ==, vectors[i].with_ports);
    }
}

/* Octets of the key that are not there count as 0. */
static void test_short_key(void)
{
    static const uint8_t input[] = {0x80, 0, 0, 1};

    g_assert_cmphex(hash_toeplitz(xn_hash_default_key, 0, input, 4), ==, 0);
    g_assert_cmphex(hash_toeplitz(xn_hash_default_key, 2, input, 4), ==, 0x6d5a0000);
    g_assert_cmphex(hash_toeplitz((const uint8_t *)"\0\0\0\1", 4, input, 4), ==,
                    0x00000001 ^ 0x80000000);
}

static void build(unsigned int number, bool tcp, unsigned int vlans, uint8_t *frame)
{
    bool ipv6 = vectors[number].family == AF_INET6;
    size_t ip = 14 + 4 * vlans;
    uint16_t ports[2] = {htons(vectors[number].source_port), htons(vectors[number].target_port)};

    memset(frame, 0, 120);
    for (unsigned int i = 0; i < vlans; i++) {
        frame[12 + 4 * i] = 0x81;
    }
    frame[ip - 2] = ipv6 ? 0x86 : 0x08;
    frame[ip - 1] = ipv6 ? 0xdd : 0x00;
    frame[ip] = ipv6 ? 0x60 : 0x45;
    frame[ip + (ipv6 ? 6 : 9)] = tcp ? 6 : 17;
    inet_pton(vectors[number].family, vectors[number].source, frame + ip + (ipv6 ? 8 : 12));
    inet_pton(vectors[number].family, vectors[number].target, frame + ip + (ipv6 ? 24 : 16));
    memcpy(frame + ip + (ipv6 ? 40 : 20), ports, sizeof(ports));
}

/* The largest type that is wanted and fits is the one that counts. */
static void test_frames(void)
{
    static const uint32_t types[2][2] = {
        {XEN_NETIF_CTRL_HASH_TYPE_IPV4, XEN_NETIF_CTRL_HASH_TYPE_IPV4_TCP},
        {XEN_NETIF_CTRL_HASH_TYPE_IPV6, XEN_NETIF_CTRL_HASH_TYPE_IPV6_TCP}};
    struct XnHashConfig config;
    uint8_t frame[120];

    for (unsigned int i = 0; i < G_N_ELEMENTS(vectors) * 3 * 2 * 16; i++) {
        unsigned int number = i % G_N_ELEMENTS(vectors);
        bool ipv6 = vectors[number].family == AF_INET6;
        unsigned int wanted = i / (G_N_ELEMENTS(vectors) * 6);
        bool tcp = i / (G_N_ELEMENTS(vectors) * 3) % 2;
        struct XnFrameHash hash;

        configure(&config, 1, wanted);
        build(number, tcp, i / G_N_ELEMENTS(vectors) % 3, frame);
        hash = hash_expect(&config, frame, sizeof(frame));
        if (tcp && wanted & types[ipv6][1]) {
            g_assert_true(hash.found);
            g_assert_cmpuint(1u << hash.type, ==, types[ipv6][1]);
            g_assert_cmphex(hash.value, ==, vectors[number].with_ports);
        } else if (wanted & types[ipv6][0]) {
            g_assert_true(hash.found);
            g_assert_cmpuint(1u << hash.type, ==, types[ipv6][0]);
            g_assert_cmphex(hash.value, ==, vectors[number].addresses);
        } else {
            g_assert_false(hash.found);
        }
        send_number(&config, XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM,
                    XEN_NETIF_CTRL_HASH_ALGORITHM_NONE);
        g_assert_false(hash_expect(&config, frame, sizeof(frame)).found);
    }
}

static void test_other_frames(void)
{
    struct XnHashConfig config;
    uint8_t frame[120];

    configure(&config, 1, 15);
    build(0, true, 0, frame);
    g_assert_true(hash_expect(&config, frame, 38).found);
    g_assert_false(hash_expect(&config, frame, 33).found);
    g_assert_false(hash_expect(&config, frame, 14).found);
    frame[12] = 0x88;
    frame[13] = 0xb5;
    g_assert_false(hash_expect(&config, frame, sizeof(frame)).found);
}

static void test_queues(void)
{
    struct XnHashConfig config;
    uint32_t mapping[] = {2, 1};
    struct xen_netif_ctrl_request request = {.type = XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING,
                                             .data = {0, 2, 1}};

    configure(&config, 3, 15);
    g_assert_cmpuint(hash_expect_queue(&config, 0xffffffff), ==, 0xffffffff % 3);
    send_number(&config, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING_SIZE, 5);
    g_assert_cmpuint(hash_expect_queue(&config, 6), ==, 0);
    hash_apply(&config, &request, (const uint8_t *)mapping);
    g_assert_cmpuint(hash_expect_queue(&config, 5), ==, 0);
    g_assert_cmpuint(hash_expect_queue(&config, 6), ==, 2);
    g_assert_cmpuint(hash_expect_queue(&config, 7), ==, 1);
    g_assert_cmpuint(hash_expect_queue(&config, 8), ==, 0);
    send_number(&config, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING_SIZE, 5);
    g_assert_cmpuint(hash_expect_queue(&config, 6), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/qnetfront/hash/toeplitz", test_toeplitz);
    g_test_add_func("/qnetfront/hash/short-key", test_short_key);
    g_test_add_func("/qnetfront/hash/frames", test_frames);
    g_test_add_func("/qnetfront/hash/other-frames", test_other_frames);
    g_test_add_func("/qnetfront/hash/queues", test_queues);
    return g_test_run();
}
