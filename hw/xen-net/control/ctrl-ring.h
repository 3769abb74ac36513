/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl-ring.h - the control ring of a connected vif
 *
 * Main thread only.
 */
#ifndef XN_CONTROL_CTRL_RING_H
#define XN_CONTROL_CTRL_RING_H

#include "control/ctrl-journal.h"
#include "data/static-pages.h"
#include "data/vif-shared.h"
#include "xen/gnttab.h"

/* Everything is borrowed and outlives the ring. */
struct XnCtrlRingConfig {
    uint32_t domid;
    /* The guest's grant of the ring and its event channel. */
    uint32_t ref;
    uint32_t channel;
    uint32_t queue_count;
    struct XnGnttab *gnttab;
    struct XnHash *hash;
    /* For a successor; with `adopted` they are a predecessor's. */
    struct XnCtrlJournal *journal;
    struct XnGrantJournal *grants[XN_VIF_QUEUES_MAX];
    bool adopted;
    /*
     * Take queue `queue` from its worker to set its table of static grants, and give it back. What
     * is in the table may be changed in between.
     */
    void (*pause)(void *opaque, uint32_t queue, const struct XnStaticPages *static_pages);
    void (*resume)(void *opaque, uint32_t queue);
    /* Frames are to be spread by their hash from now on. May be called again and again. */
    void (*steer)(void *opaque);
    /* The guest broke the ring: called once, at the end of whatever is going on. */
    void (*broken)(void *opaque, const char *reason);
    void *opaque;
};

struct XnCtrlRing;

/*
 * Maps and binds the ring and serves it from the main loop. NULL with an error. With an adopted
 * journal, what a predecessor did is answered, and its static grants are mapped again.
 */
struct XnCtrlRing *ctrl_ring_open(const struct XnCtrlRingConfig *config, GError **error);

/*
 * Lets go of the ring and of all static grants, which no queue may use any more; NULL is fine.
 */
void ctrl_ring_close(struct XnCtrlRing *ring);

/* Pages of the guest that are mapped, the ring's included; 0 for NULL. */
unsigned ctrl_ring_mapped(const struct XnCtrlRing *ring);

#endif
