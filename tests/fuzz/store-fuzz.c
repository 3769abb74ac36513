/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-fuzz.c - the control plane under any sequence of writes to xenstore
 *
 * Theory of operation
 *
 * From the list of vifs to the state machine everything is real; what surrounds it is
 * store-world.c, where it also stands what is checked all the time. An input is a list of steps:
 * the toolstack, the hotplug script and the guest write what they should or what they should not,
 * xenstored fails or goes away, events come, are late or are invented, timers run out, the daemon
 * is replaced. In the end it is told to stop, and must end with nothing left.
 */
#include <errno.h>
#include <stdio.h>

#include "control/backend.h"
#include "control/stats.h"
#include "fuzz.h"
#include "store-world.h"

#define STEPS_MAX 200u
/* More timers than a stop can take. */
#define END_TIMERS 64u

static bool ended;

static const char *const frontend_keys[] = {
    "state",
    "request-rx-copy",
    "feature-rx-notify",
    "feature-sg",
    "feature-gso-tcpv4",
    "feature-gso-tcpv6",
    "feature-no-csum-offload",
    "feature-ipv6-csum-offload",
    "ctrl-ring-ref",
    "event-channel-ctrl",
    "request-multicast-control",
    "xdp-headroom",
    "mtu",
    "multi-queue-num-queues",
    "tx-ring-ref",
    "rx-ring-ref",
    "event-channel",
    "event-channel-tx",
    "event-channel-rx",
    "queue-0/tx-ring-ref",
    "queue-0/rx-ring-ref",
    "queue-0/event-channel",
    "queue-1/tx-ring-ref",
    "queue-1/rx-ring-ref",
    "queue-1/event-channel-tx",
    "queue-1/event-channel-rx",
};

static const char *const backend_keys[] = {
    "state",      "online", "hotplug-status", "hotplug-error",
    "vifname",    "rate",   "rx-rate",        "rx-csum",
    "max-queues", "mac",    "frontend",       "frontend-id",
    "error",      "direct", "nonsense",       "multi-queue-max-queues",
};

static const char *const values[] = {
    "0",     "1",          "2",       "3",
    "4",     "5",          "6",       "7",
    "8",     "9",          "-1",      "4294967295",
    "",      "connected",  "error",   "100,50000",
    "0,0",   "fill",       "offload", "00:16:3e:00:00:01",
    "1x",    "4294967296", "/",       "/local/domain/1/device/vif/0",
    "65535", "256",        " 1",      "18446744073709551616",
};

static char *vif_path(struct FuzzInput *input, const char *const *keys, size_t count, bool backend)
{
    uint8_t which = fuzz_u8(input);
    unsigned domid = 1 + which % 2;
    unsigned devid = which / 2 % 2;
    const char *key = keys[fuzz_u8(input) % count];

    return backend ? g_strdup_printf(WORLD_BASE "/%u/%u/%s", domid, devid, key)
                   : g_strdup_printf("/local/domain/%u/device/vif/%u/%s", domid, devid, key);
}

static void write_value(struct FuzzInput *input, const char *path)
{
    uint8_t which = fuzz_u8(input);
    char raw[24];

    if (which < 2 * G_N_ELEMENTS(values)) {
        world_write(path, values[which % G_N_ELEMENTS(values)], -1);
    } else if (which == 255) {
        g_autofree char *text = g_strnfill(2000, '7');

        world_write(path, text, -1);
    } else {
        uint32_t size = fuzz_range(input, 0, sizeof(raw));

        fuzz_bytes(input, raw, size);
        world_write(path, raw, (int)size);
    }
}

