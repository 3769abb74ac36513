/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * directory.h - makes the directories of the daemon's own files
 */
#ifndef XN_BASE_DIRECTORY_H
#define XN_BASE_DIRECTORY_H

/*
 * Makes the directory `path`, which may exist, with this mode. Those above it are made, for all to
 * pass, below /run only: elsewhere they come from the administrator, or the path is a slip of the
 * pen. 0, or -1 with errno.
 */
int directory_make(const char *path, int mode);

#endif
