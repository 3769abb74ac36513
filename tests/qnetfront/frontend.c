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
#define POLL_MS 1

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

uint64_t clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * UINT64_C(1000000) + now.tv_nsec / 1000;
}

uint64_t clock_ms(void)
{
    return clock_us() / 1000;
}

void frontend_say(const struct XnFrontend *frontend, const char *what, long value)
{
    if (frontend->config.verbose) {
        fprintf(stderr, "qnetfront: vif %u: %s %ld\n", frontend->config.vif, what, value);
    }
}

void frontend_look_at_backend(struct XnFrontend *frontend)
{
    enum xenbus_state state =
        store_read_number(frontend->xs, frontend->backend, "state", XenbusStateUnknown);

    if (state != frontend->backend_state) {
        frontend_say(frontend, "backend is in state", state);
    }
    frontend->backend_state = state;
    if (frontend->connected && frontend->config.personality->panics & XN_STATE_BIT(state)) {
        frontend->panic = state;
    }
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
    frontend_look_at_backend(frontend);
    return true;
}

bool frontend_open(struct XnFrontend *frontend, const struct XnFrontendConfig *config,
                   struct XnFailure *failure)
{
    frontend->config = *config;
    for (unsigned int i = 0; i < XN_QUEUES_MAX; i++) {
        frontend->queues[i].evtchn_guest_tx = frontend->queues[i].evtchn_guest_rx = -1;
    }
    frontend->evtchn_ctrl = -1;
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
        frontend_look_at_backend(frontend);
    }
    return taken;
}

unsigned int frontend_wait(struct XnFrontend *frontend, int fd, short events, int timeout_ms)
{
    bool polling = frontend->config.personality->polls && timeout_ms != 0;
    int wait_ms = polling ? POLL_MS : timeout_ms;
    struct timespec timeout = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000L};
    struct pollfd fds[3] = {
        {.fd = xenevtchn_fd(frontend->evtchn), .events = POLLIN},
        {.fd = xs_fileno(frontend->xs), .events = POLLIN},
        {.fd = fd, .events = events},
    };
    unsigned int woken = 0;
    int ready;

    ready = ppoll(fds, 3, wait_ms < 0 ? NULL : &timeout, &signals_while_waiting);
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

static bool read_flag(struct XnFrontend *frontend, const char *key, bool absent)
{
    return store_read_number(frontend->xs, frontend->backend, key, absent) != 0;
}

void frontend_read_features(struct XnFrontend *frontend)
{
    const struct XnPersonality *personality = frontend->config.personality;
    struct XnBackendFeatures *features = &frontend->features;

    features->rx_copy = read_flag(frontend, "feature-rx-copy", false);
    features->sg = read_flag(frontend, "feature-sg", false);
    features->gso_tcpv4 = features->sg && read_flag(frontend, "feature-gso-tcpv4", false);
    features->gso_tcpv6 = features->sg && read_flag(frontend, "feature-gso-tcpv6", false);
    features->csum_ipv4 = !read_flag(frontend, "feature-no-csum-offload", false);
    features->csum_ipv6 = read_flag(frontend, "feature-ipv6-csum-offload", false);
    features->split_evtchn = read_flag(frontend, "feature-split-event-channels", false);
    features->ctrl_ring = read_flag(frontend, "feature-ctrl-ring", false);
    features->max_queues =
        store_read_number(frontend->xs, frontend->backend, "multi-queue-max-queues", 1);
    features->sg &= !personality->no_sg;
    features->gso_tcpv4 &= !personality->no_gso4;
    features->gso_tcpv6 &= !personality->no_gso6;
    features->csum_ipv4 &= !personality->no_csum4;
    features->csum_ipv6 &= !personality->no_csum6;
}

static bool share_queue(struct XnFrontend *frontend, struct XnFrontendQueue *queue,
                        struct XnFailure *failure)
{
    bool split = frontend->config.split_evtchn && frontend->features.split_evtchn;
    const struct XnPersonality *personality = frontend->config.personality;
    uint32_t domid = frontend->backend_domid;

