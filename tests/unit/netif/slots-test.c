/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots-test.c - packets from ring entries: every rule, every limit, and random entries
 */
#include "netif/slots.h"

#include <glib.h>

/* Entries of a ring as they are posted, from position `start` on. */
struct Posted {
    union XnGuestTxEntry entries[XN_RING_SIZE];
    uint32_t start;
    uint32_t count;
};

/* What the parser said about them. */
struct Parsed {
    enum XnSlotsResult result;
    enum XnSlotsReason reason;
    struct XnGuestTxPacket packet;
};

/* Unposted entries look like slots and extras that never end. */
static struct Posted *posted_new(uint32_t start)
{
    struct Posted *posted = g_new(struct Posted, 1);

    memset(posted->entries, 0xff, sizeof(posted->entries));
    posted->start = start;
    posted->count = 0;
    return posted;
}

static union XnGuestTxEntry *post(struct Posted *posted)
{
    union XnGuestTxEntry *entry =
        &posted->entries[(posted->start + posted->count++) % XN_RING_SIZE];

    g_assert_cmpuint(posted->count, <=, XN_RING_SIZE);
    memset(entry, 0, sizeof(*entry));
    return entry;
}

/* The gref tells where the request stands. */
static void post_slot(struct Posted *posted, uint32_t offset, uint32_t size, uint32_t flags)
{
    uint32_t ref = posted->count;

    post(posted)->request = (netif_tx_request_t){
        .gref = ref,
        .offset = (uint16_t)offset,
        .flags = (uint16_t)flags,
        .size = (uint16_t)size,
    };
}

static void post_extra(struct Posted *posted, uint8_t type, bool more)
{
    netif_extra_info_t *extra = &post(posted)->extra;

    extra->type = type;
    extra->flags = more ? XEN_NETIF_EXTRA_FLAG_MORE : 0;
}

static void post_gso(struct Posted *posted, uint8_t gso_type, uint16_t gso_size, bool more)
{
    netif_extra_info_t *extra = &post(posted)->extra;

    extra->type = XEN_NETIF_EXTRA_TYPE_GSO;
    extra->flags = more ? XEN_NETIF_EXTRA_FLAG_MORE : 0;
    extra->u.gso.type = gso_type;
    extra->u.gso.size = gso_size;
}

/* A head of `head_size` bytes and `continuations` slots of `size` bytes behind it. */
static void post_packet(struct Posted *posted, uint32_t head_size, uint32_t continuations,
                        uint32_t size)
{
    post_slot(posted, 0, head_size + continuations * size,
              continuations > 0 ? NETTXF_more_data : 0);
    for (uint32_t i = 1; i <= continuations; i++) {
        post_slot(posted, 0, size, i < continuations ? NETTXF_more_data : 0);
    }
}

static struct Parsed parse_available(const struct Posted *posted, uint32_t available)
{
    struct Parsed parsed;

    memset(&parsed, 0xa5, sizeof(parsed));
    parsed.result =
        slots_parse(posted->entries, posted->start, available, &parsed.packet, &parsed.reason);
    return parsed;
}

static struct Parsed parse(const struct Posted *posted)
{
    return parse_available(posted, posted->count);
}

