/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring-path.c - what the data path costs by itself, beside the memcpy that it cannot do without
 *
 * One process is guest, hypervisor and network at once (bench-guest.h). Timed are the turns of the
 * queue only, not the guest's part, and in the same run as many bytes of the same pages copied by
 * memcpy alone: the bound. Each is done in short rounds, one after the other, and the best round
 * counts, since whatever else the machine does makes rounds slower, never faster.
 *
 *   ring-path                         everything
 *   ring-path PACKETS DIRECTION SIZE  so many packets and no more; says nothing
 *
 *   value ring.DIRECTION.SIZE[.VARIANT] NUMBER packets/s
 *   ratio ring.DIRECTION.SIZE[.VARIANT].of-memcpy NUMBER     1 = as fast as memcpy
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "bench-guest.h"

#define ROUNDS 12
#define ROUND_NS 12000000u

enum BenchDirection {
    BENCH_GUEST_TX,
    BENCH_GUEST_RX,
    BENCH_BOTH,
};

static const char *const direction_names[] = {"guest-tx", "guest-rx", "both"};
static const uint32_t sizes[] = {64, 256, 1500, 4096, 9000, 65535};

struct BenchSpeed {
    /* nanoseconds for one packet, the best round */
    double path;
    double copy;
    /* per packet */
    double slots;
    double segments;
    double calls;
    double notifies;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One turn of one direction, or of both; the time it took is added. Returns packets. */
static uint64_t bench_turn(struct BenchGuest *guest, enum BenchDirection direction, uint64_t *ns)
{
    struct XnQueueCounters *counters = &guest->counters;
    uint64_t before = counters->guest_tx_packets + counters->guest_rx_packets;
    uint64_t start;

    if (direction != BENCH_GUEST_RX) {
        bench_guest_send(guest);
    }
    if (direction != BENCH_GUEST_TX) {
        bench_guest_receive(guest);
    }
    start = now_ns();
    if (direction != BENCH_GUEST_RX) {
        guest_tx_turn(guest->queue, guest->turn);
    }
    if (direction != BENCH_GUEST_TX) {
        guest_rx_turn(guest->queue, guest->turn);
    }
    *ns += now_ns() - start;
    return counters->guest_tx_packets + counters->guest_rx_packets - before;
}

/* memcpy must be a call: what the compiler makes of it in place is slower for short lengths. */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

/* As many packets as fill the ring once, copied page by page as the data path does. */
static uint64_t bench_copy(struct BenchGuest *guest, enum BenchDirection direction,
                           uint32_t headroom, uint64_t *ns)
{
    uint32_t room = direction == BENCH_GUEST_RX ? headroom : 0;
    uint32_t slots = bench_guest_slots(guest, room);
    uint64_t packets = 0;
    uint64_t start = now_ns();

    for (uint32_t slot = 0; slot + slots <= XN_RING_SIZE; slot += slots) {
        uint32_t page = (uint32_t)(packets % XN_BATCH_PACKETS) * slots;

        for (uint32_t k = 0; k < slots; k++) {
            uint32_t begin = k == 0 ? room : 0;
            uint32_t end = MIN(room + guest->frame_size - k * XN_PAGE_SIZE, XN_PAGE_SIZE);
            uint8_t *ours = buffer_pool_page(guest->turn->pool, page + k) + begin;

            if (direction == BENCH_GUEST_TX || (direction == BENCH_BOTH && packets % 2 == 0)) {
                copy(ours, guest->guest_tx_pages[slot + k] + begin, end - begin);
            } else {
                copy(guest->guest_rx_pages[slot + k] + begin, ours, end - begin);
            }
        }
        packets++;
    }
    *ns += now_ns() - start;
    return packets;
}

static struct BenchSpeed measure(struct BenchGuest *guest, enum BenchDirection direction,
                                 uint32_t headroom)
{
    struct BenchSpeed speed = {.path = 1e9, .copy = 1e9};
    struct XnQueueCounters *c = &guest->counters;
    double packets;

    memset(c, 0, sizeof(*c));
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t path_ns = 0, path_packets = 0, copy_ns = 0, copy_packets = 0;

        while (path_ns < ROUND_NS) {
            path_packets += bench_turn(guest, direction, &path_ns);
        }
        while (copy_ns < ROUND_NS) {
            copy_packets += bench_copy(guest, direction, headroom, &copy_ns);
        }
        speed.path = MIN(speed.path, (double)path_ns / (double)path_packets);
        speed.copy = MIN(speed.copy, (double)copy_ns / (double)copy_packets);
    }
    packets = (double)(c->guest_tx_packets + c->guest_rx_packets);
    speed.slots = (double)(c->guest_tx_slots + c->guest_tx_extras + c->guest_rx_slots) / packets;
    speed.segments = (double)(c->guest_tx_segments + c->guest_rx_segments) / packets;
    speed.calls = (double)(c->guest_tx_copy_calls + c->guest_rx_copy_calls) / packets;
    speed.notifies = (double)(c->guest_tx_notifies + c->guest_rx_notifies) / packets;
    return speed;
}

