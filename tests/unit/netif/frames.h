/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.h - hand-built Ethernet frames for tests, from a short description of their headers
 *
 * A description has one letter for each header, in order:
 *   q  VLAN tag 0x8100          s  VLAN tag 0x88a8 (service tag)
 *   4  IPv4                     o  4 bytes of IPv4 options, behind 4, up to ten times
 *   6  IPv6                     h d r  hop-by-hop, destination options, routing (8 bytes)
 *   H  hop-by-hop (2048 bytes)  a  authentication header (24 bytes)  f  fragment header, of a whole
 * packet t  TCP                      T  TCP with 40 bytes of options      u  UDP i  ICMP (8 bytes)
 */
#ifndef TESTS_NETIF_FRAMES_H
#define TESTS_NETIF_FRAMES_H

#include <glib.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "naive-checksum.h"

struct Frame {
    uint8_t bytes[65536];
    uint32_t length;
    /* 4 or 6, and whether there is a VLAN tag. */
    uint32_t ip_version;
    bool tagged;
    uint8_t protocol;
    /* Where the headers start, and where the last one ends. */
    uint32_t ip;
    uint32_t l4;
    uint32_t headers;
    /* Where the IPv6 fragment header starts, if there is one. */
    uint32_t fragment;
};

/* Stacks of headers whose checksum may be left blank. */
static const char *const FRAME_STACKS[] = {
    "4t",      "4T",         "4u",   "4ot",  "4oooooooooot", "4oooooooooou", "6t",   "6T",
    "6u",      "6ht",        "6du",  "6rt",  "6at",          "6ft",          "6fu",  "6hdt",
    "6hdrafT", "6hhhhhhhhu", "q4t",  "q4u",  "q6t",          "q6u",          "s4t",  "s6hu",
    "sq4t",    "sq4u",       "sq6t", "sq6u", "qq4T",         "qq6du",        "ss4u", "sq6hdrafT",
};

static inline void frame_put16(struct Frame *frame, uint32_t offset, uint32_t value)
{
    frame->bytes[offset] = (uint8_t)(value >> 8);
    frame->bytes[offset + 1] = (uint8_t)value;
}

static inline uint32_t frame_get16(const struct Frame *frame, uint32_t offset)
{
    return (uint32_t)frame->bytes[offset] << 8 | frame->bytes[offset + 1];
}

/* Sets the lengths in the IP and UDP headers to what the frame has. */
static inline void frame_set_lengths(struct Frame *frame)
{
    if (frame->ip_version == 4) {
        frame_put16(frame, frame->ip + 2, frame->length - frame->ip);
    } else {
        frame_put16(frame, frame->ip + 4, frame->length - frame->ip - 40);
    }
    if (frame->protocol == IPPROTO_UDP) {
        frame_put16(frame, frame->l4 + 4, frame->length - frame->l4);
    }
}

static inline void frame_start_extension(struct Frame *frame, uint32_t *next, uint8_t type,
                                         uint32_t length, uint32_t length_field)
{
    frame->bytes[*next] = type;
    *next = frame->length;
    memset(frame->bytes + frame->length, 0, length);
    frame->bytes[frame->length + 1] = (uint8_t)length_field;
    frame->length += length;
}

static inline void frame_start_l4(struct Frame *frame, uint32_t next, uint8_t protocol,
                                  uint32_t length)
{
    frame->bytes[next] = protocol;
    frame->protocol = protocol;
    frame->l4 = frame->length;
    frame->length += length;
    frame->headers = frame->length;
    if (protocol == IPPROTO_TCP) {
        frame->bytes[frame->l4 + 12] = (uint8_t)(length / 4 << 4);
    }
}

