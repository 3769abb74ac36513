/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl-message.c - one request of the control ring, and its response
 */
#include "netif/ctrl-message.h"

_Static_assert(sizeof(struct xen_netif_ctrl_request) == 16, "a slot of the control ring");
_Static_assert(sizeof(struct xen_netif_ctrl_response) == 12, "no padding that would leak");
_Static_assert(XN_STATIC_GRANT_LIST_MAX * sizeof(struct xen_netif_gref) == XN_PAGE_SIZE, "a page");

/* The list of static grants that the request refers to may be looked at. */
static bool gref_list_is_valid(const struct XnCtrlTarget *target,
                               const struct xen_netif_ctrl_request *request)
{
    return target->grants && request->data[0] < target->queue_count &&
           request->data[2] <= XN_STATIC_GRANT_LIST_MAX;
}

/*
 * The toolstack's own grants in each guest, of its console and xenstore pages. No frontend can mean
 * them.
 */
static bool ref_is_reserved(uint32_t ref)
{
    return ref < GNTTAB_NR_RESERVED_ENTRIES;
}

/* What the request refers to, when the request is otherwise in order. */
static struct XnCtrlFetch message_page(const struct XnCtrlTarget *target,
                                       const struct xen_netif_ctrl_request *request)
{
    const uint32_t *data = request->data;
    struct XnCtrlFetch fetch = {0};

    switch (request->type) {
    case XEN_NETIF_CTRL_TYPE_SET_HASH_KEY:
        if (data[1] <= XN_HASH_KEY_SIZE) {
            fetch = (struct XnCtrlFetch){.ref = data[0], .length = data[1]};
        }
        break;
    case XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING:
        if (hash_mapping_fits(target->hash, data[1], data[2])) {
            fetch = (struct XnCtrlFetch){
                .ref = data[0],
                .length = data[1] * (uint32_t)sizeof(uint32_t),
            };
        }
        break;
    case XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING:
    case XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING:
        if (gref_list_is_valid(target, request)) {
            fetch = (struct XnCtrlFetch){
                .ref = data[1],
                .length = data[2] * (uint32_t)sizeof(struct xen_netif_gref),
            };
        }
        break;
    default:
        break;
    }
    return fetch;
}

struct XnCtrlFetch ctrl_message_fetch(const struct XnCtrlTarget *target,
                                      const struct xen_netif_ctrl_request *request)
{
    struct XnCtrlFetch fetch = message_page(target, request);

    if (ref_is_reserved(fetch.ref)) {
        fetch.length = 0;
    }
    return fetch;
}

static bool gref_list_has_reserved(const uint8_t *list, uint32_t count)
{
    struct xen_netif_gref entry;

    for (uint32_t i = 0; i < count; i++) {
        memcpy(&entry, list + i * sizeof(entry), sizeof(entry));
        if (ref_is_reserved(entry.ref)) {
            return true;
        }
    }
    return false;
}

static void get_hash_flags(const struct XnCtrlTarget *target,
                           struct xen_netif_ctrl_response *response)
{
    if (hash_algorithm(target->hash) == XEN_NETIF_CTRL_HASH_ALGORITHM_NONE) {
        response->status = XEN_NETIF_CTRL_STATUS_NOT_SUPPORTED;
    } else {
        response->status = XEN_NETIF_CTRL_STATUS_SUCCESS;
        response->data = XN_HASH_TYPES;
    }
}

static void get_gref_mapping_size(const struct XnCtrlTarget *target, uint32_t queue,
                                  struct xen_netif_ctrl_response *response)
{
    if (!target->grants) {
        return;
    }
    if (queue >= target->queue_count) {
        response->status = XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER;
        return;
    }
    response->status = XEN_NETIF_CTRL_STATUS_SUCCESS;
    response->data = target->grants[queue]->limit;
}

static void change_gref_mapping(const struct XnCtrlTarget *target,
                                const struct xen_netif_ctrl_request *request, uint8_t *bytes,
                                struct XnCtrlEffect *effect,
                                struct xen_netif_ctrl_response *response)
{
    uint32_t queue = request->data[0];
    uint32_t count = request->data[2];

    if (!target->grants) {
        return;
    }
    response->status = XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER;
    if (!gref_list_is_valid(target, request)) {
        return;
    }
    effect->queue = queue;
    if (request->type == XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING) {
        if (gref_list_has_reserved(bytes, count) ||
            !static_grant_add(target->grants[queue], bytes, count, effect->indices)) {
            return;
        }
        effect->action = count > 0 ? XN_CTRL_MAP : XN_CTRL_NOTHING;
        effect->count = count;
    } else {
        effect->count = static_grant_delete(target->grants[queue], bytes, count, effect->indices);
        effect->action = effect->count > 0 ? XN_CTRL_UNMAP : XN_CTRL_NOTHING;
        effect->write_back = count * (uint32_t)sizeof(struct xen_netif_gref);
        response->data = effect->count;
    }
    response->status = XEN_NETIF_CTRL_STATUS_SUCCESS;
}

struct xen_netif_ctrl_response ctrl_message_execute(const struct XnCtrlTarget *target,
                                                    const struct xen_netif_ctrl_request *request,
                                                    uint8_t *bytes, struct XnCtrlEffect *ret_effect)
{
    const uint32_t *data = request->data;
    struct XnCtrlFetch page = message_page(target, request);
    struct xen_netif_ctrl_response response = {
        .id = request->id,
        .type = request->type,
        .status = XEN_NETIF_CTRL_STATUS_NOT_SUPPORTED,
    };

    ret_effect->action = XN_CTRL_NOTHING;
    ret_effect->queue = 0;
    ret_effect->count = 0;
    ret_effect->write_back = 0;
    if (page.length > 0 && (!bytes || ref_is_reserved(page.ref))) {
        response.status = XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER;
        return response;
    }

    switch (request->type) {
    case XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM:
        response.status = hash_set_algorithm(target->hash, data[0]);
        break;
    case XEN_NETIF_CTRL_TYPE_GET_HASH_FLAGS:
        get_hash_flags(target, &response);
        break;
    case XEN_NETIF_CTRL_TYPE_SET_HASH_FLAGS:
        response.status = hash_set_types(target->hash, data[0]);
        break;
    case XEN_NETIF_CTRL_TYPE_SET_HASH_KEY:
        response.status = hash_set_key(target->hash, bytes, data[1]);
        break;
    case XEN_NETIF_CTRL_TYPE_GET_HASH_MAPPING_SIZE:
        response.status = XEN_NETIF_CTRL_STATUS_SUCCESS;
        response.data = XN_HASH_MAPPING_MAX;
        break;
    case XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING_SIZE:
        response.status = hash_set_mapping_size(target->hash, data[0]);
        break;
    case XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING:
        response.status = hash_set_mapping(target->hash, bytes, data[1], data[2]);
        break;
    case XEN_NETIF_CTRL_TYPE_GET_GREF_MAPPING_SIZE:
        get_gref_mapping_size(target, data[0], &response);
        break;
    case XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING:
    case XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING:
        change_gref_mapping(target, request, bytes, ret_effect, &response);
        break;
    default:
        break;
    }
    return response;
}

void ctrl_message_undo(const struct XnCtrlTarget *target, struct XnCtrlEffect *effect,
                       struct xen_netif_ctrl_response *response)
{
    static_grant_delete_indices(target->grants[effect->queue], effect->indices, effect->count);
    effect->action = XN_CTRL_NOTHING;
    effect->count = 0;
    response->status = XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER;
}
