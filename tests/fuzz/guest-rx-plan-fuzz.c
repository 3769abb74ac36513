/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-plan-fuzz.c - the slots of a frame for the guest, for every length and kind of frame
 *
 * The slots hold the frame once, without a gap, within their pages, in the fewest slots there can
 * be; each entry is defined in every byte; an extra follows the first slot and says so.
 */
#include <glib.h>

#include "fuzz.h"
#include "netif/guest-rx-plan.h"

static void check_data(const struct XnGuestRxPlan *plan, uint32_t length, uint32_t headroom)
{
    uint32_t sum = 0;

    g_assert(plan->data_slots == (headroom + length + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE);
    for (uint32_t i = 0; i < plan->data_slots; i++) {
        uint32_t size = guest_rx_plan_size(plan, i);
        uint32_t offset = guest_rx_plan_offset(plan, i);
        uint32_t position = guest_rx_plan_position(plan, i);

        g_assert(size > 0 && offset + size <= XN_PAGE_SIZE);
        g_assert(offset == (i == 0 ? headroom : 0));
        g_assert(position < guest_rx_plan_slots(plan));
        g_assert(i == 0 ? position == 0 : position > plan->extra_slots);
        sum += size;
    }
    g_assert(sum == length);
}

static void check_entries(const struct XnGuestRxPlan *plan, const struct XnGuestRxMeta *meta,
                          uint16_t id)
{
    uint32_t slots = guest_rx_plan_slots(plan);

    for (uint32_t position = 0; position < slots; position++) {
        union XnGuestRxEntry one, two;
        bool extra = position >= 1 && position <= plan->extra_slots;

        /* What stood in memory before must not show. */
        memset(&one, 0xaa, sizeof(one));
        memset(&two, 0x55, sizeof(two));
        one = guest_rx_plan_entry(plan, meta, position, id);
        two = guest_rx_plan_entry(plan, meta, position, id);
        g_assert(memcmp(&one, &two, sizeof(one)) == 0);
        if (extra) {
            bool more = (one.extra.flags & XEN_NETIF_EXTRA_FLAG_MORE) != 0;

            g_assert(one.extra.type != XEN_NETIF_EXTRA_TYPE_NONE);
            g_assert(more == (position < plan->extra_slots));
        } else {
            uint32_t data = position == 0 ? 0 : position - plan->extra_slots;
            bool more = (one.response.flags & NETRXF_more_data) != 0;
            bool extras = (one.response.flags & NETRXF_extra_info) != 0;

            g_assert(one.response.id == id);
            g_assert(one.response.status == (int16_t)guest_rx_plan_size(plan, data));
            g_assert(one.response.offset == guest_rx_plan_offset(plan, data));
            g_assert(more == (data + 1 < plan->data_slots));
            g_assert(extras == (position == 0 && plan->extra_slots > 0));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct FuzzInput input = {data, size};
    uint32_t length = fuzz_range(&input, 1, 65535);
    uint16_t id = fuzz_u16(&input);
    uint8_t kind = fuzz_u8(&input);
    struct XnGuestRxMeta meta = {
        .flags = kind & (NETRXF_csum_blank | NETRXF_data_validated),
        .gso_type = (kind >> 2) % 3,
        .headroom = kind & 0x10 ? (uint16_t)fuzz_range(&input, 0, XN_GUEST_RX_HEADROOM_MAX) : 0,
    };
    struct XnGuestRxPlan plan;

    if (meta.gso_type != XEN_NETIF_GSO_TYPE_NONE) {
        meta.gso_size = (uint16_t)fuzz_range(&input, 1, 65535);
    }
    if (kind & 0x20) {
        fuzz_bytes(&input, &meta.hash, sizeof(meta.hash));
        meta.hash.type = XEN_NETIF_EXTRA_TYPE_HASH;
        meta.hash.flags = 0;
    }
    plan = guest_rx_plan(length, &meta);
    g_assert(guest_rx_plan_slots(&plan) <= XN_GUEST_RX_SLOTS_MAX);
    check_data(&plan, length, meta.headroom);
    check_entries(&plan, &meta, id);
    return 0;
}