/* Builds a frame with random addresses and `payload` random bytes; no checksum is set. */
static inline void frame_build(struct Frame *frame, const char *stack, uint32_t payload)
{
    uint32_t type = 12;
    /* Where the number of the next header goes. */
    uint32_t next = 0;

    for (size_t i = 0; i < sizeof(frame->bytes); i += 4) {
        guint32 word = (guint32)g_test_rand_int();

        memcpy(frame->bytes + i, &word, sizeof(word));
    }
    frame->length = 14;
    frame->tagged = false;
    frame->fragment = 0;
    for (; *stack; stack++) {
        switch (*stack) {
        case 'q':
        case 's':
            frame_put16(frame, type, *stack == 'q' ? 0x8100 : 0x88a8);
            type += 4;
            frame->length += 4;
            frame->tagged = true;
            break;
        case '4':
            frame_put16(frame, type, 0x0800);
            frame->ip_version = 4;
            frame->ip = frame->length;
            frame->bytes[frame->ip] = 0x45;
            frame_put16(frame, frame->ip + 6, 0x4000);
            next = frame->ip + 9;
            frame->length += 20;
            break;
        case 'o':
            frame->bytes[frame->ip]++;
            frame->length += 4;
            break;
        case '6':
            frame_put16(frame, type, 0x86dd);
            frame->ip_version = 6;
            frame->ip = frame->length;
            frame->bytes[frame->ip] = 0x60;
            next = frame->ip + 6;
            frame->length += 40;
            break;
        case 'h':
            frame_start_extension(frame, &next, IPPROTO_HOPOPTS, 8, 0);
            break;
        case 'H':
            frame_start_extension(frame, &next, IPPROTO_HOPOPTS, 2048, 255);
            break;
        case 'd':
            frame_start_extension(frame, &next, IPPROTO_DSTOPTS, 8, 0);
            break;
        case 'r':
            frame_start_extension(frame, &next, IPPROTO_ROUTING, 8, 0);
            break;
        case 'a':
            frame_start_extension(frame, &next, IPPROTO_AH, 24, 4);
            break;
        case 'f':
            frame->fragment = frame->length;
            frame_start_extension(frame, &next, IPPROTO_FRAGMENT, 8, 0);
            break;
        case 't':
            frame_start_l4(frame, next, IPPROTO_TCP, 20);
            break;
        case 'T':
            frame_start_l4(frame, next, IPPROTO_TCP, 60);
            break;
        case 'u':
            frame_start_l4(frame, next, IPPROTO_UDP, 8);
            break;
        case 'i':
            frame_start_l4(frame, next, IPPROTO_ICMP, 8);
            break;
        default:
            g_assert_not_reached();
        }
    }
    frame->length += payload;
    g_assert_cmpuint(frame->length, <, sizeof(frame->bytes));
    frame_set_lengths(frame);
}

static inline uint32_t frame_checksum_offset(const struct Frame *frame)
{
    return frame->protocol == IPPROTO_TCP ? 16 : 6;
}

/* The pseudo-header's sum over everything from the L4 header to the end of the frame. */
static inline uint32_t frame_pseudo_sum(const struct Frame *frame)
{
    uint8_t tail[4] = {0, frame->protocol, (uint8_t)((frame->length - frame->l4) >> 8),
                       (uint8_t)(frame->length - frame->l4)};
    uint32_t sum = frame->ip_version == 4 ? naive_sum(0, frame->bytes + frame->ip + 12, 8)
                                          : naive_sum(0, frame->bytes + frame->ip + 8, 32);

    return naive_sum(sum, tail, sizeof(tail));
}

/* A blank checksum: the field holds the pseudo-header's sum. */
static inline void frame_blank_checksum(struct Frame *frame)
{
    frame_put16(frame, frame->l4 + frame_checksum_offset(frame), frame_pseudo_sum(frame));
}

static inline bool frame_checksum_is_valid(const struct Frame *frame)
{
    return naive_sum(frame_pseudo_sum(frame), frame->bytes + frame->l4,
                     frame->length - frame->l4) == 0xffff;
}

/* The same rule applied to where virtio_net_hdr points. */
static inline void frame_complete_checksum(struct Frame *frame, uint32_t start, uint32_t offset)
{
    frame_put16(frame, start + offset,
                ~naive_sum(0, frame->bytes + start, frame->length - start) & 0xffff);
}

#endif
