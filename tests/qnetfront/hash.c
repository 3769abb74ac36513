/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hash.c - which hash a received frame must carry, and on which queue it must come */
#include "hash.h"

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_VLAN 0x8100
#define PROTOCOL_TCP 6

const uint8_t xn_hash_default_key[XN_HASH_KEY_MAX] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

void hash_reset(struct XnHashConfig *config, uint32_t queues)
{
    memset(config, 0, sizeof(*config));
    config->queues = queues;
}

void hash_apply(struct XnHashConfig *config, const struct xen_netif_ctrl_request *request,
                const uint8_t *page)
{
    const uint32_t *data = request->data;

    switch (request->type) {
    case XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM:
        config->algorithm = data[0];
        break;
    case XEN_NETIF_CTRL_TYPE_SET_HASH_FLAGS:
        config->types = data[0];
        break;
    case XEN_NETIF_CTRL_TYPE_SET_HASH_KEY:
        memset(config->key, 0, sizeof(config->key));
        if (data[1] <= sizeof(config->key)) {
            memcpy(config->key, page, data[1]);
        }
        break;
    case XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING_SIZE:
        memset(config->mapping, 0, sizeof(config->mapping));
        config->mapping_size = data[0] <= XN_HASH_MAPPING_MAX ? data[0] : 0;
        break;
    case XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING:
        if (data[2] <= XN_HASH_MAPPING_MAX && data[1] <= XN_HASH_MAPPING_MAX - data[2]) {
            memcpy(config->mapping + data[2], page, data[1] * sizeof(*config->mapping));
        }
        break;
    default:
        break;
    }
}

static unsigned int bit_of(const uint8_t *bytes, size_t length, size_t bit)
{
    return bit / 8 < length ? bytes[bit / 8] >> (7 - bit % 8) & 1 : 0;
}

uint32_t hash_toeplitz(const uint8_t *key, size_t key_length, const uint8_t *input, size_t length)
{
    uint32_t value = 0;

    for (size_t bit = 0; bit < 8 * length; bit++) {
        uint32_t left_most = 0;

        for (unsigned int i = 0; i < 32; i++) {
            left_most = left_most << 1 | bit_of(key, key_length, bit + i);
        }
        if (bit_of(input, length, bit)) {
            value ^= left_most;
        }
    }
    return value;
}

static uint16_t get16(const uint8_t *p)
{
    return p[0] << 8 | p[1];
}

struct XnFrameHash hash_expect(const struct XnHashConfig *config, const uint8_t *frame,
                               size_t length)
{
    struct XnFrameHash none = {false, 0, 0};
    struct XnFrameHash hash = {true, 0, 0};
    uint8_t input[36];
    size_t ip = 14;
    size_t size;
    size_t l4;
    bool tcp;

    if (config->algorithm != XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ) {
        return none;
    }
    while (ip + 4 <= length && get16(frame + ip - 2) == ETHERTYPE_VLAN) {
        ip += 4;
    }
    if (get16(frame + ip - 2) == ETHERTYPE_IPV4 && ip + 20 <= length) {
        size = 8;
        memcpy(input, frame + ip + 12, size);
        l4 = ip + 4 * (frame[ip] & 15);
        tcp = frame[ip + 9] == PROTOCOL_TCP;
        hash.type = _XEN_NETIF_CTRL_HASH_TYPE_IPV4;
    } else if (get16(frame + ip - 2) == ETHERTYPE_IPV6 && ip + 40 <= length) {
        size = 32;
        memcpy(input, frame + ip + 8, size);
        l4 = ip + 40;
        tcp = frame[ip + 6] == PROTOCOL_TCP;
        hash.type = _XEN_NETIF_CTRL_HASH_TYPE_IPV6;
    } else {
        return none;
    }
    /* Each type of addresses alone is followed by the one of addresses and TCP ports. */
    if (tcp && l4 + 4 <= length && config->types & 1u << (hash.type + 1)) {
        memcpy(input + size, frame + l4, 4);
        size += 4;
        hash.type++;
    }
    if (!(config->types & 1u << hash.type)) {
        return none;
    }
    hash.value = hash_toeplitz(config->key, sizeof(config->key), input, size);
    return hash;
}

uint32_t hash_expect_queue(const struct XnHashConfig *config, uint32_t value)
{
    if (!config->mapping_size) {
        return value % config->queues;
    }
    return config->mapping[value % config->mapping_size];
}
