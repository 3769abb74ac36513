/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * service.c - what the daemon tells the service manager that started it
 */
#include "service.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

/* Turns a millisecond's worth of WATCHDOG_USEC into the interval of half of it. */
#define SERVICE_USEC_PER_HALF_MS 2000u

static int service_fd = -1;

void service_connect(void)
{
    const char *path = g_getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path ? strlen(path) : 0;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);

    if (service_fd >= 0 || length == 0 || length >= sizeof(address.sun_path) ||
        (path[0] != '/' && path[0] != '@')) {
        return;
    }
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') {
        address.sun_path[0] = '\0';
    }
    service_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (service_fd >= 0 && connect(service_fd, (struct sockaddr *)&address, size) < 0) {
        log_debug(NULL, "cannot reach the service manager at %s: %s", path, g_strerror(errno));
        close(service_fd);
        service_fd = -1;
    }
}

void service_say(const char *state)
{
    if (service_fd >= 0 && send(service_fd, state, strlen(state), MSG_NOSIGNAL) < 0) {
        log_debug(NULL, "cannot tell the service manager %s: %s", state, g_strerror(errno));
    }
}

static gboolean service_alive(gpointer opaque G_GNUC_UNUSED)
{
    service_say("WATCHDOG=1");
    return G_SOURCE_CONTINUE;
}

void service_start_watchdog(void)
{
    const char *usec = g_getenv("WATCHDOG_USEC");
    const char *pid = g_getenv("WATCHDOG_PID");
    guint64 interval;
    guint64 meant_for;

    if (service_fd < 0 || !usec ||
        !g_ascii_string_to_unsigned(usec, 10, SERVICE_USEC_PER_HALF_MS, G_MAXUINT32, &interval,
                                    NULL)) {
        return;
    }
    if (pid && (!g_ascii_string_to_unsigned(pid, 10, 1, G_MAXINT32, &meant_for, NULL) ||
                meant_for != (guint64)getpid())) {
        return;
    }
    g_timeout_add((guint)(interval / SERVICE_USEC_PER_HALF_MS), service_alive, NULL);
}
