/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grant-copy.c - the contract of xengnttab_grant_copy.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <xengnttab.h>

#include "contract.h"
#include "tap.h"

typedef xengnttab_grant_copy_segment_t Segment;

/* Linux hands operations to the hypervisor in batches of this many. */
#define BATCH 16
/* What no call writes into a status. */
#define UNTOUCHED 77

static xengnttab_handle *gnttab;
/* Four pages of the peer's that we may write, and one that we may only read. */
static uint32_t writable[4];
static uint32_t readonly;
/* Two pages of ours, page-aligned. */
static char *local;

static Segment from_ref(uint16_t domid, uint32_t ref, uint16_t offset, void *to, uint16_t length)
{
    Segment segment = {.len = length, .flags = GNTCOPY_source_gref, .status = UNTOUCHED};

    segment.source.foreign.domid = domid;
    segment.source.foreign.ref = ref;
    segment.source.foreign.offset = offset;
    segment.dest.virt = to;
    return segment;
}

static Segment to_ref(void *from, uint16_t domid, uint32_t ref, uint16_t offset, uint16_t length)
{
    Segment segment = {.len = length, .flags = GNTCOPY_dest_gref, .status = UNTOUCHED};

    segment.source.virt = from;
    segment.dest.foreign.domid = domid;
    segment.dest.foreign.ref = ref;
    segment.dest.foreign.offset = offset;
    return segment;
}

static Segment between_refs(uint16_t from_domid, uint32_t from, uint16_t to_domid, uint32_t to,
                            uint16_t offset, uint16_t length)
{
    Segment segment = to_ref(NULL, to_domid, to, offset, length);

    segment.flags |= GNTCOPY_source_gref;
    segment.source.foreign.domid = from_domid;
    segment.source.foreign.ref = from;
    segment.source.foreign.offset = offset;
    return segment;
}

static int copy_status(Segment segment)
{
    if (xengnttab_grant_copy(gnttab, 1, &segment) != 0) {
        return -1000 - errno;
    }
    return segment.status;
}

static void test_directions(struct Peer *peer)
{
    char seen[16] = "";
    Segment segment;

    peer_poke(peer, writable[0], 100, "from the peer", 14);
    tap_is(copy_status(from_ref(peer->domid, writable[0], 100, local, 14)), GNTST_okay,
           "a granted page can be copied from");
    tap_ok(strcmp(local, "from the peer") == 0, "the bytes are the peer's");

    strcpy(local, "from us");
    tap_is(copy_status(to_ref(local, peer->domid, writable[0], 4088, 8)), GNTST_okay,
           "a granted page can be copied to, up to its last byte");
    peer_peek(peer, writable[0], 4088, seen, 8);
    tap_ok(strcmp(seen, "from us") == 0, "the peer sees the bytes");

    memset(local, 0, 2 * PAGE_BYTES);
    segment = from_ref(peer->domid, writable[0], 100, local + PAGE_BYTES - 5, 14);
    tap_is(copy_status(segment), GNTST_okay, "the local side may cross a page");
    tap_ok(strcmp(local + PAGE_BYTES - 5, "from the peer") == 0 && local[PAGE_BYTES - 6] == 0 &&
               local[PAGE_BYTES + 9] == 0,
           "both parts arrive, and nothing beside them");

    tap_is(copy_status(from_ref(peer->domid, readonly, 0, local, PAGE_BYTES)), GNTST_okay,
           "a whole read-only page can be copied from");
}

/* The daemon's buffers: own pages granted to the own domain, and both sides given by reference. */
static void test_own_pages(struct Peer *peer)
{
    xengntshr_handle *gntshr = xengntshr_open(NULL, 0);
    uint32_t own[2];
    char *pages = NULL;
    char seen[16] = "";

    if (gntshr) {
        pages = xengntshr_share_pages(gntshr, contract_domid, 2, own, 1);
    }
    tap_ok(pages != NULL, "a domain can share pages with itself");
    if (!pages) {
        return;
    }
    peer_poke(peer, writable[1], 8, "by reference", 13);
    tap_is(copy_status(between_refs(peer->domid, writable[1], contract_domid, own[0], 8, 13)),
           GNTST_okay, "copy from the peer's page to an own page, both by reference");
    tap_ok(strcmp(pages + 8, "by reference") == 0, "the bytes are in the own page");
    strcpy(pages + PAGE_BYTES + 200, "and back");
    tap_is(copy_status(between_refs(contract_domid, own[1], peer->domid, writable[1], 200, 9)),
           GNTST_okay, "and back");
    peer_peek(peer, writable[1], 200, seen, 9);
    tap_ok(strcmp(seen, "and back") == 0, "the peer sees the bytes of the own page");
    tap_is(copy_status(between_refs(contract_domid, own[1], contract_domid, own[0], 200, 9)),
           GNTST_okay, "copy from an own page to an own page");
    tap_ok(strcmp(pages + 200, "and back") == 0, "the bytes are there");
    tap_is(xengntshr_unshare(gntshr, pages, 2), 0, "own pages can be unshared");
    xengntshr_close(gntshr);
}

