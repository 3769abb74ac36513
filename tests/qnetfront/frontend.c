/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frontend.c - one vif as its guest sees it: xenbus handshake, rings, event channels */
#include "frontend.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Events taken from the kernel before the caller gets its turn. */
#define EVENTS_PER_TURN 64
#define TRANSACTION_TRIES 100

volatile int xn_stop_requested;
static sigset_t signals_while_waiting;

static void on_signal(int number)
{
    (void)number;
    xn_stop_requested = 1;
}

void frontend_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t blocked;

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &signals_while_waiting);
    sigdelset(&signals_while_waiting, SIGTERM);
    sigdelset(&signals_while_waiting, SIGINT);
}

uint64_t clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * UINT64_C(1000) + now.tv_nsec / 1000000;
}

static void say(const struct XnFrontend *frontend, const char *what, long value)
{
    if (frontend->config.verbose) {
        fprintf(stderr, "qnetfront: vif %u: %s %ld\n", frontend->config.vif, what, value);
    }
}

static void read_backend_state(struct XnFrontend *frontend)
{
    enum xenbus_state state =
        store_read_number(frontend->xs, frontend->backend, "state", XenbusStateUnknown);

    if (state != frontend->backend_state) {
        say(frontend, "backend is in state", state);
    }
    frontend->backend_state = state;
}

static bool find_backend(struct XnFrontend *frontend, struct XnFailure *failure)
{
    uint64_t end = clock_ms() + frontend->config.wait_ms;
    char watched[300];

    /* The toolstack may be about to attach the vif. */
    while (!store_read(frontend->xs, frontend->path, "backend", frontend->backend,
                       sizeof(frontend->backend))) {
        if (clock_ms() > end || xn_stop_requested) {
            return fail(failure, "xenstore has no %s/backend: this domain has no vif %u",
                        frontend->path, frontend->config.vif);
        }
        frontend_wait(frontend, -1, 0, 50);
    }
    frontend->backend_domid = store_read_number(frontend->xs, frontend->path, "backend-id", 0);
    snprintf(watched, sizeof(watched), "%s/state", frontend->backend);
    if (!xs_watch(frontend->xs, watched, "backend-state")) {
        return fail_errno(failure, "cannot watch %s", watched);
    }
    read_backend_state(frontend);
    return true;
}

bool frontend_open(struct XnFrontend *frontend, const struct XnFrontendConfig *config,
                   struct XnFailure *failure)
{
    frontend->config = *config;
    frontend->evtchn_guest_tx = frontend->evtchn_guest_rx = -1;
    snprintf(frontend->path, sizeof(frontend->path), "device/vif/%u", config->vif);
    frontend->xs = xs_open(0);
    if (!frontend->xs) {
        return fail_errno(failure, "cannot connect to xenstore");
    }
    frontend->gntshr = xengntshr_open(NULL, 0);
    if (!frontend->gntshr) {
        return fail_errno(failure, "cannot open /dev/xen/gntalloc (modprobe xen-gntalloc?)");
    }
    frontend->evtchn = xenevtchn_open(NULL, 0);
    if (!frontend->evtchn) {
        return fail_errno(failure, "cannot open /dev/xen/evtchn (modprobe xen-evtchn?)");
    }
    fcntl(xenevtchn_fd(frontend->evtchn), F_SETFL, O_NONBLOCK);
    return find_backend(frontend, failure);
}

static unsigned int take_events(struct XnFrontend *frontend)
{
    unsigned int taken = 0;

    for (unsigned int i = 0; i < EVENTS_PER_TURN; i++) {
        xenevtchn_port_or_error_t evtchn = xenevtchn_pending(frontend->evtchn);

        if (evtchn < 0) {
            break;
        }
        xenevtchn_unmask(frontend->evtchn, evtchn);
        frontend->events++;
        taken = XN_WAKE_EVTCHN;
    }
    return taken;
}

static unsigned int take_watches(struct XnFrontend *frontend)
{
    unsigned int taken = 0;

    for (unsigned int i = 0; i < EVENTS_PER_TURN; i++) {
        char **event = xs_check_watch(frontend->xs);

        if (!event) {
            break;
        }
        free(event);
        taken = XN_WAKE_STORE;
    }
    if (taken && frontend->backend[0]) {
        read_backend_state(frontend);
    }
    return taken;
}

