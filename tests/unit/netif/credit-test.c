/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * credit-test.c - rates: how they are read, and whether they are kept, in simulated time
 */
#include "netif/credit.h"

#include <glib.h>
#include <string.h>

#include "base/clock.h"

/* Any moment: the clock does not start at 0. */
#define START (1234567 * XN_NS_PER_S + 89)

struct ParseCase {
    const char *text;
    bool good;
    uint64_t bytes;
    uint64_t interval_us;
};

static const struct ParseCase parse_cases[] = {
    {"1250000,50000", true, 1250000, 50000},
    {"1,1", true, 1, 1},
    {"007,08", true, 7, 8},
    {"18446744073709551615,18446744073709551615", true, UINT64_MAX, UINT64_MAX},
    {"18446744073709551616,1", false, 0, 0},
    {"18446744073709551620,1", false, 0, 0},
    {"184467440737095516150,1", false, 0, 0},
    {"1,18446744073709551616", false, 0, 0},
    {"99999999999999999999999999999999,1", false, 0, 0},
    {"0,50000", false, 0, 0},
    {"1250000,0", false, 0, 0},
    {"0,0", false, 0, 0},
    {"", false, 0, 0},
    {",", false, 0, 0},
    {"1250000", false, 0, 0},
    {"1250000,", false, 0, 0},
    {",50000", false, 0, 0},
    {"1250000,50000,", false, 0, 0},
    {"1250000,50000,1", false, 0, 0},
    {"1250000;50000", false, 0, 0},
    {"1250000 ,50000", false, 0, 0},
    {"1250000, 50000", false, 0, 0},
    {" 1250000,50000", false, 0, 0},
    {"1250000,50000 ", false, 0, 0},
    {"1250000,50000\n", false, 0, 0},
    {"-1,50000", false, 0, 0},
    {"+1,50000", false, 0, 0},
    {"1,-50000", false, 0, 0},
    {"0x10,50000", false, 0, 0},
    {"10,0x10", false, 0, 0},
    {"1e6,50000", false, 0, 0},
    {"1.5,50000", false, 0, 0},
    {"10Mb/s", false, 0, 0},
    {"a,b", false, 0, 0},
    {"1:,1", false, 0, 0},
    {"/,1", false, 0, 0},
};

static void test_parse(gconstpointer data)
{
    const struct ParseCase *expected = data;
    struct XnCreditRate rate = {.bytes = 99, .interval_us = 99};
    const char *reason = "not set";

    g_assert_true(credit_parse(expected->text, &rate, &reason) == expected->good);
    g_assert_cmpuint(rate.bytes, ==, expected->bytes);
    g_assert_cmpuint(rate.interval_us, ==, expected->interval_us);
    if (expected->good) {
        g_assert_null(reason);
    } else {
        g_assert_nonnull(reason);
        g_assert_cmpstr(reason, !=, "");
    }
}

/* Digits and commas at random: what is accepted is what it looks like. */
static void test_parse_random(void)
{
    static const char letters[] = "0123456789,, -";

    for (uint32_t i = 0; i < 50000; i++) {
        char text[16] = {0};
        g_autofree char *again = NULL;
        struct XnCreditRate rate;
        const char *reason;

        for (int j = g_test_rand_int_range(0, sizeof(text)); j > 0; j--) {
            text[j - 1] = letters[g_test_rand_int_range(0, sizeof(letters) - 1)];
        }
        if (credit_parse(text, &rate, &reason) && text[0] != '0' && !strstr(text, ",0")) {
            again = g_strdup_printf("%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, rate.bytes,
                                    rate.interval_us);
            g_assert_cmpstr(again, ==, text);
        }
    }
}

static void test_unlimited(void)
{
    struct XnCreditRate rate = {0};
    struct XnCredit credit = {0};
    uint64_t ready = 0;

    /* Also before it was ever set, and at any time. */
    for (uint32_t i = 0; i < 1000; i++) {
        g_assert_true(credit_take(&credit, UINT32_MAX, START, &ready));
        g_assert_true(credit_take(&credit, UINT32_MAX, 0, &ready));
        g_assert_true(credit_take(&credit, UINT32_MAX, UINT64_MAX, &ready));
        credit_set(&credit, &rate, START);
    }
}

