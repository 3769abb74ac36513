/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash.h - the packet hash that a frontend configures over the control ring
 *
 * Theory of operation
 *
 * The frontend chooses an algorithm (none or Toeplitz), the types of packets to be hashed, a key,
 * and a table from hash values to queues. Frames for the guest are hashed, steered by the table,
 * and carry the value in an extra info.
 *
 * One thread changes the settings, the one that serves the control ring; any thread reads them.
 * They stand there twice: a change is made in the copy that is not in use, and becomes the one in
 * use by a single store when it is known to be good (XSA-155, XSA-270). A reader that is overtaken
 * by two changes may mix settings, and then one frame goes to another queue than it should. It
 * never goes to a queue that does not exist: no entry of either copy is ever out of range.
 */
#ifndef XN_NETIF_HASH_H
#define XN_NETIF_HASH_H

#include "netif/ring.h"

/* Octets of the key: as many as the longest input (36) needs for 32-bit results. */
#define XN_HASH_KEY_SIZE 40u
#define XN_HASH_MAPPING_MAX 128u
/* All four types of netif.h. */
#define XN_HASH_TYPES                                                               \
    ((uint32_t)(XEN_NETIF_CTRL_HASH_TYPE_IPV4 | XEN_NETIF_CTRL_HASH_TYPE_IPV4_TCP | \
                XEN_NETIF_CTRL_HASH_TYPE_IPV6 | XEN_NETIF_CTRL_HASH_TYPE_IPV6_TCP))

struct XnHashSettings {
    /* XEN_NETIF_CTRL_HASH_ALGORITHM_* */
    uint32_t algorithm;
    /* XEN_NETIF_CTRL_HASH_TYPE_* */
    uint32_t types;
    /* The key's octets as numbers of 32 bits, the most significant octet first. */
    uint32_t key[XN_HASH_KEY_SIZE / 4];
    /* Entries of `mapping` in use; 0: queue = value % number of queues. */
    uint32_t mapping_size;
    uint32_t mapping[XN_HASH_MAPPING_MAX];
};

struct XnHash {
    /* Of the vif, at least 1; never changes while it is connected. */
    uint32_t queue_count;
    /* Which of the settings are in use. */
    uint32_t current;
    struct XnHashSettings settings[2];
};

struct XnHashResult {
    /* False: the frame has no hash (other protocol, type not wanted, no algorithm); value is 0. */
    bool found;
    /* _XEN_NETIF_CTRL_HASH_TYPE_* */
    uint8_t type;
    uint32_t value;
};

/* As at connect: no algorithm, no types, an empty key and no table; queue_count >= 1. */
void hash_init(struct XnHash *hash, uint32_t queue_count);

/*
 * Does it hold what all of this keeps up: queues that exist, sizes within the tables? For one that
 * was found in a file; use another only after hash_init(). No other thread.
 */
bool hash_is_sound(const struct XnHash *hash, uint32_t queue_count);

/*
 * The changes that the control ring can ask for. Each returns a XEN_NETIF_CTRL_STATUS_*, and
 * changes nothing unless it is SUCCESS. One thread at a time.
 */

/* INVALID_PARAMETER for an unknown algorithm. The other settings stay. */
uint32_t hash_set_algorithm(struct XnHash *hash, uint32_t algorithm);

/* INVALID_PARAMETER for an unknown type, and while there is no algorithm. */
uint32_t hash_set_types(struct XnHash *hash, uint32_t types);

/* BUFFER_OVERFLOW for more than XN_HASH_KEY_SIZE octets. Octets that are not given are 0. */
uint32_t hash_set_key(struct XnHash *hash, const uint8_t *key, uint32_t size);

/* INVALID_PARAMETER for more than XN_HASH_MAPPING_MAX entries. All entries become 0. */
uint32_t hash_set_mapping_size(struct XnHash *hash, uint32_t size);

/* Whether `count` entries from entry `offset` on lie in the table; any numbers. */
bool hash_mapping_fits(const struct XnHash *hash, uint32_t count, uint32_t offset);

/*
 * Sets `count` entries from entry `offset` on. `entries` are 32-bit numbers in host order, of any
 * alignment. INVALID_PARAMETER when they do not fit, or one is no queue of the vif.
 */
uint32_t hash_set_mapping(struct XnHash *hash, const uint8_t *entries, uint32_t count,
                          uint32_t offset);

/* XEN_NETIF_CTRL_HASH_ALGORITHM_*; any thread. */
uint32_t hash_algorithm(const struct XnHash *hash);

/* Are frames to be hashed, and to go where their hashes say? Any thread. */
bool hash_is_wanted(const struct XnHash *hash);

/*
 * Hash of the frame whose first `length` bytes are given: over addresses and ports of an
 * unfragmented TCP packet if that type is wanted, else over the addresses. Any thread.
 */
struct XnHashResult hash_frame(const struct XnHash *hash, const uint8_t *bytes, uint32_t length);

/* The queue, below queue_count, for a frame with this hash (0 if it has none). Any thread. */
uint32_t hash_queue(const struct XnHash *hash, uint32_t value);

/* The extra info that tells the frontend a hash that was found. Every byte of it is defined. */
netif_extra_info_t hash_extra(const struct XnHashResult *result);

/* Toeplitz hash of `size` bytes, a multiple of 4 and at most 36, as netif.h defines it. */
uint32_t hash_toeplitz(const uint32_t key[XN_HASH_KEY_SIZE / 4], const uint8_t *input,
                       uint32_t size);

#endif
