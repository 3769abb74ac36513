/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-state-wait-test.c - which vifs wait for their frontend to close
 */
#include <glib.h>

#include "control/vif-state.h"

/* Only a vif that is shut waits, in Closing, for a frontend that lives, until its time is up. */
static void test_who_waits(void)
{
    struct XnVifFacts facts = {.own = XenbusStateClosing,
                               .node = XenbusStateClosing,
                               .shut = XN_VIF_SHUT_FOR_GOOD,
                               .frontend = XenbusStateConnected};

    g_assert_true(vif_state_is_waiting(&facts));
    facts.frontend = XenbusStateClosed;
    g_assert_false(vif_state_is_waiting(&facts));
    facts.frontend = XenbusStateConnected;
    facts.waited = true;
    g_assert_false(vif_state_is_waiting(&facts));
    facts.waited = false;
    facts.shut = XN_VIF_OPEN;
    g_assert_false(vif_state_is_waiting(&facts));
    facts.shut = XN_VIF_SHUT_UNTIL_RESTART;
    facts.own = XenbusStateClosed;
    g_assert_false(vif_state_is_waiting(&facts));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vif-state/who-waits", test_who_waits);
    return g_test_run();
}
