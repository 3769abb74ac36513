/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostile.c - carries out one attack and tells what the backend did about it
 *
 * After an attack the answers are collected until the backend has closed, everything is answered,
 * or a second has passed without either. If the vif is still connected and its ring usable, a good
 * packet shows whether it is still served. The result is held against what a well-made backend
 * does; the report has all of it, so a test may judge by itself.
 */
#include "hostile.h"

#include "modes.h"

#include <stdlib.h>

#define SETTLE_MS 1500
#define QUIET_MS 150

static const char *const expect_name[] = {
    [XN_HOSTILE_REFUSE] = "refuse", [XN_HOSTILE_CLOSE] = "close", [XN_HOSTILE_ERROR] = "error",
    [XN_HOSTILE_SERVE] = "serve",   [XN_HOSTILE_LIVE] = "live",
};

static void list_table(const struct XnHostileAttack *attacks, unsigned int count)
{
    for (unsigned int i = 0; i < count; i++) {
        printf("%-26s %-7s %s\n", attacks[i].name, expect_name[attacks[i].expect], attacks[i].what);
    }
}

void hostile_list(void)
{
    list_table(hostile_connect_attacks, hostile_connect_attacks_count);
    list_table(hostile_ring_attacks, hostile_ring_attacks_count);
    list_table(hostile_flood_attacks, hostile_flood_attacks_count);
    list_table(hostile_ctrl_attacks, hostile_ctrl_attacks_count);
}

static const struct XnHostileAttack *find_in(const struct XnHostileAttack *attacks,
                                             unsigned int count, const char *name)
{
    for (unsigned int i = 0; i < count; i++) {
        if (strcmp(attacks[i].name, name) == 0) {
            return &attacks[i];
        }
    }
    return NULL;
}

static const struct XnHostileAttack *find_attack(const char *name)
{
    const struct XnHostileAttack *found =
        find_in(hostile_connect_attacks, hostile_connect_attacks_count, name);

    if (!found) {
        found = find_in(hostile_ring_attacks, hostile_ring_attacks_count, name);
    }
    if (!found) {
        found = find_in(hostile_flood_attacks, hostile_flood_attacks_count, name);
    }
    return found ? found : find_in(hostile_ctrl_attacks, hostile_ctrl_attacks_count, name);
}

static bool reacted(const struct XnHostileRun *run, bool connected)
{
    const struct XnFrontend *frontend = run->frontend;

    if (frontend->backend_state == XenbusStateClosing ||
        frontend->backend_state == XenbusStateClosed || run->done) {
        return true;
    }
    return connected && !run->broken_ring && frontend->queues[0].guest_tx.sring &&
           frontend->queues[0].guest_tx.counters.slots &&
           !guest_tx_unanswered(&frontend->queues[0].guest_tx);
}

/* Takes answers and state changes until the backend closes or has answered all, and a little longer
 * to see that it stays so; or for SETTLE_MS if it does neither. */
static void settle(struct XnHostileRun *run, bool connected)
{
    struct XnFrontend *frontend = run->frontend;
    uint64_t end = clock_ms() + SETTLE_MS;
    uint64_t done = 0;

    while (clock_ms() < end && !xn_stop_requested) {
        if (!done && reacted(run, connected)) {
            done = clock_ms();
        }
        if (done && clock_ms() - done > QUIET_MS) {
            return;
        }
        if (connected && !run->broken_ring && frontend->queues[0].guest_tx.sring) {
            if (guest_tx_reap(&frontend->queues[0].guest_tx) < 0) {
                run->broken_ring = true;
            }
            guest_tx_arm(&frontend->queues[0].guest_tx);
        }
        frontend_wait(frontend, -1, 0, 20);
    }
}

