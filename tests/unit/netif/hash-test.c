/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash-test.c - the Toeplitz hash against its published vectors, and the settings
 *
 * The vectors are those of the RSS verification suite: addresses, ports and key that every NIC's
 * implementation is checked with.
 */
/* The interface's own example of the hash. */
#define XEN_NETIF_DEFINE_TOEPLITZ
#include "netif/hash.h"

#include <arpa/inet.h>

#include "frame.h"

enum { ROUNDS = 2000, QUEUES = 5 };

static const uint8_t verification_key[XN_HASH_KEY_SIZE] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

struct Vector {
    const char *source;
    uint32_t source_port;
    const char *destination;
    uint32_t destination_port;
    uint32_t address_hash;
    uint32_t tcp_hash;
};

static const struct Vector vectors[] = {
    {"66.9.149.187", 2794, "161.142.100.80", 1766, 0x323e8fc2, 0x51ccc178},
    {"199.92.111.2", 14230, "65.69.140.83", 4739, 0xd718262a, 0xc626b0ea},
    {"24.19.198.95", 12898, "12.22.207.184", 38024, 0xd2d0a5de, 0x5c2b394a},
    {"38.27.205.30", 48228, "209.142.163.6", 2217, 0x82989176, 0xafc7327f},
    {"153.39.163.191", 44251, "202.188.127.2", 1303, 0x5d1809c5, 0x10e828a2},
    {"3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766, 0x2cc18cd5, 0x40207d3d},
    {"3ffe:501:8::260:97ff:fe40:efab", 14230, "ff02::1", 4739, 0x0f0c461c, 0xdde51bbf},
    {"3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, "fe80::200:f8ff:fe21:67cf", 38024, 0x4b61e985,
     0x02d1feef},
};

static void hash_prepare(struct XnHash *hash, uint32_t types)
{
    hash_init(hash, QUEUES);
    g_assert_cmpuint(hash_set_algorithm(hash, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ), ==,
                     XEN_NETIF_CTRL_STATUS_SUCCESS);
    g_assert_cmpuint(hash_set_key(hash, verification_key, sizeof(verification_key)), ==,
                     XEN_NETIF_CTRL_STATUS_SUCCESS);
    g_assert_cmpuint(hash_set_types(hash, types), ==, XEN_NETIF_CTRL_STATUS_SUCCESS);
}

static void set_address(struct Frame *frame, const char *text, bool source)
{
    int family = frame->ip_version == 4 ? AF_INET : AF_INET6;
    uint32_t size = frame->ip_version == 4 ? 4 : 16;
    uint32_t offset = (frame->ip_version == 4 ? 12 : 8) + (source ? 0 : size);

    g_assert_cmpint(inet_pton(family, text, frame->bytes + frame->ip_offset + offset), ==, 1);
}

static void assert_hash(const struct XnHash *hash, const struct Frame *frame, uint32_t type,
                        uint32_t value)
{
    struct XnHashResult result = hash_frame(hash, frame->bytes, frame->length);

    g_assert_true(result.found);
    g_assert_cmpuint(result.type, ==, type);
    g_assert_cmphex(result.value, ==, value);
}

/* Each vector in frames of many shapes, as TCP and as UDP, with the TCP type and without. */
static void test_vector(gconstpointer data)
{
    const struct Vector *vector = data;
    uint32_t version = strchr(vector->source, ':') ? 6 : 4;
    uint32_t address_type =
        version == 4 ? _XEN_NETIF_CTRL_HASH_TYPE_IPV4 : _XEN_NETIF_CTRL_HASH_TYPE_IPV6;
    uint32_t tcp_type =
        version == 4 ? _XEN_NETIF_CTRL_HASH_TYPE_IPV4_TCP : _XEN_NETIF_CTRL_HASH_TYPE_IPV6_TCP;
    struct XnHash all;
    struct XnHash addresses;
    struct Frame frame;

    hash_prepare(&all, XN_HASH_TYPES);
    hash_prepare(&addresses, 1u << address_type);
    for (uint32_t i = 0; i < 300; i++) {
        struct FrameSpec spec = frame_random_spec(i % 2 ? IPPROTO_TCP : IPPROTO_UDP, 10);

        spec.ip_version = version;
        spec.ip_options = version == 4 ? spec.ip_options : 0;
        frame_build(&frame, &spec);
        set_address(&frame, vector->source, true);
        set_address(&frame, vector->destination, false);
        frame_put16(frame.bytes + frame.l4_offset, vector->source_port);
        frame_put16(frame.bytes + frame.l4_offset + 2, vector->destination_port);
        assert_hash(&addresses, &frame, address_type, vector->address_hash);
        if (spec.protocol == IPPROTO_TCP) {
            assert_hash(&all, &frame, tcp_type, vector->tcp_hash);
        } else {
            assert_hash(&all, &frame, address_type, vector->address_hash);
        }
    }
}

/* netif.h word for word: two shift registers, bit by bit. */
static uint32_t naive_toeplitz(const uint8_t *key, const uint8_t *input, uint32_t size)
{
    uint8_t key_register[XN_HASH_KEY_SIZE];
    uint32_t value = 0;

    memcpy(key_register, key, sizeof(key_register));
    for (uint32_t bit = 0; bit < size * 8; bit++) {
        if (input[bit / 8] & (0x80 >> bit % 8)) {
            value ^= (uint32_t)key_register[0] << 24 | (uint32_t)key_register[1] << 16 |
                     (uint32_t)key_register[2] << 8 | key_register[3];
        }
        for (uint32_t i = 0; i < sizeof(key_register); i++) {
            uint8_t carry = i + 1 < sizeof(key_register) ? key_register[i + 1] >> 7 : 0;

            key_register[i] = (uint8_t)(key_register[i] << 1 | carry);
        }
    }
    return value;
}

static void test_toeplitz_against_naive(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint8_t key[XN_HASH_KEY_SIZE];
        uint8_t input[36];
        uint32_t size = i % 10 * 4;
        struct XnHash hash;
        uint32_t value;

        frame_random(key, sizeof(key));
        frame_random(input, sizeof(input));
        hash_prepare(&hash, XN_HASH_TYPES);
        g_assert_cmpuint(hash_set_key(&hash, key, sizeof(key)), ==, XEN_NETIF_CTRL_STATUS_SUCCESS);
        value = hash_toeplitz(hash.settings[hash.current].key, input, size);
        g_assert_cmphex(value, ==, naive_toeplitz(key, input, size));
        g_assert_cmphex(value, ==, xen_netif_toeplitz_hash(key, sizeof(key), input, size));
    }
}

