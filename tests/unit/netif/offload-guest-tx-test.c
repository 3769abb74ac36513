/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offload-guest-tx-test.c - frames from the guest, described for the port
 */
#include "netif/offload.h"

#include "frame.h"

static struct XnGuestTxPacket packet_of(const struct Frame *frame, uint16_t flags)
{
    return (struct XnGuestTxPacket){.size = frame->length, .flags = flags};
}

/*
 * Describes a frame of which `linear` bytes are given, in memory of just that size. The bytes are
 * written back.
 */
static enum XnOffloadResult describe(const struct XnGuestTxPacket *packet, struct Frame *frame,
                                     uint32_t linear, struct virtio_net_hdr *header)
{
    g_autofree uint8_t *headers = g_malloc(MAX(linear, 1));
    struct virtio_net_hdr untouched;
    enum XnOffloadResult result;

    memcpy(headers, frame->bytes, linear);
    memset(&untouched, 0xa5, sizeof(untouched));
    *header = untouched;
    result = offload_guest_tx_describe(packet, headers, linear, header);
    if (result != XN_OFFLOAD_OK) {
        g_assert_cmpmem(header, sizeof(*header), &untouched, sizeof(untouched));
        g_assert_cmpmem(headers, linear, frame->bytes, linear);
    }
    memcpy(frame->bytes, headers, linear);
    return result;
}

static enum XnOffloadResult describe_whole(const struct XnGuestTxPacket *packet,
                                           struct Frame *frame)
{
    struct virtio_net_hdr header;

    return describe(packet, frame, frame->length, &header);
}

/* A frame that asks for nothing is not looked at, whatever it holds. */
static void test_nothing_asked_for(void)
{
    static const struct virtio_net_hdr none;
    g_autofree struct Frame *frame = g_new0(struct Frame, 1);
    struct virtio_net_hdr header;
    struct XnGuestTxPacket packet;

    frame->length = 14;
    packet = packet_of(frame, 0);
    g_assert_cmpint(describe(&packet, frame, 0, &header), ==, XN_OFFLOAD_OK);
    g_assert_cmpmem(&header, sizeof(header), &none, sizeof(none));
}

static void test_validated_data(void)
{
    static const struct virtio_net_hdr valid = {.flags = VIRTIO_NET_HDR_F_DATA_VALID};
    g_autofree struct Frame *frame = g_new0(struct Frame, 1);
    struct virtio_net_hdr header;
    struct XnGuestTxPacket packet;

    frame->length = 14;
    packet = packet_of(frame, NETTXF_data_validated);
    g_assert_cmpint(describe(&packet, frame, 0, &header), ==, XN_OFFLOAD_OK);
    g_assert_cmpmem(&header, sizeof(header), &valid, sizeof(valid));
}

static void test_blank_checksum(gconstpointer stack)
{
    static const uint16_t flags[] = {NETTXF_csum_blank, NETTXF_csum_blank | NETTXF_data_validated};
    static const uint32_t payloads[] = {0, 1, 2, 100, 1400, 60000};

    for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
        for (size_t j = 0; j < G_N_ELEMENTS(payloads); j++) {
            g_autofree struct Frame *frame = g_new(struct Frame, 1);
            g_autofree struct Frame *before = NULL;
            struct XnGuestTxPacket packet;
            struct virtio_net_hdr header;

            frame_build_stack(frame, stack, payloads[j]);
            frame_blank_checksum(frame);
            before = g_memdup2(frame, sizeof(*frame));
            packet = packet_of(frame, flags[i]);
            g_assert_cmpint(describe(&packet, frame, frame->payload_offset, &header), ==,
                            XN_OFFLOAD_OK);
            g_assert_cmpuint(header.flags, ==, VIRTIO_NET_HDR_F_NEEDS_CSUM);
            g_assert_cmpuint(header.gso_type, ==, VIRTIO_NET_HDR_GSO_NONE);
            g_assert_cmpuint(header.gso_size, ==, 0);
            g_assert_cmpuint(header.hdr_len, ==, frame->payload_offset);
            g_assert_cmpuint(header.csum_start, ==, frame->l4_offset);
            g_assert_cmpuint(header.csum_offset, ==, frame_checksum_offset(frame));
            g_assert_cmpmem(frame, sizeof(*frame), before, sizeof(*before));
            frame_complete_checksum(frame, header.csum_start, header.csum_offset);
            g_assert_cmphex(frame_l4_sum(frame), ==, 0xffff);
        }
    }
}

