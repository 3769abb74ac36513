/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shim-evtchn.c - libxenevtchn.so.1 on the simulated host.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <xenevtchn.h>

#include "core.h"

static struct SimHandle *sim(xenevtchn_handle *xce)
{
    return (struct SimHandle *)(void *)xce;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

xenevtchn_handle *xenevtchn_open(struct xentoollog_logger *logger, unsigned int flags)
{
    (void)logger;
    (void)flags;
    return (xenevtchn_handle *)(void *)handle_open_call(SIM_HANDLE_EVTCHN, SIM_CALL_evtchn_open);
}

/* Handing a handle over an exec is not modelled. */
xenevtchn_handle *xenevtchn_fdopen(struct xentoollog_logger *logger, int fd, unsigned open_flags)
{
    (void)logger;
    (void)fd;
    (void)open_flags;
    errno = ENOSYS;
    return NULL;
}

int xenevtchn_close(xenevtchn_handle *xce)
{
    if (xce) {
        handle_close(sim(xce));
    }
    return 0;
}

int xenevtchn_fd(xenevtchn_handle *xce)
{
    return sim(xce)->fd;
}

int xenevtchn_restrict(xenevtchn_handle *xce, domid_t domid)
{
    if (inject_call(SIM_CALL_restrict)) {
        return -1;
    }
    if (sim(xce)->restricted_to >= 0) {
        return fail(EACCES);
    }
    if (domid == 0 || domid >= DOMID_FIRST_RESERVED) {
        return fail(EINVAL);
    }
    sim(xce)->restricted_to = domid;
    return 0;
}

static int bind_checked(struct SimHandle *handle, bool allowed)
{
    if (inject_call(SIM_CALL_bind)) {
        return -1;
    }
    if (!allowed) {
        return fail(EACCES);
    }
    core_lock();
    process_reap();
    if (sim_world->handle[handle->slot].seq != handle->seq) {
        core_unlock();
        return fail(ENODEV);
    }
    return 0;
}

xenevtchn_port_or_error_t xenevtchn_bind_unbound_port(xenevtchn_handle *xce, uint32_t domid)
{
    struct SimHandle *handle = sim(xce);
    int number;

    if (bind_checked(handle, handle->restricted_to < 0) != 0) {
        return -1;
    }
    number = evtchn_alloc_unbound(handle, domid == DOMID_SELF ? handle->domid : (uint16_t)domid);
    core_unlock();
    return number;
}

xenevtchn_port_or_error_t xenevtchn_bind_interdomain(xenevtchn_handle *xce, uint32_t domid,
                                                     evtchn_port_t remote_port)
{
    struct SimHandle *handle = sim(xce);
    bool allowed = handle->restricted_to < 0 || (uint32_t)handle->restricted_to == domid;
    int number;

    if (bind_checked(handle, allowed) != 0) {
        return -1;
    }
    number = evtchn_bind_interdomain(handle, domid == DOMID_SELF ? handle->domid : (uint16_t)domid,
                                     remote_port);
    core_unlock();
    return number;
}

xenevtchn_port_or_error_t xenevtchn_bind_virq(xenevtchn_handle *xce, unsigned int virq)
{
    struct SimHandle *handle = sim(xce);
    int number;

    if (bind_checked(handle, handle->restricted_to < 0) != 0) {
        return -1;
    }
    number = evtchn_bind_virq(handle, (uint16_t)virq);
    core_unlock();
    return number;
}

static bool owns(const struct SimHandle *handle, evtchn_port_t number)
{
    const struct SimEvtchn *evtchn = evtchn_of(handle->domid, number);

    return evtchn && evtchn->owner == handle->seq;
}

int xenevtchn_unbind(xenevtchn_handle *xce, evtchn_port_t port)
{
    if (inject_call(SIM_CALL_unbind)) {
        return -1;
    }
    if (port >= SIM_MAX_EVTCHNS) {
        return fail(EINVAL);
    }
    core_lock();
    if (!owns(sim(xce), port)) {
        core_unlock();
        return fail(ENOTCONN);
    }
    evtchn_close(sim(xce)->domid, port);
    core_unlock();
    return 0;
}

int xenevtchn_notify(xenevtchn_handle *xce, evtchn_port_t port)
{
    if (inject_call(SIM_CALL_notify)) {
        return -1;
    }
    if (!owns(sim(xce), port)) {
        return fail(ENOTCONN);
    }
    /* The driver ignores what the hypercall returns. */
    evtchn_send(sim(xce)->domid, port);
    return 0;
}

xenevtchn_port_or_error_t xenevtchn_pending(xenevtchn_handle *xce)
{
    evtchn_port_t port;
    ssize_t length;

    if (inject_call(SIM_CALL_pending)) {
        return -1;
    }
    length = read(sim(xce)->fd, &port, sizeof(port));
    if (length != (ssize_t)sizeof(port)) {
        return length < 0 ? -1 : fail(EIO);
    }
    return (xenevtchn_port_or_error_t)port;
}

int xenevtchn_unmask(xenevtchn_handle *xce, evtchn_port_t port)
{
    if (inject_call(SIM_CALL_unmask)) {
        return -1;
    }
    evtchn_unmask(sim(xce), port);
    return 0;
}
