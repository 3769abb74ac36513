/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostile.h - what an attack is made of */
#ifndef QNETFRONT_HOSTILE_H
#define QNETFRONT_HOSTILE_H

#include "frontend.h"
#include "options.h"

/* What a well-made backend does about an attack. */
enum XnHostileExpect {
    XN_HOSTILE_REFUSE, /* does not connect: states 5, 6 and a reason */
    XN_HOSTILE_CLOSE, /* closes the vif (5) with a reason, or at least stops serving the ring */
    XN_HOSTILE_ERROR, /* answers the packet with an error and goes on */
    XN_HOSTILE_SERVE, /* odd, but legal: the packet is served */
    XN_HOSTILE_LIVE, /* anything, as long as it lives */
};

struct XnHostileRun;

/* One misbehaviour. @argument lets one function serve several entries. */
struct XnHostileAttack {
    const char *name;
    const char *what;
    enum XnHostileExpect expect;
    bool connected; /* begins on a connected vif, else before the keys are written */
    void (*act)(struct XnHostileRun *run, int64_t argument);
    int64_t argument;
};

/* One run of one attack. */
struct XnHostileRun {
    struct XnFrontend *frontend;
    const struct XnOptions *options;
    struct XnFailure failure; /* the attack itself could not be carried out */
    bool done; /* the attack itself has seen its end: no need to wait */
    bool broken_ring; /* the ring's indices are beyond use: no more requests after it */
};

extern const struct XnHostileAttack hostile_connect_attacks[];
extern const unsigned int hostile_connect_attacks_count;
extern const struct XnHostileAttack hostile_ring_attacks[];
extern const unsigned int hostile_ring_attacks_count;
extern const struct XnHostileAttack hostile_flood_attacks[];
extern const unsigned int hostile_flood_attacks_count;
extern const struct XnHostileAttack hostile_ctrl_attacks[];
extern const unsigned int hostile_ctrl_attacks_count;

/* Replaces a key; an empty value leaves it out. */
void hostile_override_key(struct XnHostileRun *run, const char *name, const char *value);

/* Writes the keys, and says Connected. */
void hostile_publish(struct XnHostileRun *run);

#endif
