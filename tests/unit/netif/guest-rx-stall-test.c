/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-stall-test.c - how long frames wait for buffers, in simulated time
 */
#include "netif/guest-rx-stall.h"

#include <glib.h>

#include "base/clock.h"

/* Any moment: the clock does not start at 0. */
#define START (1234567 * XN_NS_PER_S + 89)
#define DRAIN (10 * XN_NS_PER_S)
#define STALL (60 * XN_NS_PER_S)

static void test_frame_waits_for_the_drain_time_and_not_longer(void)
{
    struct XnGuestRxStall stall = {0};
    uint64_t since = 0;

    g_assert_false(guest_rx_stall_waits(&stall, 3, &since, START, DRAIN));
    g_assert_cmpuint(since, ==, START);
    g_assert_false(guest_rx_stall_waits(&stall, 3, &since, START + DRAIN - 1, DRAIN));
    g_assert_false(guest_rx_stall_refuses(&stall, 3));
    g_assert_true(guest_rx_stall_waits(&stall, 3, &since, START + DRAIN, DRAIN));
    g_assert_cmpuint(since, ==, 0);
    g_assert_true(guest_rx_stall_refuses(&stall, 3));
    g_assert_true(guest_rx_stall_refuses(&stall, 17));
    g_assert_false(guest_rx_stall_refuses(&stall, 2));
}

static void test_zero_waits_for_ever(void)
{
    struct XnGuestRxStall stall = {0};
    uint64_t since = 0;

    g_assert_false(guest_rx_stall_waits(&stall, 1, &since, 1, 0));
    g_assert_false(guest_rx_stall_waits(&stall, 1, &since, UINT64_MAX, 0));
    stall.refused = 1;
    g_assert_false(guest_rx_stall_dropped(&stall, 1, 0));
    g_assert_false(guest_rx_stall_dropped(&stall, UINT64_MAX, 0));
}

static void test_refusal_ends_when_the_guest_has_so_many_buffers(void)
{
    struct XnGuestRxStall stall = {0};
    uint64_t since = START;

    g_assert_true(guest_rx_stall_waits(&stall, 17, &since, START + DRAIN, DRAIN));
    since = START;
    g_assert_true(guest_rx_stall_waits(&stall, 5, &since, START + DRAIN, DRAIN));
    since = START;
    g_assert_true(guest_rx_stall_waits(&stall, 9, &since, START + DRAIN, DRAIN));
    g_assert_false(guest_rx_stall_posted(&stall, 4));
    g_assert_true(guest_rx_stall_refuses(&stall, 5));
    /* It never was stalled, so there is nothing to undo. */
    g_assert_false(guest_rx_stall_posted(&stall, 5));
    g_assert_false(guest_rx_stall_refuses(&stall, 17));
}

/* A guest that takes nothing is stalled after the time, counted from when the first frame came. */
static void test_guest_that_takes_nothing_is_stalled_once(void)
{
    struct XnGuestRxStall stall = {0};
    uint64_t since = 0;
    unsigned stalls = 0;
    uint64_t at = 0;

    g_assert_false(guest_rx_stall_waits(&stall, 1, &since, START, DRAIN));
    g_assert_true(guest_rx_stall_waits(&stall, 1, &since, START + DRAIN, DRAIN));
    for (uint64_t s = 10; s < 200; s++) {
        if (guest_rx_stall_dropped(&stall, START + s * XN_NS_PER_S, STALL)) {
            stalls++;
            at = s;
        }
    }
    g_assert_cmpuint(stalls, ==, 1);
    g_assert_cmpuint(at, ==, 60);
    g_assert_true(guest_rx_stall_posted(&stall, 1));
    g_assert_false(guest_rx_stall_posted(&stall, 1));
    g_assert_false(guest_rx_stall_dropped(&stall, START + 200 * XN_NS_PER_S, STALL));
}

/* "One slot free" is not enough for large frames, but small ones go through: no stall (XSA-392). */
static void test_guest_that_takes_small_frames_is_not_stalled(void)
{
    struct XnGuestRxStall stall = {0};
    uint64_t since = START;

    g_assert_true(guest_rx_stall_waits(&stall, 17, &since, START + DRAIN, DRAIN));
    for (uint64_t s = 10; s < 1000; s++) {
        g_assert_false(guest_rx_stall_posted(&stall, 1));
        g_assert_true(guest_rx_stall_refuses(&stall, 17));
        g_assert_false(guest_rx_stall_dropped(&stall, START + s * XN_NS_PER_S, STALL));
        if (s % 50 == 0) {
            guest_rx_stall_given(&stall);
        }
    }
    /* From the last one on it takes none at all. */
    g_assert_false(guest_rx_stall_dropped(&stall, START + 1010 * XN_NS_PER_S - 1, STALL));
    g_assert_true(guest_rx_stall_dropped(&stall, START + 1011 * XN_NS_PER_S, STALL));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/netif/guest-rx-stall/frame-waits-for-the-drain-time-and-not-longer",
                    test_frame_waits_for_the_drain_time_and_not_longer);
    g_test_add_func("/netif/guest-rx-stall/zero-waits-for-ever", test_zero_waits_for_ever);
    g_test_add_func("/netif/guest-rx-stall/refusal-ends-when-the-guest-has-so-many-buffers",
                    test_refusal_ends_when_the_guest_has_so_many_buffers);
    g_test_add_func("/netif/guest-rx-stall/guest-that-takes-nothing-is-stalled-once",
                    test_guest_that_takes_nothing_is_stalled_once);
    g_test_add_func("/netif/guest-rx-stall/guest-that-takes-small-frames-is-not-stalled",
                    test_guest_that_takes_small_frames_is_not_stalled);
    return g_test_run();
}
