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

static void test_fewest_slots(gconstpointer data)
{
    const struct XnGuestRxMeta *meta = data;
    uint32_t extras = meta->gso_type == XEN_NETIF_GSO_TYPE_NONE ? 0 : 1;

    for (uint32_t length = 1; length <= FRAME_MAX; length++) {
        struct XnGuestRxPlan plan = guest_rx_plan(length, meta);

        g_assert_cmpuint(plan.length, ==, length);
        g_assert_cmpuint(plan.data_slots, ==, length / 4096 + (length % 4096 != 0));
        g_assert_cmpuint(plan.extra_slots, ==, extras);
        g_assert_cmpuint(guest_rx_plan_slots(&plan), ==, plan.data_slots + extras);
        g_assert_cmpuint(guest_rx_plan_slots(&plan), <=, XN_GUEST_RX_SLOTS_MAX);
    }
}

static void test_largest_plan_is_the_declared_one(void)
{
    struct XnGuestRxPlan plan = guest_rx_plan(FRAME_MAX, &SUPER_FRAME);

    g_assert_cmpuint(guest_rx_plan_slots(&plan), ==, XN_GUEST_RX_SLOTS_MAX);
}

static void test_all_slots_but_the_last_are_full(void)
{
    for (uint32_t length = 1; length <= FRAME_MAX; length++) {
        struct XnGuestRxPlan plan = guest_rx_plan(length, &PLAIN);
        uint32_t sum = 0;

        for (uint32_t i = 0; i < plan.data_slots; i++) {
            uint32_t size = guest_rx_plan_size(&plan, i);

            g_assert_cmpuint(size, >, 0);
            g_assert_cmpuint(size, <=, 4096);
            g_assert_true(size == 4096 || i + 1 == plan.data_slots);
            sum += size;
        }
        g_assert_cmpuint(sum, ==, length);
    }
}

/* What the guest reads: a head, its extra, and continuations up to one without more_data. */
static void test_entries_as_the_guest_reads_them(gconstpointer data)
{
    const struct XnGuestRxMeta *meta = data;
    bool gso = meta->gso_type != XEN_NETIF_GSO_TYPE_NONE;

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
            g_assert_cmpuint(entry.response.offset, ==, 0);
            g_assert_cmpint(entry.response.status, ==, (int)guest_rx_plan_size(&plan, index));
            more = entry.response.flags & NETRXF_more_data;
            g_assert_cmphex(entry.response.flags & ~(uint32_t)NETRXF_more_data, ==,
                            index > 0 ? 0u
                            : gso     ? meta->flags | NETRXF_extra_info
                                      : meta->flags);
            sum += (uint32_t)entry.response.status;
            position += index == 0 && gso ? 2 : 1;
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/guest-rx-plan/fewest-slots/plain", &PLAIN, test_fewest_slots);
    g_test_add_data_func("/guest-rx-plan/fewest-slots/gso", &SUPER_FRAME, test_fewest_slots);
    g_test_add_func("/guest-rx-plan/largest-plan-is-the-declared-one",
                    test_largest_plan_is_the_declared_one);
    g_test_add_func("/guest-rx-plan/all-slots-but-the-last-are-full",
                    test_all_slots_but_the_last_are_full);
    g_test_add_data_func("/guest-rx-plan/entries-as-the-guest-reads-them/plain", &PLAIN,
                         test_entries_as_the_guest_reads_them);
    g_test_add_data_func("/guest-rx-plan/entries-as-the-guest-reads-them/gso", &SUPER_FRAME,
                         test_entries_as_the_guest_reads_them);
    g_test_add_func("/guest-rx-plan/extra-is-defined-byte-for-byte",
                    test_extra_is_defined_byte_for_byte);
    return g_test_run();
}
