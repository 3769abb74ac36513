/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * features.c - what a vif's two ends agreed on
 */
#include "netif/features.h"

#include <linux/if_tun.h>

#include "netif/guest-rx-plan.h"

struct XnFeatures features_normalise(struct XnFeatures wanted)
{
    bool super_frames;

    if (wanted.guest_rx_headroom > XN_GUEST_RX_HEADROOM_MAX) {
        wanted.guest_rx_headroom = XN_GUEST_RX_HEADROOM_MAX;
    }
    wanted.csum_ipv4 = wanted.csum_ipv4 && wanted.sg;
    wanted.csum_ipv6 = wanted.csum_ipv6 && wanted.sg;
    super_frames = wanted.sg && wanted.guest_rx_headroom == 0;
    wanted.gso_tcpv4 = wanted.gso_tcpv4 && super_frames && wanted.csum_ipv4;
    wanted.gso_tcpv6 = wanted.gso_tcpv6 && super_frames && wanted.csum_ipv6;
    return wanted;
}

bool features_equal(const struct XnFeatures *a, const struct XnFeatures *b)
{
    return a->sg == b->sg && a->gso_tcpv4 == b->gso_tcpv4 && a->gso_tcpv6 == b->gso_tcpv6 &&
           a->csum_ipv4 == b->csum_ipv4 && a->csum_ipv6 == b->csum_ipv6 &&
           a->guest_rx_notify == b->guest_rx_notify && a->guest_rx_headroom == b->guest_rx_headroom;
}

unsigned features_port_offloads(const struct XnFeatures *features)
{
    unsigned offloads = 0;

    if (features->csum_ipv4 || features->csum_ipv6) {
        offloads |= TUN_F_CSUM;
    }
    if (features->gso_tcpv4) {
        offloads |= TUN_F_TSO4;
    }
    if (features->gso_tcpv6) {
        offloads |= TUN_F_TSO6;
    }
    return offloads;
}

uint32_t features_guest_rx_frame_max(const struct XnFeatures *features)
{
    return features->sg ? XEN_NETIF_MAX_TX_SIZE : XN_PAGE_SIZE - features->guest_rx_headroom;
}
