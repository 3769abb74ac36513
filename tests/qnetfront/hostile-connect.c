/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostile-connect.c - attacks through xenstore keys and states */
#include "hostile.h"

#include <stdio.h>

/* Publishes what the configuration holds, and says Connected. */
void hostile_publish(struct XnHostileRun *run)
{
    struct XnFrontend *frontend = run->frontend;

    if (frontend_publish(frontend, &run->failure)) {
        frontend_set_state(frontend, XenbusStateConnected, &run->failure);
    }
}

/* An empty value leaves the key out. */
void hostile_override_key(struct XnHostileRun *run, const char *name, const char *value)
{
    struct XnFrontendConfig *config = &run->frontend->config;
    struct XnFrontendKey *key = &config->keys[config->keys_count];

    if (config->keys_count == XN_FRONTEND_KEYS_MAX) {
        fail(&run->failure, "no room for one more key");
        return;
    }
    snprintf(key->name, sizeof(key->name), "%s", name);
    snprintf(key->value, sizeof(key->value), "%s", value);
    config->keys_count++;
}

struct XnKeyNonsense {
    const char *name;
    const char *value;
    bool single; /* without split event channels */
};

/* By the argument of act_key. */
enum {
    KEY_NO_GUEST_TX_RING,
    KEY_NO_GUEST_RX_RING,
    KEY_RING_REF_UNUSED,
    KEY_RING_REF_HUGE,
    KEY_RING_REF_WORD,
    KEY_RING_REF_NEGATIVE,
    KEY_NO_EVTCHN,
    KEY_EVTCHN_UNUSED,
    KEY_EVTCHN_HUGE,
    KEY_EVTCHN_WORD,
    KEY_HALF_SPLIT,
    KEY_QUEUES_ZERO,
    KEY_QUEUES_MANY,
    KEY_QUEUES_NEGATIVE,
    KEY_QUEUES_HUGE,
    KEY_QUEUES_WORD,
    KEY_QUEUES_WITHOUT_DIRECTORIES,
    KEY_NO_RX_COPY,
};

static const struct XnKeyNonsense nonsense[] = {
    [KEY_NO_GUEST_TX_RING] = {"tx-ring-ref", "", false},
    [KEY_NO_GUEST_RX_RING] = {"rx-ring-ref", "", false},
    [KEY_RING_REF_UNUSED] = {"tx-ring-ref", "60000", false},
    [KEY_RING_REF_HUGE] = {"rx-ring-ref", "4294967295", false},
    [KEY_RING_REF_WORD] = {"tx-ring-ref", "eight", false},
    [KEY_RING_REF_NEGATIVE] = {"tx-ring-ref", "-8", false},
    [KEY_NO_EVTCHN] = {"event-channel", "", true},
    [KEY_EVTCHN_UNUSED] = {"event-channel", "1000", true},
    [KEY_EVTCHN_HUGE] = {"event-channel", "4294967295", true},
    [KEY_EVTCHN_WORD] = {"event-channel", "0x", true},
    [KEY_HALF_SPLIT] = {"event-channel-rx", "", false},
    [KEY_QUEUES_ZERO] = {"multi-queue-num-queues", "0", false},
    [KEY_QUEUES_MANY] = {"multi-queue-num-queues", "1000", false},
    [KEY_QUEUES_NEGATIVE] = {"multi-queue-num-queues", "-1", false},
    [KEY_QUEUES_HUGE] = {"multi-queue-num-queues", "4294967297", false},
    [KEY_QUEUES_WORD] = {"multi-queue-num-queues", "1x", false},
    [KEY_QUEUES_WITHOUT_DIRECTORIES] = {"multi-queue-num-queues", "2", false},
    [KEY_NO_RX_COPY] = {"request-rx-copy", "0", false},
};

static void act_key(struct XnHostileRun *run, int64_t argument)
{
    const struct XnKeyNonsense *key = &nonsense[argument];

    run->frontend->config.split_evtchn = !key->single;
    hostile_override_key(run, key->name, key->value);
    if (frontend_share(run->frontend, &run->failure)) {
        hostile_publish(run);
    }
}

