/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.c - the table of what one queue counts
 */
#include "base/counters.h"

const struct XnCounterInfo counters_queue_table[] = {
#define XN_COUNTER_ROW(name, unit, reason, help) \
    {#name, unit, reason, help, offsetof(struct XnQueueCounters, name)},
    XN_QUEUE_COUNTERS(XN_COUNTER_ROW)
#undef XN_COUNTER_ROW
};

const size_t counters_queue_table_length =
    sizeof(counters_queue_table) / sizeof(counters_queue_table[0]);
