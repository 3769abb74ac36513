/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-private.h - a vif as the files that make it up see it
 *
 * vif-facts.c reads what xenstore says about it, vif.c does what follows from that.
 */
#ifndef XN_CONTROL_VIF_PRIVATE_H
#define XN_CONTROL_VIF_PRIVATE_H

#include "base/log.h"
#include "control/vif-link.h"
#include "control/vif-settings.h"
#include "control/vif.h"

struct XnVif {
    struct XnVifHost *host;
    struct XnVifId id;
    char *name;
    char *directory;
    /* From the key `frontend`; NULL until the toolstack has written it. */
    char *frontend_directory;
    bool watched;
    /* How often it was asked whether an unwatched frontend has moved. */
    unsigned polls;
    uint64_t mark;

    struct XnVifFacts facts;
    struct XnVifSettings settings;
    struct XnPort *port;
    struct XnVifLink link;
    /* Frames of neighbours on the same bridge may take the short cut. */
    bool direct;
    /* What the frontend was offered last. */
    unsigned queue_max;
    struct XnConnection *connection;
    struct XnVifCredit credit;
    struct XnQueueCounters counters[XN_VIF_QUEUES_MAX];

    /* Its guest takes no frames, and people were told. */
    bool stalled;
    guint close_timer;
    /* What stands in the error nodes; NULL when they are not there. */
    char *error;
    /* When that was, in seconds of the epoch; 0: before this daemon. */
    gint64 error_time;
    bool hotplug_failed;
    /* The last that was said. */
    char *complaint;
    /* Its own, so that what the guest does cannot hide it. */
    struct XnLogLimit complaint_limit;
    /* Why the last look failed, said once; NULL when it did not. */
    char *trouble;
    struct XnLogLimit log_limit;
    /* So that debugging hides nothing else. */
    struct XnLogLimit debug_limit;
};

/* Writes a line about the vif, unless its guest has caused too many. */
void vif_log(struct XnVif *vif, enum XnLogLevel level, const char *text);

/* What is wrong but does not stop us is said once. NULL: nothing is. */
void vif_complain(struct XnVif *vif, const char *complaint);

/* Ends what there is, with the reason where people look for it. */
void vif_fail(struct XnVif *vif, enum XnVifShut shut, const char *reason);

/* The error stands for a moment in which xenstore does not serve us, not for a bad value. */
bool vif_is_store_trouble(const GError *error);

/* One watch for all that the frontend writes: its state, and what it may change while connected. */
void vif_watch_frontend(struct XnVif *vif);

/* Who is at the other end? *ret_known stays false while the toolstack has yet to write it. */
bool vif_identify(struct XnVif *vif, bool *ret_known, GError **error);

/* May its frames and its neighbours' take the short cut? To vif->direct. */
bool vif_read_direct(struct XnVif *vif, GError **error);

/* What the frontend asks for, as far as the administrator lets it. */
bool vif_read_frontend(struct XnVif *vif, struct XnFrontend *ret_frontend, GError **error);

/*
 * Brings vif->facts up to date, but for our own state, and with them what follows the keys at any
 * time: rates, the multicast filter, what the guest learns about the interface.
 */
bool vif_read_facts(struct XnVif *vif, GError **error);

#endif