static void print_speed(enum BenchDirection direction, uint32_t size, const char *variant,
                        const struct BenchSpeed *speed)
{
    char name[64];

    snprintf(name, sizeof(name), "ring.%s.%u%s", direction_names[direction], size, variant);
    printf("value %s %.0f packets/s\n", name, 1e9 / speed->path);
    printf("value %s.per-packet.slots %.3f slots\n", name, speed->slots);
    printf("value %s.per-packet.segments %.3f segments\n", name, speed->segments);
    printf("value %s.per-packet.calls %.4f calls\n", name, speed->calls);
    printf("value %s.per-packet.events %.4f events\n", name, speed->notifies);
    printf("ratio %s.of-memcpy %.3f\n", name, speed->copy / speed->path);
    fflush(stdout);
}

static void measure_all(const char *variant, uint16_t headroom, bool map)
{
    struct BenchGuest *guest = bench_guest_create(0, headroom);

    if (map) {
        bench_guest_map_all(guest);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        uint32_t size = sizes[i];

        /* With headroom a guest runs XDP, and gets no super-frames. */
        if (headroom > 0 && size > BENCH_MTU_FRAME) {
            continue;
        }
        bench_guest_set_frame(guest, size);
        for (int direction = BENCH_GUEST_TX; direction <= BENCH_BOTH; direction++) {
            struct BenchSpeed speed;

            if (headroom > 0 && direction != BENCH_GUEST_RX) {
                continue;
            }
            speed = measure(guest, direction, headroom);

            print_speed(direction, size, variant, &speed);
        }
    }
    bench_guest_free(guest);
}

/* --- two queues on two threads --- */

struct BenchThread {
    pthread_t thread;
    struct BenchGuest *guest;
    uint64_t turns;
};

static void *thread_main(void *opaque)
{
    struct BenchThread *self = opaque;
    uint64_t ns = 0;

    for (uint64_t i = 0; i < self->turns; i++) {
        bench_turn(self->guest, BENCH_GUEST_TX, &ns);
    }
    return NULL;
}

/* The time that `count` queues take for so many turns each, all at once: the best of the rounds. */
static double threads_run(struct BenchGuest **guests, unsigned count, uint64_t turns)
{
    double best = 1e18;

    for (int round = 0; round < ROUNDS; round++) {
        struct BenchThread threads[BENCH_GUESTS];
        uint64_t start = now_ns();

        for (unsigned i = 0; i < count; i++) {
            threads[i] = (struct BenchThread){.guest = guests[i], .turns = turns};
            if (pthread_create(&threads[i].thread, NULL, thread_main, &threads[i]) != 0) {
                abort();
            }
        }
        for (unsigned i = 0; i < count; i++) {
            pthread_join(threads[i].thread, NULL);
        }
        best = MIN(best, (double)(now_ns() - start));
    }
    return best;
}

static void measure_two_queues(void)
{
    static const uint32_t two_sizes[] = {64, 1500, 65535};
    struct BenchGuest *guests[BENCH_GUESTS];

    for (unsigned i = 0; i < BENCH_GUESTS; i++) {
        guests[i] = bench_guest_create(i, 0);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(two_sizes); i++) {
        uint64_t ns = 0, turns = 0;
        double one, two;

        for (unsigned k = 0; k < BENCH_GUESTS; k++) {
            bench_guest_set_frame(guests[k], two_sizes[i]);
        }
        for (turns = 0; ns < 2 * ROUND_NS; turns++) {
            bench_turn(guests[0], BENCH_GUEST_TX, &ns);
        }
        one = threads_run(guests, 1, turns);
        two = threads_run(guests, BENCH_GUESTS, turns);
        printf("ratio ring.guest-tx.%u.two-queues-to-one %.3f\n", two_sizes[i], 2 * one / two);
    }
    for (unsigned i = 0; i < BENCH_GUESTS; i++) {
        bench_guest_free(guests[i]);
    }
}

/* --- so many packets and no more, for a tool that counts instructions --- */

static int run_packets(char **arguments)
{
    enum BenchDirection direction = strcmp(arguments[1], direction_names[BENCH_GUEST_TX]) == 0
                                        ? BENCH_GUEST_TX
                                        : BENCH_GUEST_RX;
    struct BenchGuest *guest = bench_guest_create(0, 0);
    uint64_t wanted = strtoull(arguments[0], NULL, 10), done = 0, ns = 0;

    bench_guest_set_frame(guest, (uint32_t)strtoul(arguments[2], NULL, 10));
    while (done < wanted) {
        done += bench_turn(guest, direction, &ns);
    }
    return 0;
}

/* Without arguments everything is measured. */
int main(int argc, char **argv)
{
    if (argc == 4) {
        return run_packets(argv + 1);
    }
    measure_all("", 0, false);
    measure_all(".headroom", 256, false);
    measure_all(".static", 0, true);
    measure_two_queues();
    return 0;
}
