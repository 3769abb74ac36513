/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-explain.c - what a vif's two ends agreed on, and why, in words
 */
#include "control/vif-explain.h"

#define WHY_SG "the frontend does not write feature-sg, without which this is not used"

static const char *explain_csum(const struct XnFeatures *said, bool on, bool said_csum,
                                const char *key, const struct XnVifSwitches *switches)
{
    if (on) {
        return "the frontend understands blank checksums";
    }
    if (!said_csum) {
        return key;
    }
    if (!said->sg) {
        return WHY_SG;
    }
    return switches->no_csum ? "the administrator has set csum off"
                             : "the administrator has set rx-csum to fill";
}

static const char *explain_gso(const struct XnFeatures *said, bool on, bool said_gso,
                               bool said_csum, const char *key,
                               const struct XnVifSwitches *switches)
{
    if (on) {
        return "the frontend takes super-frames";
    }
    if (!said_gso) {
        return key;
    }
    if (!said->sg) {
        return WHY_SG;
    }
    if (said->guest_rx_headroom > 0) {
        return "the guest runs an XDP program, which takes no super-frames";
    }
    if (!said_csum) {
        return "the frontend takes no blank checksums, which every super-frame has";
    }
    return switches->no_gso ? "the administrator has set gso off"
                            : "the administrator has switched the checksum offload off";
}

void vif_explain(const struct XnFrontend *frontend, const struct XnVifSwitches *switches,
                 bool direct, struct XnVifFeature ret_features[XN_VIF_FEATURES])
{
    const struct XnFeatures *now = &frontend->features;
    const struct XnFeatures *said = &frontend->said;
    bool split = frontend->queues[0].guest_tx_channel != frontend->queues[0].guest_rx_channel;
    bool multiqueue = frontend->queue_count > 1;
    bool ctrl = frontend->ctrl_channel != 0;
    const struct XnVifFeature features[XN_VIF_FEATURES] = {
        {"sg", now->sg,
         now->sg ? "the frontend writes feature-sg"
                 : "the frontend does not write feature-sg: it gets frames of one page at most"},
        {"csum_ipv4", now->csum_ipv4,
         explain_csum(said, now->csum_ipv4, said->csum_ipv4,
                      "the frontend writes feature-no-csum-offload", switches)},
        {"csum_ipv6", now->csum_ipv6,
         explain_csum(said, now->csum_ipv6, said->csum_ipv6,
                      "the frontend does not write feature-ipv6-csum-offload", switches)},
        {"gso_tcpv4", now->gso_tcpv4,
         explain_gso(said, now->gso_tcpv4, said->gso_tcpv4, said->csum_ipv4,
                     "the frontend does not write feature-gso-tcpv4", switches)},
        {"gso_tcpv6", now->gso_tcpv6,
         explain_gso(said, now->gso_tcpv6, said->gso_tcpv6, said->csum_ipv6,
                     "the frontend does not write feature-gso-tcpv6", switches)},
        {"multi_queue", multiqueue,
         multiqueue ? "the frontend uses several queues"
                    : "the frontend uses one queue, or one was offered (max-queues, direct)"},
        {"split_event_channels", split,
         split ? "the frontend uses an event channel for each ring"
               : "the frontend uses one event channel for both rings"},
        {"ctrl_ring", ctrl,
         ctrl ? "the frontend has a control ring" : "the frontend has no control ring"},
        {"multicast_filter", frontend->multicast_filter,
         frontend->multicast_filter ? "the frontend asks for its own multicast addresses only"
                                    : "the frontend wants all multicast frames"},
        {"direct", direct,
         direct ? "the administrator allows it" : "the administrator has not set direct"},
    };

    for (unsigned i = 0; i < XN_VIF_FEATURES; i++) {
        ret_features[i] = features[i];
    }
}
