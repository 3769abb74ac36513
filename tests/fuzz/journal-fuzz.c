/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal-fuzz.c - a journal that was damaged on its way from one daemon to the next
 *
 * A sound journal is made, bytes of it are changed and its length perhaps, and it is opened again.
 * What is opened is used as after a restart: the hash steers, the multicast list filters, the queue
 * adopts the journal and serves the rings. Nothing may be read or written out of place.
 */
#define FAKE_PAGES 24u
#include "../unit/data/fake-guest.h"
#include "control/journal-file.h"

#include <glib/gstdio.h>
#include <stdlib.h>

#include "fuzz.h"

#define QUEUES 4u

static char *directory;

static void world_end(void)
{
    journal_file_delete(directory, 1, 2);
    g_rmdir(directory);
    g_free(directory);
}

static struct XnJournalIdentity identity(void)
{
    struct XnJournalIdentity identity;

    memset(&identity, 0, sizeof(identity));
    identity.domid = 1;
    identity.devid = 2;
    identity.guest_tx_ref = 8;
    return identity;
}

static void damage(struct FuzzInput *input, void *bytes, size_t size)
{
    uint32_t offset = fuzz_range(input, 0, (uint32_t)size - 1);

    fuzz_bytes(input, (uint8_t *)bytes + offset,
               fuzz_range(input, 0, (uint32_t)MIN(16, size - offset)));
}

/* Makes a journal and damages it. */
static void prepare(struct FuzzInput *input)
{
    struct XnJournalIdentity mine = identity();
    struct XnJournalFile *file = journal_file_create(directory, &mine, NULL);
    g_autofree char *path = g_strdup_printf("%s/1.2.0", directory);
    uint8_t kind = fuzz_u8(input);

    g_assert(file);
    mcast_init(&journal_file_memory(file)->mcast);
    hash_init(&journal_file_memory(file)->hash, QUEUES);
    for (uint32_t i = kind & 15; i > 0; i--) {
        damage(input, journal_file_memory(file), sizeof(struct XnVifMemory));
        damage(input, journal_file_journal(file), sizeof(struct XnJournal));
    }
    journal_file_close(file, false);
    if (kind & 16) {
        g_autofree char *content = NULL;
        gsize length = 0;

        g_assert(g_file_get_contents(path, &content, &length, NULL));
        damage(input, content, 128);
        g_assert(g_file_set_contents(path, content, (gssize)length, NULL));
    }
    if (kind & 32) {
        g_assert(truncate(path, fuzz_u16(input)) == 0);
    }
}

static void use_memory(struct XnVifMemory *memory, struct FuzzInput *input)
{
    uint8_t frame[128];

    fuzz_bytes(input, frame, sizeof(frame));
    mcast_set_filter(&memory->mcast, frame[0] & 1);
    mcast_pass(&memory->mcast, frame);
    mcast_add(&memory->mcast, frame);
    mcast_delete(&memory->mcast, frame);
    if (!hash_is_sound(&memory->hash, QUEUES)) {
        hash_init(&memory->hash, QUEUES);
    }
    for (uint32_t i = 0; i < 256; i++) {
        g_assert(hash_queue(&memory->hash, i * 0x01010101u) < QUEUES);
    }
    hash_frame(&memory->hash, frame, sizeof(frame));
    hash_set_mapping_size(&memory->hash, 5);
    g_assert(hash_is_sound(&memory->hash, QUEUES));
}

static void use_queue(struct XnJournalFile *file, struct FuzzInput *input)
{
    struct FakeGuest *guest = fake_guest_new();
    struct XnQueueConfig config = guest->queue->config;
    netif_tx_sring_t *guest_tx = (void *)guest->guest_tx_page;
    netif_rx_sring_t *guest_rx = (void *)guest->guest_rx_page;

    guest_tx->req_prod = fuzz_u32(input);
    guest_tx->rsp_prod = guest_tx->req_prod - fuzz_u8(input);
    guest_rx->req_prod = fuzz_u32(input);
    guest_rx->rsp_prod = guest_rx->req_prod - fuzz_u8(input);
    queue_destroy(guest->queue);
    config.adopted = true;
    config.journal_adopted = true;
    config.journal = journal_file_journal(file);
    guest->queue = queue_create(&config, NULL);
    if (guest->queue) {
        guest->queue->guest_tx_ready = true;
        guest->queue->guest_rx_ready = true;
        g_assert(guest_tx_turn(guest->queue, guest->turn) <= XN_TURN_PACKETS);
        guest_rx_turn(guest->queue, guest->turn);
    }
    fake_guest_free(guest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct FuzzInput input = {data, size};
    struct XnJournalIdentity mine = identity();
    struct XnJournalFile *file;

    if (!directory) {
        /* On a tmpfs where there is one, as journals are. */
        directory = g_strdup("/dev/shm/journal-XXXXXX");
        if (!g_mkdtemp(directory)) {
            g_free(directory);
            directory = g_dir_make_tmp("journal-XXXXXX", NULL);
        }
        g_assert(directory);
        atexit(world_end);
    }
    prepare(&input);
    file = journal_file_open(directory, &mine, NULL);
    if (file) {
        use_memory(journal_file_memory(file), &input);
        use_queue(file, &input);
        journal_file_close(file, true);
    }
    return 0;
}
