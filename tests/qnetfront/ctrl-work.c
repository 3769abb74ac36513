/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctrl-work.c - what goes through the control ring before, during and after the traffic */
#include "ctrl-work.h"

#define LOOP_MS 5

bool ctrl_work_needed(const struct XnCtrlWork *work)
{
    return work->script || work->loop || work->static_grants != XN_STATIC_GRANTS_NONE;
}

bool ctrl_work_begin(struct XnCtrlWork *work, struct XnFrontend *frontend,
                     struct XnFailure *failure)
{
    if (!ctrl_work_needed(work)) {
        return true;
    }
    if (!frontend->ctrl.sring) {
        return fail(failure, "the backend offers no control ring");
    }
    memset(&work->results, 0, sizeof(work->results));
    if (work->script && !ctrl_script_run(frontend, work->script, &work->results, failure)) {
        return false;
    }
    return work->static_grants == XN_STATIC_GRANTS_NONE ||
           static_grants_add(&work->grants, frontend, work->static_grants, failure);
}

bool ctrl_work_turn(struct XnCtrlWork *work, struct XnFrontend *frontend, struct XnFailure *failure)
{
    struct XnCtrlResults results = {"", ""};

    if ((!work->loop && !work->churn) || clock_ms() < work->loop_ms) {
        return true;
    }
    work->loop_ms = clock_ms() + LOOP_MS;
    if (work->loop && !ctrl_script_run(frontend, work->loop, &results, failure)) {
        return false;
    }
    return !work->churn ||
           (static_grants_delete(&work->grants, failure) &&
            static_grants_add(&work->grants, frontend, work->static_grants, failure));
}

bool ctrl_work_end(struct XnCtrlWork *work, struct XnFrontend *frontend, struct XnFailure *failure)
{
    if (work->static_grants != XN_STATIC_GRANTS_NONE &&
        !static_grants_delete(&work->grants, failure)) {
        return false;
    }
    return !ctrl_violations(&frontend->ctrl.counters) ||
           fail(failure, "the control ring's responses break the protocol");
}
