/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-state-test.c - every combination of facts, and what real frontends do
 */
#include <glib.h>
#include <string.h>

#include "control/vif-state.h"

static const enum xenbus_state own_states[] = {
    XenbusStateInitialising, XenbusStateInitWait, XenbusStateConnected,
    XenbusStateClosing,      XenbusStateClosed,   XenbusStateReconfigured,
};

/* The combination that is being checked: what a debugger wants to see when an assertion fails. */
static volatile struct XnVifFacts at_hand;

static bool is_active(enum xenbus_state frontend)
{
    return frontend == XenbusStateInitialised || frontend == XenbusStateConnected ||
           frontend == XenbusStateClosing || frontend == XenbusStateReconfiguring;
}

static bool is_connected(enum xenbus_state own)
{
    return own == XenbusStateConnected || own == XenbusStateReconfigured;
}

static bool is_legal(enum xenbus_state from, enum xenbus_state to)
{
    static const char *const legal[] = {"12", "15", "24", "25", "45", "48", "56", "62", "84", "85"};
    char pair[3] = {(char)('0' + from), (char)('0' + to), '\0'};

    for (size_t i = 0; i < G_N_ELEMENTS(legal); i++) {
        if (strcmp(pair, legal[i]) == 0) {
            return true;
        }
    }
    return from == to;
}

static unsigned for_every_combination(void (*check)(const struct XnVifFacts *facts))
{
    unsigned count = 0;

    for (size_t own = 0; own < G_N_ELEMENTS(own_states); own++) {
        for (int shut = XN_VIF_OPEN; shut <= XN_VIF_SHUT_FOR_GOOD; shut++) {
            for (int node = 0; node <= 9; node++) {
                for (int frontend = 0; frontend <= 9; frontend++) {
                    for (unsigned flags = 0; flags < 64; flags++) {
                        struct XnVifFacts facts = {
                            .own = own_states[own],
                            .shut = (enum XnVifShut)shut,
                            .node = (enum xenbus_state)node,
                            .frontend = (enum xenbus_state)frontend,
                            .waited = flags & 1,
                            .online = flags & 2,
                            .hotplug_connected = flags & 4,
                            .rings_changed = flags & 8,
                            .unserved = flags & 16,
                            .features_changed = flags & 32,
                        };

                        at_hand = facts;
                        check(&facts);
                        count++;
                    }
                }
            }
        }
    }
    return count;
}

/* What one step may and must be. */
static void check_step(const struct XnVifFacts *facts)
{
    struct XnVifStep step = vif_state_step(facts);
    bool gone = facts->node == XenbusStateUnknown ||
                (facts->node == XenbusStateInitialising && facts->own != XenbusStateInitialising);

    /* A directory that is gone, or a new vif's, is never written to. */
    g_assert_cmpint(step.action == XN_VIF_DESTROY, ==, gone);
    if (gone) {
        return;
    }
    g_assert_true(is_legal(facts->own, step.next));
    /* The actions belong to the steps that need them, and to no other. */
    g_assert_cmpint(step.action == XN_VIF_CONNECT, ==,
                    is_connected(step.next) && !is_connected(facts->own));
    g_assert_cmpint(step.action == XN_VIF_ADOPT, ==,
                    is_connected(step.next) && is_connected(facts->own) && facts->unserved);
    g_assert_cmpint(step.action == XN_VIF_RECONFIGURE, ==,
                    step.next == XenbusStateReconfigured && !facts->unserved &&
                        (facts->own == XenbusStateConnected || facts->features_changed));
    g_assert_cmpint(step.action == XN_VIF_DISCONNECT, ==,
                    is_connected(facts->own) && !is_connected(step.next));
    /* Windows spins on 8, NetBSD panics: only who asks for it gets it. */
    g_assert_true(step.next != XenbusStateReconfigured ||
                  facts->frontend == XenbusStateReconfiguring);
    g_assert_cmpint(step.action == XN_VIF_PREPARE, ==,
                    step.next == XenbusStateInitWait && facts->own != XenbusStateInitWait);
    if (step.action == XN_VIF_CONNECT) {
        g_assert_true(facts->online && facts->hotplug_connected);
        g_assert_true(facts->frontend == XenbusStateConnected ||
                      facts->frontend == XenbusStateReconfiguring);
    }
    if (step.action == XN_VIF_CONNECT || step.action == XN_VIF_PREPARE) {
        g_assert_true(facts->online);
        g_assert_cmpint(step.shut, ==, XN_VIF_OPEN);
        /* The toolstack's wish to close comes first. */
        g_assert_cmpint(facts->node, ==, facts->own);
    }
    /* The toolstack waits for InitWait before it does anything else, whatever the frontend does. */
    if (facts->own == XenbusStateInitialising && facts->node == facts->own && facts->online &&
        facts->shut == XN_VIF_OPEN) {
        g_assert_cmpint(step.next, ==, XenbusStateInitWait);
    }
    /* Shut for good is for good; shut until a restart ends only when closed. */
    if (facts->shut == XN_VIF_SHUT_FOR_GOOD) {
        g_assert_cmpint(step.shut, ==, XN_VIF_SHUT_FOR_GOOD);
    }
    if (facts->shut == XN_VIF_SHUT_UNTIL_RESTART && step.shut == XN_VIF_OPEN) {
        g_assert_cmpint(facts->own, ==, XenbusStateClosed);
        g_assert_false(is_active(facts->frontend));
    }
}

