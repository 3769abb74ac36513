/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * static-pages.h - pages of the guest that stay mapped, by grant reference
 *
 * Theory of operation
 *
 * A guest that offers static grants (netif.h, ADD_GREF_MAPPING) uses the same pages again and
 * again, so they are mapped once and cost no grant operation any more. Frames for the guest are
 * written into them. Frames from the guest are copied out of them when they are small; large ones
 * are sent from where they lie, but for their first bytes: those are copied, checked in the copy
 * and sent from it, since the guest can still write to its pages.
 *
 * The control plane changes what is mapped only while no worker has the queue, and a frame never
 * outlives its turn; so a page is never unmapped under anybody's hands.
 */
#ifndef XN_DATA_STATIC_PAGES_H
#define XN_DATA_STATIC_PAGES_H

#include "netif/static-grant.h"

/* From this size on, in bytes, sending in place is cheaper than copying (docs/performance.md). */
#define XN_STATIC_PAGES_IN_PLACE_MIN 32768u

struct XnStaticPages {
    struct XnStaticGrants grants;
    /* by the index that the table gives; NULL where nothing is mapped */
    uint8_t *pages[XN_STATIC_GRANTS_MAX];
};

/*
 * The mapped page of grant `ref`, or NULL: then the grant is copied. `writable` asks for one that
 * may be written to. NULL table is fine.
 */
static inline uint8_t *static_pages_find(const struct XnStaticPages *table, uint32_t ref,
                                         bool writable)
{
    uint32_t index;

    if (!table) {
        return NULL;
    }
    index = static_grant_find(&table->grants, ref);
    if (index == XN_STATIC_GRANT_NONE ||
        (writable && static_grant_is_readonly(&table->grants, index))) {
        return NULL;
    }
    return table->pages[index];
}

#endif
