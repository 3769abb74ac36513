/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the daemon's command line and configuration file
 */
#ifndef XN_OPTIONS_H
#define XN_OPTIONS_H

#include <glib.h>
#include <stdbool.h>

#include "base/log.h"
#include "data/worker.h"

struct XnOptions {
    bool version;
    /* Leave alone the vifs that the kernel's xen-netback serves, instead of refusing to start. */
    bool beside_netback;
    unsigned workers;
    /* 1 ... XN_VIF_QUEUES_MAX */
    unsigned queue_max;
    enum XnBufferKind buffers;
    struct XnGuestRxPatience patience;
    enum XnLogLevel log_level;
    /* Owned. Bridges, NULL at the end; or NULL. */
    char **direct_bridges;
    /* Owned. */
    char *control;
    /* NULL: no group. */
    char *control_group;
    char *journal;
    /* Give up what is not needed; whom to become, NULL: nobody else. */
    bool sandbox;
    char *user;
    /* NULL: the default one, which may be absent. */
    char *config;
};

/*
 * Parses the command line and reads the configuration file; the command line wins. --help prints
 * and ends the program; with --version no file is read. False with an error of one line. Fills in
 * the defaults.
 */
bool options_parse(int argc, char **argv, struct XnOptions *ret_options, GError **error);

void options_clear(struct XnOptions *options);

#endif
