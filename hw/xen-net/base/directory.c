/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * directory.c - makes the directories of the daemon's own files
 */
#include "base/directory.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>

int directory_make(const char *path, int mode)
{
    g_autofree char *parent = g_path_get_dirname(path);

    if (g_str_has_prefix(path, "/run/") && g_mkdir_with_parents(parent, 0755) < 0) {
        return -1;
    }
    if (g_mkdir(path, mode) == 0) {
        return 0;
    }
    if (errno == EEXIST && !g_file_test(path, G_FILE_TEST_IS_DIR)) {
        errno = ENOTDIR;
    }
    return errno == EEXIST ? 0 : -1;
}