/* XSA-423: with any number of bytes the walk says if it needs more, and never reads on. */
static void test_headers_given_in_part(gconstpointer stack)
{
    g_autofree struct Frame *frame = g_new(struct Frame, 1);
    struct XnGuestTxPacket packet;
    struct virtio_net_hdr header;

    frame_build_stack(frame, stack, 100);
    packet = packet_of(frame, NETTXF_csum_blank);
    for (uint32_t linear = 0; linear <= frame->length; linear++) {
        g_assert_cmpint(describe(&packet, frame, linear, &header), ==,
                        linear < frame->payload_offset ? XN_OFFLOAD_NEED_MORE : XN_OFFLOAD_OK);
    }
}

/* A frame that ends within its headers is refused, also if its IP header says so truly. */
static void test_headers_cut_short(gconstpointer stack)
{
    for (int honest = 0; honest <= 1; honest++) {
        g_autofree struct Frame *frame = g_new(struct Frame, 1);

        frame_build_stack(frame, stack, 0);
        for (uint32_t size = 14; size < frame->payload_offset; size++) {
            struct XnGuestTxPacket packet;
            struct virtio_net_hdr header;

            frame->length = size;
            if (honest && size >= frame->l4_offset) {
                frame->ip_end = size;
                frame_set_lengths(frame);
            }
            packet = packet_of(frame, NETTXF_csum_blank);
            g_assert_cmpint(describe_whole(&packet, frame), ==, XN_OFFLOAD_BAD);
            /* The answer does not depend on how much is given, only when it is known. */
            for (uint32_t linear = 0; linear < size; linear++) {
                g_assert_cmpint(describe(&packet, frame, linear, &header), !=, XN_OFFLOAD_OK);
            }
        }
    }
}

/* Ethernet pads short frames: the IP packet may end before the frame does, not behind it. */
static void test_ip_length(gconstpointer stack)
{
    g_autofree struct Frame *frame = g_new(struct Frame, 1);
    uint32_t field;
    uint32_t least;
    uint32_t most;

    frame_build_stack(frame, stack, 50);
    field = frame->ip_version == 4 ? frame->ip_offset + 2 : frame->ip_offset + 4;
    most = frame_get16(frame->bytes + field);
    least = most - 50;
    for (uint32_t length = 0; length <= 0xffff; length += length < 2000 ? 1 : 997) {
        struct XnGuestTxPacket packet = packet_of(frame, NETTXF_csum_blank);
        bool fits = length >= least && length <= most;

        frame_put16(frame->bytes + field, length);
        g_assert_cmpint(describe_whole(&packet, frame), ==, fits ? XN_OFFLOAD_OK : XN_OFFLOAD_BAD);
        /* Only a super-frame's length may be left out. */
        packet.gso_type =
            frame->ip_version == 4 ? XEN_NETIF_GSO_TYPE_TCPV4 : XEN_NETIF_GSO_TYPE_TCPV6;
        packet.gso_size = 10;
        fits = (fits || length == 0) && frame->protocol == IPPROTO_TCP;
        g_assert_cmpint(describe_whole(&packet, frame), ==, fits ? XN_OFFLOAD_OK : XN_OFFLOAD_BAD);
    }
}

/* One bit or number changed in a good frame. */
struct Damage {
    const char *name;
    const char *stack;
    /* Where: relative to the Ethernet type ('e'), IP ('i'), L4 ('l') or fragment ('f') header. */
    char base;
    uint32_t offset;
    uint32_t value16;
    enum XnOffloadResult result;
};