unsigned int frontend_wait(struct XnFrontend *frontend, int fd, short events, int timeout_ms)
{
    struct timespec timeout = {.tv_sec = timeout_ms / 1000,
                               .tv_nsec = timeout_ms % 1000 * 1000000L};
    struct pollfd fds[3] = {
        {.fd = xenevtchn_fd(frontend->evtchn), .events = POLLIN},
        {.fd = xs_fileno(frontend->xs), .events = POLLIN},
        {.fd = fd, .events = events},
    };
    unsigned int woken = 0;
    int ready;

    ready = ppoll(fds, 3, timeout_ms < 0 ? NULL : &timeout, &signals_while_waiting);
    frontend->sleeps += timeout_ms != 0;
    if (xn_stop_requested) {
        woken |= XN_WAKE_SIGNAL;
    }
    if (ready <= 0) {
        return woken;
    }
    if (fds[0].revents) {
        woken |= take_events(frontend);
    }
    if (fds[1].revents) {
        woken |= take_watches(frontend);
    }
    if (fds[2].revents) {
        woken |= XN_WAKE_FD;
    }
    return woken;
}

void frontend_wait_fd(struct pollfd *readable, int timeout_ms)
{
    struct timespec timeout = {.tv_sec = timeout_ms / 1000,
                               .tv_nsec = timeout_ms % 1000 * 1000000L};

    ppoll(readable, readable ? 1 : 0, &timeout, &signals_while_waiting);
}

bool frontend_set_state(struct XnFrontend *frontend, enum xenbus_state state,
                        struct XnFailure *failure)
{
    say(frontend, "going to state", state);
    return store_write_state(frontend->xs, frontend->path, state, failure);
}

bool frontend_wait_backend(struct XnFrontend *frontend, enum xenbus_state a, enum xenbus_state b,
                           struct XnFailure *failure)
{
    uint64_t end = clock_ms() + frontend->config.wait_ms;

    read_backend_state(frontend);
    while (frontend->backend_state != a && frontend->backend_state != b) {
        uint64_t now = clock_ms();

        if (now >= end) {
            return fail(failure, "backend %s is in state %d after %u ms, expected %d",
                        frontend->backend, frontend->backend_state, frontend->config.wait_ms, a);
        }
        /* A wait for the other side's closing goes on after a signal, a wait to connect does not.
         */
        if (xn_stop_requested && a != XenbusStateClosing && a != XenbusStateClosed) {
            return fail(failure, "interrupted");
        }
        frontend_wait(frontend, -1, 0, end - now < 100 ? (int)(end - now) : 100);
        read_backend_state(frontend);
    }
    return true;
}

static bool read_flag(struct XnFrontend *frontend, const char *key, bool absent)
{
    return store_read_number(frontend->xs, frontend->backend, key, absent) != 0;
}

static void read_features(struct XnFrontend *frontend)
{
    struct XnBackendFeatures *features = &frontend->features;

    features->rx_copy = read_flag(frontend, "feature-rx-copy", false);
    features->sg = read_flag(frontend, "feature-sg", false);
    features->gso_tcpv4 = features->sg && read_flag(frontend, "feature-gso-tcpv4", false);
    features->gso_tcpv6 = features->sg && read_flag(frontend, "feature-gso-tcpv6", false);
    features->csum_ipv4 = !read_flag(frontend, "feature-no-csum-offload", false);
    features->csum_ipv6 = read_flag(frontend, "feature-ipv6-csum-offload", false);
    features->split_evtchn = read_flag(frontend, "feature-split-event-channels", false);
    features->max_queues =
        store_read_number(frontend->xs, frontend->backend, "multi-queue-max-queues", 1);
}

bool frontend_prepare(struct XnFrontend *frontend, struct XnFailure *failure)
{
    long state = store_read_number(frontend->xs, frontend->path, "state", XenbusStateUnknown);

    if (state != XenbusStateInitialising) {
        say(frontend, "starting from our state", state);
        read_backend_state(frontend);
        if (frontend->backend_state == XenbusStateConnected ||
            frontend->backend_state == XenbusStateClosing) {
            if (!frontend_set_state(frontend, XenbusStateClosing, failure) ||
                !frontend_wait_backend(frontend, XenbusStateClosing, XenbusStateClosed, failure) ||
                !frontend_set_state(frontend, XenbusStateClosed, failure) ||
                !frontend_wait_backend(frontend, XenbusStateClosed, XenbusStateInitWait, failure)) {
                return false;
            }
        }
        if (!frontend_set_state(frontend, XenbusStateInitialising, failure)) {
            return false;
        }
    }
    if (!frontend_wait_backend(frontend, XenbusStateInitWait, XenbusStateInitWait, failure)) {
        return false;
    }
    read_features(frontend);
    return true;
}

