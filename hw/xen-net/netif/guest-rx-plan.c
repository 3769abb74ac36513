/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-rx-plan.c - which guest_rx slots a frame goes to
 */
#include "netif/guest-rx-plan.h"

/* The extras that go with a frame, in the order of their types; returns how many. */
static uint32_t list_extras(const struct XnGuestRxMeta *meta,
                            netif_extra_info_t extras[XN_GUEST_RX_EXTRAS_MAX])
{
    uint32_t count = 0;

    memset(extras, 0, XN_GUEST_RX_EXTRAS_MAX * sizeof(extras[0]));
    if (meta->gso_type != XEN_NETIF_GSO_TYPE_NONE) {
        extras[count].type = XEN_NETIF_EXTRA_TYPE_GSO;
        extras[count].u.gso.type = meta->gso_type;
        extras[count].u.gso.size = meta->gso_size;
        count++;
    }
    if (meta->hash.type != XEN_NETIF_EXTRA_TYPE_NONE) {
        extras[count++] = meta->hash;
    }
    if (meta->headroom > 0) {
        extras[count].type = XN_EXTRA_TYPE_XDP;
        memcpy(&extras[count].u, &meta->headroom, sizeof(meta->headroom));
        count++;
    }
    for (uint32_t i = 0; i + 1 < count; i++) {
        extras[i].flags |= XEN_NETIF_EXTRA_FLAG_MORE;
    }
    return count;
}

struct XnGuestRxPlan guest_rx_plan(uint32_t length, const struct XnGuestRxMeta *meta)
{
    netif_extra_info_t extras[XN_GUEST_RX_EXTRAS_MAX];

    return (struct XnGuestRxPlan){
        .length = length,
        .headroom = meta->headroom,
        .data_slots = (meta->headroom + length + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE,
        .extra_slots = list_extras(meta, extras),
    };
}

static void fill_extra(union XnGuestRxEntry *entry, const struct XnGuestRxMeta *meta,
                       uint32_t index)
{
    netif_extra_info_t extras[XN_GUEST_RX_EXTRAS_MAX];

    list_extras(meta, extras);
    entry->extra = extras[index];
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
    entry->response.offset = (uint16_t)guest_rx_plan_offset(plan, index);
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
        fill_extra(&entry, meta, position - 1);
    } else {
        fill_response(&entry, plan, meta, position - plan->extra_slots, id);
    }
    return entry;
}
