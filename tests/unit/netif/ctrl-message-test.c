/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl-message-test.c - every request of the control ring, with good and with bad parameters
 */
#include "netif/ctrl-message.h"

#include <glib.h>

enum { QUEUES = 3, GRANTS = 20, PAGE = 4096 };

#define OK XEN_NETIF_CTRL_STATUS_SUCCESS
#define UNSUPPORTED XEN_NETIF_CTRL_STATUS_NOT_SUPPORTED
#define INVALID XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER
#define OVERFLOW XEN_NETIF_CTRL_STATUS_BUFFER_OVERFLOW

/* A vif, and the guest's page that requests refer to. */
struct Vif {
    struct XnHash hash;
    struct XnStaticGrants grants[QUEUES];
    struct XnStaticGrants *tables[QUEUES];
    struct XnCtrlTarget target;
    uint8_t page[PAGE];
    uint32_t page_ref;
    /* The copy of the page fails. */
    bool copy_fails;
    /* What the last request asked for and did. */
    struct XnCtrlFetch fetch;
    struct XnCtrlEffect effect;
};

static void vif_set_up(struct Vif *vif, gconstpointer data)
{
    memset(vif, 0xa5, sizeof(*vif));
    hash_init(&vif->hash, QUEUES);
    for (uint32_t i = 0; i < QUEUES; i++) {
        static_grant_init(&vif->grants[i], GRANTS, (uint32_t)g_test_rand_int());
        vif->tables[i] = &vif->grants[i];
    }
    vif->target = (struct XnCtrlTarget){
        .hash = &vif->hash,
        .queue_count = QUEUES,
        .grants = data ? NULL : vif->tables,
    };
    vif->page_ref = 77;
    vif->copy_fails = false;
}

static void vif_tear_down(struct Vif *vif, gconstpointer data)
{
    (void)vif;
    (void)data;
}

/* As the control ring's owner goes about it, with memory of just the size that was asked for. */
static struct xen_netif_ctrl_response vif_request(struct Vif *vif, uint16_t type, uint32_t data0,
                                                  uint32_t data1, uint32_t data2)
{
    struct xen_netif_ctrl_request request = {
        .id = (uint16_t)g_test_rand_int(),
        .type = type,
        .data = {data0, data1, data2},
    };
    struct xen_netif_ctrl_response response;
    g_autofree uint8_t *bytes = NULL;

    vif->fetch = ctrl_message_fetch(&vif->target, &request);
    g_assert_cmpuint(vif->fetch.length, <=, PAGE);
    if (vif->fetch.length > 0) {
        g_assert_cmpuint(vif->fetch.ref, ==, vif->page_ref);
        bytes = vif->copy_fails ? NULL : g_memdup2(vif->page, vif->fetch.length);
    }
    memset(&vif->effect, 0x5a, sizeof(vif->effect));
    response = ctrl_message_execute(&vif->target, &request, bytes, &vif->effect);
    g_assert_cmpuint(response.id, ==, request.id);
    g_assert_cmpuint(response.type, ==, request.type);
    g_assert_cmpuint(vif->effect.write_back, <=, vif->fetch.length);
    if (vif->effect.write_back > 0) {
        g_assert(bytes);
        memcpy(vif->page, bytes, vif->effect.write_back);
    }
    if (vif->effect.action == XN_CTRL_NOTHING) {
        g_assert_cmpuint(vif->effect.count, ==, 0);
    }
    return response;
}

static void assert_status(struct Vif *vif, uint16_t type, uint32_t data0, uint32_t data1,
                          uint32_t data2, uint32_t status)
{
    struct xen_netif_ctrl_response response = vif_request(vif, type, data0, data1, data2);

    g_assert_cmpuint(response.status, ==, status);
    g_assert_cmpuint(response.data, ==, 0);
}

static void assert_data(struct Vif *vif, uint16_t type, uint32_t data0, uint32_t status,
                        uint32_t data)
{
    struct xen_netif_ctrl_response response = vif_request(vif, type, data0, 0, 0);

    g_assert_cmpuint(response.status, ==, status);
    g_assert_cmpuint(response.data, ==, data);
}

static void select_toeplitz(struct Vif *vif)
{
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM,
                  XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ, 0, 0, OK);
}

