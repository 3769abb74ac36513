/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout-test.c - cutting frames into slots loses no byte and keeps the protocol's limits */
#include "../../qnetfront/layout.h"

#include <glib.h>

static void check(const struct XnLayout *layout, unsigned int length)
{
    struct XnSlot slot[XN_LAYOUT_SLOTS];
    unsigned int count = layout_cut(layout, length, length * 31u, slot);
    unsigned int total = 0;

    g_assert_cmpuint(count, >, 0);
    g_assert_cmpuint(count, <=, layout->max);
    for (unsigned int i = 0; i < count; i++) {
        g_assert_cmpuint(slot[i].size, >, 0);
        g_assert_cmpuint(slot[i].offset + slot[i].size, <=, XN_PAGE_SIZE);
        total += slot[i].size;
    }
    g_assert_cmpuint(total, ==, length);
}

static void test_every_length(gconstpointer data)
{
    const struct XnLayout *layout = data;

    for (unsigned int length = 1; length <= 65535; length++) {
        check(layout, length);
    }
}

static unsigned int cut(enum XnLayoutKind kind, unsigned int length, struct XnSlot *slot)
{
    struct XnLayout layout = {.kind = kind, .max = XN_GUEST_TX_SLOTS_MAX};

    return layout_cut(&layout, length, 1, slot);
}

static void test_kinds(void)
{
    struct XnSlot slot[XN_LAYOUT_SLOTS];

    g_assert_cmpuint(cut(XN_LAYOUT_FULL, 4096, slot), ==, 1);
    g_assert_cmpuint(cut(XN_LAYOUT_FULL, 4097, slot), ==, 2);
    g_assert_cmpuint(cut(XN_LAYOUT_FULL, 65535, slot), ==, 16);
    g_assert_cmpuint(cut(XN_LAYOUT_HEADER, 1514, slot), ==, 2);
    g_assert_cmpuint(slot[0].size, ==, 66);
    g_assert_cmpuint(cut(XN_LAYOUT_HEADER, 60, slot), ==, 1);
    g_assert_cmpuint(cut(XN_LAYOUT_TINY, 1514, slot), ==, 18);
    g_assert_cmpuint(slot[16].size, ==, 1);
    g_assert_cmpuint(slot[17].size, ==, 1514 - 17);
    g_assert_cmpuint(cut(XN_LAYOUT_TINY, 14, slot), ==, 14);
}

static void test_exact_number(void)
{
    struct XnLayout layout = {.slots = 7, .max = XN_GUEST_TX_SLOTS_MAX};
    struct XnSlot slot[XN_LAYOUT_SLOTS];

    g_assert_cmpuint(layout_cut(&layout, 1000, 1, slot), ==, 7);
    g_assert_cmpuint(layout_cut(&layout, 5, 1, slot), ==, 5);
    g_assert_cmpuint(layout_cut(&layout, 65535, 1, slot), ==, 16);
}

static void test_empty_slots(void)
{
    struct XnLayout layout = {.kind = XN_LAYOUT_FULL, .max = 18, .empty = 4};
    struct XnSlot slot[XN_LAYOUT_SLOTS];
    bool first = false, last = false;

    for (unsigned int random = 0; random < 100; random++) {
        unsigned int empty = 0, total = 0;

        g_assert_cmpuint(layout_cut(&layout, 9000, random, slot), ==, 7);
        for (unsigned int i = 0; i < 7; i++) {
            empty += slot[i].size == 0;
            total += slot[i].size;
        }
        g_assert_cmpuint(empty, ==, 4);
        g_assert_cmpuint(total, ==, 9000);
        first |= slot[0].size == 0;
        last |= slot[6].size == 0;
    }
    g_assert_true(first && last);
    g_assert_cmpuint(layout_cut(&layout, 65535, 1, slot), ==, 18);
    layout.max = layout.slots = 19;
    g_assert_cmpuint(layout_cut(&layout, 65535, 1, slot), ==, 19);
}

static void test_too_long(void)
{
    struct XnLayout layout = {.max = 1};
    struct XnSlot slot[XN_LAYOUT_SLOTS];

    g_assert_cmpuint(layout_cut(&layout, 4096, 1, slot), ==, 1);
    g_assert_cmpuint(layout_cut(&layout, 4097, 1, slot), ==, 0);
    g_assert_cmpuint(layout_cut(&layout, 0, 1, slot), ==, 0);
}

int main(int argc, char **argv)
{
    static const struct XnLayout layouts[] = {
        {.kind = XN_LAYOUT_FULL, .max = 18},
        {.kind = XN_LAYOUT_HEADER, .max = 18},
        {.kind = XN_LAYOUT_TINY, .max = 18, .random_offset = true},
        {.kind = XN_LAYOUT_RANDOM, .max = 18, .random_offset = true},
        {.slots = 18, .max = 18},
        {.kind = XN_LAYOUT_RANDOM, .max = 16},
    };

    g_test_init(&argc, &argv, NULL);
    for (unsigned int i = 0; i < G_N_ELEMENTS(layouts); i++) {
        g_autofree char *path = g_strdup_printf("/qnetfront/layout/every-length/%u", i);

        g_test_add_data_func(path, &layouts[i], test_every_length);
    }
    g_test_add_func("/qnetfront/layout/kinds", test_kinds);
    g_test_add_func("/qnetfront/layout/exact-number", test_exact_number);
    g_test_add_func("/qnetfront/layout/empty-slots", test_empty_slots);
    g_test_add_func("/qnetfront/layout/too-long", test_too_long);
    return g_test_run();
}