/* A rate, and how the sender behaves. */
struct RateCase {
    const char *what;
    struct XnCreditRate rate;
    uint32_t frame;
    /* How much later than asked for the sender comes back, at most. */
    uint64_t late_ns;
    /* Cares for no time that it is told, but asks at all times. */
    bool impatient;
};

#define MBIT_50MS(n)         \
    {                        \
        (n) * 6250ull, 50000 \
    }

static const struct RateCase rate_cases[] = {
    {"10 Mb/s, 1500", MBIT_50MS(10), 1500, 0, false},
    {"10 Mb/s, 64 KiB", MBIT_50MS(10), 65536, 0, false},
    {"10 Mb/s, 64", MBIT_50MS(10), 64, 0, false},
    {"100 Mb/s, 1500", MBIT_50MS(100), 1500, 0, false},
    {"100 Mb/s, 64 KiB", MBIT_50MS(100), 65536, 0, false},
    {"1 Gb/s, 1500", MBIT_50MS(1000), 1500, 0, false},
    {"1 Gb/s, 64 KiB", MBIT_50MS(1000), 65536, 0, false},
    {"10 Gb/s, 1500", MBIT_50MS(10000), 1500, 0, false},
    {"10 Gb/s, 64 KiB", MBIT_50MS(10000), 65536, 0, false},
    {"100 Gb/s, 64 KiB", MBIT_50MS(100000), 65536, 0, false},
    {"100 Gb/s, 1500", MBIT_50MS(100000), 1500, 0, false},
    {"10 Mb/s, 1500, late", MBIT_50MS(10), 1500, 4 * XN_NS_PER_MS, false},
    {"1 Gb/s, 1500, late", MBIT_50MS(1000), 1500, 4 * XN_NS_PER_MS, false},
    {"1 Gb/s, 64 KiB, late", MBIT_50MS(1000), 65536, 4 * XN_NS_PER_MS, false},
    {"10 Gb/s, 64 KiB, late", MBIT_50MS(10000), 65536, 4 * XN_NS_PER_MS, false},
    {"1 Gb/s, 1500, impatient", MBIT_50MS(1000), 1500, 0, true},
    {"1 Gb/s, 64 KiB, impatient", MBIT_50MS(1000), 65536, 0, true},
    {"100 Mb/s in 100 us, 1500", {1250, 100}, 1500, 0, false},
    {"100 Mb/s in 100 us, 64 KiB", {1250, 100}, 65536, 0, false},
    {"1 Gb/s in 1 us, 1500", {125, 1}, 1500, 0, false},
    {"1 Gb/s in 1 us, 64 KiB", {125, 1}, 65536, 0, false},
    {"333 bytes in 7 us, 1500", {333, 7}, 1500, 0, false},
    {"100 Mb/s in 333 ms, 1500", {4162500, 333000}, 1500, 0, false},
};

/* Ten seconds of a sender that always has one more frame: within 5 % of the rate. */
static void test_rate(gconstpointer data)
{
    const struct RateCase *rate_case = data;
    const struct XnCreditRate *rate = &rate_case->rate;
    uint64_t end = START + 10 * XN_NS_PER_S;
    double expected = (double)rate->bytes / (double)rate->interval_us * 10e6;
    uint64_t now = START;
    uint64_t sent = 0;
    struct XnCredit credit;

    credit_set(&credit, rate, now);
    while (now < end) {
        uint64_t ready = 0;

        if (credit_take(&credit, rate_case->frame, now, &ready)) {
            sent += rate_case->frame;
            continue;
        }
        g_assert_cmpuint(ready, >, now);
        if (rate_case->impatient) {
            now += 777;
        } else {
            now = ready;
            if (rate_case->late_ns > 0) {
                now += (uint64_t)g_test_rand_int_range(0, (gint32)rate_case->late_ns);
            }
        }
    }
    g_test_message("%.3f of the rate", (double)sent / expected);
    g_assert_cmpfloat((double)sent, >, expected * 0.95);
    g_assert_cmpfloat((double)sent, <, expected * 1.05);
}