enum Kind { TCP4, UDP4, FRAGMENT4, TCP6, UDP6, FRAGMENT6, ARP, KINDS };

/* The type that the frontend must be told: the TCP one if wanted and true, else the IP one. */
static int expected_type(enum Kind kind, uint32_t types)
{
    int ip = kind < TCP6 ? _XEN_NETIF_CTRL_HASH_TYPE_IPV4 : _XEN_NETIF_CTRL_HASH_TYPE_IPV6;

    if (kind == ARP) {
        return -1;
    }
    if ((kind == TCP4 || kind == TCP6) && (types & (2u << ip))) {
        return ip + 1;
    }
    return types & (1u << ip) ? ip : -1;
}

static void build_kind(struct Frame *frame, enum Kind kind)
{
    bool tcp = kind == TCP4 || kind == TCP6 || kind == FRAGMENT4 || kind == FRAGMENT6;
    struct FrameSpec spec = {
        .ip_version = kind < TCP6 ? 4 : 6,
        .protocol = tcp ? IPPROTO_TCP : IPPROTO_UDP,
        .extensions = {kind == FRAGMENT6 ? IPPROTO_FRAGMENT : 0},
        .payload = 40,
    };

    frame_build(frame, &spec);
    if (kind == FRAGMENT4) {
        /* Not even the first fragment, which has the ports: all fragments go the same way. */
        frame_put16(frame->bytes + frame->ip_offset + 6, 0x2000);
    } else if (kind == FRAGMENT6) {
        frame_put16(frame->bytes + frame->ip_offset + 42, 1);
    } else if (kind == ARP) {
        frame_put16(frame->bytes + 12, 0x0806);
    }
}

static void test_largest_type_is_chosen(void)
{
    struct Frame frame;
    struct XnHash hash;

    for (enum Kind kind = TCP4; kind < KINDS; kind++) {
        build_kind(&frame, kind);
        for (uint32_t types = 0; types <= XN_HASH_TYPES; types++) {
            int expected = expected_type(kind, types);
            struct XnHashResult result;

            hash_prepare(&hash, types);
            result = hash_frame(&hash, frame.bytes, frame.length);
            g_assert_true(result.found == (expected >= 0));
            if (expected >= 0) {
                g_assert_cmpint(result.type, ==, expected);
            } else {
                g_assert_cmphex(result.value, ==, 0);
            }
        }
    }
}

