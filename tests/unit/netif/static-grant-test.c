/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * static-grant-test.c - the table of static grants, against a list that is searched from end to end
 */
#include "netif/static-grant.h"

#include <glib.h>

enum { LIST_MAX = 512, ROUNDS = 20000 };

struct List {
    struct xen_netif_gref entries[LIST_MAX];
    uint16_t indices[LIST_MAX];
};

static struct XnStaticGrants *table_new(uint32_t limit)
{
    struct XnStaticGrants *table = g_new(struct XnStaticGrants, 1);
    uint64_t seed = (uint64_t)g_test_rand_int() << 32 | (uint32_t)g_test_rand_int();

    static_grant_init(table, limit, seed);
    return table;
}

static bool add_list(struct XnStaticGrants *table, struct List *list, uint32_t count)
{
    /* Just as much memory as the list has. */
    g_autofree uint8_t *bytes = g_memdup2(list->entries, MAX(count, 1) * sizeof(*list->entries));

    return static_grant_add(table, bytes, count, list->indices);
}

static uint32_t delete_list(struct XnStaticGrants *table, struct List *list, uint32_t count)
{
    g_autofree uint8_t *bytes = g_memdup2(list->entries, MAX(count, 1) * sizeof(*list->entries));
    uint32_t deleted = static_grant_delete(table, bytes, count, list->indices);

    memcpy(list->entries, bytes, count * sizeof(*list->entries));
    return deleted;
}

static bool add_one(struct XnStaticGrants *table, uint32_t ref, uint16_t flags)
{
    struct List list = {.entries = {{.ref = ref, .flags = flags, .status = 0xdead}}};

    return add_list(table, &list, 1);
}

static void fill(struct List *list, uint32_t first_ref, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        list->entries[i] = (struct xen_netif_gref){.ref = first_ref + i, .status = 0xffff};
    }
}

/* The same references at the same places, and each is found. */
static void assert_same(const struct XnStaticGrants *a, const struct XnStaticGrants *b)
{
    g_assert_cmpuint(a->count, ==, b->count);
    for (uint32_t i = 0; i < a->limit; i++) {
        bool used = static_grant_find(a, a->grants[i].ref) == i;

        g_assert_true(used == (static_grant_find(b, b->grants[i].ref) == i));
        if (used) {
            g_assert_cmpuint(a->grants[i].ref, ==, b->grants[i].ref);
        }
    }
}

static void test_empty(void)
{
    g_autofree struct XnStaticGrants *table = table_new(16);
    struct List list;

    g_assert_cmpuint(static_grant_find(table, 0), ==, XN_STATIC_GRANT_NONE);
    g_assert_true(add_list(table, &list, 0));
    g_assert_cmpuint(delete_list(table, &list, 0), ==, 0);
}

static void test_flags(void)
{
    g_autofree struct XnStaticGrants *table = table_new(16);

    g_assert_true(add_one(table, 0, 0));
    g_assert_true(add_one(table, UINT32_MAX, XEN_NETIF_CTRLF_GREF_readonly));
    g_assert_false(static_grant_is_readonly(table, static_grant_find(table, 0)));
    g_assert_true(static_grant_is_readonly(table, static_grant_find(table, UINT32_MAX)));
    for (uint32_t bit = 1; bit < 16; bit++) {
        g_assert_false(add_one(table, 8, (uint16_t)(1u << bit)));
        g_assert_false(add_one(table, 8, (uint16_t)(1u << bit | 1)));
    }
    g_assert_cmpuint(table->count, ==, 2);
}

static void test_limit(gconstpointer data)
{
    uint32_t limit = GPOINTER_TO_UINT(data);
    uint32_t room = MIN(limit, XN_STATIC_GRANTS_MAX);
    g_autofree struct XnStaticGrants *table = table_new(limit);
    g_autofree bool *seen = g_new0(bool, room + 1);
    struct List list;

    g_assert_cmpuint(table->limit, ==, room);
    for (uint32_t ref = 0; ref < room; ref++) {
        list.entries[0] = (struct xen_netif_gref){.ref = ref * 8};
        g_assert_true(add_list(table, &list, 1));
        g_assert_cmpuint(list.indices[0], <, room);
        g_assert_false(seen[list.indices[0]]);
        seen[list.indices[0]] = true;
    }
    g_assert_false(add_one(table, room * 8, 0));
    g_assert_cmpuint(static_grant_find(table, room * 8), ==, XN_STATIC_GRANT_NONE);
    for (uint32_t ref = 0; ref < room * 8; ref++) {
        g_assert_true((static_grant_find(table, ref) != XN_STATIC_GRANT_NONE) == (ref % 8 == 0));
    }
}