static void test_statuses(struct Peer *peer)
{
    uint16_t domid = peer->domid;
    uint32_t others;
    uint32_t revoked;
    Segment mixed[3];

    tap_is(copy_status(from_ref(domid, NO_SUCH_REF, 0, local, 1)), GNTST_bad_gntref,
           "a reference beyond the table: bad_gntref");
    tap_is(copy_status(from_ref(NO_SUCH_DOMID, writable[0], 0, local, 1)), GNTST_bad_domain,
           "a domain that does not exist: bad_domain");
    tap_is(copy_status(to_ref(local, domid, readonly, 0, 1)), GNTST_general_error,
           "writing to a read-only page: general_error");
    if (tap_ok(peer_share(peer, NO_SUCH_DOMID, 1, true, &others),
               "pages can be granted to a domain that does not exist yet")) {
        tap_is(copy_status(from_ref(domid, others, 0, local, 1)), GNTST_general_error,
               "a page granted to another domain: general_error");
        peer_unshare(peer, others);
    }
    if (tap_ok(peer_share(peer, contract_domid, 1, true, &revoked), "share one more page")) {
        tap_is(copy_status(from_ref(domid, revoked, 0, local, 1)), GNTST_okay,
               "before it is unshared it can be copied");
        peer_unshare(peer, revoked);
        tap_is(copy_status(from_ref(domid, revoked, 0, local, 1)), GNTST_general_error,
               "after it is unshared: general_error");
    }

    peer_poke(peer, writable[2], 0, "good", 5);
    memset(local, 0, PAGE_BYTES);
    mixed[0] = from_ref(domid, writable[2], 0, local, 5);
    mixed[1] = from_ref(domid, NO_SUCH_REF, 0, local + 100, 5);
    mixed[2] = from_ref(domid, writable[2], 0, local + 200, 5);
    tap_is(xengnttab_grant_copy(gnttab, 3, mixed), 0, "a call with one bad segment succeeds");
    tap_ok(mixed[0].status == GNTST_okay && mixed[1].status == GNTST_bad_gntref &&
               mixed[2].status == GNTST_okay,
           "only the bad segment has a bad status");
    tap_ok(strcmp(local, "good") == 0 && strcmp(local + 200, "good") == 0 && !local[100],
           "the others are copied");
}

static void test_arguments(struct Peer *peer)
{
    uint16_t domid = peer->domid;
    Segment segment = from_ref(domid, writable[0], 4000, local, 97);

    tap_fails_with(xengnttab_grant_copy(gnttab, 1, &segment), EINVAL,
                   "a granted side that crosses its page fails the call");
    segment = from_ref(domid, writable[0], 4000, local, 96);
    segment.flags = 0;
    segment.source.virt = local + PAGE_BYTES;
    tap_fails_with(xengnttab_grant_copy(gnttab, 1, &segment), EINVAL,
                   "a segment without a granted side fails the call");
    tap_is(copy_status(from_ref(domid, NO_SUCH_REF, 0, local, 0)), GNTST_okay,
           "an empty segment is okay whatever its reference is");
}

#define MANY 40

static void test_batches(struct Peer *peer)
{
    static char expected[MANY];
    Segment segments[MANY];
    unsigned copied = 0;
    unsigned okay = 0;
    unsigned i;

    for (i = 0; i < MANY; i++) {
        expected[i] = (char)('A' + i % 26);
    }
    peer_poke(peer, writable[3], 0, expected, MANY);
    memset(local, 0, 2 * PAGE_BYTES);
    for (i = 0; i < MANY; i++) {
        segments[i] = from_ref(peer->domid, writable[3], (uint16_t)i, local + i, 1);
    }
    tap_is(xengnttab_grant_copy(gnttab, MANY, segments), 0, "%d segments in one call", MANY);
    for (i = 0; i < MANY; i++) {
        okay += segments[i].status == GNTST_okay;
    }
    tap_is(okay, MANY, "every status is okay");
    tap_ok(memcmp(local, expected, MANY) == 0, "every byte is copied");

    /* A bad argument in segment 20: two batches were begun, one was done. */
    memset(local, 0, 2 * PAGE_BYTES);
    for (i = 0; i < MANY; i++) {
        segments[i] = from_ref(peer->domid, writable[3], (uint16_t)i, local + i, 1);
    }
    segments[20].len = PAGE_BYTES;
    tap_fails_with(xengnttab_grant_copy(gnttab, MANY, segments), EINVAL,
                   "a bad segment fails a call of several batches");
    for (i = 0; i < MANY; i++) {
        copied += local[i] != 0;
    }
    tap_is(copied, BATCH, "the full batch before it was copied, the open one was not");
    tap_is(segments[BATCH].status, GNTST_okay,
           "the statuses of the lost batch say okay nevertheless");
    tap_is(segments[MANY - 1].status, UNTOUCHED, "the statuses after it are not written");
}

void test_grant_copy(struct Peer *peer)
{
    gnttab = xengnttab_open(NULL, 0);
    if (!gnttab || posix_memalign((void **)&local, PAGE_BYTES, 2 * PAGE_BYTES) != 0) {
        tap_bail_out("cannot open the grant device: %s", strerror(errno));
    }
    memset(local, 0, 2 * PAGE_BYTES);
    if (!peer_share(peer, contract_domid, 4, true, writable) ||
        !peer_share(peer, contract_domid, 1, false, &readonly)) {
        tap_bail_out("the peer cannot share pages");
    }
    test_directions(peer);
    test_own_pages(peer);
    test_statuses(peer);
    test_arguments(peer);
    test_batches(peer);
    peer_unshare(peer, writable[0]);
    peer_unshare(peer, readonly);
    free(local);
    tap_is(xengnttab_close(gnttab), 0, "the grant device closes");
}
