/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grant-map.c - the contract of mapping pages by grant reference, which the daemon does for rings.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <xengnttab.h>

#include "contract.h"
#include "tap.h"

#define READ_WRITE (PROT_READ | PROT_WRITE)

static xengnttab_handle *gnttab;

static void refuses(uint16_t domid, uint32_t ref, int prot, const char *what)
{
    void *page = xengnttab_map_grant_ref(gnttab, domid, ref, prot);

    tap_fails_with(page ? 0 : -1, EINVAL, "mapping %s fails", what);
    if (page) {
        xengnttab_unmap(gnttab, page, 1);
    }
}

static void test_one_page(struct Peer *peer, const uint32_t *refs)
{
    char seen[16] = "";
    char *page = xengnttab_map_grant_ref(gnttab, peer->domid, refs[0], READ_WRITE);

    tap_ok(page != NULL, "a granted page can be mapped");
    if (!page) {
        return;
    }
    peer_poke(peer, refs[0], 10, "the peer's", 11);
    tap_ok(strcmp(page + 10, "the peer's") == 0, "what the peer writes is seen at once");
    strcpy(page + 50, "ours");
    peer_peek(peer, refs[0], 50, seen, 5);
    tap_ok(strcmp(seen, "ours") == 0, "what we write is seen by the peer at once");
    tap_is(xengnttab_unmap(gnttab, page, 1), 0, "it can be unmapped");
    page = xengnttab_map_grant_ref(gnttab, peer->domid, refs[0], READ_WRITE);
    tap_ok(page && strcmp(page + 50, "ours") == 0, "and mapped again, with its contents");
    if (page) {
        xengnttab_unmap(gnttab, page, 1);
    }
}

static void test_many_pages(struct Peer *peer, const uint32_t *refs)
{
    uint32_t backwards[4] = {refs[3], refs[2], refs[1], refs[0]};
    char *pages;

    peer_poke(peer, refs[0], 0, "first", 6);
    peer_poke(peer, refs[3], 0, "last", 5);
    pages = xengnttab_map_domain_grant_refs(gnttab, 4, peer->domid, backwards, READ_WRITE);
    tap_ok(pages != NULL, "several pages can be mapped in one range");
    if (pages) {
        tap_ok(strcmp(pages, "last") == 0 && strcmp(pages + 3 * PAGE_BYTES, "first") == 0,
               "in the order of the references");
        tap_is(xengnttab_unmap(gnttab, pages, 4), 0, "and unmapped in one call");
    }
    backwards[2] = NO_SUCH_REF;
    pages = xengnttab_map_domain_grant_refs(gnttab, 4, peer->domid, backwards, READ_WRITE);
    tap_fails_with(pages ? 0 : -1, EINVAL, "one bad reference fails the whole range");
}

static void test_refusals(struct Peer *peer)
{
    uint32_t readonly;
    uint32_t others;
    void *page;

    refuses(peer->domid, NO_SUCH_REF, READ_WRITE, "a reference beyond the table");
    refuses(NO_SUCH_DOMID, 8, READ_WRITE, "a page of a domain that does not exist");
    if (peer_share(peer, contract_domid, 1, false, &readonly)) {
        refuses(peer->domid, readonly, READ_WRITE, "a read-only page for writing");
        page = xengnttab_map_grant_ref(gnttab, peer->domid, readonly, PROT_READ);
        tap_ok(page != NULL, "a read-only page can be mapped for reading");
        if (page) {
            xengnttab_unmap(gnttab, page, 1);
        }
        peer_unshare(peer, readonly);
        refuses(peer->domid, readonly, PROT_READ, "a page that was unshared");
    }
    if (peer_share(peer, NO_SUCH_DOMID, 1, true, &others)) {
        refuses(peer->domid, others, PROT_READ, "a page granted to another domain");
        peer_unshare(peer, others);
    }
}

static void test_unshared_while_mapped(struct Peer *peer)
{
    uint32_t ref;
    char *page;

    if (!peer_share(peer, contract_domid, 1, true, &ref)) {
        tap_bail_out("the peer cannot share a page");
    }
    page = xengnttab_map_grant_ref(gnttab, peer->domid, ref, READ_WRITE);
    tap_ok(page != NULL, "map a page that the peer then unshares");
    if (!page) {
        return;
    }
    tap_ok(peer_unshare(peer, ref), "unsharing succeeds while the page is mapped");
    strcpy(page, "still here");
    tap_ok(strcmp(page, "still here") == 0, "the mapping stays usable");
    tap_is(xengnttab_unmap(gnttab, page, 1), 0, "and can be unmapped");
}

void test_grant_map(struct Peer *peer)
{
    uint32_t refs[4];

    gnttab = xengnttab_open(NULL, 0);
    if (!gnttab || !peer_share(peer, contract_domid, 4, true, refs)) {
        tap_bail_out("cannot open the grant device: %s", strerror(errno));
    }
    test_one_page(peer, refs);
    test_many_pages(peer, refs);
    test_refusals(peer);
    test_unshared_while_mapped(peer);
    peer_unshare(peer, refs[0]);
    xengnttab_close(gnttab);
}
