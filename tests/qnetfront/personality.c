/* SPDX-License-Identifier: GPL-2.0-or-later */
/* personality.c - the habits of the frontends that guests have */
#include "personality.h"

#include <stddef.h>
#include <string.h>

#define CLOSING XN_STATE_BIT(XenbusStateClosing)
#define CLOSED XN_STATE_BIT(XenbusStateClosed)
#define INITWAIT XN_STATE_BIT(XenbusStateInitWait)
/* The directory is gone: the toolstack was faster. */
#define GONE XN_STATE_BIT(XenbusStateUnknown)

static const char *const linux_keys[] = {
    "request-rx-copy=1",   "feature-rx-notify=1",         "feature-sg=1", "feature-gso-tcpv4=1",
    "feature-gso-tcpv6=1", "feature-ipv6-csum-offload=1", NULL,
};

/* Its value for no-csum-offload is written, though 0 is the default. */
static const char *const windows_keys[] = {
    "request-rx-copy=1",           "feature-rx-notify=1",         "feature-sg=1",
    "feature-gso-tcpv4=1",         "feature-gso-tcpv6=1",         "feature-no-csum-offload=0",
    "feature-ipv6-csum-offload=1", "request-multicast-control=0", NULL,
};

static const char *const freebsd_keys[] = {
    "request-rx-copy=1", "feature-rx-notify=1", "feature-sg=1", "feature-gso-tcpv4=1", NULL,
};

static const char *const netbsd_keys[] = {
    "vifname=xennet0",     "request-rx-copy=1",
    "feature-rx-notify=1", "feature-ipv6-csum-offload=1",
    "feature-sg=1",        NULL,
};

static const char *const minios_keys[] = {"request-rx-copy=1", NULL};

static const char *const ipxe_keys[] = {
    "request-rx-copy=1", "feature-no-csum-offload=1", "feature-rx-notify=1", "feature-sg=1", NULL,
};

const struct XnPersonality xn_personalities[] = {
    {
        .name = "plain",
        .keys = linux_keys,
        .closing = {{XenbusStateClosing, CLOSING | CLOSED | GONE},
                    {XenbusStateClosed, CLOSED | GONE}},
    },
    {
        .name = "linux",
        .keys = linux_keys,
        .asks_back = true,
        /* The next driver may have been waited for already when it looks. */
        .closing = {{XenbusStateClosing, CLOSING | CLOSED | GONE},
                    {XenbusStateClosed, CLOSED | INITWAIT | GONE}},
        .small_ids = true,
    },
    {
        .name = "windows",
        .keys = windows_keys,
        .counts_one = true,
        .asks_back = true,
        .start = XN_START_PROMPTED,
        .closing = {{XenbusStateClosing, CLOSING | CLOSED}, {XenbusStateClosed, CLOSED}},
        .ctrl_ring = true,
    },
    {
        .name = "freebsd",
        .keys = freebsd_keys,
        .asks_back = true,
        /* Closed without a Closing, and back by itself. */
        .closing = {{XenbusStateClosed, CLOSED}, {XenbusStateInitialising, INITWAIT}},
        .one_channel = true,
        .small_ids = true,
        .no_gso6 = true,
        .no_csum6 = true,
    },
    {
        .name = "netbsd",
        .keys = netbsd_keys,
        .asks_back = true,
        .closing = {{XenbusStateClosing, CLOSING}, {XenbusStateClosed, CLOSED}},
        .panics =
            CLOSED | XN_STATE_BIT(XenbusStateReconfiguring) | XN_STATE_BIT(XenbusStateReconfigured),
        .answers_first = true,
        .queues = 1,
        .one_channel = true,
        .guest_rx_refill = 204,
        .small_ids = true,
        .no_gso4 = true,
        .no_gso6 = true,
    },
    {
        .name = "minios",
        .keys = minios_keys,
        .start = XN_START_AT_ONCE,
        .closing = {{XenbusStateClosing, CLOSING | CLOSED},
                    {XenbusStateClosed, CLOSED},
                    {XenbusStateInitialising, INITWAIT}},
        .queues = 1,
        .one_channel = true,
        .small_ids = true,
        .no_sg = true,
        .no_gso4 = true,
        .no_gso6 = true,
        .no_csum4 = true,
        .no_csum6 = true,
    },
    {
        .name = "ipxe",
        .keys = ipxe_keys,
        .one_by_one = true,
        .start = XN_START_RESET,
        .closing = {{XenbusStateClosed, CLOSED}, {XenbusStateInitialising, INITWAIT}},
        .queues = 1,
        .one_channel = true,
        .guest_rx_buffers = 32,
        .guest_tx_limit = 16,
        .small_ids = true,
        .polls = true,
        .no_sg = true,
        .no_gso4 = true,
        .no_gso6 = true,
        .no_csum4 = true,
        .no_csum6 = true,
    },
};

const unsigned int xn_personalities_count = sizeof(xn_personalities) / sizeof(*xn_personalities);

const struct XnPersonality *personality_find(const char *name)
{
    for (unsigned int i = 0; i < xn_personalities_count; i++) {
        if (strcmp(xn_personalities[i].name, name) == 0) {
            return &xn_personalities[i];
        }
    }
    return NULL;
}
