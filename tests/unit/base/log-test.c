/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log-test.c - the limiter of lines that a guest can cause, and the levels
 */
#include "base/clock.h"
#include "base/log.h"

static void test_limit_passes_ten_a_second(void)
{
    struct XnLogLimit limit = {0};
    uint64_t suppressed = 99;

    for (unsigned i = 0; i < XN_LOG_LIMIT; i++) {
        g_assert_true(log_limit_pass(&limit, 0, &suppressed));
        g_assert_cmpuint(suppressed, ==, 0);
    }
    for (unsigned i = 0; i < 1000; i++) {
        g_assert_false(log_limit_pass(&limit, XN_NS_PER_S - 1, &suppressed));
    }
    g_assert_true(log_limit_pass(&limit, XN_NS_PER_S, &suppressed));
    g_assert_cmpuint(suppressed, ==, 1000);
    g_assert_true(log_limit_pass(&limit, XN_NS_PER_S, &suppressed));
    g_assert_cmpuint(suppressed, ==, 0);
}

/* No window of one second, wherever it starts, has more lines than the limit. */
static void test_limit_holds_in_every_second(void)
{
    struct XnLogLimit limit = {0};
    uint64_t passed[1000];
    unsigned count = 0;
    uint64_t asked = 0;
    uint64_t said = 0;
    uint64_t suppressed;

    for (uint64_t now = 0; now < 10 * XN_NS_PER_S; now += 7 * XN_NS_PER_MS) {
        asked++;
        if (log_limit_pass(&limit, now, &suppressed)) {
            passed[count++] = now;
            said += suppressed;
        }
    }
    for (unsigned i = XN_LOG_LIMIT; i < count; i++) {
        g_assert_cmpuint(passed[i] - passed[i - XN_LOG_LIMIT], >=, XN_NS_PER_S);
    }
    g_assert_cmpuint(count, >=, 95);
    g_assert_cmpuint(count + said + limit.suppressed, ==, asked);
}

static void test_limit_leaves_a_slow_guest_alone(void)
{
    struct XnLogLimit limit = {0};
    uint64_t suppressed = 0;

    for (uint64_t i = 0; i < 100; i++) {
        g_assert_true(log_limit_pass(&limit, i * 100 * XN_NS_PER_MS, &suppressed));
        g_assert_cmpuint(suppressed, ==, 0);
    }
}

static void test_levels(void)
{
    enum XnLogLevel level = XN_LOG_ERROR;

    g_assert_true(log_level_parse("debug", &level));
    g_assert_cmpint(level, ==, XN_LOG_DEBUG);
    g_assert_true(log_level_parse("error", &level));
    g_assert_cmpint(level, ==, XN_LOG_ERROR);
    g_assert_false(log_level_parse("loud", &level));
    g_assert_false(log_level_parse("", &level));
    g_assert_cmpint(level, ==, XN_LOG_ERROR);
}

/* Run in a child of its own, whose standard error the test looks at. */
static void test_lines(void)
{
    struct XnLogLimit limit = {0};

    if (g_test_subprocess()) {
        g_set_prgname("qnetback");
        log_init(XN_LOG_INFO);
        log_info("vif1.0", "value '%s'", "a\nb\033[0m");
        log_warning(NULL, "without a subject");
        log_debug("vif1.0", "not to be seen");
        for (unsigned i = 0; i < 30; i++) {
            log_write_limited(&limit, 0, XN_LOG_WARNING, "vif2.0", "line %u", i);
        }
        log_write_limited(&limit, XN_NS_PER_S, XN_LOG_WARNING, "vif2.0", "later");
        for (unsigned i = 0; i < 100000; i++) {
            log_shared(XN_LOG_ERROR, NULL, "at one place %u", i);
        }
        log_shared(XN_LOG_ERROR, NULL, "elsewhere");
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("*qnetback: vif1.0: value 'a?b?[0m'\n"
                              "qnetback: warning: without a subject\n"
                              "qnetback: warning: vif2.0: line 0\n*");
    g_test_trap_assert_stderr("*vif2.0: line 9\n"
                              "qnetback: warning: vif2.0: later (20 lines before it were left "
                              "out)\n*");
    g_test_trap_assert_stderr_unmatched("*not to be seen*");
    g_test_trap_assert_stderr_unmatched("*line 10\n*");
    g_test_trap_assert_stderr("*at one place 9\n*error: elsewhere\n*");
    g_test_trap_assert_stderr_unmatched("*at one place 10\n*");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/log/limit/ten-a-second", test_limit_passes_ten_a_second);
    g_test_add_func("/log/limit/every-second", test_limit_holds_in_every_second);
    g_test_add_func("/log/limit/slow-guest", test_limit_leaves_a_slow_guest_alone);
    g_test_add_func("/log/levels", test_levels);
    g_test_add_func("/log/lines", test_lines);
    return g_test_run();
}