static void test_every_step(void)
{
    g_assert_cmpuint(for_every_combination(check_step), ==, 6 * 3 * 10 * 10 * 64);
}

static bool is_connecting(enum XnVifAction action)
{
    return action == XN_VIF_CONNECT || action == XN_VIF_ADOPT;
}

/* Steps until the vif rests, with a world that does not change. */
static unsigned run(struct XnVifFacts *facts, bool connect_fails)
{
    for (unsigned steps = 0; steps < 100; steps++) {
        struct XnVifStep step = vif_state_step(facts);

        if (step.action == XN_VIF_DESTROY) {
            return steps;
        }
        facts->shut = step.shut;
        if (is_connecting(step.action)) {
            if (connect_fails) {
                facts->shut = XN_VIF_SHUT_UNTIL_RESTART;
                continue;
            }
            facts->rings_changed = false;
            facts->unserved = false;
        }
        if (is_connecting(step.action) || step.action == XN_VIF_RECONFIGURE) {
            facts->features_changed = false;
        }
        if (step.next == facts->own && step.next == facts->node) {
            return steps;
        }
        facts->own = step.next;
        facts->node = step.next;
        facts->waited = false;
    }
    g_assert_not_reached();
}

static void check_convergence(const struct XnVifFacts *start)
{
    for (int connect_fails = 0; connect_fails <= 1; connect_fails++) {
        struct XnVifFacts facts = *start;

        g_assert_cmpuint(run(&facts, connect_fails), <=, 5);
        if (vif_state_step(&facts).action == XN_VIF_DESTROY) {
            continue;
        }
        g_assert_cmpint(facts.node, ==, facts.own);
        if (facts.shut != XN_VIF_OPEN) {
            g_assert_true(facts.own == XenbusStateClosing || facts.own == XenbusStateClosed);
            if (facts.own == XenbusStateClosing) {
                /* Then it waits, and the end of the wait ends it. */
                g_assert_true(vif_state_is_waiting(&facts));
                facts.waited = true;
                g_assert_false(vif_state_is_waiting(&facts));
                run(&facts, connect_fails);
                g_assert_cmpint(facts.own, ==, XenbusStateClosed);
            }
        } else {
            g_assert_false(vif_state_is_waiting(&facts));
        }
    }
}

static void test_convergence(void)
{
    for_every_combination(check_convergence);
}

/* Where a vif that is open must end; independent of the table. */
static enum xenbus_state expected_rest(const struct XnVifFacts *facts)
{
    enum xenbus_state open = facts->frontend == XenbusStateReconfiguring ? XenbusStateReconfigured
                                                                         : XenbusStateConnected;

