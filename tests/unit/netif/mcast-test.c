/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mcast-test.c - the multicast filter
 */
#include "netif/mcast.h"

#include <glib.h>

enum { THREADS = 4, ROUNDS = 20000 };

struct Address {
    uint8_t bytes[6];
};

static const struct Address broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
static const struct Address unicast = {{0x00, 0x16, 0x3e, 0x01, 0x02, 0x03}};

/* A different multicast address for each number. */
static struct Address group(uint32_t number)
{
    return (struct Address){
        {0x01, 0x00, 0x5e, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number}};
}

static bool add(struct XnMcast *mcast, uint32_t number)
{
    struct Address address = group(number);

    return mcast_add(mcast, address.bytes);
}

static void delete_group(struct XnMcast *mcast, uint32_t number)
{
    struct Address address = group(number);

    mcast_delete(mcast, address.bytes);
}

static bool pass(const struct XnMcast *mcast, uint32_t number)
{
    struct Address address = group(number);

    return mcast_pass(mcast, address.bytes);
}

static void test_off(void)
{
    struct XnMcast mcast;

    mcast_init(&mcast);
    g_assert_true(pass(&mcast, 1));
    g_assert_true(mcast_pass(&mcast, broadcast.bytes));
    g_assert_true(mcast_pass(&mcast, unicast.bytes));
}

static void test_on(void)
{
    struct XnMcast mcast;

    mcast_init(&mcast);
    mcast_set_filter(&mcast, true);
    g_assert_true(mcast_pass(&mcast, broadcast.bytes));
    g_assert_true(mcast_pass(&mcast, unicast.bytes));
    g_assert_false(pass(&mcast, 1));
    g_assert_true(add(&mcast, 1));
    g_assert_true(pass(&mcast, 1));
    g_assert_false(pass(&mcast, 2));
    delete_group(&mcast, 1);
    g_assert_false(pass(&mcast, 1));
}

/* Every bit of the address counts. */
static void test_exact(void)
{
    struct XnMcast mcast;
    struct Address address = group(0x123456);

    mcast_init(&mcast);
    mcast_set_filter(&mcast, true);
    g_assert_true(mcast_add(&mcast, address.bytes));
    for (uint32_t bit = 0; bit < 48; bit++) {
        struct Address other = address;

        other.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        /* The first byte's lowest bit makes it unicast. */
        g_assert_true(mcast_pass(&mcast, other.bytes) == (bit == 0));
    }
}

/* The addresses are kept while the filter is off. */
static void test_switched(void)
{
    struct XnMcast mcast;

    mcast_init(&mcast);
    g_assert_true(add(&mcast, 7));
    mcast_set_filter(&mcast, true);
    g_assert_true(pass(&mcast, 7));
    g_assert_false(pass(&mcast, 8));
    mcast_set_filter(&mcast, false);
    g_assert_true(pass(&mcast, 8));
    mcast_set_filter(&mcast, true);
    g_assert_false(pass(&mcast, 8));
    mcast_init(&mcast);
    mcast_set_filter(&mcast, true);
    g_assert_false(pass(&mcast, 7));
}

static void test_sixty_four(void)
{
    struct XnMcast mcast;

    mcast_init(&mcast);
    mcast_set_filter(&mcast, true);
    for (uint32_t i = 0; i < XN_MCAST_MAX; i++) {
        g_assert_true(add(&mcast, i));
    }
    g_assert_false(add(&mcast, XN_MCAST_MAX));
    g_assert_false(pass(&mcast, XN_MCAST_MAX));
    /* One that is there already takes no place. */
    for (uint32_t i = 0; i < XN_MCAST_MAX; i++) {
        g_assert_true(add(&mcast, i));
        g_assert_true(pass(&mcast, i));
    }
    delete_group(&mcast, 1000);
    g_assert_false(add(&mcast, XN_MCAST_MAX));
    /* Each place can be used again. */
    for (uint32_t i = 0; i < XN_MCAST_MAX; i++) {
        delete_group(&mcast, i);
        g_assert_true(pass(&mcast, i));
        delete_group(&mcast, i);
        g_assert_false(pass(&mcast, i));
        g_assert_true(add(&mcast, XN_MCAST_MAX + i));
        g_assert_false(add(&mcast, i));
    }
}