/* The moment that is told is the first one at which the frame goes. */
static void test_ready_is_exact(void)
{
    for (uint32_t i = 0; i < 20000; i++) {
        struct XnCreditRate rate = {
            .bytes = (uint64_t)g_test_rand_int_range(1, 10000000),
            .interval_us = (uint64_t)g_test_rand_int_range(1, 100000),
        };
        uint32_t bytes = (uint32_t)g_test_rand_int_range(1, 65536);
        uint64_t now = START;
        struct XnCredit credit;
        uint64_t ready;
        uint64_t again;

        credit_set(&credit, &rate, now);
        while (credit_take(&credit, bytes, now, &ready)) {
        }
        g_assert_cmpuint(ready, >, now);
        g_assert_false(credit_take(&credit, bytes, ready - 1, &again));
        g_assert_cmpuint(again, ==, ready);
        g_assert_true(credit_take(&credit, bytes, ready, &again));
    }
}

/* Bytes that go at once after a pause of that many nanoseconds. */
static uint64_t burst_after(const struct XnCreditRate *rate, uint64_t pause, uint32_t frame)
{
    struct XnCredit credit;
    uint64_t sent = 0;
    uint64_t ready;

    credit_set(&credit, rate, START);
    while (credit_take(&credit, frame, START, &ready)) {
    }
    while (credit_take(&credit, frame, START + pause, &ready)) {
        sent += frame;
    }
    return sent;
}

/* What adds up in a pause: at most 128 KiB, or the bytes of one interval if that is more. */
static void test_burst(void)
{
    static const struct XnCreditRate small = {.bytes = 10000, .interval_us = 1000};
    static const struct XnCreditRate large = {.bytes = 1000000, .interval_us = 1000};
    uint64_t second = XN_NS_PER_S;

    g_assert_cmpuint(burst_after(&small, 1 * second, 100), <=, XN_CREDIT_BURST_MIN);
    g_assert_cmpuint(burst_after(&small, 1 * second, 100), >=, XN_CREDIT_BURST_MIN - 100);
    g_assert_cmpuint(burst_after(&small, 100000 * second, 100), <=, XN_CREDIT_BURST_MIN);
    g_assert_cmpuint(burst_after(&large, 1 * second, 100), <=, large.bytes);
    g_assert_cmpuint(burst_after(&large, 1 * second, 100), >=, large.bytes - 100);
    /* Half an interval, half the bytes. */
    g_assert_cmpuint(burst_after(&large, second / 2000, 100), >=, large.bytes / 2 - 100);
    g_assert_cmpuint(burst_after(&large, second / 2000, 100), <=, large.bytes / 2 + 100);
}

/* More than ever adds up goes when all of it is there, and is paid for afterwards. */
static void test_more_than_burst(void)
{
    static const struct XnCreditRate rate = {.bytes = 1000, .interval_us = 1000};
    struct XnCredit credit;
    uint64_t full = START + XN_CREDIT_BURST_MIN * XN_NS_PER_MS / 1000;
    uint64_t ready;

    credit_set(&credit, &rate, START - XN_NS_PER_MS);
    g_assert_true(credit_take(&credit, 2000, START, &ready));
    g_assert_false(credit_take(&credit, 1000000, START, &ready));
    g_assert_cmpuint(ready, ==, full);
    g_assert_true(credit_take(&credit, 1000000, full, &ready));
    g_assert_false(credit_take(&credit, 1000, full, &ready));
    g_assert_cmpuint(ready, ==, START + 1001 * XN_NS_PER_MS);
}

/* 64 bytes at 100 Gb/s take 5.12 ns: what is rounded does not add up. */
static void test_small_frames(void)
{
    static const struct XnCreditRate rate = {.bytes = 625000000, .interval_us = 50000};
    uint64_t now = START;
    uint64_t ready;
    struct XnCredit credit;

    credit_set(&credit, &rate, now);
    while (credit_take(&credit, 1000, now, &ready)) {
    }
    for (uint32_t i = 0; i < 1000000; i++) {
        while (!credit_take(&credit, 64, now, &ready)) {
            now = ready;
        }
    }
    g_assert_cmpuint(now - START, >, 5110000);
    g_assert_cmpuint(now - START, <, 5130000);
}

