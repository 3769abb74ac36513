/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment-test.c - super-frames cut into segments, each compared with the frame a sender would make
 */
#include "netif/segment.h"

#include "frame.h"

enum {
    FIN = 0x01,
    SYN = 0x02,
    PSH = 0x08,
    ACK = 0x10,
    URG = 0x20,
    ECE = 0x40,
    CWR = 0x80,
    TCP_FLAGS = 13,
};

static struct Frame *build(const struct FrameSpec *spec)
{
    struct Frame *frame = g_new(struct Frame, 1);

    frame_build(frame, spec);
    return frame;
}

static uint32_t get32(const uint8_t *field)
{
    return frame_get16(field) << 16 | frame_get16(field + 2);
}

static void put32(uint8_t *field, uint32_t value)
{
    frame_put16(field, value >> 16);
    frame_put16(field + 2, value);
}

/*
 * Segment `index` the slow way: the whole super-frame is copied, everything but the segment's part
 * of the payload cut away, the fields set by what the RFCs say, and the checksums made anew.
 */
static struct Frame *naive_segment(const struct Frame *whole, uint32_t size, uint32_t index)
{
    struct Frame *frame = g_memdup2(whole, sizeof(*whole));
    uint8_t *ip = frame->bytes + frame->ip_offset;
    uint8_t *tcp = frame->bytes + frame->l4_offset;
    uint32_t start = whole->payload_offset + index * size;
    bool last = (uint64_t)start + size >= whole->ip_end;
    uint32_t end = last ? whole->ip_end : start + size;
    uint32_t length = end - start;

    memmove(frame->bytes + frame->payload_offset, whole->bytes + start, length);
    frame->ip_end = frame->length = frame->payload_offset + length;
    if (frame->ip_version == 4) {
        frame_put16(ip + 2, frame->ip_end - frame->ip_offset);
        frame_put16(ip + 4, frame_get16(ip + 4) + index);
    } else {
        frame_put16(ip + 4, frame->ip_end - frame->ip_offset - 40);
    }
    put32(tcp + 4, get32(tcp + 4) + index * size);
    if (!last) {
        tcp[TCP_FLAGS] &= (uint8_t) ~(FIN | PSH);
    }
    if (index > 0) {
        tcp[TCP_FLAGS] &= (uint8_t)~CWR;
    }
    frame_complete(frame);
    return frame;
}

/* Cuts a super-frame and compares every segment; from memory that ends with the frame. */
static void assert_cut(const struct Frame *whole, uint32_t size)
{
    g_autofree uint8_t *bytes = g_memdup2(whole->bytes, whole->length);
    uint32_t payload = whole->ip_end - whole->payload_offset;
    uint32_t next = whole->payload_offset;
    struct XnSegments segments;

    g_assert_true(segments_begin(&segments, bytes, whole->length, size));
    g_assert_cmpuint(segments.count, ==, payload == 0 ? 1 : ((uint64_t)payload + size - 1) / size);
    g_assert_cmpuint(segments.headers.length, ==, whole->payload_offset);
    for (uint32_t i = 0; i < segments.count; i++) {
        g_autofree struct Frame *expected = naive_segment(whole, size, i);
        g_autofree uint8_t *headers = g_malloc(segments.headers.length);
        struct XnSegment segment = segments_write(&segments, i, headers);

        g_assert_cmpmem(headers, segments.headers.length, expected->bytes,
                        expected->payload_offset);
        g_assert_cmpuint(segment.offset, ==, next);
        g_assert_cmpuint(segment.length, ==, expected->length - expected->payload_offset);
        g_assert_cmpuint(segment.length, <=, size);
        next += segment.length;
    }
    /* All of the payload, and nothing of the padding. */
    g_assert_cmpuint(next, ==, whole->ip_end);
    g_assert_cmpmem(bytes, whole->length, whole->bytes, whole->length);
}

