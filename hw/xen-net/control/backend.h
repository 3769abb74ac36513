/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backend.h - the daemon's object: all vifs of this domain
 *
 * Main thread only.
 */
#ifndef XN_CONTROL_BACKEND_H
#define XN_CONTROL_BACKEND_H

#include <glib.h>
#include <stdbool.h>

#include "control/vif.h"
#include "control/workers.h"

struct XnBackendConfig {
    unsigned workers;
    enum XnBufferKind buffers;
    /* Queues offered to each frontend, 1 ... XN_VIF_QUEUES_MAX. */
    unsigned queue_max;
    /* Bridges whose guests get frames directly from each other, to the end; NULL: none. */
    const char *const *direct_bridges;
    /* Exists, and only this user can write to it. */
    const char *journal_directory;
    /* Leave alone each vif that a driver of the kernel holds when it is first seen. */
    bool beside_netback;
    /* How long frames wait for buffers of their guest. */
    struct XnGuestRxPatience patience;
    /* Called from the main loop when there is nothing more to do after a stop. */
    void (*ended)(void *opaque);
    /* Told of everything that happens to a vif. */
    XnVifEventHandler event;
    void *opaque;
};

struct XnBackend;

/*
 * Is there a Xen here that we may use? For before anything is made. False with a one-line message
 * for the administrator.
 */
bool backend_check(GError **error);

/* Connects to Xen and starts the workers. NULL with a one-line message for the administrator. */
struct XnBackend *backend_create(const struct XnBackendConfig *config, GError **error);

/* Begins to serve: vifs that exist are found from the main loop. */
bool backend_start(struct XnBackend *backend, GError **error);

/*
 * Closes all vifs in order (states 5, 6), waiting a bounded time for their frontends; then calls
 * `ended`. Calling it again ends at once.
 */
void backend_stop(struct XnBackend *backend);

/*
 * Ends at once, for a daemon that starts soon: vifs stay Connected, their interfaces stay in their
 * bridges, and the next daemon serves them on.
 */
void backend_leave(struct XnBackend *backend);

/* Frees everything; NULL is fine. Interfaces of vifs whose directory still exists are kept. */
void backend_free(struct XnBackend *backend);

/* Calls `visit` for each vif, by domain and device. */
void backend_foreach(struct XnBackend *backend,
                     void (*visit)(const struct XnVif *vif, void *opaque), void *opaque);

/* The vif of that name, such as "vif1.0", or NULL. */
struct XnVif *backend_find(struct XnBackend *backend, const char *name);

/* The domain that the daemon runs in. */
uint32_t backend_own_domid(const struct XnBackend *backend);

/* What the packet buffers are. */
enum XnBufferKind backend_buffer_kind(const struct XnBackend *backend);

#endif
