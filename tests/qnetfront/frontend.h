/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frontend.h - one vif as its guest sees it: xenbus handshake, rings, event channels
 *
 * Theory of operation: everything goes through relative xenstore paths (device/vif/N), which
 * xenstored resolves to the domain that asks. Unless another personality is wanted, the states
 * follow Linux's netfront: wait for the backend's InitWait, share, write the keys in one
 * transaction, Connected; to close, Closing, wait for the backend, Closed, and only then end the
 * sharing. One thread; frontend_wait() is the only place that sleeps.
 *
 * A vif has one queue or several, each with a guest_tx ring, a guest_rx ring and event channels of
 * its own. Nothing here depends on which queue a packet takes; that is the modes' business.
 */
#ifndef QNETFRONT_FRONTEND_H
#define QNETFRONT_FRONTEND_H

#include "ctrl.h"
#include "guest-rx.h"
#include "guest-tx.h"
#include "hash.h"
#include "personality.h"
#include "store.h"

#include <xen/io/xenbus.h>
#include <xenevtchn.h>

#define XN_FRONTEND_KEYS_MAX 48
/* More than any backend offers, so that too many can be asked for. */
#define XN_QUEUES_MAX 16

struct XnFrontendKey {
    char name[64];
    char value[64]; /* empty: the key is removed */
};

/* What the caller wants; constant while the frontend is open. */
struct XnFrontendConfig {
    const struct XnPersonality *personality;
    unsigned int vif;
    unsigned int queues; /* 1..XN_QUEUES_MAX; no more are used than the backend offers */
    bool split_evtchn; /* separate event channels where the backend offers them */
    unsigned int rx_buffers; /* guest_rx pages, 0..XN_RING_SLOTS */
    bool rx_canary;
    bool ctrl_ring; /* where the backend offers it */
    bool never_notify;
    bool always_notify;
    unsigned int wait_ms; /* bound of each wait for the backend */
    struct XnFrontendKey keys[XN_FRONTEND_KEYS_MAX]; /* written beside the rings, may override */
    unsigned int keys_count;
    bool verbose;
};

/* What the backend offers, read at InitWait. */
struct XnBackendFeatures {
    bool sg, gso_tcpv4, gso_tcpv6, csum_ipv4, csum_ipv6, split_evtchn, rx_copy, ctrl_ring;
    long max_queues;
};

/* Bits that frontend_wait() returns. */
#define XN_WAKE_EVTCHN 1u
#define XN_WAKE_STORE 2u
#define XN_WAKE_FD 4u
#define XN_WAKE_SIGNAL 8u

struct XnCtrlWork;

struct XnFrontendQueue {
    int evtchn_guest_tx; /* local event channels; equal when not split, -1: none */
    int evtchn_guest_rx;
    struct XnGuestTx guest_tx;
    struct XnGuestRx guest_rx;
};

struct XnFrontend {
    struct XnFrontendConfig config;
    struct xs_handle *xs;
    xengntshr_handle *gntshr;
    xenevtchn_handle *evtchn;
    char path[64];
    char backend[256];
    uint32_t backend_domid;
    enum xenbus_state backend_state; /* as last seen; Unknown if the node is gone */
    struct XnBackendFeatures features;
    bool connected; /* as far as the frontend is concerned */
    bool closing; /* on the way out */
    enum xenbus_state panic; /* backend state that the personality did not survive */
    unsigned int connect_us; /* from our Connected to the backend's, the last time */
    uint64_t events; /* received */
    uint64_t sleeps; /* waits that were not answered at once */
    int evtchn_ctrl; /* -1: no control ring */
    struct XnCtrl ctrl;
    struct XnCtrlWork *ctrl_work; /* the modes do it besides their own */
    struct XnHashConfig hash; /* as the control ring has set it */
    unsigned int queues_count; /* as shared with the backend; 0 before that */
    struct XnFrontendQueue queues[XN_QUEUES_MAX];
};

/* Set by SIGTERM and SIGINT, which are blocked except in frontend_wait(). */
extern volatile int xn_stop_requested;
void frontend_catch_signals(void);

/* Opens the libraries, finds the backend. @frontend is zeroed by the caller. */
bool frontend_open(struct XnFrontend *frontend, const struct XnFrontendConfig *config,
                   struct XnFailure *failure);