static void vif_add(unsigned domid, unsigned devid)
{
    const char *const keys[][2] = {{"frontend-id", NULL},
                                   {"online", "1"},
                                   {"state", "1"},
                                   {"mac", "00:16:3e:00:00:01"},
                                   {"handle", "0"}};
    g_autofree char *directory = g_strdup_printf(WORLD_BASE "/%u/%u", domid, devid);
    g_autofree char *frontend = g_strdup_printf("/local/domain/%u/device/vif/%u", domid, devid);
    g_autofree char *number = g_strdup_printf("%u", domid);
    g_autofree char *path = g_strconcat(directory, "/frontend", NULL);
    g_autofree char *state = g_strconcat(frontend, "/state", NULL);

    world_write(state, "1", -1);
    world_write(path, frontend, -1);
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *key = g_strdup_printf("%s/%s", directory, keys[i][0]);

        world_write(key, keys[i][1] ? keys[i][1] : number, -1);
    }
}

static void frontend_connect(unsigned domid, unsigned devid, bool two_queues)
{
    const char *const one[][2] = {
        {"tx-ring-ref", "8"}, {"rx-ring-ref", "9"}, {"event-channel", "3"}};
    const char *const two[][2] = {{"multi-queue-num-queues", "2"}, {"queue-0/tx-ring-ref", "8"},
                                  {"queue-0/rx-ring-ref", "9"},    {"queue-0/event-channel", "3"},
                                  {"queue-1/tx-ring-ref", "10"},   {"queue-1/rx-ring-ref", "11"},
                                  {"queue-1/event-channel", "4"}};
    guint count = two_queues ? G_N_ELEMENTS(two) : G_N_ELEMENTS(one);
    g_autofree char *directory = g_strdup_printf("/local/domain/%u/device/vif/%u", domid, devid);
    g_autofree char *copy = g_strconcat(directory, "/request-rx-copy", NULL);
    g_autofree char *state = g_strconcat(directory, "/state", NULL);

    world_write(copy, "1", -1);
    for (guint i = 0; i < count; i++) {
        const char *const *key = two_queues ? two[i] : one[i];
        g_autofree char *path = g_strdup_printf("%s/%s", directory, key[0]);

        world_write(path, key[1], -1);
    }
    world_write(state, "4", -1);
}

static void step_toolstack(struct FuzzInput *input)
{
    uint8_t what = fuzz_u8(input);
    unsigned domid = 1 + (what & 1), devid = what >> 1 & 1;
    g_autofree char *directory = g_strdup_printf(WORLD_BASE "/%u/%u", domid, devid);
    g_autofree char *frontend = g_strdup_printf("/local/domain/%u/device/vif/%u", domid, devid);
    g_autofree char *state = g_strconcat(directory, "/state", NULL);
    g_autofree char *online = g_strconcat(directory, "/online", NULL);
    g_autofree char *status = g_strconcat(directory, "/hotplug-status", NULL);

    switch (what >> 2 & 7) {
    case 0:
        vif_add(domid, devid);
        break;
    case 1:
        vif_add(domid, devid);
        world_dispatch();
        world_write(status, "connected", -1);
        break;
    case 2:
        world_write(state, "5", -1);
        world_write(online, "0", -1);
        break;
    case 3:
        world_remove(directory);
        break;
    case 4:
        world_remove(directory);
        world_remove(frontend);
        break;
    case 5:
        world_write(status, "connected", -1);
        break;
    default:
        frontend_connect(domid, devid, what & 32);
        break;
    }
}

static void step_fault(struct FuzzInput *input)
{
    static const int errors[] = {EAGAIN, ENOSPC, E2BIG, EACCES, EIO, ENOMEM, EDQUOT, EBADF, EPIPE};

    world.fail_after = fuzz_u8(input) % 32;
    world.fail_error = errors[fuzz_u8(input) % G_N_ELEMENTS(errors)];
}

static void step_event(struct FuzzInput *input)
{
    char path[33] = {0}, token[17] = {0};

    fuzz_bytes(input, path, fuzz_range(input, 0, sizeof(path) - 1));
    fuzz_bytes(input, token, fuzz_range(input, 0, sizeof(token) - 1));
    world_tell(path, token);
}

