/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rings.h - a vif's rings at the moment, as JSON
 */
#ifndef XN_CONTROL_RINGS_H
#define XN_CONTROL_RINGS_H

#include <json-glib/json-glib.h>

#include "control/vif.h"

/*
 * An array with an object for each queue of a vif that is connected: its worker, grants and event
 * channels, the indices of both rings, and what each direction waits for. Asks the workers, which
 * takes no longer than a turn of theirs. To be freed with json_node_unref().
 */
JsonNode *rings_describe(struct XnVif *vif);

#endif
