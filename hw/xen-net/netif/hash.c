/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash.c - the packet hash that a frontend configures over the control ring
 */
#include "netif/hash.h"

#include <netinet/in.h>

#include "netif/headers.h"

#define KEY_WORDS (XN_HASH_KEY_SIZE / 4)

#define IPV6_ADDRESSES_SIZE 32u
#define TCP_PORTS_SIZE 4u
#define INPUT_MAX (IPV6_ADDRESSES_SIZE + TCP_PORTS_SIZE)

_Static_assert(INPUT_MAX + sizeof(uint32_t) == XN_HASH_KEY_SIZE, "the key covers every input");

/* Words are read while they may be written: in one piece, in whatever order. */
static uint32_t load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void store(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static const struct XnHashSettings *settings_in_use(const struct XnHash *hash)
{
    return &hash->settings[__atomic_load_n(&hash->current, __ATOMIC_ACQUIRE)];
}

/* The copy that nobody should be reading any more, made equal to the one in use. */
static struct XnHashSettings *settings_begin(struct XnHash *hash)
{
    const struct XnHashSettings *from = settings_in_use(hash);
    struct XnHashSettings *to = &hash->settings[!hash->current];

    store(&to->algorithm, from->algorithm);
    store(&to->types, from->types);
    for (uint32_t i = 0; i < KEY_WORDS; i++) {
        store(&to->key[i], from->key[i]);
    }
    store(&to->mapping_size, from->mapping_size);
    for (uint32_t i = 0; i < XN_HASH_MAPPING_MAX; i++) {
        store(&to->mapping[i], from->mapping[i]);
    }
    return to;
}

static uint32_t settings_commit(struct XnHash *hash)
{
    __atomic_store_n(&hash->current, !hash->current, __ATOMIC_RELEASE);
    return XEN_NETIF_CTRL_STATUS_SUCCESS;
}

void hash_init(struct XnHash *hash, uint32_t queue_count)
{
    *hash = (struct XnHash){
        .queue_count = queue_count,
    };
}

bool hash_is_sound(const struct XnHash *hash, uint32_t queue_count)
{
    if (hash->queue_count != queue_count || queue_count == 0 || hash->current > 1) {
        return false;
    }
    for (uint32_t k = 0; k < 2; k++) {
        const struct XnHashSettings *settings = &hash->settings[k];

        if (settings->algorithm > XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ ||
            (settings->types & ~XN_HASH_TYPES) || settings->mapping_size > XN_HASH_MAPPING_MAX) {
            return false;
        }
        for (uint32_t i = 0; i < XN_HASH_MAPPING_MAX; i++) {
            if (settings->mapping[i] >= queue_count) {
                return false;
            }
        }
    }
    return true;
}

uint32_t hash_set_algorithm(struct XnHash *hash, uint32_t algorithm)
{
    struct XnHashSettings *settings;

    if (algorithm != XEN_NETIF_CTRL_HASH_ALGORITHM_NONE &&
        algorithm != XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ) {
        return XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER;
    }
    settings = settings_begin(hash);
    store(&settings->algorithm, algorithm);
    return settings_commit(hash);
}

uint32_t hash_set_types(struct XnHash *hash, uint32_t types)
{
    struct XnHashSettings *settings;

    if ((types & ~XN_HASH_TYPES) || hash_algorithm(hash) == XEN_NETIF_CTRL_HASH_ALGORITHM_NONE) {
        return XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER;
    }
    settings = settings_begin(hash);
    store(&settings->types, types);
    return settings_commit(hash);
}

uint32_t hash_set_key(struct XnHash *hash, const uint8_t *key, uint32_t size)
{
    uint8_t whole[XN_HASH_KEY_SIZE] = {0};
    struct XnHashSettings *settings;

    if (size > XN_HASH_KEY_SIZE) {
        return XEN_NETIF_CTRL_STATUS_BUFFER_OVERFLOW;
    }
    if (size > 0) {
        memcpy(whole, key, size);
    }
    settings = settings_begin(hash);
    for (uint32_t i = 0; i < KEY_WORDS; i++) {
        store(&settings->key[i], headers_u32(whole + (size_t)i * 4));
    }
    return settings_commit(hash);
}

uint32_t hash_set_mapping_size(struct XnHash *hash, uint32_t size)
{
    struct XnHashSettings *settings;

    if (size > XN_HASH_MAPPING_MAX) {
        return XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER;
    }
    settings = settings_begin(hash);
    store(&settings->mapping_size, size);
    for (uint32_t i = 0; i < XN_HASH_MAPPING_MAX; i++) {
        store(&settings->mapping[i], 0);
    }
    return settings_commit(hash);
}

bool hash_mapping_fits(const struct XnHash *hash, uint32_t count, uint32_t offset)
{
    uint32_t size = load(&settings_in_use(hash)->mapping_size);

    return offset <= size && count <= size - offset;
}

/* Nothing here is BUFFER_OVERFLOW: what is too much for us is too much for the table's own size. */
uint32_t hash_set_mapping(struct XnHash *hash, const uint8_t *entries, uint32_t count,
                          uint32_t offset)
{
    struct XnHashSettings *settings;
    uint32_t queue;

    if (!hash_mapping_fits(hash, count, offset)) {
        return XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER;
    }
    settings = settings_begin(hash);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&queue, entries + i * sizeof(queue), sizeof(queue));
        if (queue >= hash->queue_count) {
            return XEN_NETIF_CTRL_STATUS_INVALID_PARAMETER;
        }
        store(&settings->mapping[offset + i], queue);
    }
    return settings_commit(hash);
}

