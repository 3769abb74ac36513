/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evtchn.c - the contract of event channels.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <xenevtchn.h>

#include "contract.h"
#include "tap.h"

/* Long enough for an event to arrive on a slow machine; only tests that fail take it. */
#define SOON 5000
/* How long nothing must happen where nothing may happen. */
#define QUIET 20

static xenevtchn_handle *open_handle(void)
{
    xenevtchn_handle *handle = xenevtchn_open(NULL, 0);

    if (!handle) {
        tap_bail_out("cannot open the event channel device");
    }
    return handle;
}

/* The next pending event channel, or -EAGAIN. */
static int wait_event(xenevtchn_handle *handle, int milliseconds)
{
    struct pollfd polled = {.fd = xenevtchn_fd(handle), .events = POLLIN};

    if (poll(&polled, 1, milliseconds) != 1) {
        return -EAGAIN;
    }
    return xenevtchn_pending(handle);
}

static void test_delivery(struct Peer *peer)
{
    xenevtchn_handle *handle = open_handle();
    int remote = peer_evtchn_alloc(peer, contract_domid);
    int local;
    int i;

    tap_ok(remote > 0, "the peer allocates an unbound event channel");
    tap_is(peer_evtchn_notify(peer, (uint32_t)remote), 0,
           "notifying an unbound event channel succeeds and does nothing");
    local = xenevtchn_bind_interdomain(handle, peer->domid, (uint32_t)remote);
    if (!tap_ok(local > 0, "it can be bound")) {
        return;
    }
    tap_is(wait_event(handle, SOON), local, "an event channel is pending as soon as it is bound");

    tap_is(peer_evtchn_notify(peer, (uint32_t)remote), 0, "the peer notifies");
    tap_is(wait_event(handle, QUIET), -EAGAIN, "no event while it is masked, as after a delivery");
    tap_is(xenevtchn_unmask(handle, (uint32_t)local), 0, "unmask");
    tap_is(wait_event(handle, SOON), local, "the event sent meanwhile is delivered at the unmask");
    xenevtchn_unmask(handle, (uint32_t)local);
    tap_is(wait_event(handle, QUIET), -EAGAIN, "and only once");

    for (i = 0; i < 5; i++) {
        peer_evtchn_notify(peer, (uint32_t)remote);
    }
    tap_is(wait_event(handle, SOON), local, "of five events one is delivered");
    xenevtchn_unmask(handle, (uint32_t)local);
    tap_is(wait_event(handle, SOON), local, "the other four are one at the unmask");
    xenevtchn_unmask(handle, (uint32_t)local);
    tap_is(wait_event(handle, QUIET), -EAGAIN, "and no more");

    tap_is(xenevtchn_notify(handle, (uint32_t)local), 0, "we notify");
    tap_is(peer_evtchn_wait(peer, SOON), remote, "the peer gets it");
    peer_evtchn_unmask(peer, (uint32_t)remote);
    tap_is(xenevtchn_unbind(handle, (uint32_t)local), 0, "unbind");
    tap_is(peer_evtchn_unbind(peer, (uint32_t)remote), 0, "the peer unbinds too");
    tap_is(xenevtchn_close(handle), 0, "the event channel device closes");
}

static void test_descriptor(struct Peer *peer)
{
    xenevtchn_handle *handle = open_handle();
    int remote = peer_evtchn_alloc(peer, contract_domid);
    int local = xenevtchn_bind_interdomain(handle, peer->domid, (uint32_t)remote);
    int fd = xenevtchn_fd(handle);
    int poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};

    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
    tap_is(epoll_wait(poller, &event, 1, SOON), 1, "epoll reports the descriptor");
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    tap_is(xenevtchn_pending(handle), local, "the event channel is read");
    tap_is(epoll_wait(poller, &event, 1, QUIET), 0, "epoll is quiet after it");
    tap_fails_with(xenevtchn_pending(handle), EAGAIN, "a non-blocking read without an event");
    close(poller);
    xenevtchn_close(handle);
    peer_evtchn_unbind(peer, (uint32_t)remote);
}

static void test_refusals(struct Peer *peer)
{
    xenevtchn_handle *handle = open_handle();
    xenevtchn_handle *other = open_handle();
    int remote = peer_evtchn_alloc(peer, contract_domid);
    int strange = peer_evtchn_alloc(peer, NO_SUCH_DOMID);
    int local;

    tap_fails_with(xenevtchn_bind_interdomain(handle, NO_SUCH_DOMID, (uint32_t)remote), ESRCH,
                   "binding to a domain that does not exist");
    tap_fails_with(xenevtchn_bind_interdomain(handle, peer->domid, (uint32_t)strange), EINVAL,
                   "binding to what is allocated for another domain");
    tap_fails_with(xenevtchn_bind_interdomain(handle, peer->domid, 0), EINVAL,
                   "binding to event channel 0");
    tap_fails_with(xenevtchn_bind_interdomain(handle, peer->domid, 0x7fffffff), EINVAL,
                   "binding to a number beyond the table");
    local = xenevtchn_bind_interdomain(handle, peer->domid, (uint32_t)remote);
    tap_fails_with(xenevtchn_bind_interdomain(handle, peer->domid, (uint32_t)remote), EINVAL,
                   "binding to what is bound already");
    tap_fails_with(xenevtchn_notify(other, (uint32_t)local), ENOTCONN,
                   "notifying an event channel of another handle");
    tap_fails_with(xenevtchn_unbind(other, (uint32_t)local), ENOTCONN,
                   "unbinding an event channel of another handle");
    tap_is(xenevtchn_unmask(other, (uint32_t)local), 0,
           "unmasking an event channel of another handle does nothing, without an error");
    tap_is(xenevtchn_unbind(handle, (uint32_t)local), 0, "unbinding the own one");
    tap_fails_with(xenevtchn_unbind(handle, (uint32_t)local), ENOTCONN, "unbinding it twice");
    tap_fails_with(xenevtchn_notify(handle, (uint32_t)local), ENOTCONN, "notifying it afterwards");
    peer_evtchn_unbind(peer, (uint32_t)remote);
    peer_evtchn_unbind(peer, (uint32_t)strange);
    xenevtchn_close(other);
    xenevtchn_close(handle);
}

