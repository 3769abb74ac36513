/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz-features.h - what a guest can take, out of the low six bits of a byte of input
 */
#ifndef XN_TESTS_FUZZ_FEATURES_H
#define XN_TESTS_FUZZ_FEATURES_H

#include "fuzz.h"
#include "netif/features.h"
#include "netif/guest-rx-plan.h"

static inline struct XnFeatures fuzz_features(uint8_t bits)
{
    return features_normalise((struct XnFeatures){
        .sg = bits & 1,
        .gso_tcpv4 = bits & 2,
        .gso_tcpv6 = bits & 4,
        .csum_ipv4 = bits & 8,
        .csum_ipv6 = bits & 16,
        .guest_rx_headroom = bits & 32 ? XN_GUEST_RX_HEADROOM_MAX : 0,
    });
}

#endif
