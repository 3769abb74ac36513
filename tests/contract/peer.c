/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer.c - the other domain: starting it, asking it, and its own side.
 *
 * Requests and answers are one struct each over a SOCK_SEQPACKET pair; the peer inherits its end as
 * file descriptor 3 and says its domain id first.
 */
#include "contract.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xenevtchn.h>
#include <xengnttab.h>
#include <xenstore.h>

#include "tap.h"

#define PEER_SOCKET 3
#define MAX_SHARES 64
#define MAX_TEXT 256

enum Verb {
    VERB_SHARE,
    VERB_UNSHARE,
    VERB_PEEK,
    VERB_POKE,
    VERB_ALLOC,
    VERB_BIND,
    VERB_NOTIFY,
    VERB_UNMASK,
    VERB_UNBIND,
    VERB_WAIT,
    VERB_STORE_WRITE,
};

struct Message {
    enum Verb verb;
    int32_t result;
    uint32_t argument[3];
    uint32_t refs[PEER_MAX_REFS];
    char data[PEER_MAX_DATA];
    char path[MAX_TEXT];
    char value[MAX_TEXT];
};

/* --- the asking side --- */

static void exchange(struct Peer *peer, struct Message *message)
{
    if (send(peer->socket, message, sizeof(*message), MSG_NOSIGNAL) != sizeof(*message) ||
        recv(peer->socket, message, sizeof(*message), 0) != sizeof(*message)) {
        tap_bail_out("the peer process is gone");
    }
}

static int ask(struct Peer *peer, enum Verb verb, uint32_t first, uint32_t second)
{
    struct Message message = {.verb = verb, .argument = {first, second}};

    exchange(peer, &message);
    return message.result;
}

struct Peer *peer_start(const char *command)
{
    struct Peer *peer = calloc(1, sizeof(*peer));
    struct Message hello;
    int ends[2];

