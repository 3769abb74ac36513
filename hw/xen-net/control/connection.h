/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * connection.h - everything that exists only while a vif is connected
 *
 * Mapped ring pages, bound event channels, queues and their places on the workers. Main thread.
 */
#ifndef XN_CONTROL_CONNECTION_H
#define XN_CONTROL_CONNECTION_H

#include "base/counters.h"
#include "base/log.h"
#include "control/frontend.h"
#include "control/store-key.h"
#include "control/store-node.h"
#include "control/workers.h"
#include "netif/guest-rx-stall.h"
#include "port/port.h"
#include "xen/gnttab.h"

/*
 * Called on the main thread, from its loop, when the guest broke a ring. The connection named by
 * `serial` may be gone by then. `reason` is a constant string.
 */
typedef void (*XnConnectionBroken)(void *opaque, struct XnVifId id, uint64_t serial,
                                   const char *reason);

/* What is left of a vif's rate limits between two connections, lest reconnecting be a way round. */
struct XnVifCredit {
    struct XnCredit guest_tx;
    struct XnCredit guest_rx;
};

/* All pointers are borrowed and must outlive the connection; `opaque` the main loop. */
struct XnConnectionConfig {
    struct XnVifId id;
    /* The vif's, for the log. */
    const char *name;
    /* What the guest causes in it is limited by this. */
    struct XnLogLimit *log_limit;
    /* No two connections of this process have the same. */
    uint64_t serial;
    struct XnGnttab *gnttab;
    struct XnWorkers *workers;
    struct XnPort *port;
    const struct XnFrontend *frontend;
    /* One for each queue of the frontend. */
    struct XnQueueCounters *counters;
    /* Taken when the connection opens, and given back when it closes. */
    struct XnVifCredit *credit;
    /* How long frames wait for buffers of the guest. */
    struct XnGuestRxPatience patience;
    /* Where the queues' journals are, and what tells this guest from others of the same domid. */
    const char *journal_directory;
    struct XnMac mac;
    /* Serve on what a predecessor has served. */
    bool adopt;
    XnConnectionBroken broken;
    void *opaque;
};

struct XnConnection;

/* Maps, binds and starts; on failure all is undone. NULL with an error that names what failed. */
struct XnConnection *connection_open(const struct XnConnectionConfig *config, GError **error);

/* Stops, unbinds and unmaps, in reverse order; NULL is fine. */
void connection_close(struct XnConnection *connection);

/* The same, but for a successor to adopt it: guest and network are told nothing. */
void connection_leave(struct XnConnection *connection);

/*
 * Gives the guest what it can take now, while its rings are served on. False with an error when the
 * port does not let us; then the connection is to be closed.
 */
bool connection_set_features(struct XnConnection *connection, const struct XnFeatures *features,
                             GError **error);

/* Sets the limits of both directions. */
void connection_set_rates(struct XnConnection *connection, const struct XnCreditRate *guest_tx,
                          const struct XnCreditRate *guest_rx);

/*
 * Lets the guest have frames directly from the others on the bridge with this interface index, and
 * them from it; 0: not any more. Returns whether that is a change; a guest with several queues has
 * none.
 */
bool connection_set_bridge(struct XnConnection *connection, unsigned bridge);

/* Does the guest want to have its multicast frames filtered? */
void connection_set_multicast_filter(struct XnConnection *connection, bool on);

/* Drops all frames, both ways, or no longer. The guest is not told. */
void connection_set_down(struct XnConnection *connection, bool down);

/* What queue `index` is doing, and the worker that serves it. */
void connection_inspect(struct XnConnection *connection, unsigned index,
                        struct XnQueueView *ret_view, unsigned *ret_worker);

/* Has all queues looked at afresh, and the guest told to look. */
void connection_kick(struct XnConnection *connection);

/* Has the guest taken no frames for so long that its interface has no carrier? */
bool connection_is_stalled(const struct XnConnection *connection);

uint64_t connection_serial(const struct XnConnection *connection);
const struct XnFrontend *connection_frontend(const struct XnConnection *connection);
/* Pages of the guest that are mapped. */
unsigned connection_mapped_grants(const struct XnConnection *connection);

#endif