static void test_unknown_types(struct Vif *vif, gconstpointer data)
{
    (void)data;
    for (uint32_t type = 0; type <= UINT16_MAX; type++) {
        if (type == XEN_NETIF_CTRL_TYPE_INVALID || type > XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING) {
            assert_status(vif, (uint16_t)type, 77, 1, 1, UNSUPPORTED);
            g_assert_cmpuint(vif->fetch.length, ==, 0);
        }
    }
}

static void test_algorithm(struct Vif *vif, gconstpointer data)
{
    static const uint32_t bad[] = {2, 3, 0x100, 0x80000000, UINT32_MAX};

    (void)data;
    select_toeplitz(vif);
    for (uint32_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM, bad[i], 0, 0, INVALID);
    }
    g_assert_cmpuint(hash_algorithm(&vif->hash), ==, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM, XEN_NETIF_CTRL_HASH_ALGORITHM_NONE,
                  0, 0, OK);
    g_assert_cmpuint(hash_algorithm(&vif->hash), ==, XEN_NETIF_CTRL_HASH_ALGORITHM_NONE);
}

static void test_flags(struct Vif *vif, gconstpointer data)
{
    (void)data;
    /* Not before there is an algorithm. */
    assert_data(vif, XEN_NETIF_CTRL_TYPE_GET_HASH_FLAGS, 0, UNSUPPORTED, 0);
    for (uint32_t flags = 0; flags <= 0x1f; flags++) {
        assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_FLAGS, flags, 0, 0, INVALID);
    }
    select_toeplitz(vif);
    assert_data(vif, XEN_NETIF_CTRL_TYPE_GET_HASH_FLAGS, 0, OK, 0xf);
    for (uint32_t flags = 0; flags <= 0x1f; flags++) {
        assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_FLAGS, flags, 0, 0,
                      flags <= 0xf ? OK : INVALID);
        assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_FLAGS, flags | 0x80000000, 0, 0, INVALID);
    }
    g_assert_cmphex(vif->hash.settings[vif->hash.current].types, ==, 0xf);
}

static void test_key(struct Vif *vif, gconstpointer data)
{
    static const uint32_t too_long[] = {41, 128, PAGE, PAGE + 1, 0x80000000, UINT32_MAX};
    const uint32_t *key;

    (void)data;
    /* Also before there is an algorithm: nothing says otherwise. */
    for (uint32_t size = 0; size <= 40; size++) {
        assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_KEY, 77, size, 0, OK);
        g_assert_cmpuint(vif->fetch.length, ==, size);
        key = vif->hash.settings[vif->hash.current].key;
        for (uint32_t i = 0; i < 40; i++) {
            g_assert_cmphex(key[i / 4] >> (24 - i % 4 * 8) & 0xff, ==, i < size ? 0xa5 : 0);
        }
    }
    for (uint32_t i = 0; i < G_N_ELEMENTS(too_long); i++) {
        assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_KEY, 77, too_long[i], 0, OVERFLOW);
        g_assert_cmpuint(vif->fetch.length, ==, 0);
    }
    vif->copy_fails = true;
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_KEY, 77, 8, 0, INVALID);
    key = vif->hash.settings[vif->hash.current].key;
    g_assert_cmphex(key[9], ==, 0xa5a5a5a5);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_KEY, 77, 0, 0, OK);
    key = vif->hash.settings[vif->hash.current].key;
    g_assert_cmphex(key[0], ==, 0);
}

static void test_mapping(struct Vif *vif, gconstpointer data)
{
    static const uint32_t sizes[] = {0, 1, 2, 127, 128, 129, 1024, 0x80000000, UINT32_MAX};
    uint32_t entries[XN_HASH_MAPPING_MAX];

    (void)data;
    assert_data(vif, XEN_NETIF_CTRL_TYPE_GET_HASH_MAPPING_SIZE, 0, OK, 128);
    for (uint32_t i = 0; i < XN_HASH_MAPPING_MAX; i++) {
        entries[i] = i % QUEUES;
    }
    memcpy(vif->page, entries, sizeof(entries));
    for (uint32_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING_SIZE, sizes[i], 0, 0,
                      sizes[i] <= 128 ? OK : INVALID);
    }
    /* The size is 128 now. */
    for (uint32_t i = 0; i < G_N_ELEMENTS(sizes) * G_N_ELEMENTS(sizes); i++) {
        uint32_t count = sizes[i % G_N_ELEMENTS(sizes)];
        uint32_t offset = sizes[i / G_N_ELEMENTS(sizes)];
        bool fits = (uint64_t)count + offset <= 128;

        assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING, 77, count, offset,
                      fits ? OK : INVALID);
        g_assert_cmpuint(vif->fetch.length, ==, fits ? count * 4 : 0);
    }
    vif->copy_fails = true;
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING, 77, 1, 0, INVALID);
    vif->copy_fails = false;
    entries[5] = QUEUES;
    memcpy(vif->page, entries, sizeof(entries));
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING, 77, 5, 0, OK);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING, 77, 6, 0, INVALID);
}