/* A page that was shared once and is no more. */
static void act_ring_revoked(struct XnHostileRun *run, int64_t argument)
{
    struct XnFrontend *frontend = run->frontend;
    char value[32];
    uint32_t ref;
    void *page;

    (void)argument;
    /* First the rings, or one of them would get the reference that becomes free. */
    if (!frontend_share(frontend, &run->failure)) {
        return;
    }
    page = xengntshr_share_pages(frontend->gntshr, frontend->backend_domid, 1, &ref, 1);
    if (!page) {
        fail_errno(&run->failure, "cannot share a page");
        return;
    }
    xengntshr_unshare(frontend->gntshr, page, 1);
    snprintf(value, sizeof(value), "%u", ref);
    hostile_override_key(run, "tx-ring-ref", value);
    hostile_publish(run);
}

/* The backend has to write its responses there. */
static void act_ring_read_only(struct XnHostileRun *run, int64_t argument)
{
    struct XnFrontend *frontend = run->frontend;
    char value[32];
    uint32_t ref;

    (void)argument;
    if (!frontend_share(frontend, &run->failure)) {
        return;
    }
    if (!xengntshr_share_pages(frontend->gntshr, frontend->backend_domid, 1, &ref, 0)) {
        fail_errno(&run->failure, "cannot share a page");
        return;
    }
    snprintf(value, sizeof(value), "%u", ref);
    hostile_override_key(run, "rx-ring-ref", value);
    hostile_publish(run);
}

static void act_same_evtchn_twice(struct XnHostileRun *run, int64_t argument)
{
    struct XnFrontend *frontend = run->frontend;
    char value[32];

    (void)argument;
    frontend->config.split_evtchn = false;
    if (!frontend_share(frontend, &run->failure)) {
        return;
    }
    snprintf(value, sizeof(value), "%d", frontend->queues[0].evtchn_guest_tx);
    hostile_override_key(run, "event-channel", "");
    hostile_override_key(run, "event-channel-tx", value);
    hostile_override_key(run, "event-channel-rx", value);
    hostile_publish(run);
}

static void act_connected_without_keys(struct XnHostileRun *run, int64_t argument)
{
    static const char *const keys[] = {"tx-ring-ref",      "rx-ring-ref",      "event-channel",
                                       "event-channel-tx", "event-channel-rx", "request-rx-copy"};

    (void)argument;
    for (unsigned int i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        store_remove(run->frontend->xs, XBT_NULL, run->frontend->path, keys[i]);
    }
    frontend_set_state(run->frontend, XenbusStateConnected, &run->failure);
}

static void act_state(struct XnHostileRun *run, int64_t argument)
{
    frontend_set_state(run->frontend, argument, &run->failure);
}

static void act_state_text(struct XnHostileRun *run, int64_t argument)
{
    (void)argument;
    store_write(run->frontend->xs, XBT_NULL, run->frontend->path, "state", "four", &run->failure);
}

/* All states as fast as they can be written, ending where a clean start is possible. */
static void act_state_storm(struct XnHostileRun *run, int64_t argument)
{
    for (int64_t i = 0; i < argument && !xn_stop_requested; i++) {
        frontend_set_state(run->frontend, 1 + i % 6, &run->failure);
    }
}

/* Goes on being Connected, but with other keys: they count only at the next connection. */
static void act_keys_changed(struct XnHostileRun *run, int64_t argument)
{
    (void)argument;
    hostile_override_key(run, "tx-ring-ref", "4000000000");
    hostile_override_key(run, "rx-ring-ref", "nonsense");
    hostile_override_key(run, "multi-queue-num-queues", "77");
    frontend_publish(run->frontend, &run->failure);
    frontend_set_state(run->frontend, XenbusStateConnected, &run->failure);
}

static void act_jump_to_initialising(struct XnHostileRun *run, int64_t argument)
{
    (void)argument;
    frontend_set_state(run->frontend, XenbusStateInitialising, &run->failure);
}