static void test_random_shapes(void)
{
    for (uint32_t i = 0; i < 1500; i++) {
        struct FrameSpec spec = frame_random_spec(IPPROTO_TCP, i % 50 == 0 ? 60000 : 4000);
        g_autofree struct Frame *frame = build(&spec);
        uint32_t size = (uint32_t)g_test_rand_int_range(50, 2000);

        /* Whatever stood in the checksum: a super-frame has the pseudo-header's sum there. */
        frame_random(frame_checksum_field(frame), 2);
        assert_cut(frame, size);
    }
}

struct Boundary {
    uint32_t payload;
    uint32_t size;
};

static const struct Boundary boundaries[] = {
    {0, 1},       {0, 1448},     {1, 1},       {1, 2},       {2, 1},          {3, 2},
    {1447, 1448}, {1448, 1448},  {1449, 1448}, {2895, 1448}, {2896, 1448},    {2897, 1448},
    {100, 99},    {100, 100},    {100, 101},   {100, 65535}, {100, 1 << 30},  {65495, 1460},
    {65495, 47},  {65495, 8948}, {1400, 1},    {2800, 2},    {5, UINT32_MAX},
};

static void test_boundary(gconstpointer data)
{
    const struct Boundary *boundary = data;

    for (uint32_t i = 0; i < 6; i++) {
        struct FrameSpec spec = {
            .vlan_tags = i / 2,
            .ip_version = i % 2 ? 4 : 6,
            .protocol = IPPROTO_TCP,
            .tcp_flags = 0xff,
            .payload = boundary->payload,
            .padding = i,
        };
        g_autofree struct Frame *frame = build(&spec);

        assert_cut(frame, boundary->size);
    }
}

/* Each flag, at the start, in the middle and at the end. */
static void test_flags(void)
{
    for (uint32_t flags = 0; flags <= 0xff; flags++) {
        struct FrameSpec spec = {
            .ip_version = 4,
            .protocol = IPPROTO_TCP,
            .tcp_flags = (uint8_t)flags,
            .payload = 250,
        };
        g_autofree struct Frame *frame = build(&spec);
        uint32_t always = flags & (SYN | ACK | URG | ECE | 0x04);
        struct XnSegments segments;
        uint8_t headers[XN_HEADER_MAX];

        g_assert_true(segments_begin(&segments, frame->bytes, frame->length, 100));
        g_assert_cmpuint(segments.count, ==, 3);
        segments_write(&segments, 0, headers);
        g_assert_cmphex(headers[frame->l4_offset + TCP_FLAGS], ==, always | (flags & CWR));
        segments_write(&segments, 1, headers);
        g_assert_cmphex(headers[frame->l4_offset + TCP_FLAGS], ==, always);
        segments_write(&segments, 2, headers);
        g_assert_cmphex(headers[frame->l4_offset + TCP_FLAGS], ==, always | (flags & (FIN | PSH)));
    }
}

/* Sequence numbers and ids go around. */
static void test_numbers_wrap(void)
{
    struct FrameSpec spec = {.ip_version = 4, .protocol = IPPROTO_TCP, .payload = 5000};
    g_autofree struct Frame *frame = build(&spec);
    uint8_t headers[XN_HEADER_MAX];
    struct XnSegments segments;

    frame_put16(frame->bytes + frame->ip_offset + 4, 0xfffe);
    put32(frame->bytes + frame->l4_offset + 4, 0xfffffc00);
    assert_cut(frame, 1000);
    g_assert_true(segments_begin(&segments, frame->bytes, frame->length, 1000));
    segments_write(&segments, 4, headers);
    g_assert_cmphex(frame_get16(headers + frame->ip_offset + 4), ==, 2);
    g_assert_cmphex(get32(headers + frame->l4_offset + 4), ==, 4000 - 0x400);
}

/* A super-frame that is longer than its length field can say: 0, and the frame's length counts. */
static void test_no_ip_length(gconstpointer data)
{
    uint32_t version = GPOINTER_TO_UINT(data);
    struct FrameSpec spec = {.ip_version = version, .protocol = IPPROTO_TCP, .payload = 65535 - 40};
    g_autofree struct Frame *frame = build(&spec);

    frame_put16(frame->bytes + frame->ip_offset + (version == 4 ? 2 : 4), 0);
    assert_cut(frame, 1448);
}