/* What holds for every outcome. */
static void assert_consistent(const struct Parsed *parsed, uint32_t available)
{
    const struct XnGuestTxPacket *packet = &parsed->packet;
    uint32_t sum = 0;

    switch (parsed->result) {
    case XN_SLOTS_PACKET:
        g_assert_cmpint(parsed->reason, ==, XN_SLOTS_OK);
        break;
    case XN_SLOTS_MULTICAST:
        g_assert_cmpint(parsed->reason, ==, XN_SLOTS_OK);
        g_assert_cmpuint(packet->entry_count, ==, 1 + packet->extra_count);
        return;
    case XN_SLOTS_DROP:
        g_assert_cmpint(parsed->reason, >=, XN_SLOTS_TOO_SHORT);
        g_assert_cmpint(parsed->reason, <=, XN_SLOTS_SIZE_MISMATCH);
        break;
    case XN_SLOTS_BROKEN:
        g_assert_cmpint(parsed->reason, >=, XN_SLOTS_FAR_TOO_MANY);
        g_assert_cmpint(parsed->reason, <=, XN_SLOTS_BAD_GSO);
        return;
    }
    g_assert_cmpuint(packet->entry_count, >=, 1);
    g_assert_cmpuint(packet->entry_count, <=, available);
    g_assert_cmpuint(packet->extra_count, <, packet->entry_count);
    g_assert_cmpuint(packet->entry_count - packet->extra_count, <=, XN_GUEST_TX_SLOTS_TOLERATED);
    if (parsed->result == XN_SLOTS_DROP) {
        return;
    }
    g_assert_cmpuint(packet->slot_count, >=, 1);
    g_assert_cmpuint(packet->slot_count, <=, XN_GUEST_TX_SLOTS_MAX);
    g_assert_cmpuint(packet->slot_count, <=, packet->entry_count - packet->extra_count);
    for (uint32_t i = 0; i < packet->slot_count; i++) {
        g_assert_cmpuint(packet->slots[i].size, >, 0);
        g_assert_cmpuint(packet->slots[i].offset + packet->slots[i].size, <=, 4096);
        sum += packet->slots[i].size;
    }
    g_assert_cmpuint(sum, ==, packet->size);
    g_assert_cmpuint(packet->size, >=, 14);
    g_assert_cmphex(packet->flags & ~(NETTXF_csum_blank | NETTXF_data_validated), ==, 0);
    g_assert_cmpint(packet->gso_type == XEN_NETIF_GSO_TYPE_NONE, ==, packet->gso_size == 0);
}

static void assert_outcome(const struct Posted *posted, enum XnSlotsResult result,
                           enum XnSlotsReason reason)
{
    struct Parsed parsed = parse(posted);

    assert_consistent(&parsed, posted->count);
    g_assert_cmpint(parsed.reason, ==, reason);
    g_assert_cmpint(parsed.result, ==, result);
    if (result != XN_SLOTS_BROKEN) {
        g_assert_cmpuint(parsed.packet.entry_count, ==, posted->count);
    }
}

static void test_one_slot(void)
{
    for (uint32_t size = 0; size <= 4096; size++) {
        g_autofree struct Posted *posted = posted_new(0);
        struct Parsed parsed;

        post_slot(posted, 4096 - size, size, 0);
        parsed = parse(posted);
        assert_consistent(&parsed, 1);
        g_assert_cmpint(parsed.reason, ==, size < 14 ? XN_SLOTS_TOO_SHORT : XN_SLOTS_OK);
        g_assert_cmpuint(parsed.packet.entry_count, ==, 1);
        if (size >= 14) {
            g_assert_cmpuint(parsed.packet.slots[0].offset, ==, 4096 - size);
        }
    }
}

static void test_only_checksum_flags_are_kept(void)
{
    for (uint32_t flags = 0; flags <= 0xffff; flags++) {
        g_autofree struct Posted *posted = posted_new(0);
        struct Parsed parsed;

        if (flags & (NETTXF_more_data | NETTXF_extra_info)) {
            continue;
        }
        post_slot(posted, 0, 60, flags);
        parsed = parse(posted);
        g_assert_cmpint(parsed.result, ==, XN_SLOTS_PACKET);
        g_assert_cmphex(parsed.packet.flags, ==, flags & 3);
    }
}

