/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl-journal-test.c - a control ring that is taken over, whenever its daemon died
 */
#include "control/ctrl-journal.h"

#include <glib.h>

/* What is in the journal, and the table that goes with it. */
struct State {
    struct XnCtrlJournal journal;
    struct XnGrantJournal grants;
    struct XnStaticGrants table;
};

static struct State *state_new(void)
{
    struct State *state = g_new0(struct State, 1);

    static_grant_init(&state->table, XN_STATIC_GRANTS_MAX, 1);
    return state;
}

/* A successor's, from what is in the journal now. */
static struct State *state_adopt(const struct State *died)
{
    struct State *state = state_new();

    state->journal = died->journal;
    state->grants = died->grants;
    grant_journal_restore(&state->grants, &state->journal, &state->table);
    return state;
}

static void assert_same_grants(const struct State *a, const struct State *b)
{
    g_assert_cmpuint(a->table.count, ==, b->table.count);
    for (uint32_t ref = 0; ref < 200; ref++) {
        uint32_t index = static_grant_find(&a->table, ref);

        g_assert_cmpuint(index, ==, static_grant_find(&b->table, ref));
        if (index != XN_STATIC_GRANT_NONE) {
            g_assert_true(static_grant_is_readonly(&a->table, index) ==
                          static_grant_is_readonly(&b->table, index));
        }
    }
}

/*
 * A message about a list of references, as the control ring goes about it, by a process that dies
 * after so many stores; returns whether it lived.
 */
static bool message(struct State *state, bool add, uint32_t first, uint32_t count, unsigned stores)
{
    struct xen_netif_gref list[16];
    uint16_t indices[16];
    struct xen_netif_ctrl_response response = {.id = (uint16_t)first, .data = count};

    for (uint32_t i = 0; i < count; i++) {
        list[i] = (struct xen_netif_gref){.ref = first + i, .flags = (first + i) % 2};
    }
    if (add) {
        g_assert_true(static_grant_add(&state->table, (uint8_t *)list, count, indices));
    } else {
        g_assert_cmpuint(static_grant_delete(&state->table, (uint8_t *)list, count, indices), ==,
                         count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (stores-- == 0) {
            return false;
        }
        if (add) {
            grant_journal_add(&state->grants, &state->journal, indices[i],
                              &state->table.grants[indices[i]]);
        } else {
            grant_journal_delete(&state->grants, &state->journal, indices[i]);
        }
    }
    if (stores == 0) {
        return false;
    }
    ctrl_journal_commit(&state->journal, &response);
    return true;
}

/* Wherever the process dies, the message happened or it did not, and then it can be repeated. */
static void test_death_at_every_store(gconstpointer data)
{
    bool add = data != NULL;

    for (unsigned stores = 0; stores <= 10; stores++) {
        g_autofree struct State *state = state_new();
        g_autofree struct State *before = NULL;
        g_autofree struct State *after = NULL;
        bool lived;

        g_assert_true(message(state, true, 100, 16, UINT_MAX));
        g_assert_true(message(state, true, 50, 4, UINT_MAX));
        g_assert_true(message(state, false, 108, 4, UINT_MAX));
        before = g_memdup2(state, sizeof(*state));
        lived = message(state, add, add ? 150 : 100, 8, stores);
        g_assert_true(lived == (stores > 8));
        after = state_adopt(state);
        assert_same_grants(after, lived ? state : before);
        if (!lived) {
            g_autofree struct State *again = NULL;
            g_autofree struct State *once_more = NULL;

            /* And once more, by the successor, which may die, too. */
            message(after, add, add ? 150 : 100, 8, stores);
            again = state_adopt(after);
            assert_same_grants(again, before);
            g_assert_true(message(again, add, add ? 150 : 100, 8, UINT_MAX));
            once_more = state_adopt(again);
            assert_same_grants(once_more, again);
            g_assert_cmpuint(again->table.count, ==, before->table.count + (add ? 8 : -8u));
        }
    }
}

static void test_responses_that_were_not_published(void)
{
    struct XnCtrlJournal journal = {.executed = UINT32_MAX - 3};

    for (uint16_t i = 0; i < 8; i++) {
        struct xen_netif_ctrl_response response = {.id = i};

        ctrl_journal_commit(&journal, &response);
    }
    g_assert_cmpuint(journal.executed, ==, 4);
    g_assert_cmpuint(ctrl_journal_resume(&journal, 4, 128), ==, 0);
    g_assert_cmpuint(ctrl_journal_resume(&journal, 1, 3), ==, 3);
    g_assert_cmpuint(ctrl_journal_resume(&journal, UINT32_MAX - 3, 128), ==, 8);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t index = UINT32_MAX - 3 + i;

        g_assert_cmpuint(journal.responses[index % XN_CTRL_JOURNAL_RESPONSES].id, ==, i);
    }
}

static void test_journal_that_does_not_fit_is_not_used(void)
{
    static const uint32_t answered[] = {5, 6, 1000, 1u << 31, UINT32_MAX - 12, UINT32_MAX};

    for (size_t i = 0; i < G_N_ELEMENTS(answered); i++) {
        struct XnCtrlJournal journal = {.executed = 4};

        g_assert_cmpuint(ctrl_journal_resume(&journal, answered[i], 3), ==, 0);
        g_assert_cmpuint(journal.executed, ==, answered[i]);
    }
}

static void test_nonsense_is_left_out(void)
{
    for (uint32_t i = 0; i < 200; i++) {
        g_autofree struct State *died = state_new();
        g_autofree struct State *state = NULL;
        g_autofree struct State *again = NULL;

        for (uint32_t k = 0; k < XN_STATIC_GRANTS_MAX; k++) {
            died->grants.words[k] = (uint64_t)g_test_rand_int() << 32 |
                                    (uint32_t)g_test_rand_int_range(0, i % 2 ? 100 : 10000);
        }
        g_assert_false(grant_journal_is_empty(&died->grants));
        state = state_adopt(died);
        g_assert_cmpuint(state->table.count, <=, XN_STATIC_GRANTS_MAX);
        again = state_adopt(state);
        assert_same_grants(again, state);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/control/ctrl-journal/death-at-every-store/delete", NULL,
                         test_death_at_every_store);
    g_test_add_data_func("/control/ctrl-journal/death-at-every-store/add", "",
                         test_death_at_every_store);
    g_test_add_func("/control/ctrl-journal/responses-that-were-not-published",
                    test_responses_that_were_not_published);
    g_test_add_func("/control/ctrl-journal/journal-that-does-not-fit-is-not-used",
                    test_journal_that_does_not_fit_is_not_used);
    g_test_add_func("/control/ctrl-journal/nonsense-is-left-out", test_nonsense_is_left_out);
    return g_test_run();
}