    if (is_connected(facts->frontend == XenbusStateReconfiguring ? open : facts->frontend)) {
        if (is_connected(facts->own) && !facts->rings_changed) {
            return open;
        }
        if (facts->online) {
            return facts->hotplug_connected ? open : XenbusStateInitWait;
        }
    }
    return facts->online && facts->frontend == XenbusStateInitialising ? XenbusStateInitWait
                                                                       : XenbusStateClosed;
}

static void check_rest(const struct XnVifFacts *start)
{
    struct XnVifFacts facts = *start;

    if (facts.node != facts.own || facts.shut != XN_VIF_OPEN ||
        !(facts.frontend == XenbusStateInitialising || facts.frontend == XenbusStateConnected ||
          facts.frontend == XenbusStateReconfiguring || facts.frontend == XenbusStateClosed)) {
        return;
    }
    run(&facts, false);
    if (vif_state_is_waiting(&facts)) {
        /* Being removed under a live frontend. */
        g_assert_false(facts.online);
        facts.waited = true;
        run(&facts, false);
    }
    g_assert_cmpint(facts.own, ==, expected_rest(start));
}

static void test_rest(void)
{
    for_every_combination(check_rest);
}

/* A vif with a frontend, for the sequences below. `trace` gathers the states published. */
struct World {
    struct XnVifFacts facts;
    char trace[64];
    bool connect_fails;
    bool destroyed;
    bool adopted;
    unsigned reconfigured;
};

static struct World new_world(void)
{
    return (struct World){
        .facts = {.own = XenbusStateInitialising,
                  .node = XenbusStateInitialising,
                  .frontend = XenbusStateInitialising,
                  .online = true},
    };
}

static void look(struct World *world)
{
    for (int i = 0; i < 100; i++) {
        struct XnVifStep step = vif_state_step(&world->facts);
        size_t length = strlen(world->trace);

        if (step.action == XN_VIF_DESTROY) {
            world->destroyed = true;
            return;
        }
        world->facts.shut = step.shut;
        if (is_connecting(step.action) && world->connect_fails) {
            world->facts.shut = XN_VIF_SHUT_UNTIL_RESTART;
            continue;
        }
        if (is_connecting(step.action)) {
            world->adopted = world->adopted || step.action == XN_VIF_ADOPT;
            world->facts.rings_changed = false;
            world->facts.unserved = false;
            world->facts.features_changed = false;
        }
        if (step.action == XN_VIF_RECONFIGURE) {
            world->reconfigured++;
            world->facts.features_changed = false;
        }
        if (step.next == world->facts.own && step.next == world->facts.node) {
            return;
        }
        g_assert_cmpuint(length + 1, <, sizeof(world->trace));
        world->trace[length] = (char)('0' + step.next);
        world->trace[length + 1] = '\0';
        world->facts.own = step.next;
        world->facts.node = step.next;
        world->facts.waited = false;
    }
    g_assert_not_reached();
}

static void frontend_becomes(struct World *world, int state)
{
    world->facts.frontend = (enum xenbus_state)state;
    look(world);
}

static void script_connects(struct World *world)
{
    world->facts.hotplug_connected = true;
    look(world);
}

static struct World connected_world(void)
{
    struct World world = new_world();

    look(&world);
    script_connects(&world);
    frontend_becomes(&world, 4);
    g_assert_cmpstr(world.trace, ==, "24");
    world.trace[0] = '\0';
    return world;
}

static void test_silent_frontend(void)
{
    struct World world = new_world();

    world.facts.frontend = XenbusStateUnknown;
    look(&world);
    g_assert_cmpstr(world.trace, ==, "2");
    script_connects(&world);
    g_assert_cmpstr(world.trace, ==, "2");
}

