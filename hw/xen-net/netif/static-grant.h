/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * static-grant.h - which grants of the guest stay mapped
 *
 * Theory of operation
 *
 * A frontend may name pages that it will use again and again (ADD_GREF_MAPPING of netif.h). Each is
 * mapped once, and a slot that refers to it needs no grant operation any more. This table is the
 * book-keeping of one queue: which references are known, and at which index each has its mapping.
 * The mapping itself is the caller's, in an array with one place for each index.
 *
 * Every slot of the ring asks the table, so it is a hash table with open addressing, at most half
 * full. The references are the guest's choice: a secret seed keeps it from making them collide.
 *
 * One thread at a time uses a table: the one that serves its queue, or the one that changes it.
 */
#ifndef XN_NETIF_STATIC_GRANT_H
#define XN_NETIF_STATIC_GRANT_H

#include "netif/ring.h"

/* Grants of one queue at most: one for each slot of both rings. */
#define XN_STATIC_GRANTS_MAX 512u
/* Entries of one message: a list is one page. */
#define XN_STATIC_GRANT_LIST_MAX (XN_PAGE_SIZE / (uint32_t)sizeof(struct xen_netif_gref))
/* No index. */
#define XN_STATIC_GRANT_NONE UINT32_MAX

#define XN_STATIC_GRANT_BUCKETS (2 * XN_STATIC_GRANTS_MAX)

struct XnStaticGrant {
    uint32_t ref;
    /* The guest must not be written to through it. */
    bool readonly;
};

struct XnStaticGrants {
    uint64_t seed;
    /* How many there may be (at most XN_STATIC_GRANTS_MAX), and how many there are. */
    uint32_t limit;
    uint32_t count;
    struct XnStaticGrant grants[XN_STATIC_GRANTS_MAX];
    /* The indices that are free, limit - count of them. */
    uint16_t free[XN_STATIC_GRANTS_MAX];
    /* Index + 1 of the grant that hashes here, or to an earlier bucket; 0 ends the search. */
    uint16_t buckets[XN_STATIC_GRANT_BUCKETS];
};

/* An empty table for `limit` grants (more than XN_STATIC_GRANTS_MAX are that); a random `seed`. */
void static_grant_init(struct XnStaticGrants *table, uint32_t limit, uint64_t seed);

/*
 * Adds all `count` entries of a list, or none. `list` is a private copy, of any alignment. On
 * success ret_indices[i], less than the limit, is the place of entry i, to be mapped now. False
 * when there is no room for all, a reference is known already or given twice, or a flag is unknown.
 */
bool static_grant_add(struct XnStaticGrants *table, const uint8_t *list, uint32_t count,
                      uint16_t *ret_indices);

/*
 * Deletes the entries of a list one by one and writes into the list's copy how it went: SUCCESS, or
 * INVALID_PARAMETER where the reference was not known (any more). Returns how many were deleted;
 * ret_indices has their places, in the list's order, to be unmapped now.
 */
uint32_t static_grant_delete(struct XnStaticGrants *table, uint8_t *list, uint32_t count,
                             uint16_t *ret_indices);

/* Deletes the grants at these places, which are in use. */
void static_grant_delete_indices(struct XnStaticGrants *table, const uint16_t *indices,
                                 uint32_t count);

/*
 * Puts a grant at a place of its own, below the limit, as in the table of a predecessor. False when
 * the place is in use or the reference is known.
 */
bool static_grant_restore(struct XnStaticGrants *table, uint32_t index,
                          const struct XnStaticGrant *grant);

/* Place of a reference; XN_STATIC_GRANT_NONE when it is not known. */
uint32_t static_grant_find(const struct XnStaticGrants *table, uint32_t ref);

/* Whether the grant at a place in use is read-only. */
static inline bool static_grant_is_readonly(const struct XnStaticGrants *table, uint32_t index)
{
    return table->grants[index].readonly;
}

#endif