/* The order in which Windows sets up receive side scaling. */
static void test_windows_sequence(struct Vif *vif, gconstpointer data)
{
    static const uint32_t entries[] = {2, 1, 0, 2};

    (void)data;
    select_toeplitz(vif);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING_SIZE, 4, 0, 0, OK);
    memcpy(vif->page, entries, sizeof(entries));
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING, 77, 4, 0, OK);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_KEY, 77, 40, 0, OK);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_FLAGS, 0xf, 0, 0, OK);
    for (uint32_t i = 0; i < 16; i++) {
        g_assert_cmpuint(hash_queue(&vif->hash, i), ==, entries[i % 4]);
    }
}

static void write_list(struct Vif *vif, uint32_t first_ref, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct xen_netif_gref entry = {.ref = first_ref + i, .flags = i % 2, .status = 0xffff};

        memcpy(vif->page + i * sizeof(entry), &entry, sizeof(entry));
    }
}

static uint16_t list_status(const struct Vif *vif, uint32_t position)
{
    struct xen_netif_gref entry;

    memcpy(&entry, vif->page + position * sizeof(entry), sizeof(entry));
    return entry.status;
}

static void test_grants_size(struct Vif *vif, gconstpointer data)
{
    (void)data;
    for (uint32_t queue = 0; queue < QUEUES; queue++) {
        assert_data(vif, XEN_NETIF_CTRL_TYPE_GET_GREF_MAPPING_SIZE, queue, OK, GRANTS);
    }
    assert_data(vif, XEN_NETIF_CTRL_TYPE_GET_GREF_MAPPING_SIZE, QUEUES, INVALID, 0);
    assert_data(vif, XEN_NETIF_CTRL_TYPE_GET_GREF_MAPPING_SIZE, UINT32_MAX, INVALID, 0);
}

static void test_grants_unsupported(struct Vif *vif, gconstpointer data)
{
    (void)data;
    assert_data(vif, XEN_NETIF_CTRL_TYPE_GET_GREF_MAPPING_SIZE, 0, UNSUPPORTED, 0);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING, 0, 77, 1, UNSUPPORTED);
    g_assert_cmpuint(vif->fetch.length, ==, 0);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING, 0, 77, 1, UNSUPPORTED);
    g_assert_cmpuint(vif->fetch.length, ==, 0);
    g_assert_cmpuint(vif->effect.write_back, ==, 0);
}

static void test_grants_parameters(struct Vif *vif, gconstpointer data)
{
    static const uint16_t types[] = {XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING,
                                     XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING};
    static const uint32_t counts[] = {513, 0x20000000, 0x20000001, 0x80000000, UINT32_MAX};

    (void)data;
    write_list(vif, 100, 512);
    for (uint32_t i = 0; i < G_N_ELEMENTS(types); i++) {
        assert_status(vif, types[i], QUEUES, 77, 1, INVALID);
        g_assert_cmpuint(vif->fetch.length, ==, 0);
        assert_status(vif, types[i], UINT32_MAX, 77, 1, INVALID);
        for (uint32_t j = 0; j < G_N_ELEMENTS(counts); j++) {
            assert_status(vif, types[i], 0, 77, counts[j], INVALID);
            g_assert_cmpuint(vif->fetch.length, ==, 0);
        }
        vif->copy_fails = true;
        assert_status(vif, types[i], 0, 77, 1, INVALID);
        g_assert_cmpuint(vif->fetch.length, ==, 8);
        vif->copy_fails = false;
        /* An empty list is no mistake, and needs no page. */
        assert_status(vif, types[i], 0, 77, 0, OK);
        g_assert_cmpint(vif->effect.action, ==, XN_CTRL_NOTHING);
    }
    /* A page full, of which the table has none. */
    assert_status(vif, XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING, 0, 77, 512, OK);
    g_assert_cmpuint(vif->effect.write_back, ==, PAGE);
    g_assert_cmpint(vif->effect.action, ==, XN_CTRL_NOTHING);
    for (uint32_t i = 0; i < 512; i++) {
        g_assert_cmpuint(list_status(vif, i), ==, INVALID);
    }
    assert_status(vif, XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING, 0, 77, 512, INVALID);
    g_assert_cmpuint(vif->fetch.length, ==, PAGE);
}