static void test_hotplug_is_awaited(void)
{
    struct World world = new_world();

    look(&world);
    frontend_becomes(&world, 3);
    frontend_becomes(&world, 4);
    g_assert_cmpstr(world.trace, ==, "2");
    script_connects(&world);
    g_assert_cmpstr(world.trace, ==, "24");
}

/* A driver is unloaded and loaded, a guest saved and resumed, iPXE hands over to the system. */
static void test_reconnect(void)
{
    struct World world = connected_world();

    for (int i = 0; i < 3; i++) {
        frontend_becomes(&world, 5);
        frontend_becomes(&world, 6);
        frontend_becomes(&world, 1);
        frontend_becomes(&world, 4);
        g_assert_cmpstr(world.trace, ==, "5624");
        world.trace[0] = '\0';
    }
}

static void test_kexec(void)
{
    struct World world = connected_world();

    frontend_becomes(&world, 1);
    g_assert_cmpstr(world.trace, ==, "562");
    frontend_becomes(&world, 4);
    g_assert_cmpstr(world.trace, ==, "5624");
}

/* Windows goes to Closed first; iPXE writes it to a backend that it finds Connected. */
static void test_closed_first(void)
{
    struct World world = connected_world();

    frontend_becomes(&world, 6);
    g_assert_cmpstr(world.trace, ==, "56");
    frontend_becomes(&world, 1);
    frontend_becomes(&world, 4);
    g_assert_cmpstr(world.trace, ==, "5624");
}

/* mini-os does not wait for InitWait. */
static void test_hasty_frontend(void)
{
    struct World world = connected_world();

    frontend_becomes(&world, 6);
    frontend_becomes(&world, 4);
    g_assert_cmpstr(world.trace, ==, "5624");
}

/* The frontend restarted faster than we looked: only its rings tell. */
static void test_unseen_restart(void)
{
    struct World world = connected_world();

    world.facts.rings_changed = true;
    look(&world);
    g_assert_cmpstr(world.trace, ==, "5624");
}

static void toolstack_removes(struct World *world)
{
    world->facts.online = false;
    world->facts.node = XenbusStateClosing;
    look(world);
}

static void test_remove_live(void)
{
    struct World world = connected_world();

    toolstack_removes(&world);
    g_assert_cmpstr(world.trace, ==, "5");
    g_assert_true(vif_state_is_waiting(&world.facts));
    frontend_becomes(&world, 5);
    g_assert_true(vif_state_is_waiting(&world.facts));
    frontend_becomes(&world, 6);
    g_assert_cmpstr(world.trace, ==, "56");
    frontend_becomes(&world, 1);
    g_assert_cmpstr(world.trace, ==, "56");
    world.facts.node = XenbusStateUnknown;
    look(&world);
    g_assert_true(world.destroyed);
}

static void test_remove_silent(void)
{
    struct World world = connected_world();

    toolstack_removes(&world);
    world.facts.waited = true;
    look(&world);
    g_assert_cmpstr(world.trace, ==, "56");
    look(&world);
    g_assert_cmpstr(world.trace, ==, "56");
}

/* xl destroy takes the frontend's directory away in the same moment. */
static void test_destroy(void)
{
    struct World world = connected_world();

    world.facts.frontend = XenbusStateUnknown;
    toolstack_removes(&world);
    g_assert_cmpstr(world.trace, ==, "56");
}

/* The guest has never started its driver. */
static void test_remove_unused(void)
{
    struct World world = new_world();

    look(&world);
    script_connects(&world);
    toolstack_removes(&world);
    g_assert_cmpstr(world.trace, ==, "256");
}

/* 5 without online=0: closed, and a driver that starts later does not open it again... */
static void test_asked_while_online(void)
{
    struct World world = new_world();

    look(&world);
    world.facts.node = XenbusStateClosing;
    look(&world);
    g_assert_cmpstr(world.trace, ==, "256");
    look(&world);
    g_assert_cmpstr(world.trace, ==, "256");
    /* ... but a live one that closes and starts again does, as with the kernel's backend. */
    world = connected_world();
    world.facts.node = XenbusStateClosing;
    look(&world);
    frontend_becomes(&world, 6);
    frontend_becomes(&world, 1);
    g_assert_cmpstr(world.trace, ==, "562");
}