/* To begin with, one interval's bytes. */
static void test_first_credit(void)
{
    static const struct XnCreditRate rate = {.bytes = 25000, .interval_us = 50000};
    struct XnCredit credit;
    uint64_t sent = 0;
    uint64_t ready;

    credit_set(&credit, &rate, START);
    while (credit_take(&credit, 1000, START, &ready)) {
        sent += 1000;
    }
    g_assert_cmpuint(sent, ==, rate.bytes);
    /* 1000 bytes take 1/25 of the interval. */
    g_assert_cmpuint(ready - START, >=, 50000000 / 25);
    g_assert_cmpuint(ready - START, <=, 50000000 / 25 + 2);
}

/* The largest frame goes even at the lowest rates, and is paid for afterwards. */
static void test_low_rates(void)
{
    static const struct XnCreditRate rates[] = {
        {1, 1000000}, {1, UINT32_MAX}, {1, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}, {100, 1000000},
    };

    for (uint32_t i = 0; i < G_N_ELEMENTS(rates); i++) {
        uint64_t now = START;
        uint64_t ready = now;
        struct XnCredit credit;

        credit_set(&credit, &rates[i], now);
        for (uint32_t frame = 0; frame < 3; frame++) {
            if (!credit_take(&credit, 65535, now, &ready)) {
                g_assert_cmpuint(ready, >, now);
                now = ready;
                g_assert_true(credit_take(&credit, 65535, now, &ready));
            }
        }
        g_assert_cmpuint(now, <, (uint64_t)1 << 62);
        /* Never a rate that is less than nothing: the next frame waits. */
        g_assert_true(rates[i].bytes > 1000 || now > START + XN_NS_PER_S);
    }
}

static void test_high_rates(void)
{
    static const struct XnCreditRate rates[] = {
        {UINT64_MAX, 1},
        {(uint64_t)1 << 40, 1},
        {UINT64_MAX, 1000},
        {1000000000000, 50000},
    };

    for (uint32_t i = 0; i < G_N_ELEMENTS(rates); i++) {
        uint64_t now = START;
        struct XnCredit credit;
        uint64_t ready;

        credit_set(&credit, &rates[i], now);
        for (uint32_t frame = 0; frame < 1000; frame++) {
            while (!credit_take(&credit, 65535, now, &ready)) {
                g_assert_cmpuint(ready, <, now + 100000);
                now = ready;
            }
        }
    }
}

/* Clocks that are odd: at 0, where our own numbers wrap around, a little behind another thread's.
 */
static void test_odd_clocks(void)
{
    static const struct XnCreditRate rate = {.bytes = 1000, .interval_us = 1000};
    static const uint64_t clocks[] = {
        0,
        1,
        ((uint64_t)1 << 59) - 500,
        ((uint64_t)1 << 60) - 1,
        ((uint64_t)1 << 60) - 500,
        ((uint64_t)1 << 60) - XN_NS_PER_MS,
        ((uint64_t)1 << 60) - XN_NS_PER_MS - 1,
    };
    uint64_t year = 365 * 24 * 3600 * XN_NS_PER_S;
    struct XnCredit credit;
    uint64_t ready;

    for (uint32_t i = 0; i < G_N_ELEMENTS(clocks); i++) {
        credit_set(&credit, &rate, clocks[i]);
        g_assert_true(credit_take(&credit, 1000, clocks[i], &ready));
        for (uint64_t now = clocks[i]; now < clocks[i] + XN_NS_PER_MS; now += 99999) {
            g_assert_false(credit_take(&credit, 1000, now, &ready));
            g_assert_cmpuint(ready, ==, clocks[i] + XN_NS_PER_MS);
        }
        g_assert_true(credit_take(&credit, 1000, ready, &ready));
        g_assert_false(credit_take(&credit, 1000, clocks[i], &ready));
        g_assert_cmpuint(ready, ==, clocks[i] + 2 * XN_NS_PER_MS);
    }
    /* After any pause there is all that can add up. */
    for (uint64_t pause = 1; pause <= 26; pause++) {
        credit_set(&credit, &rate, START);
        g_assert_true(credit_take(&credit, 1000, START, &ready));
        g_assert_true(credit_take(&credit, XN_CREDIT_BURST_MIN, START + pause * year, &ready));
        g_assert_false(credit_take(&credit, 1, START + pause * year, &ready));
    }
}

