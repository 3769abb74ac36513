/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl-socket-test.c - who may use the control socket
 */
#include <glib/gstdio.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/ctl-socket.h"

#define OWNER 107
#define GROUP 42

static bool admits(uid_t uid, gid_t gid, gid_t group)
{
    static const gid_t groups[] = {7, GROUP};
    struct XnCtlAccess access = {.owner = OWNER, .group = group};
    struct ucred user = {.uid = uid, .gid = gid};

    /* Whoever has the group 7 first has both. */
    return ctl_socket_admits_user(&user, groups, gid == 7 ? 2 : 1, &access);
}

static void test_users(void)
{
    gid_t none = (gid_t)-1;

    g_assert_true(admits(0, 0, none));
    g_assert_true(admits(OWNER, 1, none));
    g_assert_false(admits(1000, 1000, none));
    g_assert_false(admits(1000, GROUP, none));
    g_assert_false(admits(1000, 7, none));
    g_assert_false(admits(1000, none, none));
    g_assert_true(admits(1000, GROUP, GROUP));
    g_assert_true(admits(1000, 7, GROUP));
    g_assert_false(admits(1000, 1000, GROUP));
}

static void test_group(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *directory = g_dir_make_tmp("ctl-socket-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(directory, "ctl.sock", NULL);
    const struct group *ours = getgrgid(getegid());
    struct XnCtlAccess admitted;
    struct stat status;
    int fd;

    if (!ours) {
        g_test_skip("our own group has no name");
    } else {
        fd = ctl_socket_open(path, ours->gr_name, &admitted, &error);
        g_assert_no_error(error);
        g_assert_cmpint(stat(path, &status), ==, 0);
        g_assert_cmpint(status.st_mode & 0777, ==, 0660);
        g_assert_cmpuint(status.st_gid, ==, getegid());
        g_assert_cmpuint(admitted.group, ==, getegid());
        close(fd);
        g_unlink(path);
    }
    g_assert_cmpint(ctl_socket_open(path, "no such group", &admitted, &error), ==, -1);
    g_assert_cmpstr(error->message, ==,
                    "there is no group 'no such group' to give the control socket to");
    g_assert_cmpint(access(path, F_OK), ==, -1);
    g_assert_cmpint(g_rmdir(directory), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ctl-socket/users", test_users);
    g_test_add_func("/ctl-socket/group", test_group);
    return g_test_run();
}