#define KEY(attack_name, words, index)                                                   \
    {                                                                                    \
        .name = attack_name, .what = words, .expect = XN_HOSTILE_REFUSE, .act = act_key, \
        .argument = index                                                                \
    }

const struct XnHostileAttack hostile_connect_attacks[] = {
    KEY("no-guest-tx-ring", "tx-ring-ref is missing", KEY_NO_GUEST_TX_RING),
    KEY("no-guest-rx-ring", "rx-ring-ref is missing", KEY_NO_GUEST_RX_RING),
    KEY("ring-ref-unused", "a ring reference that grants nothing", KEY_RING_REF_UNUSED),
    KEY("ring-ref-huge", "ring reference 2^32-1", KEY_RING_REF_HUGE),
    KEY("ring-ref-word", "a ring reference that is no number", KEY_RING_REF_WORD),
    KEY("ring-ref-negative", "a negative ring reference", KEY_RING_REF_NEGATIVE),
    {"ring-ref-revoked", "a ring page that is no longer shared", XN_HOSTILE_REFUSE, false,
     act_ring_revoked, 0},
    {"ring-ref-read-only", "a ring page shared read-only", XN_HOSTILE_REFUSE, false,
     act_ring_read_only, 0},
    KEY("no-event-channel", "event-channel is missing", KEY_NO_EVTCHN),
    KEY("event-channel-unused", "an event channel nobody has allocated", KEY_EVTCHN_UNUSED),
    KEY("event-channel-huge", "event channel 2^32-1", KEY_EVTCHN_HUGE),
    KEY("event-channel-word", "an event channel that is no number", KEY_EVTCHN_WORD),
    KEY("event-channel-half", "event-channel-tx without event-channel-rx", KEY_HALF_SPLIT),
    {"event-channel-twice", "the same event channel as tx and rx", XN_HOSTILE_LIVE, false,
     act_same_evtchn_twice, 0},
    KEY("queues-zero", "multi-queue-num-queues=0", KEY_QUEUES_ZERO),
    KEY("queues-many", "multi-queue-num-queues=1000", KEY_QUEUES_MANY),
    KEY("queues-negative", "multi-queue-num-queues=-1", KEY_QUEUES_NEGATIVE),
    KEY("queues-huge", "multi-queue-num-queues=2^32+1", KEY_QUEUES_HUGE),
    KEY("queues-word", "multi-queue-num-queues=1x", KEY_QUEUES_WORD),
    KEY("queues-missing", "two queues, but no queue-0", KEY_QUEUES_WITHOUT_DIRECTORIES),
    KEY("no-rx-copy", "request-rx-copy=0", KEY_NO_RX_COPY),
    {"no-keys", "state Connected without any key", XN_HOSTILE_REFUSE, false,
     act_connected_without_keys, 0},
    {"state-initwait", "a frontend in state InitWait", XN_HOSTILE_LIVE, false, act_state, 2},
    {"state-reconfigured", "a frontend in state Reconfigured", XN_HOSTILE_LIVE, false, act_state,
     8},
    {"state-unknown", "a frontend in state 99", XN_HOSTILE_LIVE, false, act_state, 99},
    {"state-word", "a state that is no number", XN_HOSTILE_LIVE, false, act_state_text, 0},
    {"state-closed-early", "Closed before ever connecting", XN_HOSTILE_LIVE, false, act_state, 6},
    {"state-storm", "2000 state changes without waiting", XN_HOSTILE_LIVE, false, act_state_storm,
     2000},
    {"keys-changed", "nonsense keys and Connected again, while connected", XN_HOSTILE_LIVE, true,
     act_keys_changed, 0},
    {"state-jump", "from Connected straight to Initialising", XN_HOSTILE_LIVE, true,
     act_jump_to_initialising, 0},
    {"state-reconfigure", "Reconfiguring while connected", XN_HOSTILE_LIVE, true, act_state, 7},
};

const unsigned int hostile_connect_attacks_count =
    sizeof(hostile_connect_attacks) / sizeof(*hostile_connect_attacks);
