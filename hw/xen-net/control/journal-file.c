/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal-file.c - a queue's journal as a file that outlives the process
 */
#include "control/journal-file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Changes with every change of the layout, so that an upgraded daemon does not misread a file. */
#define JOURNAL_FORMAT "qnetback journal 3"

struct JournalContent {
    char format[32];
    struct XnJournalIdentity identity;
    struct XnVifMemory memory;
    struct XnJournal journal;
    struct XnCtrlJournal ctrl;
    struct XnGrantJournal grants;
};

struct XnJournalFile {
    char *path;
    struct JournalContent *content;
};

static char *journal_file_path(const char *directory, const struct XnJournalIdentity *identity)
{
    return g_strdup_printf("%s/%u.%u.%u", directory, identity->domid, identity->devid,
                           identity->queue);
}

static bool journal_file_fail(GError **error, const char *what, const char *path)
{
    int saved = errno;

    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved), "cannot %s %s: %s", what, path,
                g_strerror(saved));
    return false;
}

static struct XnJournalFile *journal_file_map(const char *path, int fd, GError **error)
{
    struct XnJournalFile *file;
    void *content =
        mmap(NULL, sizeof(struct JournalContent), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (content == MAP_FAILED) {
        journal_file_fail(error, "map", path);
        return NULL;
    }
    file = g_new0(struct XnJournalFile, 1);
    file->path = g_strdup(path);
    file->content = content;
    return file;
}

struct XnJournalFile *journal_file_create(const char *directory,
                                          const struct XnJournalIdentity *identity, GError **error)
{
    g_autofree char *path = journal_file_path(directory, identity);
    struct XnJournalFile *file = NULL;
    int fd;

    g_unlink(path);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        journal_file_fail(error, "create", path);
        return NULL;
    }
    /* The blocks are there before they are written to: a full tmpfs is an error, not a SIGBUS. */
    errno = posix_fallocate(fd, 0, sizeof(struct JournalContent));
    if (errno != 0) {
        journal_file_fail(error, "allocate", path);
    } else {
        file = journal_file_map(path, fd, error);
    }
    close(fd);
    if (!file) {
        g_unlink(path);
        return NULL;
    }
    file->content->identity = *identity;
    g_strlcpy(file->content->format, JOURNAL_FORMAT, sizeof(file->content->format));
    return file;
}

static bool journal_file_fits(const struct XnJournalFile *file,
                              const struct XnJournalIdentity *identity)
{
    return strncmp(file->content->format, JOURNAL_FORMAT, sizeof(file->content->format)) == 0 &&
           memcmp(&file->content->identity, identity, sizeof(*identity)) == 0;
}

struct XnJournalFile *journal_file_open(const char *directory,
                                        const struct XnJournalIdentity *identity, GError **error)
{
    g_autofree char *path = journal_file_path(directory, identity);
    struct XnJournalFile *file = NULL;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;

    if (fd < 0) {
        journal_file_fail(error, "open", path);
        return NULL;
    }
    if (fstat(fd, &status) < 0) {
        journal_file_fail(error, "look at", path);
    } else if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
               status.st_size != sizeof(struct JournalContent)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s is not a journal of ours", path);
    } else {
        file = journal_file_map(path, fd, error);
    }
    close(fd);
    if (file && !journal_file_fits(file, identity)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s belongs to another connection",
                    path);
        journal_file_close(file, false);
        file = NULL;
    }
    return file;
}

struct XnJournal *journal_file_journal(struct XnJournalFile *file)
{
    return &file->content->journal;
}

struct XnVifMemory *journal_file_memory(struct XnJournalFile *file)
{
    return &file->content->memory;
}

struct XnCtrlJournal *journal_file_ctrl(struct XnJournalFile *file)
{
    return &file->content->ctrl;
}

struct XnGrantJournal *journal_file_grants(struct XnJournalFile *file)
{
    return &file->content->grants;
}

void journal_file_close(struct XnJournalFile *file, bool delete)
{
    if (!file) {
        return;
    }
    munmap(file->content, sizeof(struct JournalContent));
    if (delete) {
        g_unlink(file->path);
    }
    g_free(file->path);
    g_free(file);
}

void journal_file_delete(const char *directory, uint32_t domid, uint32_t devid)
{
    struct XnJournalIdentity identity = {.domid = domid, .devid = devid};

    for (; identity.queue < XN_VIF_QUEUES_MAX; identity.queue++) {
        g_autofree char *path = journal_file_path(directory, &identity);

        g_unlink(path);
    }
}

void journal_file_delete_left(const char *directory,
                              bool (*is_known)(void *opaque, uint32_t domid, uint32_t devid),
                              void *opaque)
{
    g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir)) != NULL) {
        unsigned domid, devid, queue;
        int end = 0;

        if (sscanf(name, "%u.%u.%u%n", &domid, &devid, &queue, &end) == 3 && name[end] == '\0' &&
            !is_known(opaque, domid, devid)) {
            journal_file_delete(directory, domid, devid);
        }
    }
}
