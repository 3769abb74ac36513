/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leave.c - ends the daemon so that its vifs stay connected
 */
#include "tools/leave.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The daemon unmaps a few pages for each vif and goes. */
#define LEAVE_TIMEOUT_MS 30000

int leave_count_connected(const struct XnVerbCall *call, GError **error)
{
    g_autoptr(JsonArray) vifs = verb_query_vifs(call, NULL, error);
    int count = 0;

    if (!vifs) {
        return -1;
    }
    for (guint i = 0; i < json_array_get_length(vifs); i++) {
        count +=
            strcmp(verb_text(json_array_get_object_element(vifs, i), "state"), "Connected") == 0;
    }
    return count;
}

bool leave_daemon(struct XnClient *client, pid_t pid, GError **error)
{
    /* (glibc 2.36 has pidfd_open(), older ones do not.) */
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd gone = {.fd = fd, .events = POLLIN};
    g_autoptr(JsonNode) done = client_execute(client, "leave", NULL, error);
    bool ended = done && (fd < 0 || poll(&gone, 1, LEAVE_TIMEOUT_MS) == 1);

    if (fd >= 0) {
        close(fd);
    }
    if (done && !ended) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_BUSY,
                    "the daemon, process %d, has not ended within %d s", (int)pid,
                    LEAVE_TIMEOUT_MS / 1000);
    }
    return ended;
}