    queue->guest_tx.limit = personality->guest_tx_limit;
    queue->guest_tx.small_ids = queue->guest_rx.small_ids = personality->small_ids;
    queue->guest_rx.refill = personality->guest_rx_refill;
    if (!guest_tx_open(&queue->guest_tx, frontend->gntshr, domid, failure) ||
        !guest_rx_open(&queue->guest_rx, frontend->gntshr, domid, frontend->config.rx_buffers,
                       frontend->config.rx_canary, failure)) {
        return false;
    }
    queue->evtchn_guest_tx = xenevtchn_bind_unbound_port(frontend->evtchn, domid);
    queue->evtchn_guest_rx =
        split ? xenevtchn_bind_unbound_port(frontend->evtchn, domid) : queue->evtchn_guest_tx;
    if (queue->evtchn_guest_tx < 0 || queue->evtchn_guest_rx < 0) {
        return fail_errno(failure, "cannot allocate an event channel for domain %u", domid);
    }
    return true;
}

static bool share_ctrl(struct XnFrontend *frontend, struct XnFailure *failure)
{
    if (!ctrl_open(&frontend->ctrl, frontend->gntshr, frontend->backend_domid, failure)) {
        return false;
    }
    frontend->evtchn_ctrl = xenevtchn_bind_unbound_port(frontend->evtchn, frontend->backend_domid);
    if (frontend->evtchn_ctrl < 0) {
        return fail_errno(failure, "cannot allocate an event channel for domain %u",
                          frontend->backend_domid);
    }
    return true;
}

bool frontend_share(struct XnFrontend *frontend, struct XnFailure *failure)
{
    unsigned int most = frontend->config.personality->queues;
    unsigned int wanted = frontend->config.queues;

    if (most && wanted > most) {
        wanted = most;
    }
    if (wanted > frontend->features.max_queues) {
        wanted = frontend->features.max_queues > 0 ? frontend->features.max_queues : 1;
    }
    frontend->queues_count = wanted;
    hash_reset(&frontend->hash, wanted);
    for (unsigned int i = 0; i < wanted; i++) {
        if (!share_queue(frontend, &frontend->queues[i], failure)) {
            frontend_unshare(frontend);
            return false;
        }
    }
    if (frontend->config.ctrl_ring && frontend->features.ctrl_ring &&
        !share_ctrl(frontend, failure)) {
        frontend_unshare(frontend);
        return false;
    }
    return true;
}

void frontend_expect_headroom(struct XnFrontend *frontend, unsigned int asked)
{
    for (unsigned int i = 0; i < XN_QUEUES_MAX; i++) {
        frontend->queues[i].guest_rx.headroom = asked < XN_HEADROOM_MAX ? asked : XN_HEADROOM_MAX;
    }
}

static void push_done(struct XnFrontend *frontend, bool asked, int evtchn, uint64_t *counter)
{
    if (frontend->config.never_notify || (!asked && !frontend->config.always_notify)) {
        return;
    }
    xenevtchn_notify(frontend->evtchn, evtchn);
    ++*counter;
}

void frontend_push_guest_tx(struct XnFrontend *frontend, struct XnFrontendQueue *queue)
{
    bool asked = guest_tx_push(&queue->guest_tx);

    push_done(frontend, asked, queue->evtchn_guest_tx, &queue->guest_tx.counters.notifies);
}

void frontend_push_guest_rx(struct XnFrontend *frontend, struct XnFrontendQueue *queue)
{
    bool asked = guest_rx_push(&queue->guest_rx);

    push_done(frontend, asked, queue->evtchn_guest_rx, &queue->guest_rx.counters.notifies);
}

void frontend_push_ctrl(struct XnFrontend *frontend)
{
    bool asked = ctrl_push(&frontend->ctrl);

    push_done(frontend, asked, frontend->evtchn_ctrl, &frontend->ctrl.counters.notifies);
}

bool frontend_await_ctrl(struct XnFrontend *frontend, struct xen_netif_ctrl_response *response,
                         struct XnFailure *failure)
{
    uint64_t end = clock_ms() + frontend->config.wait_ms;
    int got;

    while ((got = ctrl_take(&frontend->ctrl, response)) == 0) {
        if (clock_ms() > end) {
            return fail(failure, "no response in the control ring within %u ms",
                        frontend->config.wait_ms);
        }
        if (!frontend_alive(frontend)) {
            return fail(failure, "the backend went to state %d", frontend->backend_state);
        }
        if (!ctrl_arm(&frontend->ctrl)) {
            frontend_wait(frontend, -1, 0, 100);
        }
    }
    if (got < 0) {
        return fail(failure, "the backend's index in the control ring is impossible");
    }
    return true;
}

