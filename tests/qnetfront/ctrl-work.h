/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctrl-work.h - what goes through the control ring before, during and after the traffic */
#ifndef QNETFRONT_CTRL_WORK_H
#define QNETFRONT_CTRL_WORK_H

#include "ctrl-script.h"
#include "static-grants.h"

struct XnCtrlWork {
    /* From the command line. */
    const char *script; /* before the traffic; NULL: none */
    const char *loop; /* again and again during it; NULL: none */
    enum XnStaticGrantsChoice static_grants;
    bool churn; /* static grants go and come during the traffic */
    /* Private. */
    struct XnCtrlResults results;
    struct XnStaticGrants grants;
    uint64_t loop_ms;
};

/* Whether there is anything to do. */
bool ctrl_work_needed(const struct XnCtrlWork *work);

/* Before the traffic; the vif is connected. */
bool ctrl_work_begin(struct XnCtrlWork *work, struct XnFrontend *frontend,
                     struct XnFailure *failure);

/* Called again and again by the modes. */
bool ctrl_work_turn(struct XnCtrlWork *work, struct XnFrontend *frontend,
                    struct XnFailure *failure);

/* After the traffic; the vif is still connected. */
bool ctrl_work_end(struct XnCtrlWork *work, struct XnFrontend *frontend, struct XnFailure *failure);

#endif
