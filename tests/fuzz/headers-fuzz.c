/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * headers-fuzz.c - frames of any content through all that walks over headers
 *
 * The frame lies in memory of exactly its length, so that a sanitizer sees each byte too many.
 */
#include <glib.h>

#include "fuzz-features.h"
#include "netif/checksum-fill.h"
#include "netif/hash.h"
#include "netif/offload.h"
#include "netif/segment.h"

#define FRAME_MAX 65535u

/* From the guest: with as many linear bytes as a first slot may have, then with as many as needed.
 */
static void try_guest_tx(struct FuzzInput *input, const uint8_t *frame, uint32_t length)
{
    struct XnGuestTxPacket packet = {.size = length, .slot_count = 1};
    uint32_t linear = fuzz_range(input, 1, MIN(length, 256));
    struct virtio_net_hdr header;
    enum XnOffloadResult result;

    packet.flags = fuzz_u8(input) & (NETTXF_csum_blank | NETTXF_data_validated);
    packet.gso_type = fuzz_u8(input) % 3;
    packet.gso_size = packet.gso_type == 0 ? 0 : (uint16_t)fuzz_range(input, 1, 65535);
    for (int i = 0; i < 2; i++) {
        g_autofree uint8_t *copy = g_memdup2(frame, linear);

        memset(&header, 0x5a, sizeof(header));
        result = offload_guest_tx_describe(&packet, copy, linear, &header);
        if (result != XN_OFFLOAD_OK) {
            g_assert(memcmp(copy, frame, linear) == 0);
        }
        if (result != XN_OFFLOAD_NEED_MORE) {
            break;
        }
        g_assert(linear < length);
        linear = MIN(length, XN_HEADER_MAX);
        g_assert(i == 0 || linear < length);
    }
    if (result == XN_OFFLOAD_OK) {
        g_assert(header.hdr_len <= length);
        g_assert(!(header.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) ||
                 header.csum_start + header.csum_offset + 2u <= length);
        g_assert(header.gso_type == VIRTIO_NET_HDR_GSO_NONE || header.gso_size > 0);
    }
}

static void try_guest_rx(struct FuzzInput *input, const uint8_t *frame, uint32_t length)
{
    g_autofree uint8_t *copy = g_memdup2(frame, length);
    struct XnFeatures features = fuzz_features(fuzz_u8(input));
    struct virtio_net_hdr header;
    struct XnGuestRxMeta meta;
    struct XnGuestRxPlan plan;

    fuzz_bytes(input, &header, sizeof(header));
    if (offload_guest_rx_describe(&header, &features, copy, length, &meta) != XN_OFFLOAD_OK) {
        g_assert(memcmp(copy, frame, length) == 0);
        return;
    }
    g_assert((meta.flags & ~(NETRXF_csum_blank | NETRXF_data_validated)) == 0);
    g_assert(meta.gso_type != XEN_NETIF_GSO_TYPE_TCPV4 || features.gso_tcpv4);
    g_assert(meta.gso_type != XEN_NETIF_GSO_TYPE_TCPV6 || features.gso_tcpv6);
    plan = guest_rx_plan(length, &meta);
    g_assert(guest_rx_plan_slots(&plan) <= XN_GUEST_RX_SLOTS_MAX);
}

static void try_segments(struct FuzzInput *input, const uint8_t *frame, uint32_t length)
{
    uint32_t size = fuzz_u16(input);
    struct XnSegments segments;
    uint32_t expected, end;

    if (!segments_begin(&segments, frame, length, size)) {
        return;
    }
    g_assert(segments.count >= 1 && segments.count <= XN_SEGMENTS_MAX);
    g_assert(segments.headers.length <= XN_HEADER_MAX);
    expected = segments.headers.length;
    end = segments.headers.length + segments.payload;
    g_assert(end <= length);
    for (uint32_t i = 0; i < segments.count; i++) {
        g_autofree uint8_t *headers = g_malloc(segments.headers.length);
        struct XnSegment segment = segments_write(&segments, i, headers);

        g_assert(segment.offset == expected);
        g_assert(segment.length <= segments.size);
        expected += segment.length;
    }
    g_assert(expected == end);
}

static void try_hash(struct FuzzInput *input, const uint8_t *frame, uint32_t length)
{
    static struct XnHash hash;
    uint8_t key[XN_HASH_KEY_SIZE];
    uint32_t queues = 1u + fuzz_u8(input) % 8;
    struct XnHashResult result;

    hash_init(&hash, queues);
    hash_set_algorithm(&hash, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ);
    hash_set_types(&hash, fuzz_u8(input) & XN_HASH_TYPES);
    fuzz_bytes(input, key, sizeof(key));
    hash_set_key(&hash, key, sizeof(key));
    hash_set_mapping_size(&hash, fuzz_u8(input));
    result = hash_frame(&hash, frame, MIN(length, XN_HEADER_MAX));
    g_assert(hash_queue(&hash, result.value) < queues);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct FuzzInput input = {data, size};
    uint32_t extra = fuzz_u16(&input);
    uint8_t parameters[80];
    struct FuzzInput second = {parameters, sizeof(parameters)};
    g_autofree uint8_t *frame = NULL;
    g_autofree uint8_t *copy = NULL;
    struct XnHeaders headers;
    enum XnHeadersDepth depth;
    uint32_t length;

    fuzz_bytes(&input, parameters, sizeof(parameters));
    /* A frame may be longer than what is worth an input; the rest is zeros. */
    length = (uint32_t)MIN(FRAME_MAX, input.left + (extra >= 0x8000 ? extra - 0x8000u : 0));
    if (length < 14) {
        return 0;
    }
    frame = g_malloc(length);
    fuzz_rest(&input, frame, length);
    depth = headers_walk(frame, length, &headers);
    if (depth == XN_HEADERS_L4) {
        g_assert(headers.length <= length && headers.l4_offset < headers.length);
        g_assert(headers_checksum_offset(&headers) + 2 <= headers.length);
    }
    if (depth != XN_HEADERS_NONE) {
        g_assert(headers_packet_end(&headers, length, false) <= length);
        g_assert(headers_packet_end(&headers, length, true) <= length);
    }
    copy = g_memdup2(frame, length);
    if (!checksum_fill(copy, length)) {
        g_assert(memcmp(copy, frame, length) == 0);
    }
    checksum_fill_is_dhcp(frame, length);
    try_guest_tx(&second, frame, length);
    try_guest_rx(&second, frame, length);
    try_segments(&second, frame, length);
    try_hash(&second, frame, length);
    return 0;
}