/* Brings both sides to state 2 for the backend, 1 for us, whatever an earlier frontend left. */
bool frontend_prepare(struct XnFrontend *frontend, struct XnFailure *failure);

/* Shares rings and buffers, binds event channels. */
bool frontend_share(struct XnFrontend *frontend, struct XnFailure *failure);

/* Writes the keys, in one transaction. */
bool frontend_publish(struct XnFrontend *frontend, struct XnFailure *failure);

/* The three above, then state Connected and the wait for the backend's. */
bool frontend_connect(struct XnFrontend *frontend, struct XnFailure *failure);

/* Closes in order and ends the sharing; true if the backend followed to state 6. */
bool frontend_disconnect(struct XnFrontend *frontend, struct XnFailure *failure);

/* Ends the sharing only (after a disconnect, or when the backend is beyond talking to). */
void frontend_unshare(struct XnFrontend *frontend);
void frontend_close(struct XnFrontend *frontend);

bool frontend_set_state(struct XnFrontend *frontend, enum xenbus_state state,
                        struct XnFailure *failure);

/* Waits at most config.wait_ms until the backend is in state @a or @b. */
bool frontend_wait_backend(struct XnFrontend *frontend, enum xenbus_state a, enum xenbus_state b,
                           struct XnFailure *failure);

/* Each guest_rx packet must have the headroom that was asked for, or the most that there is. */
void frontend_expect_headroom(struct XnFrontend *frontend, unsigned int asked);

/* True while the backend is in state Connected, or hides nothing worse. */
bool frontend_alive(const struct XnFrontend *frontend);

/* Sleeps until an event channel, xenstore, a signal or @fd (-1: none, @events as for poll) has
 * something, or @timeout_ms (-1: no bound) is over. Unmasks event channels, so rings are to be
 * looked at afterwards. */
unsigned int frontend_wait(struct XnFrontend *frontend, int fd, short events, int timeout_ms);

/* The same for a program without a frontend: sleeps until @readable (NULL: none), a signal or
 * @timeout_ms. */
struct pollfd;
void frontend_wait_fd(struct pollfd *readable, int timeout_ms);

/* Push, and notify where the backend asked or the configuration says so. */
void frontend_push_guest_tx(struct XnFrontend *frontend, struct XnFrontendQueue *queue);
void frontend_push_guest_rx(struct XnFrontend *frontend, struct XnFrontendQueue *queue);

/* Over all queues: takes the guest_tx answers that are there and returns their number, -1 if an
 * index of the backend is impossible. */
int frontend_reap(struct XnFrontend *frontend);

/* Whether the largest packet that the frontend sends can be queued. */
bool frontend_can_send(const struct XnFrontend *frontend, const struct XnFrontendQueue *queue);

/* Over all queues: guest_tx requests without an answer. */
unsigned int frontend_unanswered(const struct XnFrontend *frontend);

/* Over all queues: ask for events. True if answers came meanwhile. */
bool frontend_arm_guest_tx(struct XnFrontend *frontend);
bool frontend_arm_guest_rx(struct XnFrontend *frontend);

/* Sends what is queued in the control ring. */
void frontend_push_ctrl(struct XnFrontend *frontend);

/* Takes a response of the control ring, waiting for it at most config.wait_ms. */
bool frontend_await_ctrl(struct XnFrontend *frontend, struct xen_netif_ctrl_response *response,
                         struct XnFailure *failure);

/* Counters of all queues together. */
struct XnGuestTxCounters frontend_guest_tx_counters(const struct XnFrontend *frontend);
struct XnGuestRxCounters frontend_guest_rx_counters(const struct XnFrontend *frontend);

/* Looks at the backend's state. */
void frontend_look_at_backend(struct XnFrontend *frontend);

/* Looks at what the backend offers, less what the personality does not use. */
void frontend_read_features(struct XnFrontend *frontend);

/* Says something on stderr, if told to. */
void frontend_say(const struct XnFrontend *frontend, const char *what, long value);

/* Reads the backend's reason for closing, if it gave one. */
bool frontend_read_error(struct XnFrontend *frontend, char *text, size_t size);

/* Of the monotonic clock. */
uint64_t clock_ms(void);
uint64_t clock_us(void);

#endif
