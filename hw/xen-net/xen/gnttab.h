/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gnttab.h - grants: ring pages mapped, payload copied, our own pages granted to ourselves
 *
 * Over libxengnttab, which is thread-safe as far as each thread uses its own handle: the control
 * plane has one for the rings it maps, each worker one for its copies.
 */
#ifndef XN_XEN_GNTTAB_H
#define XN_XEN_GNTTAB_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <xengnttab.h>

struct XnGnttab;

/* One grant-copy operation; status is GNTST_okay (0) or negative after the call. */
typedef xengnttab_grant_copy_segment_t XnCopySegment;

/* Opens /dev/xen/gntdev. NULL with an error that says what to do. */
struct XnGnttab *gnttab_open(GError **error);

/* Closes it; NULL is fine. Mapped pages must have been unmapped. */
void gnttab_close(struct XnGnttab *gnttab);

/*
 * Maps page `ref` of domain `domid`, readable and, if asked for, writable. NULL with an error for
 * every reason for which the hypervisor refuses (unknown, revoked, read-only, granted to somebody
 * else).
 */
void *gnttab_map(struct XnGnttab *gnttab, uint32_t domid, uint32_t ref, bool writable,
                 GError **error);

/* Undoes one gnttab_map; NULL page is fine. */
void gnttab_unmap(struct XnGnttab *gnttab, void *page);

/*
 * Executes `count` segments in order. Each segment's status tells its own fate. When the call
 * itself fails, some statuses would read as success although nothing was copied (gntdev writes
 * success first and drops the operations it had gathered: Linux's gntdev_grant_copy_seg()), so then
 * every one of them is set to GNTST_general_error and false is returned.
 * All segments of a call go in the same direction.
 */
bool gnttab_copy(struct XnGnttab *gnttab, XnCopySegment *segments, uint32_t count);

/*
 * Pages of our own that the hypervisor can reach by grant reference, so that gntdev need not pin
 * the page for each operation.
 */
struct XnSelfGrant;

/*
 * Allocates `count` pages granted to the own domain `domid`. NULL when /dev/xen/gntalloc is
 * missing or its limit is reached; the error says which.
 */
struct XnSelfGrant *gnttab_self_grant(uint32_t domid, uint32_t count, GError **error);
void gnttab_self_grant_free(struct XnSelfGrant *grant);

/* First page; the pages follow one another. */
uint8_t *gnttab_self_grant_pages(const struct XnSelfGrant *grant);
/* Reference of page `index` < count. */
uint32_t gnttab_self_grant_ref(const struct XnSelfGrant *grant, uint32_t index);

#endif