/* With fewer bytes there is less to hash, and nothing is read behind them. */
static void test_every_cut(gconstpointer data)
{
    uint32_t version = GPOINTER_TO_UINT(data);
    struct FrameSpec spec = {.ip_version = version, .protocol = IPPROTO_TCP, .vlan_tags = 1};
    uint32_t ip_end = 18 + (version == 4 ? 20 : 40);
    uint32_t ip = version == 4 ? _XEN_NETIF_CTRL_HASH_TYPE_IPV4 : _XEN_NETIF_CTRL_HASH_TYPE_IPV6;
    struct Frame frame;
    struct XnHash hash;

    frame_build(&frame, &spec);
    hash_prepare(&hash, XN_HASH_TYPES);
    for (uint32_t length = 0; length <= frame.length; length++) {
        g_autofree uint8_t *cut = g_memdup2(frame.bytes, MAX(length, 1));
        struct XnHashResult result = hash_frame(&hash, cut, length);

        g_assert_true(result.found == (length >= ip_end));
        g_assert_true(!result.found || result.type == ip + (length == frame.length));
    }
}

static void test_nothing_without_algorithm(void)
{
    struct FrameSpec spec = {.ip_version = 4, .protocol = IPPROTO_TCP};
    struct Frame frame;
    struct XnHash hash;

    frame_build(&frame, &spec);
    hash_init(&hash, QUEUES);
    g_assert_cmpuint(hash_algorithm(&hash), ==, XEN_NETIF_CTRL_HASH_ALGORITHM_NONE);
    g_assert_false(hash_frame(&hash, frame.bytes, frame.length).found);

    /* Types cannot be set before an algorithm, and an empty key hashes everything to 0. */
    g_assert_cmpuint(hash_set_types(&hash, XN_HASH_TYPES), ==,
                     XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER);
    g_assert_cmpuint(hash_set_types(&hash, 0), ==, XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER);
    g_assert_cmpuint(hash_set_algorithm(&hash, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ), ==,
                     XEN_NETIF_CTRL_STATUS_SUCCESS);
    g_assert_cmpuint(hash_set_types(&hash, XN_HASH_TYPES), ==, XEN_NETIF_CTRL_STATUS_SUCCESS);
    assert_hash(&hash, &frame, _XEN_NETIF_CTRL_HASH_TYPE_IPV4_TCP, 0);

    /* Switched off again, the types stay. */
    g_assert_cmpuint(hash_set_algorithm(&hash, XEN_NETIF_CTRL_HASH_ALGORITHM_NONE), ==,
                     XEN_NETIF_CTRL_STATUS_SUCCESS);
    g_assert_false(hash_frame(&hash, frame.bytes, frame.length).found);
    g_assert_cmpuint(hash_set_algorithm(&hash, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ), ==,
                     XEN_NETIF_CTRL_STATUS_SUCCESS);
    assert_hash(&hash, &frame, _XEN_NETIF_CTRL_HASH_TYPE_IPV4_TCP, 0);
}

static void test_unknown_values(void)
{
    struct XnHash hash;

    hash_prepare(&hash, 0);
    for (uint32_t bit = 0; bit < 32; bit++) {
        g_assert_cmpuint(hash_set_types(&hash, 1u << bit), ==,
                         bit < 4 ? XEN_NETIF_CTRL_STATUS_SUCCESS
                                 : XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER);
        g_assert_cmpuint(hash_set_algorithm(&hash, 2u << bit | 2), ==,
                         XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER);
    }
    g_assert_cmpuint(hash.settings[hash.current].types, ==, 8);
    g_assert_cmpuint(hash_algorithm(&hash), ==, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ);
}

/* A short key ends with zeros, whatever was there before; a long one changes nothing. */
static void test_key_sizes(void)
{
    uint8_t input[36];
    struct XnHash hash;

    frame_random(input, sizeof(input));
    for (uint32_t size = 0; size <= XN_HASH_KEY_SIZE + 1; size++) {
        uint8_t padded[XN_HASH_KEY_SIZE + 1] = {0};
        /* Just as much memory as the size says. */
        g_autofree uint8_t *key = NULL;
        uint32_t value;

        memcpy(padded, verification_key, MIN(size, XN_HASH_KEY_SIZE));
        key = size == 0 ? NULL : g_memdup2(padded, size);
        hash_prepare(&hash, XN_HASH_TYPES);
        g_assert_cmpuint(hash_set_key(&hash, key, size), ==,
                         size <= XN_HASH_KEY_SIZE ? XEN_NETIF_CTRL_STATUS_SUCCESS
                                                  : XEN_NETIF_CTRL_STATUS_BUFFER_OVERFLOW);
        value = hash_toeplitz(hash.settings[hash.current].key, input, sizeof(input));
        g_assert_cmphex(value, ==, naive_toeplitz(padded, input, sizeof(input)));
    }
    g_assert_cmpuint(hash_set_key(&hash, NULL, UINT32_MAX), ==,
                     XEN_NETIF_CTRL_STATUS_BUFFER_OVERFLOW);
}

