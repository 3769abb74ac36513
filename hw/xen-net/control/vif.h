/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif.h - one vif, from the moment its directory appears until it is gone
 *
 * Main thread only.
 */
#ifndef XN_CONTROL_VIF_H
#define XN_CONTROL_VIF_H

#include "base/counters.h"
#include "control/connection.h"
#include "control/store-key.h"
#include "control/store-node.h"
#include "control/vif-link.h"
#include "control/vif-settings.h"
#include "control/vif-state.h"
#include "port/link-watch.h"

/* How long a frontend may take to close when it is asked to; the toolstack waits for 10 s. */
#define XN_VIF_CLOSE_MS 5000u
#define XN_VIF_POLLS_WHOLE 40u

enum XnVifEventKind {
    XN_VIF_EVENT_ADDED,
    XN_VIF_EVENT_CONNECTED,
    XN_VIF_EVENT_CLOSED,
    /* Its guest takes no frames, see connection_is_stalled(); and does again. */
    XN_VIF_EVENT_STALLED,
    XN_VIF_EVENT_RESUMED,
    XN_VIF_EVENT_REMOVED,
};

/* What happened to a vif; pointers are valid during the call. */
struct XnVifEvent {
    enum XnVifEventKind kind;
    const char *name;
    struct XnVifId id;
    /* CLOSED: why. */
    const char *reason;
    /* CONNECTED: the rings were served by another daemon before; and how many queues. */
    bool adopted;
    unsigned queue_count;
};

/* Must not touch the vif. */
typedef void (*XnVifEventHandler)(void *opaque, const struct XnVifEvent *event);

/* What the daemon lends to its vifs; outlives them. */
struct XnVifHost {
    struct XnStore *store;
    uint32_t own_domid;
    struct XnGnttab *gnttab;
    struct XnWorkers *workers;
    struct XnLinkWatch *link_watch;
    /* Queues offered to each frontend, 1 ... XN_VIF_QUEUES_MAX. */
    unsigned queue_max;
    /* Bridges whose guests get frames directly from each other; NULL: none. */
    const char *const *direct_bridges;
    const char *journal_directory;
    /* How long frames wait for buffers of their guest. */
    struct XnGuestRxPatience patience;
    /* Serial of the last connection made. */
    uint64_t serial;
    XnConnectionBroken broken;
    /* Called when vif_look() is due without an event from xenstore. */
    void (*look)(void *opaque, struct XnVifId id);
    void *opaque;
    /* Told of everything that happens. */
    XnVifEventHandler event;
    void *event_opaque;
};

struct XnVif;

/*
 * Takes charge of a vif whose directory exists and whose state node reads `node`. Never fails: what
 * goes wrong shows in the vif's state.
 */
struct XnVif *vif_create(struct XnVifHost *host, struct XnVifId id, enum xenbus_state node);

/*
 * Lets go of the vif; NULL is fine. The interface goes with it, unless `keep_interface`: then it
 * stays as it is, for the daemon that comes after us.
 */
void vif_free(struct XnVif *vif, bool keep_interface);

enum XnVifLook {
    XN_VIF_LOOK_OK,
    /* Free the vif: its directory is gone, or belongs to a new vif of the same number. */
    XN_VIF_LOOK_GONE,
    /* xenstore failed for a reason that may pass: look again in a while. */
    XN_VIF_LOOK_AGAIN,
};

/* Reads what xenstore says about the vif, and does what follows from it. */
enum XnVifLook vif_look(struct XnVif *vif);

/* The guest broke a ring of the connection `serial`. To be followed by vif_look(). */
void vif_broken(struct XnVif *vif, uint64_t serial, const char *reason);

/*
 * Interface `index` of the host changed, 0: any may have. If it returns true, vif_look() is to
 * follow.
 */
bool vif_link_event(struct XnVif *vif, unsigned index);

/* To be called now and then: tells of a guest that takes no frames, and when it does again. */
void vif_check_stall(struct XnVif *vif);

/* What serves the vif while it is connected, else NULL. */
struct XnConnection *vif_connection(struct XnVif *vif);

/* The daemon ends: closes the vif for good. To be followed by vif_look(). */
void vif_shut(struct XnVif *vif);

/* Has a vif that was shut come to rest? */
bool vif_is_closed(const struct XnVif *vif);

/* Does it hold its interface? Not before it is prepared. */
bool vif_has_interface(const struct XnVif *vif);

/* Must vif_poll() be called now and then, because the frontend cannot be watched? */
bool vif_is_polled(const struct XnVif *vif);

/*
 * One question to xenstore: has the frontend's state changed, so that vif_look() is to follow? It
 * is also to follow every XN_VIF_POLLS_WHOLE times, for what a frontend changes besides its state.
 */
bool vif_poll(struct XnVif *vif);

/* The connection to xenstored is a new one: sets the vif's watch again. */
void vif_watch_again(struct XnVif *vif);

/* For the mark and sweep of discovery. */
void vif_mark(struct XnVif *vif, uint64_t stamp);
uint64_t vif_marked(const struct XnVif *vif);

/* What there is to know about a vif; pointers are the vif's. */
struct XnVifStatus {
    const char *name;
    struct XnVifId id;
    enum xenbus_state own;
    enum xenbus_state frontend;
    bool hotplug_connected;
    /* Why it was closed, or NULL. */
    const char *error;
    /* When that was, in seconds of the epoch; 0: before this daemon. */
    gint64 error_time;
    /* NULL unless it is connected. */
    const struct XnFrontend *connected;
    unsigned mapped_grants;
    unsigned queue_count;
    const struct XnQueueCounters *counters;
    /* Index of its interface in the host; 0: it has none yet. */
    unsigned interface;
    const struct XnVifLink *link;
    const struct XnVifSettings *settings;
    bool direct;
    bool stalled;
    /* Its frontend is looked at now and then, for lack of a watch. */
    bool polled;
    bool hotplug_failed;
    /* What is wrong and did not stop us, the last of it; NULL: nothing. */
    const char *complaint;
};

struct XnVifStatus vif_status(const struct XnVif *vif);

/* Tells the host's handler what happened to the vif: `event` without name and numbers. */
void vif_emit(const struct XnVif *vif, struct XnVifEvent event);

#endif