/* A list that is one too long, or has one bad entry wherever it may be, adds nothing at all. */
static void test_all_or_nothing(void)
{
    g_autofree struct XnStaticGrants *table = table_new(40);
    g_autofree struct XnStaticGrants *before = NULL;
    struct List list;

    fill(&list, 100, 8);
    g_assert_true(add_list(table, &list, 8));
    before = g_memdup2(table, sizeof(*table));
    fill(&list, 200, 33);
    g_assert_false(add_list(table, &list, 33));
    assert_same(before, table);
    for (uint32_t bad = 0; bad < 32; bad++) {
        /* Known already. */
        fill(&list, 200, 32);
        list.entries[bad].ref = 103;
        g_assert_false(add_list(table, &list, 32));
        assert_same(before, table);
        /* Given twice. */
        fill(&list, 200, 32);
        list.entries[bad].ref = list.entries[(bad + 7) % 32].ref;
        g_assert_false(add_list(table, &list, 32));
        assert_same(before, table);
        /* Unknown flag. */
        fill(&list, 200, 32);
        list.entries[bad].flags = 2;
        g_assert_false(add_list(table, &list, 32));
        assert_same(before, table);
    }
    fill(&list, 200, 32);
    g_assert_true(add_list(table, &list, 32));
    g_assert_cmpuint(table->count, ==, 40);
    static_grant_delete_indices(table, list.indices, 32);
    assert_same(before, table);
}

static void test_delete_says_which(void)
{
    g_autofree struct XnStaticGrants *table = table_new(16);
    struct List list;
    uint32_t index;

    fill(&list, 100, 4);
    g_assert_true(add_list(table, &list, 4));
    index = static_grant_find(table, 101);
    /* 99 and 104 were never there, 101 goes only once. */
    fill(&list, 99, 6);
    list.entries[3].ref = 101;
    list.entries[4].flags = 0xffff;
    g_assert_cmpuint(delete_list(table, &list, 6), ==, 3);
    for (uint32_t i = 0; i < 6; i++) {
        bool good = i == 1 || i == 2 || i == 4;

        g_assert_cmpuint(list.entries[i].status, ==,
                         good ? XEN_NETIF_CTRL_STATUS_SUCCESS
                              : XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER);
    }
    g_assert_cmpuint(list.entries[4].ref, ==, 103);
    g_assert_cmpuint(list.entries[4].flags, ==, 0xffff);
    g_assert_cmpuint(list.indices[1], ==, index);
    g_assert_cmpuint(table->count, ==, 1);
    g_assert_cmpuint(static_grant_find(table, 102), !=, XN_STATIC_GRANT_NONE);
    g_assert_cmpuint(static_grant_find(table, 101), ==, XN_STATIC_GRANT_NONE);
}

/* The model: which reference is at each index. */
struct Model {
    uint32_t limit;
    uint32_t count;
    bool used[XN_STATIC_GRANTS_MAX];
    bool readonly[XN_STATIC_GRANTS_MAX];
    uint32_t refs[XN_STATIC_GRANTS_MAX];
};

static uint32_t model_find(const struct Model *model, uint32_t ref)
{
    for (uint32_t i = 0; i < model->limit; i++) {
        if (model->used[i] && model->refs[i] == ref) {
            return i;
        }
    }
    return XN_STATIC_GRANT_NONE;
}

static bool model_takes(const struct Model *model, const struct List *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (model_find(model, list->entries[i].ref) != XN_STATIC_GRANT_NONE) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (list->entries[j].ref == list->entries[i].ref) {
                return false;
            }
        }
    }
    return count <= model->limit - model->count;
}

static void model_add(struct Model *model, const struct List *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint16_t index = list->indices[i];

        g_assert_cmpuint(index, <, model->limit);
        g_assert_false(model->used[index]);
        model->used[index] = true;
        model->refs[index] = list->entries[i].ref;
        model->readonly[index] = list->entries[i].flags & 1;
        model->count++;
    }
}

static void model_delete(struct Model *model, const struct List *list, uint32_t deleted,
                         uint32_t count)
{
    uint32_t gone = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = model_find(model, list->entries[i].ref);

        if (index == XN_STATIC_GRANT_NONE) {
            g_assert_cmpuint(list->entries[i].status, ==, XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER);
        } else {
            g_assert_cmpuint(list->entries[i].status, ==, XEN_NETIF_CTRL_STATUS_SUCCESS);
            g_assert_cmpuint(list->indices[gone], ==, index);
            gone++;
            model->used[index] = false;
            model->count--;
        }
    }
    g_assert_cmpuint(gone, ==, deleted);
}

