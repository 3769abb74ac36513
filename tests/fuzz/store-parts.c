/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-parts.c - the parts of the daemon that store-fuzz.c does without
 *
 * Network interfaces, connections, workers and the log. They do nothing but check what they are
 * given, fail when the input says so, and count what is open.
 */
#include <string.h>

#include "base/log.h"
#include "control/journal-file.h"
#include "port/link-watch.h"
#include "store-world.h"

struct XnConnection {
    struct XnConnectionConfig config;
    struct XnFrontend frontend;
};

static char dummy;

void log_write(enum XnLogLevel level, const char *subject, const char *format, ...)
{
    va_list arguments;

    (void)level;
    (void)subject;
    va_start(arguments, format);
    g_free(g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

void log_write_shared(struct XnLogSharedLimit *limit, enum XnLogLevel level, const char *subject,
                      const char *format, ...)
{
    (void)limit;
    (void)level;
    (void)subject;
    (void)format;
}

void log_write_limited(struct XnLogLimit *limit, uint64_t now_ns, enum XnLogLevel level,
                       const char *subject, const char *format, ...)
{
    va_list arguments;

    (void)limit;
    (void)now_ns;
    (void)level;
    (void)subject;
    va_start(arguments, format);
    g_free(g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

struct XnGnttab *gnttab_open(GError **error)
{
    (void)error;
    return (struct XnGnttab *)&dummy;
}

void gnttab_close(struct XnGnttab *gnttab)
{
    (void)gnttab;
}

struct XnWorkers *workers_create(unsigned count, uint32_t own_domid, enum XnBufferKind buffers,
                                 GError **error)
{
    (void)count;
    (void)own_domid;
    (void)buffers;
    (void)error;
    return (struct XnWorkers *)&dummy;
}

void workers_destroy(struct XnWorkers *workers)
{
    (void)workers;
}

enum XnBufferKind workers_buffer_kind(const struct XnWorkers *workers)
{
    (void)workers;
    return XN_BUFFERS_PLAIN;
}

void journal_file_delete(const char *directory, uint32_t domid, uint32_t devid)
{
    (void)directory;
    (void)domid;
    (void)devid;
}

void journal_file_delete_left(const char *directory,
                              bool (*is_known)(void *opaque, uint32_t domid, uint32_t devid),
                              void *opaque)
{
    (void)directory;
    is_known(opaque, 1, 0);
}

struct XnLinkWatch *link_watch_open(GError **error)
{
    (void)error;
    return (struct XnLinkWatch *)&dummy;
}

void link_watch_close(struct XnLinkWatch *watch)
{
    (void)watch;
}

int link_watch_fd(const struct XnLinkWatch *watch)
{
    (void)watch;
    return -1;
}

bool link_watch_next(struct XnLinkWatch *watch, unsigned *ret_index)
{
    (void)watch;
    if (world.link_event == 0) {
        return false;
    }
    *ret_index = world.link_event - 1;
    world.link_event = 0;
    return true;
}

bool link_watch_read(struct XnLinkWatch *watch, unsigned index, struct XnLink *ret_link,
                     GError **error)
{
    (void)watch;
    if (world.mtu == 0) {
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NODEV, "it is gone");
        return false;
    }
    *ret_link = (struct XnLink){
        .index = index, .up = world.mtu & 1, .mtu = world.mtu, .bridge = index == 9 ? 0 : 9};
    return true;
}

bool link_watch_set_mtu(struct XnLinkWatch *watch, unsigned index, unsigned mtu, GError **error)
{
    (void)watch;
    (void)index;
    (void)mtu;
    if (world.mtu == 0) {
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NODEV, "it is gone");
        return false;
    }
    world.mtu = mtu;
    return true;
}

struct XnPort *port_open(const char *name, const char *label, unsigned queue_count, bool carrier,
                         GError **error)
{
    g_assert(name && label && queue_count >= 1);
    (void)carrier;
    if (world.port_fails || strlen(name) > 15) {
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_PERM, "cannot make it");
        return NULL;
    }
    world.ports++;
    return (struct XnPort *)&dummy;
}

void port_close(struct XnPort *port)
{
    port_leave(port);
}

void port_leave(struct XnPort *port)
{
    if (port) {
        g_assert(world.ports > 0);
        world.ports--;
    }
}

bool port_exists(const char *name)
{
    return name[0] == 'v';
}

char **port_list_left(void)
{
    return g_strsplit(world.port_left ? "vif1.0 vif77.1 eth0" : "", " ", -1);
}

char *port_label(const char *name)
{
    return g_strdup(name);
}

unsigned port_index(const struct XnPort *port)
{
    (void)port;
    return 3;
}

struct XnConnection *connection_open(const struct XnConnectionConfig *config, GError **error)
{
    struct XnConnection *connection;
    const struct XnFrontend *frontend = config->frontend;

    g_assert(config->port && config->name);
    g_assert(frontend->queue_count >= 1 && frontend->queue_count <= XN_VIF_QUEUES_MAX);
    g_assert(frontend->features.guest_rx_headroom <= 256);
    for (unsigned i = 0; i < frontend->queue_count; i++) {
        g_assert(frontend->queues[i].guest_tx_channel > 0 &&
                 frontend->queues[i].guest_rx_channel > 0);
        g_assert(frontend->queues[i].guest_tx_ref != frontend->queues[i].guest_rx_ref);
    }
    if (world.connection_fails) {
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "cannot map");
        return NULL;
    }
    connection = g_new0(struct XnConnection, 1);
    connection->config = *config;
    connection->frontend = *frontend;
    world.connections++;
    world.last_id = config->id;
    world.last_serial = config->serial;
    world.broken = config->broken;
    world.broken_opaque = config->opaque;
    return connection;
}

void connection_close(struct XnConnection *connection)
{
    connection_leave(connection);
}

void connection_leave(struct XnConnection *connection)
{
    if (connection) {
        g_assert(world.connections > 0);
        world.connections--;
        g_free(connection);
    }
}

bool connection_set_features(struct XnConnection *connection, const struct XnFeatures *features,
                             GError **error)
{
    if (world.features_fail) {
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "the port refuses");
        return false;
    }
    connection->frontend.features = *features;
    return true;
}

void connection_set_rates(struct XnConnection *connection, const struct XnCreditRate *guest_tx,
                          const struct XnCreditRate *guest_rx)
{
    g_assert(connection && guest_tx && guest_rx);
}

bool connection_set_bridge(struct XnConnection *connection, unsigned bridge)
{
    return connection->frontend.queue_count == 1 && bridge != 0;
}

void connection_set_multicast_filter(struct XnConnection *connection, bool on)
{
    connection->frontend.multicast_filter = on;
}

void connection_set_down(struct XnConnection *connection, bool down G_GNUC_UNUSED)
{
    g_assert(connection);
}

bool connection_is_stalled(const struct XnConnection *connection)
{
    g_assert(connection);
    return false;
}

uint64_t connection_serial(const struct XnConnection *connection)
{
    return connection->config.serial;
}

const struct XnFrontend *connection_frontend(const struct XnConnection *connection)
{
    return &connection->frontend;
}

unsigned connection_mapped_grants(const struct XnConnection *connection)
{
    return 2 * connection->frontend.queue_count;
}
