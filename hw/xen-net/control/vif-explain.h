/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-explain.h - what a vif's two ends agreed on, and why, in words
 *
 * Pure.
 */
#ifndef XN_CONTROL_VIF_EXPLAIN_H
#define XN_CONTROL_VIF_EXPLAIN_H

#include "control/frontend.h"
#include "control/vif-settings.h"

#define XN_VIF_FEATURES 10u

struct XnVifFeature {
    const char *name;
    bool on;
    /* A constant string. */
    const char *why;
};

/* For a frontend that is connected, under the administrator's switches. */
void vif_explain(const struct XnFrontend *frontend, const struct XnVifSwitches *switches,
                 bool direct, struct XnVifFeature ret_features[XN_VIF_FEATURES]);

#endif