static void test_counted(void)
{
    struct XnMcast mcast;

    mcast_init(&mcast);
    mcast_set_filter(&mcast, true);
    for (uint32_t times = 1; times < 10; times++) {
        for (uint32_t i = 0; i < times; i++) {
            g_assert_true(add(&mcast, 3));
        }
        for (uint32_t i = 0; i < times; i++) {
            g_assert_true(pass(&mcast, 3));
            delete_group(&mcast, 3);
        }
        g_assert_false(pass(&mcast, 3));
    }
}

/* The count's end is no way to another address, or out of the table. */
static void test_count_ends(void)
{
    struct XnMcast mcast;

    mcast_init(&mcast);
    mcast_set_filter(&mcast, true);
    for (uint32_t i = 0; i < 70000; i++) {
        g_assert_true(add(&mcast, 3));
    }
    for (uint32_t i = 0; i < 65535; i++) {
        g_assert_true(pass(&mcast, 3));
        delete_group(&mcast, 3);
    }
    for (uint32_t i = 0; i < XN_MCAST_MAX; i++) {
        g_assert_cmphex(mcast.addresses[i], ==, 0);
    }
}

/* 00:00:00:00:00:00 is no free place, and may be added like any other. */
static void test_zero_address(void)
{
    static const struct Address zero;
    struct XnMcast mcast;

    mcast_init(&mcast);
    for (uint32_t i = 0; i + 1 < XN_MCAST_MAX; i++) {
        g_assert_true(add(&mcast, i));
    }
    g_assert_true(mcast_add(&mcast, zero.bytes));
    g_assert_false(add(&mcast, 100));
    mcast_delete(&mcast, zero.bytes);
    g_assert_true(add(&mcast, 100));
    mcast_delete(&mcast, zero.bytes);
    g_assert_false(add(&mcast, 101));

    mcast_init(&mcast);
    mcast_delete(&mcast, zero.bytes);
    for (uint32_t i = 0; i < XN_MCAST_MAX; i++) {
        g_assert_cmphex(mcast.addresses[i], ==, 0);
    }
}

struct Worker {
    struct XnMcast *mcast;
    uint32_t number;
};

/* Each thread has addresses of its own, and all share one that must never be missed. */
static gpointer work(gpointer data)
{
    struct Worker *worker = data;
    uint32_t first = 100 + worker->number * 8;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t mine = first + round % 8;

        g_assert_true(add(worker->mcast, mine));
        g_assert_true(add(worker->mcast, 1));
        g_assert_true(pass(worker->mcast, mine));
        g_assert_true(pass(worker->mcast, 1));
        delete_group(worker->mcast, mine);
        delete_group(worker->mcast, 1);
        g_assert_false(pass(worker->mcast, mine));
        g_assert_true(pass(worker->mcast, 2));
    }
    return NULL;
}

static void test_threads(void)
{
    struct XnMcast mcast;
    struct Worker workers[THREADS];
    GThread *threads[THREADS];

    mcast_init(&mcast);
    mcast_set_filter(&mcast, true);
    g_assert_true(add(&mcast, 2));
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct Worker){.mcast = &mcast, .number = i};
        threads[i] = g_thread_new("worker", work, &workers[i]);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        g_thread_join(threads[i]);
    }
    delete_group(&mcast, 2);
    for (uint32_t i = 0; i < XN_MCAST_MAX; i++) {
        g_assert_cmphex(mcast.addresses[i], ==, 0);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mcast/off", test_off);
    g_test_add_func("/mcast/on", test_on);
    g_test_add_func("/mcast/exact", test_exact);
    g_test_add_func("/mcast/switched", test_switched);
    g_test_add_func("/mcast/sixty-four", test_sixty_four);
    g_test_add_func("/mcast/counted", test_counted);
    g_test_add_func("/mcast/count-ends", test_count_ends);
    g_test_add_func("/mcast/zero-address", test_zero_address);
    g_test_add_func("/mcast/threads", test_threads);
    return g_test_run();
}