/* Protocol.md 1.4: 19 are taken, 20 and 21 dropped, more than that breaks the ring. */
static void test_number_of_slots(gconstpointer data)
{
    bool gso = GPOINTER_TO_INT(data);
    /* With 20 and 21 slots the whole size is still a possible one. */
    enum { SLOT_SIZE = 65535 / 21 };

    for (uint32_t slots = 1; slots <= 40; slots++) {
        g_autofree struct Posted *posted = posted_new(250);

        post_slot(posted, 4096 - SLOT_SIZE, SLOT_SIZE * slots,
                  (slots > 1 ? NETTXF_more_data : 0u) | (gso ? NETTXF_extra_info : 0u));
        if (gso) {
            post_gso(posted, XEN_NETIF_GSO_TYPE_TCPV4, 1448, false);
        }
        for (uint32_t i = 2; i <= slots; i++) {
            post_slot(posted, 0, SLOT_SIZE, i < slots ? NETTXF_more_data : 0);
        }
        if (slots <= 19) {
            assert_outcome(posted, XN_SLOTS_PACKET, XN_SLOTS_OK);
            g_assert_cmpuint(parse(posted).packet.slot_count, ==, slots);
        } else if (slots <= 21) {
            assert_outcome(posted, XN_SLOTS_DROP, XN_SLOTS_TOO_MANY);
        } else {
            assert_outcome(posted, XN_SLOTS_BROKEN, XN_SLOTS_FAR_TOO_MANY);
        }
    }
}

/* Empty slots take part in the packet's extent and in its limit, not in its data. */
static void test_empty_slots_count_but_hold_nothing(void)
{
    for (uint32_t slots = 2; slots <= 24; slots++) {
        for (uint32_t full = 1; full <= slots; full++) {
            g_autofree struct Posted *posted = posted_new(0);

            /* `full` is the one slot that holds the data, 1 the head. */
            post_slot(posted, 0, 64, NETTXF_more_data);
            for (uint32_t i = 2; i <= slots; i++) {
                post_slot(posted, 0, i == full ? 64 : 0, i < slots ? NETTXF_more_data : 0);
            }
            if (slots > 21) {
                assert_outcome(posted, XN_SLOTS_BROKEN, XN_SLOTS_FAR_TOO_MANY);
            } else if (slots > 19) {
                assert_outcome(posted, XN_SLOTS_DROP, XN_SLOTS_TOO_MANY);
            } else {
                struct Parsed parsed = parse(posted);

                assert_outcome(posted, XN_SLOTS_PACKET, XN_SLOTS_OK);
                g_assert_cmpuint(parsed.packet.slot_count, ==, 1);
                g_assert_cmpuint(parsed.packet.slots[0].ref, ==, full - 1);
                g_assert_cmpuint(parsed.packet.slots[0].size, ==, 64);
            }
        }
    }
}

/* XSA-423: any way to cut 66 bytes into three slots, in pieces of 0 bytes and up. */
static void test_every_split_of_a_header(void)
{
    enum { SIZE = 66 };

    for (uint32_t a = 0; a <= SIZE; a++) {
        for (uint32_t b = 0; a + b <= SIZE; b++) {
            g_autofree struct Posted *posted = posted_new(255);

            post_slot(posted, 11, SIZE, NETTXF_more_data);
            post_slot(posted, 22, a, NETTXF_more_data);
            post_slot(posted, 33, b, 0);
            assert_outcome(posted, XN_SLOTS_PACKET, XN_SLOTS_OK);
            g_assert_cmpuint(parse(posted).packet.slot_count, ==,
                             (SIZE - a - b > 0) + (a > 0) + (b > 0));
        }
    }
}

static void test_total_too_short(void)
{
    for (uint32_t size = 0; size < 14; size++) {
        g_autofree struct Posted *posted = posted_new(0);

        post_packet(posted, size - size / 2, 1, size / 2);
        assert_outcome(posted, XN_SLOTS_DROP, XN_SLOTS_TOO_SHORT);
    }
}

