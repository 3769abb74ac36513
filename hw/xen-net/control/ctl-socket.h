/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-socket.h - the control socket in the file system, and who may use it
 */
#ifndef XN_CONTROL_CTL_SOCKET_H
#define XN_CONTROL_CTL_SOCKET_H

#include <glib.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Root and the daemon's own user always may. */
struct XnCtlAccess {
    uid_t owner;
    /* So may members of this group; (gid_t)-1: there is none. */
    gid_t group;
};

/*
 * Makes the unix socket `path` and listens: for root only, or with `group` (a name, or NULL) also
 * for the members of that group. A socket that a dead daemon left is replaced; a living daemon's is
 * an error. Returns the descriptor, or -1 with an error; *ret_access is for ctl_socket_admits().
 */
int ctl_socket_open(const char *path, const char *group, struct XnCtlAccess *ret_access,
                    GError **error);

/*
 * May the process at the other end of the connection `fd` give orders? The socket's mode says the
 * same, but a directory or a container may show it to others.
 */
bool ctl_socket_admits(int fd, const struct XnCtlAccess *access);

/* The same for a user with these groups. Pure. */
bool ctl_socket_admits_user(const struct ucred *user, const gid_t *groups, size_t group_count,
                            const struct XnCtlAccess *access);

#endif