bool frontend_share(struct XnFrontend *frontend, struct XnFailure *failure)
{
    bool split = frontend->config.split_evtchn && frontend->features.split_evtchn;
    uint32_t domid = frontend->backend_domid;

    if (!guest_tx_open(&frontend->guest_tx, frontend->gntshr, domid, failure) ||
        !guest_rx_open(&frontend->guest_rx, frontend->gntshr, domid, frontend->config.rx_buffers,
                       frontend->config.rx_canary, failure)) {
        frontend_unshare(frontend);
        return false;
    }
    frontend->evtchn_guest_tx = xenevtchn_bind_unbound_port(frontend->evtchn, domid);
    frontend->evtchn_guest_rx =
        split ? xenevtchn_bind_unbound_port(frontend->evtchn, domid) : frontend->evtchn_guest_tx;
    if (frontend->evtchn_guest_tx < 0 || frontend->evtchn_guest_rx < 0) {
        fail_errno(failure, "cannot allocate an event channel for domain %u", domid);
        frontend_unshare(frontend);
        return false;
    }
    return true;
}

/* The configured keys come last, so that they can replace or leave out any other. */
static unsigned int collect_keys(const struct XnFrontend *frontend, struct XnFrontendKey *keys)
{
    bool split = frontend->evtchn_guest_tx != frontend->evtchn_guest_rx;
    unsigned int count = 0;

#define ADD(key_name, number)                                                        \
    do {                                                                             \
        snprintf(keys[count].name, sizeof(keys[count].name), "%s", (key_name));      \
        snprintf(keys[count].value, sizeof(keys[count].value), "%d", (int)(number)); \
        count++;                                                                     \
    } while (0)
    ADD("tx-ring-ref", frontend->guest_tx.ring_ref);
    ADD("rx-ring-ref", frontend->guest_rx.ring_ref);
    if (split) {
        ADD("event-channel-tx", frontend->evtchn_guest_tx);
        ADD("event-channel-rx", frontend->evtchn_guest_rx);
    } else {
        ADD("event-channel", frontend->evtchn_guest_tx);
    }
    ADD("request-rx-copy", 1);
    ADD("feature-rx-notify", 1);
    ADD("feature-sg", 1);
    ADD("feature-gso-tcpv4", 1);
    ADD("feature-gso-tcpv6", 1);
    ADD("feature-ipv6-csum-offload", 1);
#undef ADD
    for (unsigned int i = 0; i < frontend->config.keys_count; i++) {
        const struct XnFrontendKey *wanted = &frontend->config.keys[i];
        unsigned int at = 0;

        while (at < count && strcmp(keys[at].name, wanted->name) != 0) {
            at++;
        }
        keys[at] = *wanted;
        count += at == count;
    }
    return count;
}

/* Keys of another way to connect would contradict ours. */
static const char *const stale_keys[] = {"event-channel", "event-channel-tx", "event-channel-rx",
                                         "multi-queue-num-queues"};

static bool write_keys(struct XnFrontend *frontend, xs_transaction_t transaction,
                       struct XnFailure *failure)
{
    struct XnFrontendKey keys[XN_FRONTEND_KEYS_MAX + 16];
    unsigned int count = collect_keys(frontend, keys);

    for (unsigned int i = 0; i < sizeof(stale_keys) / sizeof(*stale_keys); i++) {
        store_remove(frontend->xs, transaction, frontend->path, stale_keys[i]);
    }
    for (unsigned int i = 0; i < count; i++) {
        if (!keys[i].value[0]) {
            store_remove(frontend->xs, transaction, frontend->path, keys[i].name);
        } else if (!store_write(frontend->xs, transaction, frontend->path, keys[i].name,
                                keys[i].value, failure)) {
            return false;
        }
    }
    return true;
}

bool frontend_publish(struct XnFrontend *frontend, struct XnFailure *failure)
{
    for (int i = 0; i < TRANSACTION_TRIES; i++) {
        xs_transaction_t transaction = xs_transaction_start(frontend->xs);

        if (!transaction) {
            return fail_errno(failure, "cannot start a xenstore transaction");
        }
        if (!write_keys(frontend, transaction, failure)) {
            xs_transaction_end(frontend->xs, transaction, true);
            return false;
        }
        if (xs_transaction_end(frontend->xs, transaction, false)) {
            return true;
        }
        if (errno != EAGAIN) {
            return fail_errno(failure, "cannot commit the keys of %s", frontend->path);
        }
    }
    return fail(failure, "xenstore is too busy: keys of %s not written", frontend->path);
}