static const struct Damage DAMAGES[] = {
    {"arp", "4t", 'e', 0, 0x0806, XN_OFFLOAD_BAD},
    {"llc-length", "4t", 'e', 0, 0x0040, XN_OFFLOAD_BAD},
    {"ipv6-type-on-ipv4", "4t", 'e', 0, 0x86dd, XN_OFFLOAD_BAD},
    {"ipv4-type-on-ipv6", "6t", 'e', 0, 0x0800, XN_OFFLOAD_BAD},
    {"ipv4-version", "4t", 'i', 0, 0x5500, XN_OFFLOAD_BAD},
    {"ipv4-header-of-0", "4t", 'i', 0, 0x4000, XN_OFFLOAD_BAD},
    {"ipv4-header-of-16", "4t", 'i', 0, 0x4400, XN_OFFLOAD_BAD},
    {"ipv4-header-longer-than-packet", "4u", 'i', 0, 0x4f00, XN_OFFLOAD_BAD},
    {"ipv4-more-fragments", "4t", 'i', 6, 0x2000, XN_OFFLOAD_BAD},
    {"ipv4-last-fragment", "4u", 'i', 6, 0x0001, XN_OFFLOAD_BAD},
    {"ipv4-largest-offset", "4u", 'i', 6, 0x1fff, XN_OFFLOAD_BAD},
    {"ipv4-reserved-bit-and-df", "4u", 'i', 6, 0xc000, XN_OFFLOAD_OK},
    {"ipv4-gre", "4t", 'i', 8, 0x4000 | IPPROTO_GRE, XN_OFFLOAD_BAD},
    {"ipv4-hop-by-hop", "4t", 'i', 8, 0x4000, XN_OFFLOAD_BAD},
    {"ipv6-version", "6t", 'i', 0, 0x7000, XN_OFFLOAD_BAD},
    {"ipv6-no-next-header", "6t", 'i', 6, IPPROTO_NONE << 8, XN_OFFLOAD_BAD},
    {"ipv6-icmp", "6u", 'i', 6, IPPROTO_ICMPV6 << 8, XN_OFFLOAD_BAD},
    {"ipv6-more-fragments", "6ft", 'f', 2, 0x0001, XN_OFFLOAD_BAD},
    {"ipv6-last-fragment", "6fu", 'f', 2, 0x0008, XN_OFFLOAD_BAD},
    {"ipv6-largest-offset", "6fu", 'f', 2, 0xfff8, XN_OFFLOAD_BAD},
    {"ipv6-reserved-fragment-bits", "6fu", 'f', 2, 0x0006, XN_OFFLOAD_OK},
    {"tcp-header-of-0", "4t", 'l', 12, 0x0010, XN_OFFLOAD_BAD},
    {"tcp-header-of-16", "6t", 'l', 12, 0x4f10, XN_OFFLOAD_BAD},
    {"tcp-header-longer-than-packet", "4t", 'l', 12, 0xf010, XN_OFFLOAD_BAD},
    {"tcp-header-reserved-bits", "4t", 'l', 12, 0x5f10, XN_OFFLOAD_OK},
};

static void test_damaged_header(gconstpointer data)
{
    const struct Damage *damage = data;
    g_autofree struct Frame *frame = g_new(struct Frame, 1);
    struct XnGuestTxPacket packet;
    uint32_t base;

    frame_build_stack(frame, damage->stack, 10);
    packet = packet_of(frame, NETTXF_csum_blank);
    g_assert_cmpint(describe_whole(&packet, frame), ==, XN_OFFLOAD_OK);
    base = damage->base == 'e'   ? 12
           : damage->base == 'i' ? frame->ip_offset
           : damage->base == 'f' ? frame->fragment_offset
                                 : frame->l4_offset;
    frame_put16(frame->bytes + base + damage->offset, damage->value16);
    g_assert_cmpint(describe_whole(&packet, frame), ==, damage->result);
    /* Without a claim there is nothing to contradict. */
    packet.flags = 0;
    g_assert_cmpint(describe_whole(&packet, frame), ==, XN_OFFLOAD_OK);
}

static void test_stack_that_is_refused(gconstpointer stack)
{
    g_autofree struct Frame *frame = g_new(struct Frame, 1);
    struct XnGuestTxPacket packet;
    struct virtio_net_hdr header;

    frame_build_stack(frame, stack, 3000);
    packet = packet_of(frame, NETTXF_csum_blank);
    g_assert_cmpint(describe_whole(&packet, frame), ==, XN_OFFLOAD_BAD);
    /* Nor is more asked for than will be looked at. */
    g_assert_cmpint(describe(&packet, frame, XN_HEADER_MAX, &header), ==, XN_OFFLOAD_BAD);
}