/* The console and xenstore pages, and what else the toolstack may grant: never read or written. */
static void test_reserved_grants(struct Vif *vif, gconstpointer data)
{
    (void)data;
    select_toeplitz(vif);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING_SIZE, 4, 0, 0, OK);
    write_list(vif, 100, 4);
    for (uint32_t ref = 0; ref < GNTTAB_NR_RESERVED_ENTRIES; ref++) {
        assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_KEY, ref, 40, 0, INVALID);
        g_assert_cmpuint(vif->fetch.length, ==, 0);
        assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING, ref, 4, 0, INVALID);
        g_assert_cmpuint(vif->fetch.length, ==, 0);
        assert_status(vif, XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING, 0, ref, 4, INVALID);
        g_assert_cmpuint(vif->fetch.length, ==, 0);
        assert_status(vif, XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING, 0, ref, 4, INVALID);
        g_assert_cmpuint(vif->fetch.length, ==, 0);
        g_assert_cmpuint(vif->effect.write_back, ==, 0);
        /* What is not looked at may be any number. */
        assert_status(vif, XEN_NETIF_CTRL_TYPE_SET_HASH_KEY, ref, 0, 0, OK);
        assert_status(vif, XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING, 0, ref, 0, OK);
        /* Nor may one be mapped. */
        write_list(vif, ref, 1);
        assert_status(vif, XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING, 0, 77, 1, INVALID);
    }
    write_list(vif, GNTTAB_NR_RESERVED_ENTRIES, 1);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING, 0, 77, 1, OK);
    g_assert_cmpuint(vif->grants[0].count, ==, 1);
}

static void test_grants_come_and_go(struct Vif *vif, gconstpointer data)
{
    struct xen_netif_ctrl_response response;
    uint32_t index;

    (void)data;
    write_list(vif, 100, 4);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING, 1, 77, 4, OK);
    g_assert_cmpint(vif->effect.action, ==, XN_CTRL_MAP);
    g_assert_cmpuint(vif->effect.queue, ==, 1);
    g_assert_cmpuint(vif->effect.count, ==, 4);
    g_assert_cmpuint(vif->effect.write_back, ==, 0);
    for (uint32_t i = 0; i < 4; i++) {
        index = static_grant_find(&vif->grants[1], 100 + i);
        g_assert_cmpuint(vif->effect.indices[i], ==, index);
        g_assert_true(static_grant_is_readonly(&vif->grants[1], index) == (i % 2 == 1));
    }
    g_assert_cmpuint(vif->grants[0].count, ==, 0);

    /* Other queues have tables of their own. */
    response = vif_request(vif, XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING, 0, 77, 4);
    g_assert_cmpuint(response.status, ==, OK);
    g_assert_cmpuint(response.data, ==, 0);

    index = static_grant_find(&vif->grants[1], 103);
    write_list(vif, 103, 3);
    response = vif_request(vif, XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING, 1, 77, 3);
    g_assert_cmpuint(response.status, ==, OK);
    g_assert_cmpuint(response.data, ==, 1);
    g_assert_cmpint(vif->effect.action, ==, XN_CTRL_UNMAP);
    g_assert_cmpuint(vif->effect.queue, ==, 1);
    g_assert_cmpuint(vif->effect.count, ==, 1);
    g_assert_cmpuint(vif->effect.indices[0], ==, index);
    g_assert_cmpuint(vif->effect.write_back, ==, 24);
    g_assert_cmpuint(list_status(vif, 0), ==, OK);
    g_assert_cmpuint(list_status(vif, 1), ==, INVALID);
    g_assert_cmpuint(list_status(vif, 2), ==, INVALID);
    g_assert_cmpuint(vif->grants[1].count, ==, 3);
}