/* segments_begin() says no for every length but the right one or more. */
static void test_cut_off(void)
{
    struct FrameSpec spec = {.ip_version = 6, .protocol = IPPROTO_TCP, .payload = 100};
    g_autofree struct Frame *frame = build(&spec);
    struct XnSegments segments;

    for (uint32_t length = 0; length < frame->length; length++) {
        g_autofree uint8_t *cut = g_memdup2(frame->bytes, MAX(length, 1));

        g_assert_false(segments_begin(&segments, cut, length, 50));
    }
    g_assert_true(segments_begin(&segments, frame->bytes, frame->length, 50));
}

static void test_refused(void)
{
    struct FrameSpec tcp = {.ip_version = 4, .protocol = IPPROTO_TCP, .payload = 2000};
    struct FrameSpec udp = {.ip_version = 4, .protocol = IPPROTO_UDP, .payload = 2000};
    struct FrameSpec routed = {
        .ip_version = 6,
        .extensions = {IPPROTO_ROUTING},
        .protocol = IPPROTO_TCP,
        .payload = 2000,
    };
    g_autofree struct Frame *frame = build(&udp);
    struct XnSegments segments;

    g_assert_false(segments_begin(&segments, frame->bytes, frame->length, 500));
    frame_build(frame, &routed);
    g_assert_true(segments_begin(&segments, frame->bytes, frame->length, 500));
    frame->bytes[frame->ip_offset + 43] = 1;
    g_assert_false(segments_begin(&segments, frame->bytes, frame->length, 500));
    frame_build(frame, &tcp);
    g_assert_false(segments_begin(&segments, frame->bytes, frame->length, 0));
    /* A fragment has no header to be copied. */
    frame_put16(frame->bytes + frame->ip_offset + 6, 0x2000);
    g_assert_false(segments_begin(&segments, frame->bytes, frame->length, 500));
    frame_put16(frame->bytes + 12, 0x0806);
    g_assert_false(segments_begin(&segments, frame->bytes, frame->length, 500));
}

/* No frame makes more segments than were promised. */
static void test_most_segments(void)
{
    struct FrameSpec spec = {.ip_version = 4, .protocol = IPPROTO_TCP};
    struct XnSegments segments;

    for (uint32_t size = 1; size <= 48; size++) {
        g_autofree struct Frame *frame = NULL;

        spec.payload = MIN(XN_SEGMENTS_MAX * size, 65535 - 40);
        frame = build(&spec);
        g_assert_true(segments_begin(&segments, frame->bytes, frame->length, size));
        if (XN_SEGMENTS_MAX * size < 65535 - 40) {
            g_assert_cmpuint(segments.count, ==, XN_SEGMENTS_MAX);
            spec.payload++;
            frame_build(frame, &spec);
            g_assert_false(segments_begin(&segments, frame->bytes, frame->length, size));
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/segment/random-shapes", test_random_shapes);
    for (uint32_t i = 0; i < G_N_ELEMENTS(boundaries); i++) {
        g_autofree char *path = g_strdup_printf("/segment/boundary/%u-in-%u", boundaries[i].payload,
                                                boundaries[i].size);

        g_test_add_data_func(path, &boundaries[i], test_boundary);
    }
    g_test_add_func("/segment/flags", test_flags);
    g_test_add_func("/segment/numbers-wrap", test_numbers_wrap);
    g_test_add_data_func("/segment/no-ip-length/ipv4", GUINT_TO_POINTER(4), test_no_ip_length);
    g_test_add_data_func("/segment/no-ip-length/ipv6", GUINT_TO_POINTER(6), test_no_ip_length);
    g_test_add_func("/segment/cut-off", test_cut_off);
    g_test_add_func("/segment/refused", test_refused);
    g_test_add_func("/segment/most-segments", test_most_segments);
    return g_test_run();
}
