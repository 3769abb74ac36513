/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * static-grant.c - which grants of the guest stay mapped
 */
#include "netif/static-grant.h"

_Static_assert((XN_STATIC_GRANT_BUCKETS & (XN_STATIC_GRANT_BUCKETS - 1)) == 0, "a power of two");
_Static_assert(XN_STATIC_GRANTS_MAX < UINT16_MAX, "an index + 1 fits a bucket");

static uint32_t bucket_next(uint32_t bucket)
{
    return (bucket + 1) % XN_STATIC_GRANT_BUCKETS;
}

/* Where the search for a reference begins. Two rounds of multiply and shift spread every bit. */
static uint32_t bucket_home(const struct XnStaticGrants *table, uint32_t ref)
{
    uint64_t mixed = ref ^ table->seed;

    mixed = (mixed ^ mixed >> 32) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 29) * (table->seed | 1);
    return (uint32_t)(mixed >> 40) % XN_STATIC_GRANT_BUCKETS;
}

/* The bucket of a reference, or the empty one where it would be. */
static uint32_t bucket_of(const struct XnStaticGrants *table, uint32_t ref)
{
    uint32_t bucket = bucket_home(table, ref);

    while (table->buckets[bucket] != 0 && table->grants[table->buckets[bucket] - 1].ref != ref) {
        bucket = bucket_next(bucket);
    }
    return bucket;
}

/* Empties a bucket and moves up those behind it that would not be found any more. */
static void bucket_empty(struct XnStaticGrants *table, uint32_t bucket)
{
    uint32_t hole = bucket;
    uint32_t home;
    uint32_t distance;

    for (;;) {
        bucket = bucket_next(bucket);
        if (table->buckets[bucket] == 0) {
            break;
        }
        home = bucket_home(table, table->grants[table->buckets[bucket] - 1].ref);
        distance = (bucket - home) % XN_STATIC_GRANT_BUCKETS;
        if (distance >= (bucket - hole) % XN_STATIC_GRANT_BUCKETS) {
            table->buckets[hole] = table->buckets[bucket];
            hole = bucket;
        }
    }
    table->buckets[hole] = 0;
}

static struct xen_netif_gref list_entry(const uint8_t *list, uint32_t position)
{
    struct xen_netif_gref entry;

    memcpy(&entry, list + position * sizeof(entry), sizeof(entry));
    return entry;
}

void static_grant_init(struct XnStaticGrants *table, uint32_t limit, uint64_t seed)
{
    *table = (struct XnStaticGrants){
        .seed = seed,
        .limit = limit < XN_STATIC_GRANTS_MAX ? limit : XN_STATIC_GRANTS_MAX,
    };
    /* The last one is taken first. */
    for (uint32_t i = 0; i < table->limit; i++) {
        table->free[i] = (uint16_t)(table->limit - 1 - i);
    }
}

static bool grant_add(struct XnStaticGrants *table, const struct xen_netif_gref *entry,
                      uint16_t *ret_index)
{
    uint32_t bucket = bucket_of(table, entry->ref);
    uint16_t index;

    if (table->buckets[bucket] != 0 || (entry->flags & (uint16_t)~XEN_NETIF_CTRLF_GREF_readonly)) {
        return false;
    }
    table->count++;
    index = table->free[table->limit - table->count];
    table->grants[index] = (struct XnStaticGrant){
        .ref = entry->ref,
        .readonly = entry->flags & XEN_NETIF_CTRLF_GREF_readonly,
    };
    table->buckets[bucket] = (uint16_t)(index + 1);
    *ret_index = index;
    return true;
}

static void grant_delete(struct XnStaticGrants *table, uint16_t index)
{
    bucket_empty(table, bucket_of(table, table->grants[index].ref));
    table->free[table->limit - table->count] = index;
    table->count--;
}

bool static_grant_add(struct XnStaticGrants *table, const uint8_t *list, uint32_t count,
                      uint16_t *ret_indices)
{
    struct xen_netif_gref entry;

    if (count > table->limit - table->count) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        entry = list_entry(list, i);
        if (!grant_add(table, &entry, &ret_indices[i])) {
            static_grant_delete_indices(table, ret_indices, i);
            return false;
        }
    }
    return true;
}

uint32_t static_grant_delete(struct XnStaticGrants *table, uint8_t *list, uint32_t count,
                             uint16_t *ret_indices)
{
    struct xen_netif_gref entry;
    uint32_t deleted = 0;
    uint32_t index;

    for (uint32_t i = 0; i < count; i++) {
        entry = list_entry(list, i);
        index = static_grant_find(table, entry.ref);
        if (index == XN_STATIC_GRANT_NONE) {
            entry.status = XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER;
        } else {
            grant_delete(table, (uint16_t)index);
            ret_indices[deleted] = (uint16_t)index;
            deleted++;
            entry.status = XEN_NETIF_CTRL_STATUS_SUCCESS;
        }
        memcpy(list + i * sizeof(entry), &entry, sizeof(entry));
    }
    return deleted;
}

/* Backwards, so that what was just added leaves the table as it was. */
void static_grant_delete_indices(struct XnStaticGrants *table, const uint16_t *indices,
                                 uint32_t count)
{
    while (count > 0) {
        count--;
        grant_delete(table, indices[count]);
    }
}

bool static_grant_restore(struct XnStaticGrants *table, uint32_t index,
                          const struct XnStaticGrant *grant)
{
    uint32_t bucket = bucket_of(table, grant->ref);
    uint32_t left = table->limit - table->count;

    for (uint32_t i = 0; i < left && table->buckets[bucket] == 0; i++) {
        if (table->free[i] == index) {
            table->free[i] = table->free[left - 1];
            table->count++;
            table->grants[index] = *grant;
            table->buckets[bucket] = (uint16_t)(index + 1);
            return true;
        }
    }
    return false;
}

uint32_t static_grant_find(const struct XnStaticGrants *table, uint32_t ref)
{
    uint16_t found = table->buckets[bucket_of(table, ref)];

    return found == 0 ? XN_STATIC_GRANT_NONE : found - 1u;
}
