/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.h - what the vifs are doing, as JSON
 */
#ifndef XN_CONTROL_STATS_H
#define XN_CONTROL_STATS_H

#include <json-glib/json-glib.h>

#include "control/backend.h"

/*
 * An array with an object for each vif: name, numbers, states, features, mapped grants, and the
 * counters of each queue under the names of base/counters.h; of all vifs, or of the one that is
 * named `name` unless that is NULL. To be freed with json_node_unref().
 */
JsonNode *stats_vifs(struct XnBackend *backend, const char *name);

#endif
