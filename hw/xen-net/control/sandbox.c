/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox.c - the daemon gives up rights: user, capabilities, files
 */
#include "control/sandbox.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "control/sandbox-private.h"

#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ull << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ull << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ull << 15)
#endif

#define SANDBOX_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define SANDBOX_FILE                                                                              \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | \
     LANDLOCK_ACCESS_FS_IOCTL_DEV)
#define SANDBOX_WRITE                                                                          \
    (SANDBOX_READ | SANDBOX_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |                             \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REFER)

static struct {
    char *user;
    bool capabilities;
    bool files;
} entered;

/* --- who we are --- */

static bool sandbox_fail(GError **error, const char *what, const char *name)
{
    int saved = errno;

    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved), "cannot %s %s: %s", what, name,
                g_strerror(saved));
    return false;
}

/* Makes the directory and what is in it the user's: an earlier daemon may have been another's. */
static bool sandbox_give(const char *path, const struct passwd *user, GError **error)
{
    int fd = -1;
    g_autoptr(GDir) directory = NULL;
    const char *name;
    bool done = true;

    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fchown(fd, user->pw_uid, user->pw_gid) < 0) {
        done = sandbox_fail(error, "give to the user", path);
    }
    directory = done ? g_dir_open(path, 0, error) : NULL;
    while (directory && (name = g_dir_read_name(directory)) != NULL) {
        if (fchownat(fd, name, user->pw_uid, user->pw_gid, AT_SYMLINK_NOFOLLOW) < 0) {
            log_debug(NULL, "cannot give %s/%s to the user: %s", path, name, g_strerror(errno));
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return done && directory;
}

/* The directory of the control socket may be everybody's: then the socket is removed by the next.
 */
static void sandbox_give_socket(const char *path, const struct passwd *user)
{
    g_autofree char *directory = g_path_get_dirname(path);
    g_autofree char *lock = g_strconcat(path, ".lock", NULL);
    struct stat status;

    if (stat(directory, &status) == 0 && status.st_uid == geteuid() &&
        (status.st_mode & S_IWOTH) == 0 && strcmp(directory, "/run") != 0 &&
        lchown(directory, user->pw_uid, user->pw_gid) < 0) {
        log_debug(NULL, "cannot give %s to the user: %s", directory, g_strerror(errno));
    }
    if (lchown(path, user->pw_uid, (gid_t)-1) < 0) {
        log_debug(NULL, "cannot give %s to the user: %s", path, g_strerror(errno));
    }
    if (lchown(lock, user->pw_uid, (gid_t)-1) < 0 && errno != ENOENT) {
        log_debug(NULL, "cannot give %s to the user: %s", lock, g_strerror(errno));
    }
}

static bool sandbox_become(const struct XnSandboxConfig *config, GError **error)
{
    const struct passwd *user = getpwnam(config->user);
    int status;

    if (!user) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "there is no user '%s'", config->user);
        return false;
    }
    if (user->pw_uid == geteuid()) {
        return true;
    }
    if (geteuid() != 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_PERM,
                    "cannot become the user %s: only root can; start as root, or without --user",
                    config->user);
        return false;
    }
    if (!sandbox_give(config->journal, user, error)) {
        return false;
    }
    sandbox_give_socket(config->control, user);
    capng_clear(CAPNG_SELECT_ALL);
    capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_NET_ADMIN);
    status = capng_change_id((int)user->pw_uid, (int)user->pw_gid,
                             CAPNG_INIT_SUPP_GRP | CAPNG_CLEAR_BOUNDING);
    if (status != 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_PERM, "cannot become the user %s (step %d)",
                    config->user, -status);
        return false;
    }
    entered.user = g_strdup(config->user);
    entered.capabilities = true;
    return true;
}

/* Whoever we are, of its capabilities only the one that makes taps. */
static void sandbox_drop_capabilities(void)
{
    bool had;

    capng_clear(CAPNG_SELECT_ALL);
    if (capng_get_caps_process() != 0) {
        log_warning(NULL, "sandbox: cannot read the capabilities of this process");
        return;
    }
    had = capng_have_capability(CAPNG_PERMITTED, CAP_NET_ADMIN);
    capng_clear(CAPNG_SELECT_ALL);
    if (had) {
        capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_NET_ADMIN);
    }
    /* The bounding set may not be ours to change; nothing is executed any more. */
    if (capng_apply(CAPNG_SELECT_BOTH) != 0 && capng_apply(CAPNG_SELECT_CAPS) != 0) {
        log_warning(NULL, "sandbox: cannot drop capabilities");
        return;
    }
    entered.capabilities = true;
}

