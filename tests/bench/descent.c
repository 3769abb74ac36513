/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * descent.c - what older systems found out about laying out and holding packets, on our own ground
 *
 * Three tables; docs/performance.md sets each beside the figure that was published.
 *
 * coalesce: a packet as a network card and GRO leave it, 45 fragments of 1448 bytes, two to a page,
 *   after a head of 54 bytes, is laid out into a guest's pages: by the old rule (a fragment that
 *   would overflow a started buffer begins a new one, but not in the head buffer), by filling each
 *   buffer from the fragments, and by filling each buffer from one page-aligned copy, as qnetback
 *   does. Slots, operations, and how often a page must be acquired: the hypervisor keeps the last
 *   page of each side until an operation names another.
 * order: the acquisitions when the same operations are done in our order, backwards, and in turns
 *   from both halves.
 * buffers: receiving into small buffers; into room for 64 KiB, of which what a packet left over
 *   begins the next one's, used again for each batch, as qnetback's pool does; the same without
 *   giving back what is left over; 2048 of them in a ring; and fresh ones for each packet.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u
#define FRAGMENTS 45u
#define FRAGMENT_SIZE 1448u
#define HEAD_SIZE 54u
#define PACKET_SIZE (HEAD_SIZE + FRAGMENTS * FRAGMENT_SIZE)
#define OPERATIONS_MAX 128u
#define ROUNDS 9
#define ROUND_NS 15000000u

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *allocate(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        perror("descent: cannot allocate memory");
        exit(1);
    }
    memset(memory, 1, size);
    return memory;
}

/* --- coalesce and order --- */

struct Operation {
    unsigned source_page;
    unsigned source_offset;
    unsigned dest_page;
    unsigned dest_offset;
    unsigned length;
};

struct Layout {
    const char *name;
    struct Operation operations[OPERATIONS_MAX];
    unsigned count;
    unsigned slots;
};

struct Piece {
    unsigned page;
    unsigned offset;
    unsigned length;
};

enum Rule {
    RULE_OLD,
    RULE_FILL,
};

/* Lays pieces out, one after the other, none of which leaves its page. */
static void lay_out(struct Layout *layout, enum Rule rule, const struct Piece *pieces,
                    unsigned count)
{
    unsigned slot = 0, offset = 0;

    layout->count = 0;
    for (unsigned i = 0; i < count; i++) {
        struct Piece piece = pieces[i];

        if (rule == RULE_OLD && slot > 0 && offset > 0 && offset + piece.length > PAGE) {
            slot++;
            offset = 0;
        }
        while (piece.length > 0) {
            unsigned part = piece.length;

            if (offset == PAGE) {
                slot++;
                offset = 0;
            }
            if (part > PAGE - offset) {
                part = PAGE - offset;
            }
            layout->operations[layout->count++] =
                (struct Operation){piece.page, piece.offset, slot, offset, part};
            piece.offset += part;
            piece.length -= part;
            offset += part;
        }
    }
    layout->slots = slot + 1;
}

static unsigned acquisitions(const struct Layout *layout)
{
    unsigned source = UINT32_MAX, dest = UINT32_MAX, count = 0;

    for (unsigned i = 0; i < layout->count; i++) {
        count += layout->operations[i].source_page != source;
        count += layout->operations[i].dest_page != dest;
        source = layout->operations[i].source_page;
        dest = layout->operations[i].dest_page;
    }
    return count;
}

/* Nanoseconds for one packet: the copies alone. */
static double copy_time(const struct Layout *layout, const uint8_t *source, uint8_t *dest)
{
    double best = 1e9;

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = now_ns(), packets = 0, end;

        do {
            for (unsigned i = 0; i < layout->count; i++) {
                const struct Operation *operation = &layout->operations[i];

                memcpy(dest + operation->dest_page * PAGE + operation->dest_offset,
                       source + operation->source_page * PAGE + operation->source_offset,
                       operation->length);
            }
            packets++;
            end = now_ns();
        } while (end - start < ROUND_NS);
        if ((double)(end - start) / (double)packets < best) {
            best = (double)(end - start) / (double)packets;
        }
    }
    return best;
}

static void print_layout(const struct Layout *layout, const struct Layout *old, double time,
                         double old_time)
{
    printf("value coalesce.%s.slots %u slots\n", layout->name, layout->slots);
    printf("value coalesce.%s.segments %u segments\n", layout->name, layout->count);
    printf("value coalesce.%s.acquisitions %u pages\n", layout->name, acquisitions(layout));
    printf("ratio coalesce.%s.slots-to-old %.3f\n", layout->name,
           (double)layout->slots / (double)old->slots);
    printf("ratio coalesce.%s.segments-to-old %.3f\n", layout->name,
           (double)layout->count / (double)old->count);
    printf("ratio coalesce.%s.copy-throughput-to-old %.3f\n", layout->name, old_time / time);
}

static void reorder(struct Layout *layout, const struct Layout *from, const char *name)
{
    *layout = *from;
    layout->name = name;
}

static void print_order(const struct Layout *layout)
{
    struct Layout backwards, in_turns;
    unsigned half = (layout->count + 1) / 2;

    reorder(&backwards, layout, "backwards");
    reorder(&in_turns, layout, "in-turns");
    for (unsigned i = 0; i < layout->count; i++) {
        backwards.operations[i] = layout->operations[layout->count - 1 - i];
        in_turns.operations[i] = layout->operations[i % 2 == 0 ? i / 2 : half + i / 2];
    }
    printf("value order.%s.ours.acquisitions %u pages\n", layout->name, acquisitions(layout));
    printf("value order.%s.backwards.acquisitions %u pages\n", layout->name,
           acquisitions(&backwards));
    printf("ratio order.%s.backwards-to-ours %.3f\n", layout->name,
           (double)acquisitions(&backwards) / acquisitions(layout));
    printf("ratio order.%s.in-turns-to-ours %.3f\n", layout->name,
           (double)acquisitions(&in_turns) / acquisitions(layout));
}

