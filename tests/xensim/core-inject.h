/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core-inject.h - per-process call counters, failures on request, and simulated cost.
 *
 * Counters and failure rules live in the world, so that another process can read and set them:
 * `xensim stats`, `xensim fail`.
 */
#ifndef XENSIM_INJECT_H
#define XENSIM_INJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The kinds of calls that are counted and can be made to fail. */
#define SIM_CALLS(X) \
    X(evtchn_open)   \
    X(gnttab_open)   \
    X(gntshr_open)   \
    X(map)           \
    X(unmap)         \
    X(copy)          \
    X(segment)       \
    X(share)         \
    X(unshare)       \
    X(bind)          \
    X(unbind)        \
    X(notify)        \
    X(unmask)        \
    X(pending)       \
    X(restrict)      \
    X(foreign_map)   \
    X(entry)

enum SimCall {
#define SIM_CALL_ENUM(name) SIM_CALL_##name,
    SIM_CALLS(SIM_CALL_ENUM)
#undef SIM_CALL_ENUM
        SIM_CALL_COUNT
};

#define SIM_MAX_RULES 16

/* Calls first..last (counted from 1) of a kind fail with this errno, or status for a segment. */
struct SimRule {
    uint32_t call;
    int32_t error;
    uint64_t first;
    uint64_t last;
};

/* One process's counters and rules. */
struct SimTally {
    _Atomic uint64_t calls[SIM_CALL_COUNT];
    _Atomic uint64_t failed[SIM_CALL_COUNT]; /* on request */
    _Atomic int64_t mapped_pages; /* mapped by grant reference now */
    _Atomic int64_t shared_pages;
    _Atomic uint32_t rule_count;
    struct SimRule rule[SIM_MAX_RULES];
};

const char *inject_call_name(enum SimCall call);

/*
 * Replace the rules with those of a specification: CALL:N[+][:ERROR][,...], ERROR an errno name or
 * number, for segment a negative grant status.  N counts from the process's start, with a leading
 * '+' from now on; a trailing '+' means that call and all later ones.  Empty: no rules.
 * False with *bad pointing to the offending item.
 */
bool inject_set_rules(struct SimTally *tally, const char *specification, const char **bad);

/* Count a call; true when it must fail, with errno set.  Spends $XENSIM_CALL_NS. */
bool inject_call(enum SimCall call);

/* The same for a segment, with *status set: spends $XENSIM_SEG_NS. */
bool inject_segment(int *status);

/* Read $XENSIM_FAIL, $XENSIM_CALL_NS and $XENSIM_SEG_NS; a bad value is fatal. */
void inject_init(struct SimTally *tally);

/* The number of the errno constant that this names ("ENOMEM", "12", "-1"); false if it is none. */
bool inject_parse_error(const char *text, int *error);

#endif
