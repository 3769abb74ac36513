/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evtchn.c - the event channels of one queue, over libxenevtchn
 */
#include "xen/evtchn.h"

#include <errno.h>
#include <fcntl.h>
#include <xenevtchn.h>

#include "base/log.h"

struct XnEvtchn {
    xenevtchn_handle *handle;
    uint32_t domid;
};

struct XnEvtchn *evtchn_open(uint32_t domid, GError **error)
{
    struct XnEvtchn *evtchn;
    xenevtchn_handle *handle = xenevtchn_open(NULL, 0);
    int fd, flags;

    if (!handle) {
        int saved = errno;

        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
                    "cannot open /dev/xen/evtchn: %s; is this a Xen domain, with the module "
                    "xen-evtchn loaded, and may this user open it?",
                    g_strerror(saved));
        return NULL;
    }
    fd = xenevtchn_fd(handle);
    flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
        int saved = errno;

        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
                    "cannot make /dev/xen/evtchn non-blocking: %s", g_strerror(saved));
        xenevtchn_close(handle);
        return NULL;
    }
    /* Kernels before 4.8 cannot restrict a handle; it is a second line of defence only. */
    if (xenevtchn_restrict(handle, (domid_t)domid) != 0) {
        log_shared(XN_LOG_DEBUG, NULL, "event channel handle for domain %u is not restricted: %s",
                   domid, g_strerror(errno));
    }
    evtchn = g_new0(struct XnEvtchn, 1);
    evtchn->handle = handle;
    evtchn->domid = domid;
    return evtchn;
}

void evtchn_close(struct XnEvtchn *evtchn)
{
    if (!evtchn) {
        return;
    }
    xenevtchn_close(evtchn->handle);
    g_free(evtchn);
}

uint32_t evtchn_bind(struct XnEvtchn *evtchn, uint32_t remote, GError **error)
{
    xenevtchn_port_or_error_t channel =
        xenevtchn_bind_interdomain(evtchn->handle, evtchn->domid, remote);

    if (channel <= 0) {
        int saved = errno;

        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
                    "cannot bind event channel %u of domain %u: %s", remote, evtchn->domid,
                    g_strerror(saved));
        return 0;
    }
    return (uint32_t)channel;
}

int evtchn_fd(const struct XnEvtchn *evtchn)
{
    return xenevtchn_fd(evtchn->handle);
}

uint32_t evtchn_take(struct XnEvtchn *evtchn)
{
    xenevtchn_port_or_error_t channel = xenevtchn_pending(evtchn->handle);

    return channel > 0 ? (uint32_t)channel : 0;
}

void evtchn_unmask(struct XnEvtchn *evtchn, uint32_t channel)
{
    if (xenevtchn_unmask(evtchn->handle, channel) != 0) {
        log_shared(XN_LOG_ERROR, NULL, "unmasking event channel %u failed: %s", channel,
                   g_strerror(errno));
    }
}

void evtchn_notify(struct XnEvtchn *evtchn, uint32_t channel)
{
    if (xenevtchn_notify(evtchn->handle, channel) != 0) {
        log_shared(XN_LOG_ERROR, NULL, "notifying event channel %u failed: %s", channel,
                   g_strerror(errno));
    }
}
