/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-socket.c - the control socket in the file system, and who may use it
 *
 * Theory of operation
 *
 * A socket's name outlives a daemon that was killed. Whether somebody listens behind it is asked,
 * and its replacement made, while the directory is locked, so two daemons that start at once
 * cannot both win.
 */
#include "control/ctl-socket.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/directory.h"

#define CTL_SOCKET_BACKLOG 16
#define CTL_SOCKET_NO_GROUP ((gid_t)-1)
#define CTL_SOCKET_GROUP_BUFFER 65536
/* Supplementary groups of a peer that are looked at; a user with more is asked for his first. */
#define CTL_SOCKET_GROUPS 1024

static bool ctl_socket_fail(GError **error, const char *what, const char *path)
{
    int saved_errno = errno;

    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved_errno),
                "cannot %s the control socket %s: %s", what, path, g_strerror(saved_errno));
    return false;
}

/* Removes a socket behind which nobody listens. */
static bool ctl_socket_remove_stale(int fd, const struct sockaddr_un *address, GError **error)
{
    struct stat status;

    if (lstat(address->sun_path, &status) < 0) {
        return errno == ENOENT || ctl_socket_fail(error, "make", address->sun_path);
    }
    if (!S_ISSOCK(status.st_mode)) {
        errno = EEXIST;
        return ctl_socket_fail(error, "make", address->sun_path);
    }
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "another qnetback is running: it listens on %s; stop it first",
                    address->sun_path);
        return false;
    }
    if (errno != ECONNREFUSED) {
        return ctl_socket_fail(error, "look behind", address->sun_path);
    }
    return unlink(address->sun_path) == 0 || ctl_socket_fail(error, "replace", address->sun_path);
}

/* A socket that listens, or -1. The directory is locked meanwhile. */
static int ctl_socket_listen(const struct sockaddr_un *address, gid_t group, GError **error)
{
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t mask;

    if (probe < 0 || fd < 0) {
        ctl_socket_fail(error, "make", address->sun_path);
        goto fail;
    }
    if (!ctl_socket_remove_stale(probe, address, error)) {
        goto fail;
    }
    mask = umask(0177);
    if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
        umask(mask);
        ctl_socket_fail(error, "make", address->sun_path);
        goto fail;
    }
    umask(mask);
    if (group != CTL_SOCKET_NO_GROUP &&
        (chown(address->sun_path, (uid_t)-1, group) < 0 || chmod(address->sun_path, 0660) < 0)) {
        ctl_socket_fail(error, "give to its group", address->sun_path);
        goto fail;
    }
    if (listen(fd, CTL_SOCKET_BACKLOG) < 0) {
        ctl_socket_fail(error, "listen on", address->sun_path);
        goto fail;
    }
    close(probe);
    return fd;

fail:
    if (probe >= 0) {
        close(probe);
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

/* The number of a group; false with an error when there is none of that name. */
static bool ctl_socket_find_group(const char *name, gid_t *ret_group, GError **error)
{
    char buffer[CTL_SOCKET_GROUP_BUFFER];
    struct group entry;
    struct group *found = NULL;

    *ret_group = CTL_SOCKET_NO_GROUP;
    if (!name) {
        return true;
    }
    getgrnam_r(name, &entry, buffer, sizeof(buffer), &found);
    if (!found) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                    "there is no group '%s' to give the control socket to", name);
        return false;
    }
    *ret_group = found->gr_gid;
    return true;
}

int ctl_socket_open(const char *path, const char *group, struct XnCtlAccess *ret_access,
                    GError **error)
{
    g_autofree char *directory = g_path_get_dirname(path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int lock;
    int fd = -1;

    *ret_access = (struct XnCtlAccess){.owner = geteuid()};
    if (!ctl_socket_find_group(group, &ret_access->group, error)) {
        return -1;
    }
    if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        ctl_socket_fail(error, "make", path);
        return -1;
    }
    if (directory_make(directory, 0755) < 0) {
        ctl_socket_fail(error, "make the directory of", path);
        return -1;
    }
    lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX) < 0) {
        ctl_socket_fail(error, "lock the directory of", path);
    } else {
        fd = ctl_socket_listen(&address, ret_access->group, error);
    }
    if (lock >= 0) {
        close(lock);
    }
    return fd;
}

bool ctl_socket_admits_user(const struct ucred *user, const gid_t *groups, size_t group_count,
                            const struct XnCtlAccess *access)
{
    if (user->uid == 0 || user->uid == access->owner) {
        return true;
    }
    if (access->group == CTL_SOCKET_NO_GROUP) {
        return false;
    }
    for (size_t i = 0; i < group_count; i++) {
        if (groups[i] == access->group) {
            return true;
        }
    }
    return user->gid == access->group;
}

bool ctl_socket_admits(int fd, const struct XnCtlAccess *access)
{
    gid_t groups[CTL_SOCKET_GROUPS];
    struct ucred user;
    socklen_t user_size = sizeof(user);
    socklen_t groups_size = sizeof(groups);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &user_size) < 0) {
        return false;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &groups_size) < 0) {
        groups_size = 0;
    }
    return ctl_socket_admits_user(&user, groups, groups_size / sizeof(groups[0]), access);
}