uint32_t hash_algorithm(const struct XnHash *hash)
{
    return load(&settings_in_use(hash)->algorithm);
}

bool hash_is_wanted(const struct XnHash *hash)
{
    const struct XnHashSettings *settings = settings_in_use(hash);

    return load(&settings->algorithm) != XEN_NETIF_CTRL_HASH_ALGORITHM_NONE &&
           load(&settings->types) != 0;
}

/*
 * Bit n of the input, counted from the left, adds the 32 bits of the key that start at its bit n.
 * `window` has the 64 bits of the key for which one word of the input asks.
 */
uint32_t hash_toeplitz(const uint32_t key[KEY_WORDS], const uint8_t *input, uint32_t size)
{
    uint32_t value = 0;
    uint64_t window = load(&key[0]);
    uint32_t word;

    for (uint32_t i = 0; i < size / 4; i++) {
        word = headers_u32(input + (size_t)i * 4);
        window = window << 32 | load(&key[i + 1]);
        for (uint32_t bit = 0; bit < 32; bit++) {
            value ^= (uint32_t)(window >> (32 - bit)) & -(word >> (31 - bit) & 1);
        }
    }
    return value;
}

struct XnHashResult hash_frame(const struct XnHash *hash, const uint8_t *bytes, uint32_t length)
{
    const struct XnHashSettings *settings = settings_in_use(hash);
    struct XnHashResult result = {0};
    uint8_t input[INPUT_MAX];
    uint32_t types = load(&settings->types);
    uint8_t type = _XEN_NETIF_CTRL_HASH_TYPE_IPV4;
    uint8_t tcp_type = _XEN_NETIF_CTRL_HASH_TYPE_IPV4_TCP;
    struct XnHeaders headers;
    enum XnHeadersDepth depth;
    const uint8_t *addresses;
    uint32_t size;

    if (types == 0 || load(&settings->algorithm) == XEN_NETIF_CTRL_HASH_ALGORITHM_NONE) {
        return result;
    }
    depth = headers_walk(bytes, length, &headers);
    if (depth == XN_HEADERS_NONE) {
        return result;
    }
    if (headers.ip_version == 6) {
        type = _XEN_NETIF_CTRL_HASH_TYPE_IPV6;
        tcp_type = _XEN_NETIF_CTRL_HASH_TYPE_IPV6_TCP;
    }
    addresses = headers_addresses(&headers, bytes, &size);
    memcpy(input, addresses, size);
    if (depth == XN_HEADERS_L4 && headers.protocol == IPPROTO_TCP && (types >> tcp_type & 1)) {
        memcpy(input + size, bytes + headers.l4_offset, TCP_PORTS_SIZE);
        size += TCP_PORTS_SIZE;
        type = tcp_type;
    } else if (!(types >> type & 1)) {
        return result;
    }
    result.found = true;
    result.type = type;
    result.value = hash_toeplitz(settings->key, input, size);
    return result;
}

uint32_t hash_queue(const struct XnHash *hash, uint32_t value)
{
    const struct XnHashSettings *settings = settings_in_use(hash);
    uint32_t size = load(&settings->mapping_size);

    return size == 0 ? value % hash->queue_count : load(&settings->mapping[value % size]);
}

netif_extra_info_t hash_extra(const struct XnHashResult *result)
{
    netif_extra_info_t extra;

    memset(&extra, 0, sizeof(extra));
    extra.type = XEN_NETIF_EXTRA_TYPE_HASH;
    extra.u.hash.type = result->type;
    extra.u.hash.algorithm = XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ;
    for (uint32_t i = 0; i < sizeof(extra.u.hash.value); i++) {
        extra.u.hash.value[i] = (uint8_t)(result->value >> (i * 8));
    }
    return extra;
}