static void test_slots_beyond_the_size(void)
{
    for (uint32_t slots = 2; slots <= 21; slots++) {
        for (uint32_t wrong = 2; wrong <= slots; wrong++) {
            g_autofree struct Posted *posted = posted_new(0);

            /* The wrong slot alone is larger than the packet; what is left is unknown. */
            post_slot(posted, 4096, 1000 + 4 * slots, NETTXF_more_data);
            for (uint32_t i = 2; i <= slots; i++) {
                post_slot(posted, 0, i == wrong ? 1001 + 4 * slots : 4,
                          i < slots ? NETTXF_more_data : 0);
            }
            assert_outcome(posted, XN_SLOTS_DROP,
                           wrong <= 19 ? XN_SLOTS_SIZE_MISMATCH : XN_SLOTS_TOO_MANY);
        }
    }
}

/* A frame of 64 KiB and more wraps in the 16-bit size: the slots hold more than it says. */
static void test_size_that_wrapped(void)
{
    g_autofree struct Posted *posted = posted_new(0);

    post_packet(posted, 4096, 16, 4096);
    assert_outcome(posted, XN_SLOTS_DROP, XN_SLOTS_SIZE_MISMATCH);
}

static void test_largest_packet(void)
{
    g_autofree struct Posted *posted = posted_new(0);

    post_packet(posted, 4095, 15, 4096);
    assert_outcome(posted, XN_SLOTS_PACKET, XN_SLOTS_OK);
    g_assert_cmpuint(parse(posted).packet.size, ==, 65535);
}

/* Where a slot may lie in its page, for the head alone, a head with a rest, and a continuation. */
static void test_slot_within_its_page(gconstpointer data)
{
    uint32_t kind = GPOINTER_TO_UINT(data);
    static const uint32_t sizes[] = {0, 1, 14, 60, 4095, 4096, 4097, 65535};

    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        for (uint32_t offset = 0; offset <= 65535; offset += offset % 4096 < 4090 ? 30 : 1) {
            g_autofree struct Posted *posted = posted_new(0);
            bool inside = offset + sizes[i] <= 4096;

            switch (kind) {
            case 0:
                post_slot(posted, offset, sizes[i], 0);
                break;
            case 1:
                post_slot(posted, offset, MIN(sizes[i] + 100, 65535), NETTXF_more_data);
                post_slot(posted, 0, 100, 0);
                inside = offset + MIN(sizes[i], 65535 - 100) <= 4096;
                break;
            default:
                post_slot(posted, 0, MIN(sizes[i] + 100, 65535), NETTXF_more_data);
                post_slot(posted, offset, sizes[i], 0);
                break;
            }
            g_assert_cmpint(parse(posted).reason == XN_SLOTS_CROSSES_PAGE, ==, !inside);
        }
    }
}

/* A reason to drop does not hide, further on, what breaks the ring. */
static void test_crossing_behind_a_reason_to_drop(void)
{
    enum { TOO_SHORT, MISMATCH, TOO_MANY, CASES };

    for (int reason = 0; reason < CASES; reason++) {
        for (int crossing = 0; crossing <= 1; crossing++) {
            g_autofree struct Posted *posted = posted_new(0);
            uint32_t more = reason == TOO_MANY ? 18 : 1;

            post_slot(posted, 0, reason == TOO_SHORT ? 5 : 1000, NETTXF_more_data);
            for (uint32_t i = 0; i < more; i++) {
                post_slot(posted, 0, reason == MISMATCH ? 1001 : 1, NETTXF_more_data);
            }
            post_slot(posted, 4096, crossing, 0);
            g_assert_cmpint(parse(posted).result, ==, crossing ? XN_SLOTS_BROKEN : XN_SLOTS_DROP);
        }
    }
}