static bool judge(const struct XnHostileRun *run, const struct XnHostileAttack *attack,
                  const struct XnGuestTxCounters *counters, bool served, const char *error)
{
    const struct XnFrontend *frontend = run->frontend;
    bool closed = frontend->backend_state == XenbusStateClosing ||
                  frontend->backend_state == XenbusStateClosed;

    switch (attack->expect) {
    case XN_HOSTILE_REFUSE:
    case XN_HOSTILE_CLOSE:
        return closed && error[0];
    case XN_HOSTILE_ERROR:
        return served && counters->packets_bad > 0;
    case XN_HOSTILE_SERVE:
        return frontend_alive(frontend) && (served || run->broken_ring) && !counters->packets_bad;
    case XN_HOSTILE_LIVE:
        /* InitWait: it has closed and waits for the next connection already. */
        return closed || served || !attack->connected ||
               frontend->backend_state == XenbusStateInitWait;
    }
    return false;
}

static void carry_out(struct XnHostileRun *run, const struct XnHostileAttack *attack)
{
    struct XnFrontend *frontend = run->frontend;

    frontend->config.ctrl_ring |=
        find_in(hostile_ctrl_attacks, hostile_ctrl_attacks_count, attack->name) != NULL;
    if (attack->connected) {
        frontend_connect(frontend, &run->failure);
    } else {
        frontend_prepare(frontend, &run->failure);
    }
    if (!run->failure.text[0]) {
        attack->act(run, attack->argument);
    }
}

/* Another frontend must be able to start after us, whatever state we are in. */
static bool recover(struct XnFrontend *frontend)
{
    struct XnFailure ignored = {""};
    bool prepared;

    frontend_set_state(frontend, XenbusStateClosing, &ignored);
    frontend_wait_backend(frontend, XenbusStateClosing, XenbusStateClosed, &ignored);
    frontend_set_state(frontend, XenbusStateClosed, &ignored);
    frontend_wait_backend(frontend, XenbusStateClosed, XenbusStateClosed, &ignored);
    frontend_unshare(frontend);
    ignored.text[0] = 0;
    prepared = frontend_prepare(frontend, &ignored);
    frontend_set_state(frontend, XenbusStateClosed, &ignored);
    return prepared;
}

enum XnExit mode_hostile(struct XnFrontend *frontend, const struct XnOptions *options,
                         struct XnReport *report, struct XnFailure *failure)
{
    const struct XnHostileAttack *attack = options->attack ? find_attack(options->attack) : NULL;
    struct XnHostileRun run = {.frontend = frontend, .options = options};
    struct XnGuestTxCounters counters;
    enum xenbus_state state;
    char error[256] = "";
    bool served;
    bool right;

    if (!attack) {
        fail(failure, "mode hostile needs --attack with one of the names of --attack list");
        return XN_EXIT_USAGE;
    }
    carry_out(&run, attack);
    if (run.failure.text[0]) {
        *failure = run.failure;
        return XN_EXIT_NOT_CONNECTED;
    }
    settle(&run, attack->connected);
    state = frontend->backend_state;
    counters = frontend->queues[0].guest_tx.counters;
    served = attack->connected && !run.broken_ring && mode_is_served(frontend, options);
    frontend_read_error(frontend, error, sizeof(error));
    right = judge(&run, attack, &counters, served, error);
    report_string(report, "attack", attack->name);
    report_string(report, "expected", expect_name[attack->expect]);
    report_number(report, "backend_state_after", state);
    report_string(report, "backend_error", error);
    report_number(report, "guest_tx_unanswered",
                  frontend->queues[0].guest_tx.sring && !run.broken_ring
                      ? guest_tx_unanswered(&frontend->queues[0].guest_tx)
                      : 0);
    report_number(report, "served_after", served);
    report_guest_tx(report, frontend);
    report_number(report, "reconnectable", recover(frontend));
    if (right) {
        return XN_EXIT_OK;
    }
    fail(failure, "attack %s: expected the backend to %s; it is in state %d%s%s", attack->name,
         expect_name[attack->expect], state, error[0] ? ", because: " : "", error);
    return XN_EXIT_FAILED;
}