    if (!peer || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        tap_bail_out("socketpair: %s", strerror(errno));
    }
    fflush(stdout);
    peer->pid = fork();
    if (peer->pid == 0) {
        if (ends[1] == PEER_SOCKET) {
            ends[1] = dup(ends[1]);
        }
        dup2(ends[1], PEER_SOCKET);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    peer->socket = ends[0];
    if (recv(peer->socket, &hello, sizeof(hello), 0) != sizeof(hello) || hello.result < 0) {
        tap_bail_out("the peer does not start: %s", command);
    }
    peer->domid = (uint16_t)hello.result;
    return peer;
}

void peer_kill(struct Peer *peer)
{
    kill(peer->pid, SIGKILL);
    waitpid(peer->pid, NULL, 0);
    close(peer->socket);
    free(peer);
}

bool peer_share(struct Peer *peer, uint16_t domid, uint32_t count, bool writable, uint32_t *refs)
{
    struct Message message = {.verb = VERB_SHARE, .argument = {domid, count, writable}};

    exchange(peer, &message);
    memcpy(refs, message.refs, count * sizeof(*refs));
    return message.result == 0;
}

bool peer_unshare(struct Peer *peer, uint32_t first_ref)
{
    return ask(peer, VERB_UNSHARE, first_ref, 0) == 0;
}

void peer_peek(struct Peer *peer, uint32_t ref, uint32_t offset, void *data, uint32_t length)
{
    struct Message message = {.verb = VERB_PEEK, .argument = {ref, offset, length}};

    exchange(peer, &message);
    if (message.result != 0) {
        tap_bail_out("the peer does not share reference %u", ref);
    }
    memcpy(data, message.data, length);
}

void peer_poke(struct Peer *peer, uint32_t ref, uint32_t offset, const void *data, uint32_t length)
{
    struct Message message = {.verb = VERB_POKE, .argument = {ref, offset, length}};

    memcpy(message.data, data, length);
    exchange(peer, &message);
    if (message.result != 0) {
        tap_bail_out("the peer does not share reference %u", ref);
    }
}

int peer_evtchn_alloc(struct Peer *peer, uint16_t domid)
{
    return ask(peer, VERB_ALLOC, domid, 0);
}

int peer_evtchn_bind(struct Peer *peer, uint16_t domid, uint32_t remote)
{
    return ask(peer, VERB_BIND, domid, remote);
}

int peer_evtchn_notify(struct Peer *peer, uint32_t evtchn)
{
    return ask(peer, VERB_NOTIFY, evtchn, 0);
}

int peer_evtchn_unmask(struct Peer *peer, uint32_t evtchn)
{
    return ask(peer, VERB_UNMASK, evtchn, 0);
}

int peer_evtchn_unbind(struct Peer *peer, uint32_t evtchn)
{
    return ask(peer, VERB_UNBIND, evtchn, 0);
}

int peer_evtchn_wait(struct Peer *peer, uint32_t milliseconds)
{
    return ask(peer, VERB_WAIT, milliseconds, 0);
}

int peer_store_write(struct Peer *peer, const char *path, const char *value)
{
    struct Message message = {.verb = VERB_STORE_WRITE};

    snprintf(message.path, sizeof(message.path), "%s", path);
    snprintf(message.value, sizeof(message.value), "%s", value);
    exchange(peer, &message);
    return message.result;
}

/* --- the peer's side --- */

struct Share {
    char *pages; /* NULL: free */
    uint32_t count;
    uint32_t refs[PEER_MAX_REFS];
};

static struct {
    xengntshr_handle *gntshr;
    xenevtchn_handle *evtchn;
    struct xs_handle *store;
    struct Share share[MAX_SHARES];
} self;

static int or_errno(int result)
{
    return result < 0 ? -errno : result;
}

static int do_share(struct Message *message)
{
    uint32_t count = message->argument[1];
    uint32_t i;

    for (i = 0; i < MAX_SHARES; i++) {
        struct Share *share = &self.share[i];

        if (!share->pages) {
            share->pages = xengntshr_share_pages(self.gntshr, message->argument[0], (int)count,
                                                 share->refs, (int)message->argument[2]);
            if (!share->pages) {
                return -errno;
            }
            share->count = count;
            memcpy(message->refs, share->refs, sizeof(message->refs));
            return 0;
        }
    }
    return -ENOSPC;
}

static int do_unshare(uint32_t first_ref)
{
    uint32_t i;

    for (i = 0; i < MAX_SHARES; i++) {
        struct Share *share = &self.share[i];

        if (share->pages && share->refs[0] == first_ref) {
            int result = xengntshr_unshare(self.gntshr, share->pages, share->count);

            share->pages = NULL;
            return or_errno(result);
        }
    }
    return -ENOENT;
}

static char *shared_page(uint32_t ref)
{
    uint32_t i;
    uint32_t page;

    for (i = 0; i < MAX_SHARES; i++) {
        for (page = 0; self.share[i].pages && page < self.share[i].count; page++) {
            if (self.share[i].refs[page] == ref) {
                return self.share[i].pages + page * PAGE_BYTES;
            }
        }
    }
    return NULL;
}

static int do_access(struct Message *message)
{
    char *page = shared_page(message->argument[0]);

    if (!page) {
        return -ENOENT;
    }
    page += message->argument[1];
    if (message->verb == VERB_PEEK) {
        memcpy(message->data, page, message->argument[2]);
    } else {
        memcpy(page, message->data, message->argument[2]);
    }
    return 0;
}

static int do_wait(uint32_t milliseconds)
{
    struct pollfd polled = {.fd = xenevtchn_fd(self.evtchn), .events = POLLIN};

    if (poll(&polled, 1, (int)milliseconds) != 1) {
        return -EAGAIN;
    }
    return or_errno(xenevtchn_pending(self.evtchn));
}

static int do_verb(struct Message *message)
{
    uint32_t first = message->argument[0];

    switch (message->verb) {
    case VERB_SHARE:
        return do_share(message);
    case VERB_UNSHARE:
        return do_unshare(first);
    case VERB_PEEK:
    case VERB_POKE:
        return do_access(message);
    case VERB_ALLOC:
        return or_errno(xenevtchn_bind_unbound_port(self.evtchn, first));
    case VERB_BIND:
        return or_errno(xenevtchn_bind_interdomain(self.evtchn, first, message->argument[1]));
    case VERB_NOTIFY:
        return or_errno(xenevtchn_notify(self.evtchn, first));
    case VERB_UNMASK:
        return or_errno(xenevtchn_unmask(self.evtchn, first));
    case VERB_UNBIND:
        return or_errno(xenevtchn_unbind(self.evtchn, first));
    case VERB_WAIT:
        return do_wait(first);
    case VERB_STORE_WRITE:
        return xs_write(self.store, XBT_NULL, message->path, message->value,
                        (unsigned)strlen(message->value))
                   ? 0
                   : -errno;
    }
    return -ENOSYS;
}

int peer_serve(int socket)
{
    struct Message message = {.result = contract_domid};

    self.gntshr = xengntshr_open(NULL, 0);
    self.evtchn = xenevtchn_open(NULL, 0);
    self.store = xs_open(0);
    if (!self.gntshr || !self.evtchn || !self.store) {
        message.result = -1;
    }
    while (send(socket, &message, sizeof(message), MSG_NOSIGNAL) == sizeof(message) &&
           recv(socket, &message, sizeof(message), 0) == sizeof(message)) {
        message.result = do_verb(&message);
    }
    return 0;
}