static void test_changed(void)
{
    static const struct XnCreditRate slow = {.bytes = 1000, .interval_us = 1000000};
    static const struct XnCreditRate fast = {.bytes = 1000000, .interval_us = 1000};
    static const struct XnCreditRate none;
    struct XnCredit credit;
    uint64_t ready;

    credit_set(&credit, &slow, START);
    g_assert_true(credit_take(&credit, 1000, START, &ready));
    g_assert_false(credit_take(&credit, 60000, START, &ready));
    g_assert_cmpuint(ready, ==, START + 60 * XN_NS_PER_S);
    /* What is owed at the old rate is forgotten. */
    credit_set(&credit, &fast, START);
    g_assert_true(credit_take(&credit, 1000000, START, &ready));
    g_assert_false(credit_take(&credit, 1000000, START, &ready));
    credit_set(&credit, &none, START);
    g_assert_true(credit_take(&credit, UINT32_MAX, START, &ready));
    credit_set(&credit, &slow, START);
    g_assert_true(credit_take(&credit, 1000, START, &ready));
    g_assert_false(credit_take(&credit, 1, START, &ready));
}

/* Queues share the bucket: together they get no more and no less than one alone. */
struct Sender {
    struct XnCredit *credit;
    uint64_t sent;
};

static gpointer send_all(gpointer data)
{
    struct Sender *sender = data;
    uint64_t ready;

    while (credit_take(sender->credit, 100, START, &ready)) {
        sender->sent += 100;
    }
    return NULL;
}

static void test_threads(void)
{
    static const struct XnCreditRate rate = {.bytes = 20000000, .interval_us = 50000};
    struct XnCredit credit;
    struct Sender senders[4];
    GThread *threads[4];
    uint64_t sent = 0;

    credit_set(&credit, &rate, START);
    for (uint32_t i = 0; i < G_N_ELEMENTS(threads); i++) {
        senders[i] = (struct Sender){.credit = &credit};
        threads[i] = g_thread_new("sender", send_all, &senders[i]);
    }
    for (uint32_t i = 0; i < G_N_ELEMENTS(threads); i++) {
        g_thread_join(threads[i]);
        sent += senders[i].sent;
    }
    g_assert_cmpuint(sent, ==, rate.bytes);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (uint32_t i = 0; i < G_N_ELEMENTS(parse_cases); i++) {
        g_autofree char *path = g_strdup_printf("/credit/parse/%u", i);

        g_test_add_data_func(path, &parse_cases[i], test_parse);
    }
    g_test_add_func("/credit/parse/random", test_parse_random);
    g_test_add_func("/credit/unlimited", test_unlimited);
    for (uint32_t i = 0; i < G_N_ELEMENTS(rate_cases); i++) {
        g_autofree char *name = g_strdelimit(g_strdup(rate_cases[i].what), "/", ' ');
        g_autofree char *path = g_strdup_printf("/credit/rate/%s", name);

        g_test_add_data_func(path, &rate_cases[i], test_rate);
    }
    g_test_add_func("/credit/ready-is-exact", test_ready_is_exact);
    g_test_add_func("/credit/burst", test_burst);
    g_test_add_func("/credit/more-than-burst", test_more_than_burst);
    g_test_add_func("/credit/small-frames", test_small_frames);
    g_test_add_func("/credit/first-credit", test_first_credit);
    g_test_add_func("/credit/low-rates", test_low_rates);
    g_test_add_func("/credit/high-rates", test_high_rates);
    g_test_add_func("/credit/odd-clocks", test_odd_clocks);
    g_test_add_func("/credit/changed", test_changed);
    g_test_add_func("/credit/threads", test_threads);
    return g_test_run();
}