static void test_mapping_sizes(void)
{
    static const uint32_t sizes[] = {0, 1, 127, 128, 129, 0x80000000, UINT32_MAX};
    uint32_t four[] = {4, 4, 4, 4};
    struct XnHash hash;

    for (uint32_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        bool good = sizes[i] <= XN_HASH_MAPPING_MAX;

        hash_init(&hash, QUEUES);
        g_assert_cmpuint(hash_set_mapping_size(&hash, 4), ==, XEN_NETIF_CTRL_STATUS_SUCCESS);
        g_assert_cmpuint(hash_set_mapping(&hash, (uint8_t *)four, 4, 0), ==,
                         XEN_NETIF_CTRL_STATUS_SUCCESS);
        g_assert_cmpuint(hash_queue(&hash, 123), ==, 4);
        g_assert_cmpuint(hash_set_mapping_size(&hash, sizes[i]), ==,
                         good ? XEN_NETIF_CTRL_STATUS_SUCCESS
                              : XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER);
        /* Without a table: modulo. With a new one: zeros. Else what was there. */
        g_assert_cmpuint(hash_queue(&hash, 123), ==, !good ? 4 : sizes[i] == 0 ? 123 % QUEUES : 0);
    }
}

/* Every combination of the numbers that went wrong elsewhere (XSA-270). */
static void test_mapping_ranges(void)
{
    static const uint32_t numbers[] = {0,   1,   2,    63,         64,         65,
                                       127, 128, 1024, 0x80000000, 0xffffff80, UINT32_MAX};
    static const uint32_t sizes[] = {0, 1, 64, 128};
    uint32_t entries[XN_HASH_MAPPING_MAX];
    struct XnHash hash;

    for (uint32_t i = 0; i < XN_HASH_MAPPING_MAX; i++) {
        entries[i] = 1 + i % (QUEUES - 1);
    }
    for (uint32_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
        for (uint32_t i = 0; i < G_N_ELEMENTS(numbers) * G_N_ELEMENTS(numbers); i++) {
            uint32_t count = numbers[i % G_N_ELEMENTS(numbers)];
            uint32_t offset = numbers[i / G_N_ELEMENTS(numbers)];
            bool fits = (uint64_t)count + offset <= sizes[s];

            hash_init(&hash, QUEUES);
            g_assert_cmpuint(hash_set_mapping_size(&hash, sizes[s]), ==,
                             XEN_NETIF_CTRL_STATUS_SUCCESS);
            g_assert_true(hash_mapping_fits(&hash, count, offset) == fits);
            g_assert_cmpuint(hash_set_mapping(&hash, (uint8_t *)entries, count, offset), ==,
                             fits ? XEN_NETIF_CTRL_STATUS_SUCCESS
                                  : XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER);
            for (uint32_t at = 0; at < sizes[s]; at++) {
                bool set = fits && at >= offset && at - offset < count;

                g_assert_cmpuint(hash_queue(&hash, at), ==, set ? entries[at - offset] : 0);
                g_assert_cmpuint(hash_queue(&hash, at + sizes[s]), ==, hash_queue(&hash, at));
            }
        }
    }
}