bool frontend_connect(struct XnFrontend *frontend, struct XnFailure *failure)
{
    if (!frontend_prepare(frontend, failure) || !frontend_share(frontend, failure)) {
        return false;
    }
    if (!frontend_publish(frontend, failure) ||
        !frontend_set_state(frontend, XenbusStateConnected, failure) ||
        !frontend_wait_backend(frontend, XenbusStateConnected, XenbusStateClosing, failure)) {
        frontend_unshare(frontend);
        return false;
    }
    if (frontend->backend_state != XenbusStateConnected) {
        char reason[128] = "no reason given";
        struct XnFailure ignored = {""};

        frontend_read_error(frontend, reason, sizeof(reason));
        fail(failure, "backend refused to connect: %s", reason);
        /* As Linux does: the backend waits for it. */
        frontend_set_state(frontend, XenbusStateClosed, &ignored);
        frontend_unshare(frontend);
        return false;
    }
    frontend->connected = true;
    return true;
}

bool frontend_alive(const struct XnFrontend *frontend)
{
    return frontend->backend_state == XenbusStateConnected ||
           frontend->backend_state == XenbusStateReconfigured;
}

static void push_done(struct XnFrontend *frontend, bool asked, int evtchn, uint64_t *counter)
{
    if (frontend->config.never_notify || (!asked && !frontend->config.always_notify)) {
        return;
    }
    xenevtchn_notify(frontend->evtchn, evtchn);
    ++*counter;
}

void frontend_push_guest_tx(struct XnFrontend *frontend)
{
    bool asked = guest_tx_push(&frontend->guest_tx);

    push_done(frontend, asked, frontend->evtchn_guest_tx, &frontend->guest_tx.counters.notifies);
}

void frontend_push_guest_rx(struct XnFrontend *frontend)
{
    bool asked = guest_rx_push(&frontend->guest_rx);

    push_done(frontend, asked, frontend->evtchn_guest_rx, &frontend->guest_rx.counters.notifies);
}

void frontend_unshare(struct XnFrontend *frontend)
{
    frontend->connected = false;
    if (frontend->evtchn_guest_rx >= 0 && frontend->evtchn_guest_rx != frontend->evtchn_guest_tx) {
        xenevtchn_unbind(frontend->evtchn, frontend->evtchn_guest_rx);
    }
    if (frontend->evtchn_guest_tx >= 0) {
        xenevtchn_unbind(frontend->evtchn, frontend->evtchn_guest_tx);
    }
    frontend->evtchn_guest_tx = frontend->evtchn_guest_rx = -1;
    guest_tx_close(&frontend->guest_tx);
    guest_rx_close(&frontend->guest_rx);
}

bool frontend_disconnect(struct XnFrontend *frontend, struct XnFailure *failure)
{
    bool followed =
        frontend_set_state(frontend, XenbusStateClosing, failure) &&
        (frontend->backend_state == XenbusStateUnknown ||
         frontend_wait_backend(frontend, XenbusStateClosing, XenbusStateClosed, failure)) &&
        frontend_set_state(frontend, XenbusStateClosed, failure) &&
        (frontend->backend_state == XenbusStateUnknown ||
         frontend_wait_backend(frontend, XenbusStateClosed, XenbusStateUnknown, failure));

    frontend_unshare(frontend);
    return followed;
}

bool frontend_read_error(struct XnFrontend *frontend, char *text, size_t size)
{
    char directory[512];
    const char *relative = strstr(frontend->backend, "/backend/");

    if (store_read(frontend->xs, frontend->backend, "error", text, size)) {
        return true;
    }
    if (!relative) {
        return false;
    }
    /* Where Linux's xenbus puts it; readable only if the backend's domain allows it. */
    snprintf(directory, sizeof(directory), "/local/domain/%u/error%s", frontend->backend_domid,
             relative);
    return store_read(frontend->xs, directory, "error", text, size);
}

void frontend_close(struct XnFrontend *frontend)
{
    frontend_unshare(frontend);
    if (frontend->evtchn) {
        xenevtchn_close(frontend->evtchn);
    }
    if (frontend->gntshr) {
        xengntshr_close(frontend->gntshr);
    }
    if (frontend->xs) {
        xs_close(frontend->xs);
    }
    frontend->evtchn = NULL;
    frontend->gntshr = NULL;
    frontend->xs = NULL;
}