static void coalesce(void)
{
    static struct Layout old = {.name = "old-rule"}, fill = {.name = "from-fragments"},
                         aligned = {.name = "from-aligned"};
    struct Piece fragments[1 + FRAGMENTS], pages[PACKET_SIZE / PAGE + 1];
    unsigned page_count = 0;
    uint8_t *source = allocate((FRAGMENTS + 2) * PAGE), *dest = allocate(2 * FRAGMENTS * PAGE);
    double old_time, fill_time, aligned_time;

    fragments[0] = (struct Piece){0, 0, HEAD_SIZE};
    for (unsigned i = 0; i < FRAGMENTS; i++) {
        fragments[1 + i] = (struct Piece){1 + i / 2, i % 2 * (PAGE / 2) + 66, FRAGMENT_SIZE};
    }
    for (unsigned done = 0; done < PACKET_SIZE; done += PAGE) {
        unsigned left = PACKET_SIZE - done;

        pages[page_count] = (struct Piece){page_count, 0, left < PAGE ? left : PAGE};
        page_count++;
    }
    lay_out(&old, RULE_OLD, fragments, 1 + FRAGMENTS);
    lay_out(&fill, RULE_FILL, fragments, 1 + FRAGMENTS);
    lay_out(&aligned, RULE_FILL, pages, page_count);
    old_time = copy_time(&old, source, dest);
    fill_time = copy_time(&fill, source, dest);
    aligned_time = copy_time(&aligned, source, dest);
    print_layout(&old, &old, old_time, old_time);
    print_layout(&fill, &old, fill_time, old_time);
    print_layout(&aligned, &old, aligned_time, old_time);
    print_order(&fill);
    print_order(&aligned);
}

/* --- buffers --- */

#define BUFFER_LARGE 65536u
#define BUFFER_SMALL 2048u
#define BUFFER_RING 2048u
/* A batch of packets is received before it is passed on. */
#define BATCH 16u

enum Buffers {
    BUFFERS_SMALL,
    BUFFERS_LARGE,
    BUFFERS_LARGE_APART,
    BUFFERS_LARGE_RING,
    BUFFERS_LARGE_FRESH,
    BUFFERS_KINDS,
};

static const char *const buffers_names[] = {"small-recycled", "64k-recycled", "64k-recycled-apart",
                                            "64k-ring-of-2048", "64k-fresh"};

static uint8_t *buffer_take(enum Buffers buffers, uint8_t *memory, unsigned packet)
{
    switch (buffers) {
    case BUFFERS_SMALL:
        return memory + packet % BATCH * BUFFER_SMALL;
    case BUFFERS_LARGE:
        return memory + packet % BATCH * PAGE;
    case BUFFERS_LARGE_APART:
        return memory + packet % BATCH * BUFFER_LARGE;
    case BUFFERS_LARGE_RING:
        return memory + (size_t)(packet % BUFFER_RING) * BUFFER_LARGE;
    case BUFFERS_LARGE_FRESH:
    case BUFFERS_KINDS:
        break;
    }
    return mmap(NULL, BUFFER_LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Receives and passes on batches of frames of 1514 bytes; nanoseconds for one. */
static double receive_time(enum Buffers buffers, uint8_t *memory, const int *sockets)
{
    static uint8_t frame[1514], guest[BATCH][PAGE];
    uint64_t start = now_ns(), end;
    unsigned packets = 0;

    do {
        uint8_t *batch[BATCH];

        for (unsigned i = 0; i < BATCH; i++) {
            if (write(sockets[1], frame, sizeof(frame)) < 0) {
                perror("descent: cannot send");
                exit(1);
            }
        }
        for (unsigned i = 0; i < BATCH; i++) {
            batch[i] = buffer_take(buffers, memory, packets + i);
            if (batch[i] == MAP_FAILED ||
                read(sockets[0], batch[i], buffers == BUFFERS_SMALL ? BUFFER_SMALL : BUFFER_LARGE) <
                    0) {
                perror("descent: cannot receive");
                exit(1);
            }
        }
        for (unsigned i = 0; i < BATCH; i++) {
            memcpy(guest[i], batch[i], sizeof(frame));
            if (buffers == BUFFERS_LARGE_FRESH) {
                munmap(batch[i], BUFFER_LARGE);
            }
        }
        packets += BATCH;
        end = now_ns();
    } while (end - start < 2 * ROUND_NS);
    return (double)(end - start) / packets;
}

static void buffers(void)
{
    uint8_t *memory = allocate((size_t)BUFFER_RING * BUFFER_LARGE);
    double best[BUFFERS_KINDS] = {1e9, 1e9, 1e9, 1e9, 1e9};
    int sockets[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) < 0) {
        perror("descent: cannot make sockets");
        exit(1);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < BUFFERS_KINDS; i++) {
            double time = receive_time((enum Buffers)i, memory, sockets);

            best[i] = time < best[i] ? time : best[i];
        }
    }
    for (unsigned i = 0; i < BUFFERS_KINDS; i++) {
        printf("value buffers.%s %.1f ns/packet\n", buffers_names[i], best[i]);
        printf("ratio buffers.%s.time-to-small %.3f\n", buffers_names[i], best[i] / best[0]);
    }
}

int main(void)
{
    coalesce();
    buffers();
    return 0;
}