/* One bad entry, wherever it is, and nothing of the list is used. */
static void test_mapping_bad_queue(void)
{
    static const uint32_t bad[] = {QUEUES, QUEUES + 1, 0x100, 0x80000000, UINT32_MAX};
    uint32_t before[8] = {4, 3, 2, 1, 0, 1, 2, 3};
    struct XnHash hash;

    hash_init(&hash, QUEUES);
    g_assert_cmpuint(hash_set_mapping_size(&hash, 8), ==, XEN_NETIF_CTRL_STATUS_SUCCESS);
    g_assert_cmpuint(hash_set_mapping(&hash, (uint8_t *)before, 8, 0), ==,
                     XEN_NETIF_CTRL_STATUS_SUCCESS);
    for (uint32_t i = 0; i < 8 * G_N_ELEMENTS(bad); i++) {
        uint32_t entries[8] = {0};

        entries[i % 8] = bad[i / 8];
        g_assert_cmpuint(hash_set_mapping(&hash, (uint8_t *)entries, 8, 0), ==,
                         XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER);
        for (uint32_t at = 0; at < 8; at++) {
            g_assert_cmpuint(hash_queue(&hash, at), ==, before[at]);
        }
    }
    /* Nor does a later, good list bring parts of a bad one with it. */
    g_assert_cmpuint(hash_set_mapping(&hash, (uint8_t *)before, 1, 7), ==,
                     XEN_NETIF_CTRL_STATUS_SUCCESS);
    for (uint32_t at = 0; at < 7; at++) {
        g_assert_cmpuint(hash_queue(&hash, at), ==, before[at]);
    }
    g_assert_cmpuint(hash_queue(&hash, 7), ==, 4);
}

/* Each change leaves everything else as it was, however many of them there are. */
static void test_changes_are_separate(void)
{
    struct XnHashSettings expected;
    uint32_t entry;
    struct XnHash hash;

    hash_prepare(&hash, 0);
    expected = hash.settings[hash.current];
    for (uint32_t i = 0; i < ROUNDS; i++) {
        switch (g_test_rand_int_range(0, 5)) {
        case 0:
            expected.algorithm = XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ - expected.algorithm;
            hash_set_algorithm(&hash, expected.algorithm);
            break;
        case 1:
            if (expected.algorithm != XEN_NETIF_CTRL_HASH_ALGORITHM_NONE) {
                expected.types = i % (XN_HASH_TYPES + 1);
            }
            hash_set_types(&hash, i % (XN_HASH_TYPES + 1));
            break;
        case 2:
            memset(expected.key, (int)(i & 0xff), sizeof(expected.key));
            hash_set_key(&hash, (uint8_t *)expected.key, sizeof(expected.key));
            break;
        case 3:
            expected.mapping_size = i % 100;
            memset(expected.mapping, 0, sizeof(expected.mapping));
            hash_set_mapping_size(&hash, expected.mapping_size);
            break;
        default:
            entry = i % QUEUES;
            if (expected.mapping_size > i % 99) {
                expected.mapping[i % 99] = entry;
            }
            hash_set_mapping(&hash, (uint8_t *)&entry, 1, i % 99);
            break;
        }
        g_assert_cmpmem(&hash.settings[hash.current], sizeof(expected), &expected,
                        sizeof(expected));
    }
}

/* A new connection with fewer queues starts with nothing of the old one. */
static void test_new_connection(void)
{
    uint32_t last = QUEUES - 1;
    struct XnHash hash;

    hash_prepare(&hash, XN_HASH_TYPES);
    g_assert_cmpuint(hash_set_mapping_size(&hash, 1), ==, XEN_NETIF_CTRL_STATUS_SUCCESS);
    g_assert_cmpuint(hash_set_mapping(&hash, (uint8_t *)&last, 1, 0), ==,
                     XEN_NETIF_CTRL_STATUS_SUCCESS);
    hash_init(&hash, 2);
    g_assert_cmpuint(hash_algorithm(&hash), ==, XEN_NETIF_CTRL_HASH_ALGORITHM_NONE);
    for (uint32_t value = 0; value < 1000; value++) {
        g_assert_cmpuint(hash_queue(&hash, value), ==, value % 2);
    }
}

static void test_extra(void)
{
    struct XnHashResult result = {
        .found = true,
        .type = _XEN_NETIF_CTRL_HASH_TYPE_IPV6_TCP,
        .value = 0x12345678,
    };
    const uint8_t expected[] = {XEN_NETIF_EXTRA_TYPE_HASH,
                                0,
                                _XEN_NETIF_CTRL_HASH_TYPE_IPV6_TCP,
                                XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ,
                                0x78,
                                0x56,
                                0x34,
                                0x12};
    netif_extra_info_t extra = hash_extra(&result);

    g_assert_cmpmem(&extra, sizeof(extra), expected, sizeof(expected));
}

/* Readers that go on while everything is changed: never a queue that does not exist. */
struct Readers {
    struct XnHash hash;
    struct Frame frame;
    int stop;
};