static void assert_as_model(const struct XnStaticGrants *table, const struct Model *model,
                            uint32_t refs)
{
    g_assert_cmpuint(table->count, ==, model->count);
    for (uint32_t ref = 0; ref < refs; ref++) {
        uint32_t index = static_grant_find(table, ref);

        g_assert_cmpuint(index, ==, model_find(model, ref));
        if (index != XN_STATIC_GRANT_NONE) {
            g_assert_true(static_grant_is_readonly(table, index) == model->readonly[index]);
        }
    }
}

/* Few references and a small table, so that lists clash, and runs of buckets are broken up. */
static void test_against_model(gconstpointer data)
{
    uint32_t limit = GPOINTER_TO_UINT(data);
    uint32_t refs = limit * 3 / 2;
    g_autofree struct XnStaticGrants *table = table_new(limit);
    g_autofree struct Model *model = g_new0(struct Model, 1);
    uint32_t rounds = limit > 100 ? ROUNDS / 20 : ROUNDS;

    model->limit = limit;
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t count = (uint32_t)g_test_rand_int_range(0, g_test_rand_bit() ? 3 : LIST_MAX / 8);
        struct List list;

        for (uint32_t i = 0; i < count; i++) {
            list.entries[i] = (struct xen_netif_gref){
                .ref = (uint32_t)g_test_rand_int_range(0, (gint32)refs),
                .flags = (uint16_t)g_test_rand_bit(),
            };
        }
        if (g_test_rand_bit()) {
            uint32_t deleted = delete_list(table, &list, count);

            model_delete(model, &list, deleted, count);
        } else {
            bool takes = model_takes(model, &list, count);

            g_assert_true(add_list(table, &list, count) == takes);
            if (takes) {
                model_add(model, &list, count);
            }
        }
        if (round % 16 == 0) {
            assert_as_model(table, model, refs);
        }
    }
    assert_as_model(table, model, refs);
}

/*
 * How far a search goes, on average, in a full table: whatever the references look like, it is a
 * few buckets. The seed is fixed, for luck has no place here.
 */
static void test_searches_are_short(gconstpointer data)
{
    uint32_t stride = GPOINTER_TO_UINT(data);
    g_autofree struct XnStaticGrants *table = g_new(struct XnStaticGrants, 1);
    uint32_t run = 0;
    uint32_t longest = 0;

    static_grant_init(table, XN_STATIC_GRANTS_MAX, 0x123456789abcdefu);
    for (uint32_t i = 0; i < XN_STATIC_GRANTS_MAX; i++) {
        g_assert_true(add_one(table, i * stride, 0));
    }
    for (uint32_t i = 0; i < 2 * XN_STATIC_GRANT_BUCKETS; i++) {
        run = table->buckets[i % XN_STATIC_GRANT_BUCKETS] == 0 ? 0 : run + 1;
        longest = MAX(longest, run);
    }
    g_assert_cmpuint(longest, <, 64);
}

int main(int argc, char **argv)
{
    static const uint32_t limits[] = {0, 1, 2, 255, 511, 512, 513, UINT32_MAX};
    static const uint32_t models[] = {3, 20, 60, 512};
    static const uint32_t strides[] = {1, 8, 1024, 2048, 4096, 65536, 1u << 20};

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/static-grant/empty", test_empty);
    g_test_add_func("/static-grant/flags", test_flags);
    for (uint32_t i = 0; i < G_N_ELEMENTS(limits); i++) {
        g_autofree char *path = g_strdup_printf("/static-grant/limit/%u", limits[i]);

        g_test_add_data_func(path, GUINT_TO_POINTER(limits[i]), test_limit);
    }
    g_test_add_func("/static-grant/all-or-nothing", test_all_or_nothing);
    g_test_add_func("/static-grant/delete-says-which", test_delete_says_which);
    for (uint32_t i = 0; i < G_N_ELEMENTS(models); i++) {
        g_autofree char *path = g_strdup_printf("/static-grant/model/%u", models[i]);

        g_test_add_data_func(path, GUINT_TO_POINTER(models[i]), test_against_model);
    }
    for (uint32_t i = 0; i < G_N_ELEMENTS(strides); i++) {
        g_autofree char *path = g_strdup_printf("/static-grant/short-searches/%u", strides[i]);

        g_test_add_data_func(path, GUINT_TO_POINTER(strides[i]), test_searches_are_short);
    }
    return g_test_run();
}
