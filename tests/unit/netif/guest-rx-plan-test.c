/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-plan-test.c - full coalesce, for every frame length
 */
#include "netif/guest-rx-plan.h"

#include <glib.h>

enum { FRAME_MAX = 65535 };

static const struct XnGuestRxMeta PLAIN = {.flags = NETRXF_data_validated};
static const struct XnGuestRxMeta SUPER_FRAME = {
    .flags = NETRXF_data_validated | NETRXF_csum_blank,
    .gso_type = XEN_NETIF_GSO_TYPE_TCPV4,
    .gso_size = 1448,
};

static const struct XnGuestRxMeta HASHED = {
    .flags = NETRXF_data_validated,
    .hash = {.type = XEN_NETIF_EXTRA_TYPE_HASH, .u.hash = {.type = 1, .algorithm = 1}},
};
static const struct XnGuestRxMeta WITH_HEADROOM = {.headroom = 256};
static const struct XnGuestRxMeta EVERYTHING = {
    .flags = NETRXF_data_validated | NETRXF_csum_blank,
    .gso_type = XEN_NETIF_GSO_TYPE_TCPV6,
    .gso_size = 1000,
    .headroom = XN_GUEST_RX_HEADROOM_MAX,
    .hash = {.type = XEN_NETIF_EXTRA_TYPE_HASH, .u.hash = {.type = 1, .algorithm = 1}},
};

static uint32_t extras_of(const struct XnGuestRxMeta *meta)
{
    return (meta->gso_type != XEN_NETIF_GSO_TYPE_NONE) + (meta->hash.type != 0) +
           (meta->headroom != 0);
}

static void test_fewest_slots(gconstpointer data)
{
    const struct XnGuestRxMeta *meta = data;
    uint32_t extras = extras_of(meta);

    for (uint32_t length = 1; length <= FRAME_MAX; length++) {
        struct XnGuestRxPlan plan = guest_rx_plan(length, meta);

        g_assert_cmpuint(plan.length, ==, length);
        g_assert_cmpuint(plan.data_slots, ==,
                         (length + meta->headroom) / 4096 +
                             ((length + meta->headroom) % 4096 != 0));
        g_assert_cmpuint(plan.extra_slots, ==, extras);
        g_assert_cmpuint(guest_rx_plan_slots(&plan), ==, plan.data_slots + extras);
        g_assert_cmpuint(guest_rx_plan_slots(&plan), <=, XN_GUEST_RX_SLOTS_MAX);
    }
}

static void test_largest_plan_is_the_declared_one(void)
{
    struct XnGuestRxPlan plan = guest_rx_plan(FRAME_MAX, &EVERYTHING);

    g_assert_cmpuint(guest_rx_plan_slots(&plan), ==, XN_GUEST_RX_SLOTS_MAX);
}

static void test_all_slots_but_the_last_are_full(gconstpointer data)
{
    const struct XnGuestRxMeta *meta = data;

    for (uint32_t length = 1; length <= FRAME_MAX; length++) {
        struct XnGuestRxPlan plan = guest_rx_plan(length, meta);
        uint32_t sum = 0;

        for (uint32_t i = 0; i < plan.data_slots; i++) {
            uint32_t size = guest_rx_plan_size(&plan, i);

            g_assert_cmpuint(size, >, 0);
            g_assert_cmpuint(size, <=, 4096);
            g_assert_true(guest_rx_plan_offset(&plan, i) + size == 4096 ||
                          i + 1 == plan.data_slots);
            g_assert_cmpuint(guest_rx_plan_offset(&plan, i) + size, <=, 4096);
            sum += size;
        }
        g_assert_cmpuint(sum, ==, length);
    }
}

