/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.h - the vifs' counters as text for monitoring systems
 */
#ifndef XN_TOOLS_METRICS_H
#define XN_TOOLS_METRICS_H

#include <json-glib/json-glib.h>

#include "base/counters.h"

enum XnMetricsFormat {
    /* https://openmetrics.io, as scraped over HTTP */
    XN_METRICS_OPENMETRICS,
    /* Prometheus' older text format, which the node exporter reads from files */
    XN_METRICS_PROMETHEUS,
};

/*
 * All counters of the vifs that verb_query_vifs() gave, each metric with its help and unit, each
 * sample with the labels vif, domid, devid, queue, and where the table has one, reason. To be freed
 * with g_free().
 */
char *metrics_format(JsonArray *vifs, enum XnMetricsFormat format);

/* The name of a counter's metric, without "_total"; to be freed with g_free(). */
char *metrics_name(const struct XnCounterInfo *info);

#endif
