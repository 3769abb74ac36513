/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout.h - how a frame's bytes are cut into guest_tx slots */
#ifndef QNETFRONT_LAYOUT_H
#define QNETFRONT_LAYOUT_H

#include "ring.h"

/* netif.h asks backends for 18 slots, and Linux's has always taken one more. */
#define XN_LAYOUT_SLOTS (XN_GUEST_TX_SLOTS_MAX + 1)

/* One ring slot: @size bytes at @offset of a page. */
struct XnSlot {
    uint16_t offset;
    uint16_t size;
};

enum XnLayoutKind {
    XN_LAYOUT_FULL, /* whole pages, as Linux sends them */
    XN_LAYOUT_HEADER, /* 66 bytes of headers in a slot of their own, then pages */
    XN_LAYOUT_TINY, /* as many slots of one byte as fit, then pages: headers cut everywhere */
    XN_LAYOUT_RANDOM, /* number and sizes of slots from the seed */
    XN_LAYOUTS
};

extern const char *const xn_layout_name[XN_LAYOUTS];

struct XnLayout {
    enum XnLayoutKind kind;
    unsigned int slots; /* exact number of slots where the length permits, 0: the kind decides */
    unsigned int max; /* never more, 1..XN_LAYOUT_SLOTS */
    unsigned int empty; /* slots without data in addition, anywhere, as far as max permits */
    bool random_offset; /* data begins anywhere in its page instead of at its start */
};

/* Fills @slot (room for XN_LAYOUT_SLOTS) for a frame of @length bytes and returns the number
 * of slots, or 0 if layout->max pages cannot hold it. The same @random gives the same slots. No
 * slot crosses its page, and none is empty but those that are asked for. */
unsigned int layout_cut(const struct XnLayout *layout, unsigned int length, uint64_t random,
                        struct XnSlot *slot);

#endif
