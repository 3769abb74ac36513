/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * personality.h - the habits of the frontends that guests have
 *
 * Theory of operation: what they write into xenstore and when, what they wait for, how they use the
 * rings. Each is one row of a table; nothing else in this program knows their names. A row says
 * what the frontend's own source does, as far as a backend can see it.
 */
#ifndef QNETFRONT_PERSONALITY_H
#define QNETFRONT_PERSONALITY_H

#include <stdbool.h>

#include <xen/io/xenbus.h>

/* A set of backend states. */
#define XN_STATE_BIT(state) (1u << (state))

/* What it does before it shares its rings. */
enum XnStart {
    XN_START_WAIT, /* Initialising, and the backend's InitWait */
    XN_START_AT_ONCE, /* nothing: the keys are there before the backend may be */
    XN_START_RESET, /* unless the backend is in InitWait: Closed, wait for it, then the first */
    XN_START_PROMPTED, /* as the first, but closes step by step what an earlier one left */
};

/* A state of its own, and the backend states that it waits for then; 0 ends the list. */
struct XnStateStep {
    enum xenbus_state ours;
    unsigned int backend;
};

struct XnPersonality {
    const char *name;
    const char *const *keys; /* NAME=VALUE, beside rings and channels; NULL ends the list */
    bool one_by_one; /* keys are written one after the other, not in a transaction */
    bool counts_one; /* multi-queue-num-queues is written for one queue, too */
    bool asks_back; /* keys that it needs from the backend are looked for before all else */
    enum XnStart start;
    struct XnStateStep closing[4];
    unsigned int panics; /* backend states that it does not survive while connected */
    bool answers_first; /* waits for all guest_tx answers before it closes */
    /* Rings. */
    unsigned int queues; /* at most; 0: as many as wanted */
    bool one_channel;
    bool ctrl_ring;
    unsigned int guest_rx_buffers; /* 0: all */
    unsigned int guest_rx_refill; /* buffers are given back so many at a time; 0: at once */
    unsigned int guest_tx_limit; /* slots under way at most; 0: all */
    bool small_ids; /* ids are page numbers, else they use all 16 bits */
    bool polls; /* never asks for an event: looks every millisecond */
    /* What it does not do when sending, whatever the backend offers. */
    bool no_sg, no_gso4, no_gso6, no_csum4, no_csum6;
};

extern const struct XnPersonality xn_personalities[];
extern const unsigned int xn_personalities_count;

/* The one of that name, NULL if there is none. */
const struct XnPersonality *personality_find(const char *name);

#endif