static void test_made_again(void)
{
    struct World world = connected_world();

    world.facts.node = XenbusStateInitialising;
    look(&world);
    g_assert_true(world.destroyed);
    g_assert_cmpstr(world.trace, ==, "");
}

static void test_connect_fails(void)
{
    struct World world = new_world();

    look(&world);
    script_connects(&world);
    world.connect_fails = true;
    frontend_becomes(&world, 4);
    g_assert_cmpstr(world.trace, ==, "25");
    world.facts.waited = true;
    look(&world);
    g_assert_cmpstr(world.trace, ==, "256");
    /* It insists, in vain. */
    look(&world);
    g_assert_cmpstr(world.trace, ==, "256");
    world.connect_fails = false;
    frontend_becomes(&world, 1);
    frontend_becomes(&world, 4);
    g_assert_cmpstr(world.trace, ==, "25624");
}

/* An XDP program is attached to Linux's netfront, then detached. */
static void test_reconfigure(void)
{
    struct World world = connected_world();

    for (unsigned i = 1; i <= 2; i++) {
        world.facts.features_changed = true;
        frontend_becomes(&world, 7);
        g_assert_cmpstr(world.trace, ==, "8");
        look(&world);
        g_assert_cmpstr(world.trace, ==, "8");
        frontend_becomes(&world, 4);
        g_assert_cmpstr(world.trace, ==, "84");
        g_assert_cmpuint(world.reconfigured, ==, i);
        world.trace[0] = '\0';
    }
}

/* It changes its mind while it waits, or goes on and comes back faster than we look. */
static void test_reconfigure_again(void)
{
    struct World world = connected_world();

    frontend_becomes(&world, 7);
    world.facts.features_changed = true;
    look(&world);
    g_assert_cmpstr(world.trace, ==, "8");
    g_assert_cmpuint(world.reconfigured, ==, 2);
    g_assert_false(world.facts.features_changed);
}

static void test_reconfigure_ends(void)
{
    static const struct {
        int frontend;
        const char *trace;
    } cases[] = {{0, "856"}, {1, "8562"}, {3, "84"}, {5, "85"}, {6, "856"}, {8, "856"}};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct World world = connected_world();

        frontend_becomes(&world, 7);
        frontend_becomes(&world, cases[i].frontend);
        g_assert_cmpstr(world.trace, ==, cases[i].trace);
    }
}

static void test_remove_reconfigured(void)
{
    struct World world = connected_world();

    frontend_becomes(&world, 7);
    toolstack_removes(&world);
    g_assert_cmpstr(world.trace, ==, "85");
    g_assert_true(vif_state_is_waiting(&world.facts));
    frontend_becomes(&world, 6);
    g_assert_cmpstr(world.trace, ==, "856");
}

static void test_nonsense(void)
{
    static const int states[] = {2, 8, 9};

    for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
        struct World world = connected_world();

        frontend_becomes(&world, states[i]);
        g_assert_cmpstr(world.trace, ==, "56");
        frontend_becomes(&world, 4);
        g_assert_cmpstr(world.trace, ==, "56");
        frontend_becomes(&world, 1);
        frontend_becomes(&world, 4);
        g_assert_cmpstr(world.trace, ==, "5624");
    }
}

/* A vif that a predecessor left in this state; its daemon is gone. */
static struct World found_world(int node)
{
    struct World world = new_world();

    world.facts.own = vif_state_found((enum xenbus_state)node);
    world.facts.shut = vif_state_found_shut((enum xenbus_state)node);
    world.facts.node = (enum xenbus_state)node;
    world.facts.hotplug_connected = true;
    world.facts.unserved = true;
    return world;
}