static void step_settings(struct FuzzInput *input)
{
    uint8_t bits = fuzz_u8(input);

    world.connection_fails = bits & 1;
    world.features_fail = bits & 2;
    world.port_fails = (bits & 12) == 12;
    world.port_left = bits & 16;
    /* As the kernel has it for a tap, or 0: the interface is gone. */
    world.mtu = bits & 32 ? fuzz_range(input, 68, 65535) : bits & 64 ? 0 : 1500;
}

static void daemon_ended(void *opaque)
{
    (void)opaque;
    ended = true;
}

static void daemon_event(void *opaque, const struct XnVifEvent *happened)
{
    (void)opaque;
    g_assert(happened != NULL);
}

static struct XnBackend *daemon_start(void)
{
    struct XnBackendConfig config = {.workers = 1,
                                     .queue_max = 4,
                                     .journal_directory = "/",
                                     .event = daemon_event,
                                     .ended = daemon_ended};
    struct XnBackend *backend = backend_create(&config, NULL);

    ended = false;
    if (backend && !backend_start(backend, NULL)) {
        backend_free(backend);
        backend = NULL;
    }
    return backend;
}

static struct XnBackend *step_replace(struct XnBackend *backend)
{
    backend_leave(backend);
    g_assert(ended);
    backend_free(backend);
    g_assert(world.connections == 0 && world.ports == 0 && world_timers() == 0);
    world.broken = NULL;
    return daemon_start();
}

static struct XnBackend *step(struct FuzzInput *input, struct XnBackend *backend)
{
    g_autofree char *path = NULL;

    switch (fuzz_u8(input) % 16) {
    case 0:
    case 1:
        step_toolstack(input);
        break;
    case 2:
    case 3:
        path = vif_path(input, frontend_keys, G_N_ELEMENTS(frontend_keys), false);
        write_value(input, path);
        break;
    case 4:
        path = vif_path(input, backend_keys, G_N_ELEMENTS(backend_keys), true);
        write_value(input, path);
        break;
    case 5:
        path = vif_path(input, frontend_keys, G_N_ELEMENTS(frontend_keys), false);
        world_remove(path);
        break;
    case 6:
        path = vif_path(input, backend_keys, G_N_ELEMENTS(backend_keys), true);
        world_remove(path);
        break;
    case 7:
        step_fault(input);
        break;
    case 8:
        step_event(input);
        break;
    case 9:
        step_settings(input);
        break;
    case 10:
        world.link_event = 1u + fuzz_u8(input) % 12;
        break;
    case 11:
        if (world.broken) {
            world.broken(world.broken_opaque, world.last_id,
                         world.last_serial + (fuzz_u8(input) & 1), "the ring is broken");
        }
        break;
    case 12:
        world.lost = fuzz_u8(input) & 1;
        break;
    case 13:
        return step_replace(backend);
    case 14:
        world_fire_timer(fuzz_u8(input));
        break;
    default:
        world_dispatch();
        break;
    }
    return backend;
}

static void end(struct XnBackend *backend)
{
    bool lost = world.lost;

    world.fail_after = 0;
    world_dispatch();
    json_node_unref(stats_vifs(backend, NULL));
    backend_stop(backend);
    for (unsigned i = 0; i < END_TIMERS && !ended; i++) {
        world_dispatch();
        world_fire_timer(i);
    }
    /* With xenstored away nothing can be closed: then the second request ends it. */
    if (!ended) {
        g_assert(lost || world.lost || world_timers() > 0);
        backend_stop(backend);
    }
    g_assert(ended);
    backend_free(backend);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct FuzzInput input = {data, size};
    struct XnBackend *backend;

    world_begin();
    backend = daemon_start();
    for (unsigned i = 0; backend && input.left > 0 && i < STEPS_MAX; i++) {
        backend = step(&input, backend);
    }
    if (backend) {
        end(backend);
    }
    world_end();
    return 0;
}