static void test_cut_off_anywhere_is_broken(void)
{
    for (uint32_t start = 0; start < XN_RING_SIZE; start++) {
        g_autofree struct Posted *posted = posted_new(start);

        post_slot(posted, 0, 500, NETTXF_more_data | NETTXF_extra_info);
        post_gso(posted, XEN_NETIF_GSO_TYPE_TCPV6, 1448, true);
        post_extra(posted, XEN_NETIF_EXTRA_TYPE_HASH, false);
        post_slot(posted, 0, 200, NETTXF_more_data);
        post_slot(posted, 0, 200, 0);
        assert_outcome(posted, XN_SLOTS_PACKET, XN_SLOTS_OK);
        for (uint32_t available = 1; available < posted->count; available++) {
            g_assert_cmpint(parse_available(posted, available).result, ==, XN_SLOTS_BROKEN);
            g_assert_cmpint(parse_available(posted, available).reason, ==,
                            available <= 2 ? XN_SLOTS_MISSING_EXTRA : XN_SLOTS_MISSING_SLOT);
        }
    }
}

static void test_every_extra_type(void)
{
    for (uint32_t type = 0; type <= 0xff; type++) {
        g_autofree struct Posted *posted = posted_new(0);

        post_slot(posted, 0, 60, NETTXF_extra_info);
        post_gso(posted, XEN_NETIF_GSO_TYPE_TCPV4, 1448, false);
        posted->entries[1].extra.type = (uint8_t)type;
        switch (type) {
        case XEN_NETIF_EXTRA_TYPE_GSO:
        case XEN_NETIF_EXTRA_TYPE_HASH:
            assert_outcome(posted, XN_SLOTS_PACKET, XN_SLOTS_OK);
            g_assert_cmpint(parse(posted).packet.gso_type, ==,
                            type == XEN_NETIF_EXTRA_TYPE_GSO ? XEN_NETIF_GSO_TYPE_TCPV4
                                                             : XEN_NETIF_GSO_TYPE_NONE);
            g_assert_cmpuint(parse(posted).packet.extra_count, ==, 1);
            break;
        case XEN_NETIF_EXTRA_TYPE_MCAST_ADD:
        case XEN_NETIF_EXTRA_TYPE_MCAST_DEL:
            assert_outcome(posted, XN_SLOTS_MULTICAST, XN_SLOTS_OK);
            g_assert_cmpuint(parse(posted).packet.multicast_type, ==, type);
            break;
        default:
            assert_outcome(posted, XN_SLOTS_BROKEN, XN_SLOTS_BAD_EXTRA_TYPE);
            break;
        }
    }
}

/* A multicast request carries no data: its head may have any size, and only its extras belong. */
static void test_multicast_request_is_no_packet(void)
{
    static const uint8_t address[6] = {0x01, 0x00, 0x5e, 0x01, 0x02, 0x03};

    for (uint32_t size = 0; size <= 65535; size += 257) {
        g_autofree struct Posted *posted = posted_new(255);
        struct Parsed parsed;

        post_slot(posted, 4095, size, NETTXF_extra_info);
        post_extra(posted, XEN_NETIF_EXTRA_TYPE_MCAST_DEL, false);
        memcpy(posted->entries[0].extra.u.mcast.addr, address, sizeof(address));
        post_slot(posted, 0, 60, 0);
        parsed = parse(posted);
        g_assert_cmpint(parsed.result, ==, XN_SLOTS_MULTICAST);
        g_assert_cmpuint(parsed.packet.entry_count, ==, 2);
        g_assert_cmpmem(parsed.packet.multicast_address, 6, address, 6);
    }
}

static void test_every_gso_type_and_size(void)
{
    static const uint16_t sizes[] = {0, 1, 536, 1448, 65535};

    for (uint32_t type = 0; type <= 0xff; type++) {
        for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
            g_autofree struct Posted *posted = posted_new(0);

            post_slot(posted, 0, 3000, NETTXF_extra_info | NETTXF_csum_blank);
            post_gso(posted, (uint8_t)type, sizes[i], false);
            if (sizes[i] > 0 &&
                (type == XEN_NETIF_GSO_TYPE_TCPV4 || type == XEN_NETIF_GSO_TYPE_TCPV6)) {
                assert_outcome(posted, XN_SLOTS_PACKET, XN_SLOTS_OK);
                g_assert_cmpuint(parse(posted).packet.gso_type, ==, type);
                g_assert_cmpuint(parse(posted).packet.gso_size, ==, sizes[i]);
            } else {
                assert_outcome(posted, XN_SLOTS_BROKEN, XN_SLOTS_BAD_GSO);
            }
        }
    }
}