/* A list that cannot be mapped is as if it had never been sent. */
static void test_grants_undo(struct Vif *vif, gconstpointer data)
{
    struct xen_netif_ctrl_response response;

    (void)data;
    write_list(vif, 50, 5);
    assert_status(vif, XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING, 2, 77, 5, OK);
    write_list(vif, 100, 10);
    response = vif_request(vif, XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING, 2, 77, 10);
    g_assert_cmpuint(response.status, ==, OK);
    ctrl_message_undo(&vif->target, &vif->effect, &response);
    g_assert_cmpuint(response.status, ==, INVALID);
    g_assert_cmpuint(response.data, ==, 0);
    g_assert_cmpint(vif->effect.action, ==, XN_CTRL_NOTHING);
    g_assert_cmpuint(vif->effect.count, ==, 0);
    g_assert_cmpuint(vif->grants[2].count, ==, 5);
    for (uint32_t ref = 0; ref < 200; ref++) {
        g_assert_true((static_grant_find(&vif->grants[2], ref) != XN_STATIC_GRANT_NONE) ==
                      (ref >= 50 && ref < 55));
    }
    /* And can be sent again. */
    assert_status(vif, XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING, 2, 77, 10, OK);
}

/* Requests of a guest that tries everything. Whatever it gets, no queue and no index is out of
 * range. */
static void test_random_requests(struct Vif *vif, gconstpointer data)
{
    static const uint32_t numbers[] = {0,  1,   2,   3,   4,     40,         41,
                                       77, 127, 128, 129, 0x200, 0x80000000, UINT32_MAX};

    (void)data;
    for (uint32_t i = 0; i < 50000; i++) {
        uint16_t type = (uint16_t)g_test_rand_int_range(0, 12);
        uint32_t numbers_of[3];
        struct xen_netif_ctrl_response response;

        for (uint32_t j = 0; j < 3; j++) {
            numbers_of[j] = numbers[g_test_rand_int_range(0, G_N_ELEMENTS(numbers))];
        }
        vif->page_ref =
            type > XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM ? numbers_of[1] : numbers_of[0];
        for (uint32_t j = 0; j < PAGE / 4; j++) {
            uint32_t word = (uint32_t)g_test_rand_int_range(0, i % 8 ? QUEUES : 30);

            memcpy(vif->page + j * 4, &word, 4);
        }
        vif->copy_fails = i % 16 == 0;
        response = vif_request(vif, type, numbers_of[0], numbers_of[1], numbers_of[2]);
        g_assert_cmpuint(response.status, <=, OVERFLOW);
        for (uint32_t j = 0; j < vif->effect.count; j++) {
            g_assert_cmpuint(vif->effect.indices[j], <, GRANTS);
        }
        if (vif->effect.action == XN_CTRL_MAP && i % 3 == 0) {
            ctrl_message_undo(&vif->target, &vif->effect, &response);
        }
        g_assert_cmpuint(hash_queue(&vif->hash, i), <, QUEUES);
        for (uint32_t queue = 0; queue < QUEUES; queue++) {
            g_assert_cmpuint(vif->grants[queue].count, <=, GRANTS);
        }
    }
}

static void add_test(const char *path, void (*test)(struct Vif *, gconstpointer), bool no_grants)
{
    g_test_add(path, struct Vif, no_grants ? path : NULL, vif_set_up, test, vif_tear_down);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_test("/ctrl-message/unknown-types", test_unknown_types, false);
    add_test("/ctrl-message/algorithm", test_algorithm, false);
    add_test("/ctrl-message/flags", test_flags, false);
    add_test("/ctrl-message/key", test_key, false);
    add_test("/ctrl-message/mapping", test_mapping, false);
    add_test("/ctrl-message/windows-sequence", test_windows_sequence, false);
    add_test("/ctrl-message/grants/size", test_grants_size, false);
    add_test("/ctrl-message/grants/unsupported", test_grants_unsupported, true);
    add_test("/ctrl-message/grants/parameters", test_grants_parameters, false);
    add_test("/ctrl-message/grants/come-and-go", test_grants_come_and_go, false);
    add_test("/ctrl-message/grants/reserved", test_reserved_grants, false);
    add_test("/ctrl-message/grants/undo", test_grants_undo, false);
    add_test("/ctrl-message/random-requests", test_random_requests, false);
    return g_test_run();
}