static gpointer read_on(gpointer data)
{
    struct Readers *readers = data;
    uint32_t value = 0;

    while (!g_atomic_int_get(&readers->stop)) {
        struct XnHashResult result =
            hash_frame(&readers->hash, readers->frame.bytes, readers->frame.length);

        g_assert_true(result.type <= _XEN_NETIF_CTRL_HASH_TYPE_IPV6_TCP);
        value = value * 1664525 + 1013904223 + result.value;
        g_assert_cmpuint(hash_queue(&readers->hash, value), <, QUEUES);
    }
    return NULL;
}

static void test_changes_under_readers(void)
{
    g_autofree struct Readers *readers = g_new0(struct Readers, 1);
    struct FrameSpec spec = {.ip_version = 4, .protocol = IPPROTO_TCP};
    GThread *threads[2];

    frame_build(&readers->frame, &spec);
    hash_prepare(&readers->hash, XN_HASH_TYPES);
    for (uint32_t i = 0; i < G_N_ELEMENTS(threads); i++) {
        threads[i] = g_thread_new("reader", read_on, readers);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t entries[XN_HASH_MAPPING_MAX];
        uint32_t size = (uint32_t)g_test_rand_int_range(0, XN_HASH_MAPPING_MAX + 1);

        for (uint32_t at = 0; at < size; at++) {
            /* Every now and then one that does not exist. */
            entries[at] = (uint32_t)g_test_rand_int_range(0, i % 2 ? QUEUES : QUEUES * 20);
        }
        hash_set_mapping_size(&readers->hash, size);
        hash_set_mapping(&readers->hash, (uint8_t *)entries, size, 0);
        hash_set_algorithm(&readers->hash, i % 7 != 0);
        hash_set_key(&readers->hash, verification_key, i % 41);
    }
    g_atomic_int_set(&readers->stop, 1);
    for (uint32_t i = 0; i < G_N_ELEMENTS(threads); i++) {
        g_thread_join(threads[i]);
    }
}

/* What a damaged journal can hold. */
static void test_unsound_settings_are_known(void)
{
    struct XnHash hash;

    hash_init(&hash, 4);
    g_assert_true(hash_is_sound(&hash, 4));
    g_assert_false(hash_is_sound(&hash, 3));
    g_assert_false(hash_is_sound(&(struct XnHash){0}, 0));
    hash.current = 2;
    g_assert_false(hash_is_sound(&hash, 4));
    for (unsigned k = 0; k < 2; k++) {
        hash_init(&hash, 4);
        hash.settings[k].mapping[127] = 4;
        g_assert_false(hash_is_sound(&hash, 4));
        hash.settings[k].mapping[127] = 3;
        g_assert_true(hash_is_sound(&hash, 4));
        hash.settings[k].mapping_size = XN_HASH_MAPPING_MAX + 1;
        g_assert_false(hash_is_sound(&hash, 4));
        hash_init(&hash, 4);
        hash.settings[k].algorithm = 2;
        g_assert_false(hash_is_sound(&hash, 4));
        hash_init(&hash, 4);
        hash.settings[k].types = 16;
        g_assert_false(hash_is_sound(&hash, 4));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (uint32_t i = 0; i < G_N_ELEMENTS(vectors); i++) {
        g_autofree char *path = g_strdup_printf("/hash/vector/%s", vectors[i].source);

        g_test_add_data_func(path, &vectors[i], test_vector);
    }
    g_test_add_func("/hash/toeplitz-against-naive", test_toeplitz_against_naive);
    g_test_add_func("/hash/largest-type", test_largest_type_is_chosen);
    g_test_add_data_func("/hash/every-cut/ipv4", GUINT_TO_POINTER(4), test_every_cut);
    g_test_add_data_func("/hash/every-cut/ipv6", GUINT_TO_POINTER(6), test_every_cut);
    g_test_add_func("/hash/nothing-without-algorithm", test_nothing_without_algorithm);
    g_test_add_func("/hash/unknown-values", test_unknown_values);
    g_test_add_func("/hash/key-sizes", test_key_sizes);
    g_test_add_func("/hash/mapping/sizes", test_mapping_sizes);
    g_test_add_func("/hash/mapping/ranges", test_mapping_ranges);
    g_test_add_func("/hash/mapping/bad-queue", test_mapping_bad_queue);
    g_test_add_func("/hash/changes-are-separate", test_changes_are_separate);
    g_test_add_func("/hash/new-connection", test_new_connection);
    g_test_add_func("/hash/extra", test_extra);
    g_test_add_func("/hash/changes-under-readers", test_changes_under_readers);
    g_test_add_func("/hash/unsound-settings-are-known", test_unsound_settings_are_known);
    return g_test_run();
}