static void test_second_extra_of_a_type_overwrites(void)
{
    for (int last_is_bad = 0; last_is_bad <= 1; last_is_bad++) {
        g_autofree struct Posted *posted = posted_new(0);

        post_slot(posted, 0, 3000, NETTXF_extra_info);
        post_gso(posted, XEN_NETIF_GSO_TYPE_TCPV4, last_is_bad ? 1000 : 0, true);
        post_gso(posted, XEN_NETIF_GSO_TYPE_TCPV6, last_is_bad ? 0 : 1000, false);
        if (last_is_bad) {
            assert_outcome(posted, XN_SLOTS_BROKEN, XN_SLOTS_BAD_GSO);
        } else {
            assert_outcome(posted, XN_SLOTS_PACKET, XN_SLOTS_OK);
            g_assert_cmpuint(parse(posted).packet.gso_type, ==, XEN_NETIF_GSO_TYPE_TCPV6);
        }
    }
}

/* Extras are bounded by the ring only. */
static void test_ring_full_of_extras(void)
{
    for (int endless = 0; endless <= 1; endless++) {
        g_autofree struct Posted *posted = posted_new(17);
        bool more = true;

        post_slot(posted, 0, 60, NETTXF_extra_info);
        while (more) {
            more = posted->count < XN_RING_SIZE - 1 || (endless && posted->count < XN_RING_SIZE);
            post_extra(posted, XEN_NETIF_EXTRA_TYPE_HASH, more || endless);
            more = posted->count < XN_RING_SIZE;
        }
        if (endless) {
            assert_outcome(posted, XN_SLOTS_BROKEN, XN_SLOTS_MISSING_EXTRA);
        } else {
            assert_outcome(posted, XN_SLOTS_PACKET, XN_SLOTS_OK);
            g_assert_cmpuint(parse(posted).packet.extra_count, ==, 255);
        }
    }
}

/* A random well-formed packet comes back as it was posted. */
static void test_random_packets_come_back(void)
{
    for (int round = 0; round < 20000; round++) {
        g_autofree struct Posted *posted =
            posted_new((uint32_t)g_test_rand_int_range(0, XN_RING_SIZE));
        struct XnSlot expected[XN_GUEST_TX_SLOTS_MAX];
        uint32_t slots = (uint32_t)g_test_rand_int_range(1, XN_GUEST_TX_SLOTS_MAX + 1);
        uint32_t extras = (uint32_t)g_test_rand_int_range(0, 4);
        uint32_t sum = 0;
        uint32_t used = 0;
        struct Parsed parsed;

        post_slot(posted, 0, 0, 0);
        for (uint32_t i = 0; i < extras; i++) {
            post_gso(posted, XEN_NETIF_GSO_TYPE_TCPV4, (uint16_t)(i + 1), i + 1 < extras);
        }
        for (uint32_t i = 0; i < slots; i++) {
            uint32_t size = (uint32_t)g_test_rand_int_range(i == 0 ? 14 : 0, 65535 / 19);
            uint32_t offset = (uint32_t)g_test_rand_int_range(0, (int)(4097 - size));

            if (i == 0) {
                posted->entries[posted->start].request.offset = (uint16_t)offset;
                posted->entries[posted->start].request.flags =
                    (extras > 0 ? NETTXF_extra_info : 0) | (slots > 1 ? NETTXF_more_data : 0);
            } else {
                post_slot(posted, offset, size, i + 1 < slots ? NETTXF_more_data : 0);
            }
            if (size > 0) {
                expected[used++] = (struct XnSlot){
                    .ref = i == 0 ? 0 : posted->count - 1,
                    .offset = (uint16_t)offset,
                    .size = (uint16_t)size,
                };
            }
            sum += size;
        }
        posted->entries[posted->start].request.size = (uint16_t)sum;

        parsed = parse(posted);
        assert_consistent(&parsed, posted->count);
        g_assert_cmpint(parsed.result, ==, XN_SLOTS_PACKET);
        g_assert_cmpuint(parsed.packet.entry_count, ==, slots + extras);
        g_assert_cmpuint(parsed.packet.extra_count, ==, extras);
        g_assert_cmpuint(parsed.packet.gso_size, ==, extras);
        g_assert_cmpuint(parsed.packet.slot_count, ==, used);
        g_assert_cmpmem(parsed.packet.slots, used * sizeof(expected[0]), expected,
                        used * sizeof(expected[0]));
    }
}

