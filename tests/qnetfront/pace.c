/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pace.c - how fast a sender may go */
#include "pace.h"

#include "frontend.h"

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRESS_MAGIC 0x716e6670u
#define STALL_MS 1000

struct XnProgress {
    _Atomic uint32_t magic; /* set last by the receiver */
    _Atomic uint32_t done; /* set last by the sender */
    _Atomic uint64_t received;
    _Atomic uint64_t sent;
};

static struct XnProgress *map_file(int fd)
{
    void *map = mmap(NULL, sizeof(struct XnProgress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return map == MAP_FAILED ? NULL : map;
}

bool pace_receiver_open(struct XnPace *pace, const char *path, struct XnFailure *failure)
{
    int fd;

    memset(pace, 0, sizeof(*pace));
    if (!path) {
        return true;
    }
    /* A new file, so that nobody who still has an old one mapped is disturbed. */
    unlink(path);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct XnProgress)) < 0) {
        fail_errno(failure, "cannot create the progress file %s", path);
    } else {
        pace->progress = map_file(fd);
        if (!pace->progress) {
            fail_errno(failure, "cannot map the progress file %s", path);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    if (!pace->progress) {
        return false;
    }
    atomic_store(&pace->progress->magic, PROGRESS_MAGIC);
    return true;
}

bool pace_sender_open(struct XnPace *pace, const char *path, uint64_t window, uint64_t rate,
                      unsigned int wait_ms, struct XnFailure *failure)
{
    uint64_t end = clock_ms() + wait_ms;

    memset(pace, 0, sizeof(*pace));
    pace->window = window;
    pace->rate = rate;
    while (path && !xn_stop_requested) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        struct stat info;

        if (fd >= 0) {
            /* Shorter than a page of zeros: the receiver is between creating and sizing it. */
            if (fstat(fd, &info) == 0 && info.st_size >= (off_t)sizeof(struct XnProgress)) {
                pace->progress = map_file(fd);
            }
            close(fd);
        }
        /* One that is done was left by an earlier run. */
        if (pace->progress && atomic_load(&pace->progress->magic) == PROGRESS_MAGIC &&
            !atomic_load(&pace->progress->done)) {
            break;
        }
        pace_close(pace);
        if (clock_ms() >= end) {
            return fail(failure, "no receiver has created the progress file %s", path);
        }
        frontend_wait_fd(NULL, 10);
    }
    pace->start_ms = pace->last_move_ms = clock_ms();
    return true;
}

void pace_close(struct XnPace *pace)
{
    if (pace->progress) {
        munmap(pace->progress, sizeof(*pace->progress));
        pace->progress = NULL;
    }
}

uint64_t pace_allowance(struct XnPace *pace, uint64_t sent, uint64_t wanted)
{
    uint64_t now = clock_ms();
    uint64_t received;
    uint64_t under_way;

    if (pace->rate) {
        uint64_t due = (now - pace->start_ms + 1) * pace->rate / 1000;
        uint64_t left = due > sent ? due - sent : 0;

        wanted = wanted < left ? wanted : left;
    }
    if (!pace->progress) {
        return wanted;
    }
    received = atomic_load(&pace->progress->received);
    if (received != pace->last_received || sent == received) {
        pace->last_received = received;
        pace->last_move_ms = now;
    }
    under_way = sent > received + pace->written_off ? sent - received - pace->written_off : 0;
    if (under_way >= pace->window) {
        if (now - pace->last_move_ms < STALL_MS) {
            return 0;
        }
        pace->written_off += under_way;
        pace->last_move_ms = now;
        under_way = 0;
    }
    return wanted < pace->window - under_way ? wanted : pace->window - under_way;
}

void pace_done(struct XnPace *pace, uint64_t sent)
{
    if (pace->progress) {
        atomic_store(&pace->progress->sent, sent);
        atomic_store(&pace->progress->done, 1);
    }
}

void pace_received(struct XnPace *pace, uint64_t received)
{
    if (pace->progress) {
        atomic_store(&pace->progress->received, received);
    }
}

bool pace_sender_done(const struct XnPace *pace)
{
    return pace->progress && atomic_load(&pace->progress->done);
}

bool pace_complete(const struct XnPace *pace, uint64_t received)
{
    return pace_sender_done(pace) && received >= atomic_load(&pace->progress->sent);
}

uint64_t pace_sent(const struct XnPace *pace)
{
    return pace_sender_done(pace) ? atomic_load(&pace->progress->sent) : 0;
}
