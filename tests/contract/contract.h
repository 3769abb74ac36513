/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contract.h - the parts of the contract suite, and the peer that plays the other domain.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE_BYTES 4096u
/* A domain id that nobody has, and a grant reference beyond every table. */
#define NO_SUCH_DOMID 0x7fe0
#define NO_SUCH_REF 0x7fffffffu

#define PEER_MAX_REFS 64
#define PEER_MAX_DATA 64

/*
 * The peer is a process of its own: on a simulated host in a second domain, on real Xen in ours.
 * It does what it is asked, one request at a time.
 */
struct Peer {
    pid_t pid;
    int socket;
    uint16_t domid;
};

/* This program's domain, from xenstore. */
extern uint16_t contract_domid;

/* Start a peer by a shell command (see main.c); bails out when that fails. */
struct Peer *peer_start(const char *command);
/* Kill -9 and wait: what it held must be released by then. */
void peer_kill(struct Peer *peer);

/* Share fresh pages with a domain; they stay the peer's range `first`..  False on failure. */
bool peer_share(struct Peer *peer, uint16_t domid, uint32_t count, bool writable, uint32_t *refs);
/* Unshare the pages of the call that returned this as its first reference. */
bool peer_unshare(struct Peer *peer, uint32_t first_ref);
/* Read or write up to PEER_MAX_DATA bytes of a page the peer shares. */
void peer_peek(struct Peer *peer, uint32_t ref, uint32_t offset, void *data, uint32_t length);
void peer_poke(struct Peer *peer, uint32_t ref, uint32_t offset, const void *data, uint32_t length);

/* As the functions of libxenevtchn: a number or -errno. */
int peer_evtchn_alloc(struct Peer *peer, uint16_t domid);
int peer_evtchn_bind(struct Peer *peer, uint16_t domid, uint32_t remote);
int peer_evtchn_notify(struct Peer *peer, uint32_t evtchn);
int peer_evtchn_unmask(struct Peer *peer, uint32_t evtchn);
int peer_evtchn_unbind(struct Peer *peer, uint32_t evtchn);
/* The event channel that became pending, or -EAGAIN when none did in this time. */
int peer_evtchn_wait(struct Peer *peer, uint32_t milliseconds);

/* Write a xenstore node as the peer's domain: 0 or -errno. */
int peer_store_write(struct Peer *peer, const char *path, const char *value);

/* The peer's side, in its own process: serve until the socket closes. */
int peer_serve(int socket);

void test_grant_copy(struct Peer *peer);
void test_grant_map(struct Peer *peer);
void test_evtchn(struct Peer *peer, const char *peer_command);
void test_store(struct Peer *peer);

#endif