/* Random bits, but small enough numbers that packets of all kinds come out. */
static union XnGuestTxEntry random_entry(bool tame)
{
    union XnGuestTxEntry entry;
    uint8_t *bytes = (uint8_t *)&entry;

    for (size_t i = 0; i < sizeof(entry); i++) {
        bytes[i] = (uint8_t)g_test_rand_int();
    }
    switch (g_test_rand_int_range(0, tame ? 200 : 8)) {
    case 0:
        break;
    case 1:
    case 2:
        entry.extra.type = (uint8_t)g_test_rand_int_range(0, XEN_NETIF_EXTRA_TYPE_MAX + 1);
        entry.extra.flags &= 1;
        entry.extra.u.gso.type &= 3;
        entry.extra.u.gso.size &= 7;
        break;
    default:
        entry.request.offset = (uint16_t)g_test_rand_int_range(0, 2100);
        entry.request.size = (uint16_t)g_test_rand_int_range(0, tame ? 40 : 2010);
        entry.request.flags &= 15;
        break;
    }
    return entry;
}

/* The outcome is the same whatever stands in the entries that were not posted: they are not read.
 */
static void test_random_entries_are_read_within_bounds(void)
{
    uint32_t results[XN_SLOTS_BROKEN + 1] = {0};
    uint32_t reasons[XN_SLOTS_REASON_MAX] = {0};

    for (int round = 0; round < 100000; round++) {
        g_autofree struct Posted *first =
            posted_new((uint32_t)g_test_rand_int_range(0, XN_RING_SIZE));
        g_autofree struct Posted *second = posted_new(first->start);
        uint32_t count = (uint32_t)g_test_rand_int_range(1, 40);
        struct Parsed one;
        struct Parsed two;

        memset(second->entries, 0, sizeof(second->entries));
        for (uint32_t i = 0; i < count; i++) {
            union XnGuestTxEntry *entry = post(first);

            /* Tame continuations make long packets, wild ones break them early. */
            *entry = random_entry(i > 0 && round % 2);
            if (g_test_rand_int_range(0, 10 + round % 20) > 5) {
                entry->request.flags |= NETTXF_more_data;
            }
            *post(second) = *entry;
        }
        one = parse(first);
        two = parse(second);
        assert_consistent(&one, count);
        g_assert_cmpint(one.result, ==, two.result);
        g_assert_cmpint(one.reason, ==, two.reason);
        if (one.result != XN_SLOTS_BROKEN) {
            g_assert_cmpuint(one.packet.entry_count, ==, two.packet.entry_count);
            g_assert_cmpuint(one.packet.extra_count, ==, two.packet.extra_count);
        }
        if (one.result == XN_SLOTS_PACKET) {
            g_assert_cmpuint(one.packet.slot_count, ==, two.packet.slot_count);
            g_assert_cmpmem(one.packet.slots, one.packet.slot_count * sizeof(struct XnSlot),
                            two.packet.slots, two.packet.slot_count * sizeof(struct XnSlot));
        }
        results[one.result]++;
        reasons[one.reason]++;
    }
    /* The generator is worth something only if it reaches every outcome. */
    for (size_t i = 0; i < G_N_ELEMENTS(results); i++) {
        g_assert_cmpuint(results[i], >, 0);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++) {
        g_test_message("%s: %u times", slots_reason_text((enum XnSlotsReason)i), reasons[i]);
        g_assert_cmpuint(reasons[i], >, 0);
    }
}

