/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-set.h - what an administrator may change about a vif while it runs
 *
 * A setting is a key in the vif's own directory: it survives the daemon, goes with the vif, and can
 * be written by hand as well.
 */
#ifndef XN_CONTROL_VIF_SET_H
#define XN_CONTROL_VIF_SET_H

#include "control/store-key.h"
#include "control/vif.h"

/*
 * Translates a setting, such as "rate" and "10Mb/s", to a key and its value, to be freed with
 * g_free(); a value that is NULL: the key is to be removed, so the default holds. False with an
 * error that says what there is. Pure.
 */
bool vif_set_convert(const char *setting, const char *value, const struct XnKey **ret_key,
                     char **ret_text, GError **error);

/* All settings and their values, for people. */
#define XN_VIF_SETTINGS                                                                  \
    "rate RATE|none, rx-rate RATE|none, rx-csum offload|fill, gso on|off, csum on|off, " \
    "admin up|down, direct on|off|default, max-queues N|default"

/* Writes a setting, unless the vif's directory is gone; it takes effect by its watch. */
bool vif_set(struct XnVif *vif, const char *setting, const char *value, GError **error);

#endif
