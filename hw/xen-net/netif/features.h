/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * features.h - what a vif's two ends agreed on
 */
#ifndef XN_NETIF_FEATURES_H
#define XN_NETIF_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the frontend can take, as read from its keys (netif.h gives each key's meaning and its
 * default when absent) when it connects, or reconfigures.
 */
struct XnFeatures {
    /* feature-sg: a frame may use several slots. Without it a frame must fit one page. */
    bool sg;
    /* feature-gso-tcpv4, -tcpv6 (only with sg): frames beyond the MTU, with a GSO extra. */
    bool gso_tcpv4;
    bool gso_tcpv6;
    /* not feature-no-csum-offload; feature-ipv6-csum-offload: blank checksums are understood. */
    bool csum_ipv4;
    bool csum_ipv6;
    /* feature-rx-notify: the frontend raises an event when it posts buffers. */
    bool guest_rx_notify;
    /* xdp-headroom: bytes to leave free before each frame, 0 ... XN_GUEST_RX_HEADROOM_MAX. */
    uint16_t guest_rx_headroom;
};

/*
 * The frontend's keys made consistent: GSO needs sg, IPv4 GSO needs the IPv4 checksum offload and
 * IPv6 GSO the IPv6 one (a super-frame always has a blank checksum). A guest that runs an XDP
 * program gets no super-frames, since Linux's netfront drops what the program cannot see whole. A
 * guest without sg is believed in no checksum offload: mini-os, which writes no features at all,
 * looks at no flags either.
 */
struct XnFeatures features_normalise(struct XnFeatures wanted);

/* Are both the same? */
bool features_equal(const struct XnFeatures *a, const struct XnFeatures *b);

/*
 * The offloads (TUN_F_* of linux/if_tun.h) with which the port may give frames for this guest. The
 * port knows one checksum offload for both IP versions; where the guest takes only one of them, the
 * frames of the other are completed by offload_guest_rx_describe().
 */
unsigned features_port_offloads(const struct XnFeatures *features);

/* Largest frame in bytes, Ethernet header included, that this guest can receive. */
uint32_t features_guest_rx_frame_max(const struct XnFeatures *features);

#endif