int frontend_reap(struct XnFrontend *frontend)
{
    int count = 0;

    for (unsigned int i = 0; i < frontend->queues_count; i++) {
        int answers = guest_tx_reap(&frontend->queues[i].guest_tx);

        if (answers < 0) {
            return -1;
        }
        count += answers;
    }
    return count;
}

unsigned int frontend_unanswered(const struct XnFrontend *frontend)
{
    unsigned int count = 0;

    for (unsigned int i = 0; i < frontend->queues_count; i++) {
        count += guest_tx_unanswered(&frontend->queues[i].guest_tx);
    }
    return count;
}

bool frontend_can_send(const struct XnFrontend *frontend, const struct XnFrontendQueue *queue)
{
    unsigned int slots = frontend->features.sg ? XN_GUEST_TX_ROOM : XN_GUEST_TX_ROOM_ONE;

    return guest_tx_room(&queue->guest_tx) >= slots;
}

/* A frontend that polls does not ask, and is woken by the clock. */
static bool polls(const struct XnFrontend *frontend)
{
    return frontend->config.personality->polls;
}

bool frontend_arm_guest_tx(struct XnFrontend *frontend)
{
    bool more = false;

    for (unsigned int i = 0; !polls(frontend) && i < frontend->queues_count; i++) {
        more |= guest_tx_arm(&frontend->queues[i].guest_tx);
    }
    return more;
}

bool frontend_arm_guest_rx(struct XnFrontend *frontend)
{
    bool more = false;

    for (unsigned int i = 0; !polls(frontend) && i < frontend->queues_count; i++) {
        more |= guest_rx_arm(&frontend->queues[i].guest_rx);
    }
    return more;
}

/* Counters are nothing but numbers of 64 bits. */
static void add_counters(void *sum, const void *part, size_t size)
{
    for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
        ((uint64_t *)sum)[i] += ((const uint64_t *)part)[i];
    }
}

struct XnGuestTxCounters frontend_guest_tx_counters(const struct XnFrontend *frontend)
{
    struct XnGuestTxCounters sum = {0};

    for (unsigned int i = 0; i < XN_QUEUES_MAX; i++) {
        add_counters(&sum, &frontend->queues[i].guest_tx.counters, sizeof(sum));
    }
    return sum;
}

struct XnGuestRxCounters frontend_guest_rx_counters(const struct XnFrontend *frontend)
{
    struct XnGuestRxCounters sum = {0};
    uint64_t slots = 0;
    uint64_t length = 0;

    for (unsigned int i = 0; i < XN_QUEUES_MAX; i++) {
        const struct XnGuestRxCounters *counters = &frontend->queues[i].guest_rx.counters;

        add_counters(&sum, counters, sizeof(sum));
        slots = counters->slots_most > slots ? counters->slots_most : slots;
        length = counters->length_most > length ? counters->length_most : length;
    }
    sum.slots_most = slots;
    sum.length_most = length;
    return sum;
}

static void unshare_queue(struct XnFrontend *frontend, struct XnFrontendQueue *queue)
{
    if (queue->evtchn_guest_rx >= 0 && queue->evtchn_guest_rx != queue->evtchn_guest_tx) {
        xenevtchn_unbind(frontend->evtchn, queue->evtchn_guest_rx);
    }
    if (queue->evtchn_guest_tx >= 0) {
        xenevtchn_unbind(frontend->evtchn, queue->evtchn_guest_tx);
    }
    queue->evtchn_guest_tx = queue->evtchn_guest_rx = -1;
    guest_tx_close(&queue->guest_tx);
    guest_rx_close(&queue->guest_rx);
}

void frontend_unshare(struct XnFrontend *frontend)
{
    frontend->connected = false;
    if (frontend->evtchn_ctrl >= 0) {
        xenevtchn_unbind(frontend->evtchn, frontend->evtchn_ctrl);
    }
    frontend->evtchn_ctrl = -1;
    ctrl_close(&frontend->ctrl);
    for (unsigned int i = 0; i < XN_QUEUES_MAX; i++) {
        unshare_queue(frontend, &frontend->queues[i]);
    }
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