static void test_found(void)
{
    static const struct {
        int node;
        int frontend;
        const char *trace;
    } cases[] = {
        {1, 1, "2"},   {1, 4, "24"}, {2, 1, ""},   {2, 4, "4"},  {4, 4, ""},
        {4, 1, "562"}, {4, 0, "56"}, {5, 6, "6"},  {5, 1, "62"}, {6, 6, ""},
        {6, 1, "2"},   {6, 4, ""},   {4, 7, "8"},  {8, 7, ""},   {8, 4, "4"},
        {8, 1, "562"}, {8, 0, "56"}, {3, 1, "56"}, {7, 4, "5"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct World world = found_world(cases[i].node);

        frontend_becomes(&world, cases[i].frontend);
        g_test_message("node %d frontend %d", cases[i].node, cases[i].frontend);
        g_assert_cmpstr(world.trace, ==, cases[i].trace);
        g_assert_cmpint(world.adopted, ==,
                        (cases[i].node == 4 || cases[i].node == 8) &&
                            (cases[i].frontend == 4 || cases[i].frontend == 7));
    }
}

static void test_adoption_fails(void)
{
    struct World world = found_world(4);

    world.connect_fails = true;
    frontend_becomes(&world, 4);
    g_assert_cmpstr(world.trace, ==, "5");
    world.connect_fails = false;
    frontend_becomes(&world, 6);
    frontend_becomes(&world, 1);
    frontend_becomes(&world, 4);
    g_assert_cmpstr(world.trace, ==, "5624");
}

static void test_removed_while_no_daemon_ran(void)
{
    struct World world = found_world(5);

    world.facts.online = false;
    frontend_becomes(&world, 0);
    g_assert_cmpstr(world.trace, ==, "6");
    g_assert_false(world.adopted);
}

static void test_names(void)
{
    g_assert_cmpstr(vif_state_name(XenbusStateConnected), ==, "Connected");
    g_assert_cmpstr(vif_state_name(XenbusStateReconfigured), ==, "Reconfigured");
    g_assert_cmpstr(vif_state_name(XN_FRONTEND_NONSENSE), ==, "nonsense");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vif-state/every-step", test_every_step);
    g_test_add_func("/vif-state/convergence", test_convergence);
    g_test_add_func("/vif-state/rest", test_rest);
    g_test_add_func("/vif-state/silent-frontend", test_silent_frontend);
    g_test_add_func("/vif-state/hotplug-is-awaited", test_hotplug_is_awaited);
    g_test_add_func("/vif-state/reconnect", test_reconnect);
    g_test_add_func("/vif-state/kexec", test_kexec);
    g_test_add_func("/vif-state/closed-first", test_closed_first);
    g_test_add_func("/vif-state/hasty-frontend", test_hasty_frontend);
    g_test_add_func("/vif-state/unseen-restart", test_unseen_restart);
    g_test_add_func("/vif-state/remove-live", test_remove_live);
    g_test_add_func("/vif-state/remove-silent", test_remove_silent);
    g_test_add_func("/vif-state/destroy", test_destroy);
    g_test_add_func("/vif-state/remove-unused", test_remove_unused);
    g_test_add_func("/vif-state/asked-while-online", test_asked_while_online);
    g_test_add_func("/vif-state/made-again", test_made_again);
    g_test_add_func("/vif-state/connect-fails", test_connect_fails);
    g_test_add_func("/vif-state/reconfigure", test_reconfigure);
    g_test_add_func("/vif-state/reconfigure-again", test_reconfigure_again);
    g_test_add_func("/vif-state/reconfigure-ends", test_reconfigure_ends);
    g_test_add_func("/vif-state/remove-reconfigured", test_remove_reconfigured);
    g_test_add_func("/vif-state/nonsense", test_nonsense);
    g_test_add_func("/vif-state/found", test_found);
    g_test_add_func("/vif-state/adoption-fails", test_adoption_fails);
    g_test_add_func("/vif-state/removed-while-no-daemon-ran", test_removed_while_no_daemon_ran);
    g_test_add_func("/vif-state/names", test_names);
    return g_test_run();
}