static void test_headers_up_to_the_limit(void)
{
    /* 14 + 40 + n * 8 + 8 bytes of UDP */
    for (uint32_t extensions = 0; extensions < 40; extensions++) {
        g_autoptr(GString) stack = g_string_new("6");
        g_autofree struct Frame *frame = g_new(struct Frame, 1);
        struct XnGuestTxPacket packet;
        struct virtio_net_hdr header;
        bool fits;

        for (uint32_t i = 0; i < extensions; i++) {
            g_string_append_c(stack, 'd');
        }
        g_string_append_c(stack, 'u');
        frame_build_stack(frame, stack->str, 500);
        fits = frame->payload_offset <= XN_HEADER_MAX;
        packet = packet_of(frame, NETTXF_csum_blank);
        g_assert_cmpint(describe_whole(&packet, frame), ==, fits ? XN_OFFLOAD_OK : XN_OFFLOAD_BAD);
        g_assert_cmpint(describe(&packet, frame, 60, &header), ==, XN_OFFLOAD_NEED_MORE);
        g_assert_cmpint(describe(&packet, frame, XN_HEADER_MAX, &header), ==,
                        fits ? XN_OFFLOAD_OK : XN_OFFLOAD_BAD);
    }
}

static uint8_t gso_type_of(const struct Frame *frame)
{
    return frame->ip_version == 4 ? XEN_NETIF_GSO_TYPE_TCPV4 : XEN_NETIF_GSO_TYPE_TCPV6;
}

/* With or without a blank checksum, the port gets a super-frame whose checksum is blank. */
static void test_super_frame(gconstpointer stack)
{
    static const uint16_t flags[] = {0, NETTXF_data_validated, NETTXF_csum_blank,
                                     NETTXF_csum_blank | NETTXF_data_validated};

    for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
        g_autofree struct Frame *frame = g_new(struct Frame, 1);
        struct XnGuestTxPacket packet;
        struct virtio_net_hdr header;

        frame_build_stack(frame, stack, (uint32_t)g_test_rand_int_range(1449, 64000));
        if (flags[i] & NETTXF_csum_blank) {
            frame_blank_checksum(frame);
        }
        packet = packet_of(frame, flags[i]);
        packet.gso_type = gso_type_of(frame);
        packet.gso_size = 1448;
        if (frame->protocol != IPPROTO_TCP) {
            g_assert_cmpint(describe_whole(&packet, frame), ==, XN_OFFLOAD_BAD);
            continue;
        }
        g_assert_cmpint(describe(&packet, frame, frame->payload_offset, &header), ==,
                        XN_OFFLOAD_OK);
        g_assert_cmpuint(header.flags, ==, VIRTIO_NET_HDR_F_NEEDS_CSUM);
        g_assert_cmpuint(header.gso_type, ==,
                         frame->ip_version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4
                                                : VIRTIO_NET_HDR_GSO_TCPV6);
        g_assert_cmpuint(header.gso_size, ==, 1448);
        g_assert_cmpuint(header.hdr_len, ==, frame->payload_offset);
        g_assert_cmpuint(header.csum_start, ==, frame->l4_offset);
        g_assert_cmpuint(header.csum_offset, ==, 16);
        g_assert_cmphex(frame_get16(frame->bytes + frame->l4_offset + 16), ==,
                        frame_pseudo_sum(frame));
        frame_complete_checksum(frame, header.csum_start, header.csum_offset);
        g_assert_cmphex(frame_l4_sum(frame), ==, 0xffff);
        packet.gso_type =
            frame->ip_version == 4 ? XEN_NETIF_GSO_TYPE_TCPV6 : XEN_NETIF_GSO_TYPE_TCPV4;
        g_assert_cmpint(describe_whole(&packet, frame), ==, XN_OFFLOAD_BAD);
    }
}

