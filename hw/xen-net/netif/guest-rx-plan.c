/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-plan.c - which guest_rx slots a frame goes to
 */
#include "netif/guest-rx-plan.h"

struct XnGuestRxPlan guest_rx_plan(uint32_t length, const struct XnGuestRxMeta *meta)
{
    return (struct XnGuestRxPlan){
        .length = length,
        .data_slots = (length + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE,
        .extra_slots = meta->gso_type != XEN_NETIF_GSO_TYPE_NONE,
    };
}

static void fill_extra(union XnGuestRxEntry *entry, const struct XnGuestRxMeta *meta)
{
    entry->extra.type = XEN_NETIF_EXTRA_TYPE_GSO;
    entry->extra.u.gso.type = meta->gso_type;
    entry->extra.u.gso.size = meta->gso_size;
}

static void fill_response(union XnGuestRxEntry *entry, const struct XnGuestRxPlan *plan,
                          const struct XnGuestRxMeta *meta, uint32_t index, uint16_t id)
{
    uint16_t flags = index == 0 ? meta->flags : 0;

    if (index == 0 && plan->extra_slots > 0) {
        flags |= NETRXF_extra_info;
    }
    if (index + 1 < plan->data_slots) {
        flags |= NETRXF_more_data;
    }
    entry->response.id = id;
    entry->response.flags = flags;
    entry->response.status = (int16_t)guest_rx_plan_size(plan, index);
}

union XnGuestRxEntry guest_rx_plan_entry(const struct XnGuestRxPlan *plan,
                                         const struct XnGuestRxMeta *meta, uint32_t position,
                                         uint16_t id)
{
    union XnGuestRxEntry entry;

    memset(&entry, 0, sizeof(entry));
    if (position == 0) {
        fill_response(&entry, plan, meta, 0, id);
    } else if (position <= plan->extra_slots) {
        fill_extra(&entry, meta);
    } else {
        fill_response(&entry, plan, meta, position - plan->extra_slots, id);
    }
    return entry;
}