/* What makes a restart of the backend possible. */
static void test_rebinding(struct Peer *peer)
{
    xenevtchn_handle *handle = open_handle();
    xenevtchn_handle *second = open_handle();
    int remote = peer_evtchn_alloc(peer, contract_domid);
    int local = xenevtchn_bind_interdomain(second, peer->domid, (uint32_t)remote);

    tap_ok(local > 0, "bind through a second handle");
    xenevtchn_close(second);
    tap_is(peer_evtchn_notify(peer, (uint32_t)remote), 0,
           "after that is closed the peer's end can still be notified");
    local = xenevtchn_bind_interdomain(handle, peer->domid, (uint32_t)remote);
    tap_ok(local > 0, "and the same remote event channel be bound again");
    tap_is(wait_event(handle, SOON), local, "which is pending at once, as ever");
    xenevtchn_unmask(handle, (uint32_t)local);
    peer_evtchn_notify(peer, (uint32_t)remote);
    tap_is(wait_event(handle, SOON), local, "and gets the peer's events");

    tap_is(peer_evtchn_unbind(peer, (uint32_t)remote), 0, "the peer closes its end");
    tap_is(xenevtchn_notify(handle, (uint32_t)local), 0, "ours can still be notified");
    tap_is(xenevtchn_unbind(handle, (uint32_t)local), 0, "and unbound");
    xenevtchn_close(handle);
}

static void test_death(struct Peer *peer, const char *peer_command)
{
    xenevtchn_handle *handle = open_handle();
    struct Peer *mortal = peer_start(peer_command);
    int own = xenevtchn_bind_unbound_port(handle, mortal->domid);
    int remote;
    int local;

    tap_ok(own > 0, "allocate an event channel for another process");
    tap_ok(peer_evtchn_bind(mortal, contract_domid, (uint32_t)own) > 0, "which binds it");
    remote = peer_evtchn_alloc(mortal, contract_domid);
    local = xenevtchn_bind_interdomain(handle, mortal->domid, (uint32_t)remote);
    tap_ok(local > 0, "bind one of that process");
    peer_kill(mortal);
    tap_is(xenevtchn_notify(handle, (uint32_t)local), 0,
           "after it was killed its event channels can be notified in vain");
    tap_fails_with(xenevtchn_bind_interdomain(handle, peer->domid, (uint32_t)remote), EINVAL,
                   "those that it had allocated are gone");
    remote = peer_evtchn_bind(peer, contract_domid, (uint32_t)own);
    tap_ok(remote > 0, "what it had bound can be bound again by another process of its domain");
    peer_evtchn_notify(peer, (uint32_t)remote);
    while ((local = wait_event(handle, SOON)) > 0 && local != own) {
        xenevtchn_unmask(handle, (uint32_t)local);
    }
    tap_is(local, own, "and works");
    peer_evtchn_unbind(peer, (uint32_t)remote);
    xenevtchn_close(handle);
}

static void test_restrict(struct Peer *peer)
{
    xenevtchn_handle *handle = open_handle();
    int remote = peer_evtchn_alloc(peer, contract_domid);

    tap_fails_with(xenevtchn_restrict(handle, 0), EINVAL, "a handle cannot be restricted to dom0");
    if (!tap_is(xenevtchn_restrict(handle, NO_SUCH_DOMID), 0,
                "a handle can be restricted to one domain")) {
        xenevtchn_close(handle);
        return;
    }
    tap_fails_with(xenevtchn_bind_interdomain(handle, peer->domid, (uint32_t)remote), EACCES,
                   "then binding to another");
    tap_fails_with(xenevtchn_bind_unbound_port(handle, NO_SUCH_DOMID), EACCES,
                   "or allocating, even for that domain,");
    tap_fails_with(xenevtchn_restrict(handle, NO_SUCH_DOMID - 1), EACCES, "or restricting again");
    xenevtchn_close(handle);

    if (peer->domid == 0) {
        tap_skip("a restricted handle binds to its domain", "needs a peer in another domain");
    } else {
        int local;

        handle = open_handle();
        xenevtchn_restrict(handle, peer->domid);
        local = xenevtchn_bind_interdomain(handle, peer->domid, (uint32_t)remote);
        tap_ok(local > 0, "a restricted handle binds to its domain");
        tap_is(xenevtchn_notify(handle, (uint32_t)local), 0, "and notifies");
        tap_is(peer_evtchn_wait(peer, SOON), remote, "the peer gets it");
        xenevtchn_close(handle);
    }
    peer_evtchn_unbind(peer, (uint32_t)remote);
}

/* A closed event channel's number may still be queued in its handle: each part has its own. */
void test_evtchn(struct Peer *peer, const char *peer_command)
{
    test_delivery(peer);
    test_descriptor(peer);
    test_refusals(peer);
    test_rebinding(peer);
    test_death(peer, peer_command);
    test_restrict(peer);
}