/* --- what we see of the file system --- */

/* Paths that do not exist are not needed. */
static void sandbox_allow(int ruleset, const char *path, uint64_t access, uint64_t handled)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access & handled};
    struct stat status;

    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0) {
        return;
    }
    if (fstat(rule.parent_fd, &status) == 0 && !S_ISDIR(status.st_mode)) {
        rule.allowed_access &= SANDBOX_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
    }
    if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
        log_debug(NULL, "sandbox: cannot allow %s: %s", path, g_strerror(errno));
    }
    close(rule.parent_fd);
}

static void sandbox_allow_all(int ruleset, const struct XnSandboxConfig *config, uint64_t handled)
{
    static const char *const devices[] = {"/dev/net/tun", "/dev/vhost-net", "/dev/xen",
                                          "/proc/xen",    "/run/xenstored", "/var/run/xenstored",
                                          "/dev/null"};
    /* /sys tells of taps; the rest is for libraries that are loaded late. */
    static const char *const read_only[] = {
        "/sys", "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom"};
    g_autofree char *control = g_path_get_dirname(config->control);
    g_auto(GStrv) more = g_strsplit(g_getenv(XN_SANDBOX_PATHS) ?: "", ":", -1);

    for (guint i = 0; i < G_N_ELEMENTS(devices); i++) {
        sandbox_allow(ruleset, devices[i], SANDBOX_WRITE, handled);
    }
    for (guint i = 0; i < G_N_ELEMENTS(read_only); i++) {
        sandbox_allow(ruleset, read_only[i], SANDBOX_READ, handled);
    }
    if (XN_SANITIZED) {
        /* Leaks are looked for in all threads, which /proc lists. */
        sandbox_allow(ruleset, "/proc", SANDBOX_READ, handled);
    }
    sandbox_allow(ruleset, control, SANDBOX_WRITE, handled);
    sandbox_allow(ruleset, config->journal, SANDBOX_WRITE, handled);
    for (char **path = more; *path; path++) {
        sandbox_allow(ruleset, *path, SANDBOX_WRITE, handled);
    }
}

/* Which rights this kernel's Landlock can take away; 0: it has none. */
static uint64_t sandbox_landlock_rights(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    if (version < 1) {
        return 0;
    }
    return ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1) |
           (version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) |
           (version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0) |
           (version >= 5 ? LANDLOCK_ACCESS_FS_IOCTL_DEV : 0);
}

static void sandbox_limit_files(const struct XnSandboxConfig *config)
{
    struct landlock_ruleset_attr attributes = {.handled_access_fs = sandbox_landlock_rights()};
    int ruleset;

    if (attributes.handled_access_fs == 0) {
        return;
    }
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
    if (ruleset < 0) {
        log_warning(NULL, "sandbox: cannot limit files: %s", g_strerror(errno));
        return;
    }
    sandbox_allow_all(ruleset, config, attributes.handled_access_fs);
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) {
        log_warning(NULL, "sandbox: cannot limit files: %s", g_strerror(errno));
    } else {
        entered.files = true;
    }
    close(ruleset);
}

/* --- all of it --- */

bool sandbox_enter(const struct XnSandboxConfig *config, GError **error)
{
    const struct rlimit no_core = {0, 0};

    if (config->user && !sandbox_become(config, error)) {
        return false;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || setrlimit(RLIMIT_CORE, &no_core) != 0) {
        return sandbox_fail(error, "give up privileges for", "good");
    }
    if (!entered.capabilities) {
        sandbox_drop_capabilities();
    }
    /* A sanitizer looks for leaks by ptrace. */
    if (!XN_SANITIZED) {
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
    sandbox_limit_files(config);
    return true;
}

char *sandbox_describe(void)
{
    unsigned calls = sandbox_filter_calls();
    g_autofree char *filter = calls > 0 ? g_strdup_printf("%u system calls", calls)
                                        : g_strdup("system calls not filtered");

    return g_strdup_printf("%s%s%s, %s, %s, no new privileges%s",
                           entered.user ? "user " : "user unchanged",
                           entered.user ? entered.user : "",
                           entered.capabilities ? ", capability net_admin (workers: none)"
                                                : ", capabilities unchanged",
                           entered.files ? "files limited" : "files not limited", filter,
                           XN_SANITIZED ? "" : ", not dumpable");
}