static void test_payload_of_one_segment(void)
{
    static const uint16_t sizes[] = {1, 1447, 1448, 1449, 65535};

    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree struct Frame *frame = g_new(struct Frame, 1);
        struct XnGuestTxPacket packet;
        struct virtio_net_hdr header;

        frame_build_stack(frame, "4t", 1448);
        packet = packet_of(frame, NETTXF_csum_blank);
        packet.gso_type = XEN_NETIF_GSO_TYPE_TCPV4;
        packet.gso_size = sizes[i];
        g_assert_cmpint(describe(&packet, frame, frame->payload_offset, &header), ==,
                        XN_OFFLOAD_OK);
        g_assert_cmpuint(header.flags, ==, VIRTIO_NET_HDR_F_NEEDS_CSUM);
        g_assert_cmpuint(header.gso_type, ==,
                         sizes[i] < 1448 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_NONE);
        g_assert_cmpuint(header.gso_size, ==, sizes[i] < 1448 ? sizes[i] : 0);
    }
}

/* A few random bytes in a good frame: an answer, within the bytes given, that more confirm. */
static void test_random_damage(void)
{
    uint32_t results[XN_OFFLOAD_BAD + 1] = {0};
    g_autofree struct Frame *frame = g_new(struct Frame, 1);

    for (int round = 0; round < 200; round++) {
        frame_build_stack(frame, FRAME_STACKS[round % G_N_ELEMENTS(FRAME_STACKS)],
                          (uint32_t)g_test_rand_int_range(0, 100));
        for (int change = 0; change < 20; change++) {
            struct XnGuestTxPacket packet = packet_of(frame, NETTXF_csum_blank);
            enum XnOffloadResult last = XN_OFFLOAD_NEED_MORE;

            frame->bytes[g_test_rand_int_range(12, (int)frame->payload_offset)] =
                (uint8_t)(change % 2 ? g_test_rand_int() : g_test_rand_int_range(0, 64));
            packet.gso_type = (uint8_t)g_test_rand_int_range(0, 3);
            packet.gso_size = packet.gso_type == 0 ? 0 : 20;
            for (uint32_t linear = 0; linear <= MIN(frame->length, XN_HEADER_MAX); linear++) {
                struct virtio_net_hdr header;
                enum XnOffloadResult result = describe(&packet, frame, linear, &header);

                if (last != XN_OFFLOAD_NEED_MORE) {
                    g_assert_cmpint(result, ==, last);
                }
                if (result == XN_OFFLOAD_OK) {
                    g_assert_cmpuint(header.csum_start + header.csum_offset + 2u, <=,
                                     header.hdr_len);
                    g_assert_cmpuint(header.hdr_len, <=, linear);
                }
                last = result;
                results[result]++;
            }
            g_assert_cmpint(last, !=, XN_OFFLOAD_NEED_MORE);
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(results); i++) {
        g_assert_cmpuint(results[i], >, 0);
    }
}

static void add_for_each_stack(const char *name, GTestDataFunc test)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FRAME_STACKS); i++) {
        g_autofree char *path = g_strdup_printf("/offload/guest_tx/%s/%s", name, FRAME_STACKS[i]);

        g_test_add_data_func(path, FRAME_STACKS[i], test);
    }
}

int main(int argc, char **argv)
{
    static const char *const refused[] = {"4i", "6i", "qqq4t", "sqq6u", "6Ht", "6dHu"};

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/offload/guest_tx/nothing-asked-for", test_nothing_asked_for);
    g_test_add_func("/offload/guest_tx/validated-data", test_validated_data);
    add_for_each_stack("blank-checksum", test_blank_checksum);
    add_for_each_stack("headers-given-in-part", test_headers_given_in_part);
    add_for_each_stack("headers-cut-short", test_headers_cut_short);
    add_for_each_stack("ip-length", test_ip_length);
    for (size_t i = 0; i < G_N_ELEMENTS(DAMAGES); i++) {
        g_autofree char *path =
            g_strdup_printf("/offload/guest_tx/damaged-header/%s", DAMAGES[i].name);

        g_test_add_data_func(path, &DAMAGES[i], test_damaged_header);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autofree char *path =
            g_strdup_printf("/offload/guest_tx/stack-that-is-refused/%s", refused[i]);

        g_test_add_data_func(path, refused[i], test_stack_that_is_refused);
    }
    g_test_add_func("/offload/guest_tx/headers-up-to-the-limit", test_headers_up_to_the_limit);
    add_for_each_stack("super-frame", test_super_frame);
    g_test_add_func("/offload/guest_tx/payload-of-one-segment", test_payload_of_one_segment);
    g_test_add_func("/offload/guest_tx/random-damage", test_random_damage);
    return g_test_run();
}