static void test_every_reason_has_its_own_text(void)
{
    for (int i = 0; i <= XN_SLOTS_REASON_MAX; i++) {
        for (int j = 0; j < i; j++) {
            g_assert_cmpstr(slots_reason_text((enum XnSlotsReason)i), !=,
                            slots_reason_text((enum XnSlotsReason)j));
        }
    }
    g_assert_nonnull(slots_reason_text((enum XnSlotsReason)99));
}

/* Not that anybody asks. */
static void test_no_entry_is_no_packet(void)
{
    static const union XnGuestTxEntry entries[XN_RING_SIZE];
    struct XnGuestTxPacket packet;
    enum XnSlotsReason reason;

    g_assert_cmpint(slots_parse(entries, 0, 0, &packet, &reason), ==, XN_SLOTS_BROKEN);
    g_assert_cmpint(reason, ==, XN_SLOTS_MISSING_SLOT);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/slots/one-slot", test_one_slot);
    g_test_add_func("/slots/only-checksum-flags-are-kept", test_only_checksum_flags_are_kept);
    g_test_add_data_func("/slots/number-of-slots/plain", GINT_TO_POINTER(0), test_number_of_slots);
    g_test_add_data_func("/slots/number-of-slots/gso", GINT_TO_POINTER(1), test_number_of_slots);
    g_test_add_func("/slots/empty-slots-count-but-hold-nothing",
                    test_empty_slots_count_but_hold_nothing);
    g_test_add_func("/slots/every-split-of-a-header", test_every_split_of_a_header);
    g_test_add_func("/slots/total-too-short", test_total_too_short);
    g_test_add_func("/slots/slots-beyond-the-size", test_slots_beyond_the_size);
    g_test_add_func("/slots/size-that-wrapped", test_size_that_wrapped);
    g_test_add_func("/slots/largest-packet", test_largest_packet);
    g_test_add_data_func("/slots/slot-within-its-page/head-alone", GUINT_TO_POINTER(0),
                         test_slot_within_its_page);
    g_test_add_data_func("/slots/slot-within-its-page/head-with-rest", GUINT_TO_POINTER(1),
                         test_slot_within_its_page);
    g_test_add_data_func("/slots/slot-within-its-page/continuation", GUINT_TO_POINTER(2),
                         test_slot_within_its_page);
    g_test_add_func("/slots/crossing-behind-a-reason-to-drop",
                    test_crossing_behind_a_reason_to_drop);
    g_test_add_func("/slots/cut-off-anywhere-is-broken", test_cut_off_anywhere_is_broken);
    g_test_add_func("/slots/every-extra-type", test_every_extra_type);
    g_test_add_func("/slots/multicast-request-is-no-packet", test_multicast_request_is_no_packet);
    g_test_add_func("/slots/every-gso-type-and-size", test_every_gso_type_and_size);
    g_test_add_func("/slots/second-extra-of-a-type-overwrites",
                    test_second_extra_of_a_type_overwrites);
    g_test_add_func("/slots/ring-full-of-extras", test_ring_full_of_extras);
    g_test_add_func("/slots/random-packets-come-back", test_random_packets_come_back);
    g_test_add_func("/slots/random-entries-are-read-within-bounds",
                    test_random_entries_are_read_within_bounds);
    g_test_add_func("/slots/every-reason-has-its-own-text", test_every_reason_has_its_own_text);
    g_test_add_func("/slots/no-entry-is-no-packet", test_no_entry_is_no_packet);
    return g_test_run();
}
