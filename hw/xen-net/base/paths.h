/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths.h - where the daemon and its tools find each other, unless an option says otherwise
 */
#ifndef XN_BASE_PATHS_H
#define XN_BASE_PATHS_H

#define XN_CONTROL_SOCKET "/run/qnetback/ctl.sock"
#define XN_JOURNAL_DIRECTORY "/run/qnetback/journal"

#endif
