/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash.h - which hash a received frame must carry, and on which queue it must come
 *
 * Theory of operation: what the control ring was told and the backend accepted is kept here. The
 * hash is computed bit by bit as the text of xen/io/netif.h says it, slowly: this is what the
 * backend is measured against, and it shares no idea with it.
 */
#ifndef QNETFRONT_HASH_H
#define QNETFRONT_HASH_H

#include "ring.h"

#include <stddef.h>

#define XN_HASH_KEY_MAX 40
#define XN_HASH_MAPPING_MAX 128

/* The key of the published test vectors. */
extern const uint8_t xn_hash_default_key[XN_HASH_KEY_MAX];

struct XnHashConfig {
    uint32_t queues;
    uint32_t algorithm; /* XEN_NETIF_CTRL_HASH_ALGORITHM_* */
    uint32_t types; /* XEN_NETIF_CTRL_HASH_TYPE_* */
    uint8_t key[XN_HASH_KEY_MAX];
    uint32_t mapping_size; /* 0: value modulo queues */
    uint32_t mapping[XN_HASH_MAPPING_MAX];
};

/* As a vif is when it has just connected. */
void hash_reset(struct XnHashConfig *config, uint32_t queues);

/* Follows a request that the backend has accepted. @page is the page it refers to. */
void hash_apply(struct XnHashConfig *config, const struct xen_netif_ctrl_request *request,
                const uint8_t *page);

/* The hash that a frame must carry; found is false if it must carry none. */
struct XnFrameHash hash_expect(const struct XnHashConfig *config, const uint8_t *frame,
                               size_t length);

/* The queue that a frame with this hash must come on. */
uint32_t hash_expect_queue(const struct XnHashConfig *config, uint32_t value);

/* netif.h's Toeplitz hash; octets of the key beyond @key_length are 0. */
uint32_t hash_toeplitz(const uint8_t *key, size_t key_length, const uint8_t *input, size_t length);

#endif