/* What the guest reads: a head, its extra, and continuations up to one without more_data. */
static void test_entries_as_the_guest_reads_them(gconstpointer data)
{
    const struct XnGuestRxMeta *meta = data;
    uint32_t extras = extras_of(meta);

    for (uint32_t length = 1; length <= FRAME_MAX; length++) {
        struct XnGuestRxPlan plan = guest_rx_plan(length, meta);
        uint32_t position = 0;
        uint32_t index = 0;
        uint32_t sum = 0;
        bool more = true;

        while (more) {
            uint16_t id = (uint16_t)(0xfff0 + position);
            union XnGuestRxEntry entry;

            g_assert_cmpuint(guest_rx_plan_position(&plan, index), ==, position);
            entry = guest_rx_plan_entry(&plan, meta, position, id);
            g_assert_cmphex(entry.response.id, ==, id);
            g_assert_cmpuint(entry.response.offset, ==, index == 0 ? meta->headroom : 0);
            g_assert_cmpint(entry.response.status, ==, (int)guest_rx_plan_size(&plan, index));
            more = entry.response.flags & NETRXF_more_data;
            g_assert_cmphex(entry.response.flags & ~(uint32_t)NETRXF_more_data, ==,
                            index > 0    ? 0u
                            : extras > 0 ? meta->flags | NETRXF_extra_info
                                         : meta->flags);
            sum += (uint32_t)entry.response.status;
            position += index == 0 ? 1 + extras : 1;
            index++;
        }
        g_assert_cmpuint(sum, ==, length);
        g_assert_cmpuint(position, ==, guest_rx_plan_slots(&plan));
    }
}

static void test_extra_is_defined_byte_for_byte(void)
{
    static const uint8_t types[] = {XEN_NETIF_GSO_TYPE_TCPV4, XEN_NETIF_GSO_TYPE_TCPV6};

    for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
        struct XnGuestRxMeta meta = {.gso_type = types[i], .gso_size = 0xabcd};
        struct XnGuestRxPlan plan = guest_rx_plan(FRAME_MAX, &meta);
        union XnGuestRxEntry entry = guest_rx_plan_entry(&plan, &meta, 1, 0xffff);
        uint8_t expected[sizeof(entry)] = {XEN_NETIF_EXTRA_TYPE_GSO, 0, 0, 0, types[i]};

        memcpy(expected + 2, &meta.gso_size, 2);
        g_assert_cmpmem(&entry, sizeof(entry), expected, sizeof(expected));
    }
}

static void test_extras_form_a_chain_in_the_order_of_their_types(void)
{
    struct XnGuestRxPlan plan = guest_rx_plan(1000, &EVERYTHING);
    static const uint8_t types[] = {XEN_NETIF_EXTRA_TYPE_GSO, XEN_NETIF_EXTRA_TYPE_HASH,
                                    XN_EXTRA_TYPE_XDP};

    for (uint32_t i = 0; i < G_N_ELEMENTS(types); i++) {
        union XnGuestRxEntry entry = guest_rx_plan_entry(&plan, &EVERYTHING, 1 + i, 0);
        uint16_t headroom;

        g_assert_cmpuint(entry.extra.type, ==, types[i]);
        g_assert_cmpuint(entry.extra.flags, ==,
                         i + 1 < G_N_ELEMENTS(types) ? XEN_NETIF_EXTRA_FLAG_MORE : 0);
        if (types[i] == XN_EXTRA_TYPE_XDP) {
            memcpy(&headroom, &entry.extra.u, sizeof(headroom));
            g_assert_cmpuint(headroom, ==, EVERYTHING.headroom);
        }
    }
}

static void add(const char *what, const char *name, const struct XnGuestRxMeta *meta,
                GTestDataFunc test)
{
    g_autofree char *path = g_strdup_printf("/guest-rx-plan/%s/%s", what, name);

    g_test_add_data_func(path, meta, test);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        const struct XnGuestRxMeta *meta;
    } metas[] = {
        {"plain", &PLAIN},           {"gso", &SUPER_FRAME},
        {"hash", &HASHED},           {"headroom", &WITH_HEADROOM},
        {"everything", &EVERYTHING},
    };

    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(metas); i++) {
        add("fewest-slots", metas[i].name, metas[i].meta, test_fewest_slots);
        add("all-slots-but-the-last-are-full", metas[i].name, metas[i].meta,
            test_all_slots_but_the_last_are_full);
        add("entries-as-the-guest-reads-them", metas[i].name, metas[i].meta,
            test_entries_as_the_guest_reads_them);
    }
    g_test_add_func("/guest-rx-plan/largest-plan-is-the-declared-one",
                    test_largest_plan_is_the_declared_one);
    g_test_add_func("/guest-rx-plan/extras-form-a-chain-in-the-order-of-their-types",
                    test_extras_form_a_chain_in_the_order_of_their_types);
    g_test_add_func("/guest-rx-plan/extra-is-defined-byte-for-byte",
                    test_extra_is_defined_byte_for_byte);
    return g_test_run();
}
