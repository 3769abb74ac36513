/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map-or-copy.c - the ways to get at a frame in a guest's pages, on the simulator
 *
 * For frames of 1500 and of 65535 bytes, in batches of 16: copied by one grant-copy call; mapped
 * and unmapped again, one call each for a batch; and in pages that stay mapped (static grants),
 * copied when small and used in place when large. In each case the frame's bytes are then read
 * once, as a tap reads them. Prints the time of each divided by that of the copy call; below 1 is
 * faster.
 *
 * Run by xensim-run. The guest is this program too, started as domain 1 with --share.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xengnttab.h>

#define PAGE 4096u
#define BATCH 16u
#define FRAME_PAGES 16u
#define PAGES (BATCH * FRAME_PAGES)
#define GUEST 1u
#define ROUNDS 9
#define ROUND_NS 15000000u
/* From here on static grants are used in place (XN_STATIC_PAGES_IN_PLACE_MIN). */
#define IN_PLACE_MIN 32768u

static xengnttab_handle *gnttab;
static uint32_t refs[PAGES];
static uint8_t *mapped, *ours, *scratch;

static void fail(const char *what)
{
    fprintf(stderr, "map-or-copy: ");
    perror(what);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- the guest --- */

static int share(void)
{
    xengntshr_handle *gntshr = xengntshr_open(NULL, 0);
    char byte;

    if (!gntshr) {
        fail("cannot open the grant device");
    }
    if (!xengntshr_share_pages(gntshr, 0, PAGES, refs, 1)) {
        fail("cannot share pages");
    }
    for (unsigned i = 0; i < PAGES; i++) {
        printf("%u\n", refs[i]);
    }
    fflush(stdout);
    /* Until the other side is done. */
    return read(STDIN_FILENO, &byte, 1) < 0;
}

/* --- the backend --- */

static uint32_t frame_pages(uint32_t size)
{
    return (size + PAGE - 1) / PAGE;
}

static void use(const uint8_t *frame, uint32_t size)
{
    memcpy(scratch, frame, size);
}

static void by_copy(uint32_t size)
{
    static xengnttab_grant_copy_segment_t segments[PAGES];
    uint32_t count = 0;

    for (uint32_t i = 0; i < BATCH; i++) {
        for (uint32_t k = 0; k < frame_pages(size); k++) {
            uint32_t left = size - k * PAGE;

            segments[count] = (xengnttab_grant_copy_segment_t){
                .source.foreign = {.ref = refs[i * FRAME_PAGES + k], .domid = GUEST},
                .dest.virt = ours + (i * FRAME_PAGES + k) * PAGE,
                .len = (uint16_t)(left < PAGE ? left : PAGE),
                .flags = GNTCOPY_source_gref,
            };
            count++;
        }
    }
    if (xengnttab_grant_copy(gnttab, count, segments) != 0) {
        fail("grant copy");
    }
    for (uint32_t i = 0; i < BATCH; i++) {
        use(ours + i * FRAME_PAGES * PAGE, size);
    }
}

static void by_map(uint32_t size)
{
    uint32_t list[PAGES], count = 0;
    uint8_t *pages;

    for (uint32_t i = 0; i < BATCH; i++) {
        for (uint32_t k = 0; k < frame_pages(size); k++) {
            list[count++] = refs[i * FRAME_PAGES + k];
        }
    }
    pages = xengnttab_map_domain_grant_refs(gnttab, count, GUEST, list, PROT_READ);
    if (!pages) {
        fail("map");
    }
    for (uint32_t i = 0; i < BATCH; i++) {
        use(pages + i * frame_pages(size) * PAGE, size);
    }
    if (xengnttab_unmap(gnttab, pages, count) != 0) {
        fail("unmap");
    }
}

static void by_static(uint32_t size)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        const uint8_t *frame = mapped + i * FRAME_PAGES * PAGE;

        if (size < IN_PLACE_MIN) {
            uint8_t *copy = ours + i * FRAME_PAGES * PAGE;

            memcpy(copy, frame, size);
            frame = copy;
        }
        use(frame, size);
    }
}

/* Nanoseconds for one frame: the best round. */
static double measure(void (*way)(uint32_t), uint32_t size)
{
    double best = 1e18;

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = now_ns(), frames = 0, end;

        do {
            way(size);
            frames += BATCH;
            end = now_ns();
        } while (end - start < ROUND_NS);
        if ((double)(end - start) / (double)frames < best) {
            best = (double)(end - start) / (double)frames;
        }
    }
    return best;
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {1500, 65535};
    char command[512];
    FILE *guest;

    if (argc > 1 && strcmp(argv[1], "--share") == 0) {
        return share();
    }
    snprintf(command, sizeof(command), "sleep 1000 | xensim as %u %s --share", GUEST, argv[0]);
    guest = popen(command, "r");
    gnttab = xengnttab_open(NULL, 0);
    if (!guest || !gnttab) {
        fail("cannot start; run it by tests/xensim/xensim-run");
    }
    for (unsigned i = 0; i < PAGES; i++) {
        if (fscanf(guest, "%u", &refs[i]) != 1) {
            fail("the guest shares no pages");
        }
    }
    mapped = xengnttab_map_domain_grant_refs(gnttab, PAGES, GUEST, refs, PROT_READ | PROT_WRITE);
    ours = aligned_alloc(PAGE, PAGES * PAGE);
    scratch = aligned_alloc(PAGE, FRAME_PAGES * PAGE);
    if (!mapped || !ours || !scratch) {
        fail("cannot map");
    }
    memset(mapped, 1, PAGES * PAGE);
    memset(ours, 1, PAGES * PAGE);
    for (unsigned i = 0; i < 2; i++) {
        double copy = measure(by_copy, sizes[i]);

        printf("value map-or-copy.%u.copy %.1f ns/frame\n", sizes[i], copy);
        printf("ratio map-or-copy.%u.map-to-copy %.3f\n", sizes[i],
               measure(by_map, sizes[i]) / copy);
        printf("ratio map-or-copy.%u.static-to-copy %.3f\n", sizes[i],
               measure(by_static, sizes[i]) / copy);
    }
    fflush(stdout);
    /* The host ends with us, and so does the guest. */
    _exit(0);
}
