/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots-fuzz.c - guest_tx ring entries of any content, read as packets until they end
 *
 * Checks what slots.h promises of each result, and that no entry behind the last one counts.
 */
#include <glib.h>

#include "fuzz.h"
#include "netif/slots.h"

static void check_packet(const struct XnGuestTxPacket *packet)
{
    uint32_t sum = 0;

    g_assert(packet->size >= 14 && packet->size <= 65535);
    g_assert(packet->slot_count >= 1 && packet->slot_count <= XN_GUEST_TX_SLOTS_MAX);
    for (uint32_t i = 0; i < packet->slot_count; i++) {
        const struct XnSlot *slot = &packet->slots[i];

        g_assert(slot->size > 0 && slot->offset + slot->size <= XN_PAGE_SIZE);
        sum += slot->size;
    }
    g_assert(sum == packet->size);
    g_assert(packet->multicast_type == 0);
    g_assert(packet->gso_type <= XEN_NETIF_GSO_TYPE_TCPV6);
    g_assert((packet->gso_type == XEN_NETIF_GSO_TYPE_NONE) == (packet->gso_size == 0));
    g_assert((packet->flags & ~(NETTXF_csum_blank | NETTXF_data_validated)) == 0);
}

/* Returns whether the ring makes sense, and in *ret_entries what was read. */
static bool parse(const union XnGuestTxEntry *entries, uint32_t start, uint32_t available,
                  uint32_t *ret_entries)
{
    static union XnGuestTxEntry scrambled[XN_RING_SIZE];
    struct XnGuestTxPacket packet, again;
    enum XnSlotsReason reason, again_reason;
    enum XnSlotsResult result;

    memset(&packet, 0x5a, sizeof(packet));
    memset(&again, 0x5a, sizeof(again));
    memcpy(scrambled, entries, sizeof(scrambled));
    for (uint32_t i = available; i < XN_RING_SIZE; i++) {
        memset(&scrambled[(start + i) % XN_RING_SIZE], 0xff, sizeof(scrambled[0]));
    }
    result = slots_parse(entries, start, available, &packet, &reason);
    g_assert(result == slots_parse(scrambled, start, available, &again, &again_reason));
    g_assert(reason == again_reason);
    g_assert(slots_reason_text(reason) != NULL);
    if (result == XN_SLOTS_BROKEN) {
        g_assert(reason > XN_SLOTS_SIZE_MISMATCH);
        return false;
    }
    g_assert(packet.entry_count >= 1 && packet.entry_count <= available);
    g_assert(packet.extra_count < packet.entry_count);
    g_assert(packet.entry_count == again.entry_count && packet.extra_count == again.extra_count);
    if (result == XN_SLOTS_PACKET) {
        check_packet(&packet);
    } else if (result == XN_SLOTS_MULTICAST) {
        g_assert(packet.multicast_type == XEN_NETIF_EXTRA_TYPE_MCAST_ADD ||
                 packet.multicast_type == XEN_NETIF_EXTRA_TYPE_MCAST_DEL);
    } else {
        g_assert(reason != XN_SLOTS_OK && reason <= XN_SLOTS_SIZE_MISMATCH);
    }
    *ret_entries = packet.entry_count;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static union XnGuestTxEntry entries[XN_RING_SIZE];
    struct FuzzInput input = {data, size};
    uint32_t start = fuzz_u32(&input);
    uint32_t available = 0;
    uint32_t count;

    memset(entries, 0, sizeof(entries));
    for (; input.left > 0 && available < XN_RING_SIZE; available++) {
        fuzz_bytes(&input, &entries[(start + available) % XN_RING_SIZE], sizeof(entries[0]));
    }
    while (available > 0 && parse(entries, start, available, &count)) {
        start += count;
        available -= count;
    }
    return 0;
}
