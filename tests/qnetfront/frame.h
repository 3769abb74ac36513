/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame.h - frames of which every byte follows from a seed, a sequence number and a length
 *
 * Theory of operation: sender and receiver share nothing but the seed. The receiver reads the
 * sequence number, and how the sender meant the frame to travel (checksum blank, GSO), from a label
 * at the start of the payload, builds the same frame again and compares. A frame too short for a
 * label carries its sequence number in the low four bytes of the source MAC. The flow of an IP
 * frame stands in its source address.
 */
#ifndef QNETFRONT_FRAME_H
#define QNETFRONT_FRAME_H

#include "ring.h"

#define XN_FRAME_MIN 14
#define XN_FRAME_MAX 65535
#define XN_FRAME_LABEL 8
#define XN_FRAME_VLANS_MAX 2
#define XN_FRAME_FLOWS_MAX 256

enum XnFrameKind {
    XN_FRAME_RAW, /* an experimental EtherType, payload after the Ethernet header */
    XN_FRAME_UDP4,
    XN_FRAME_TCP4,
    XN_FRAME_UDP6,
    XN_FRAME_TCP6,
    XN_FRAME_KINDS
};

extern const char *const xn_frame_kind_name[XN_FRAME_KINDS];

struct XnFrameSpec {
    uint32_t seed;
    uint32_t sequence;
    uint32_t length; /* whole frame, XN_FRAME_MIN..XN_FRAME_MAX */
    enum XnFrameKind kind;
    unsigned int flow; /* IP source address and L4 source port, below XN_FRAME_FLOWS_MAX */
    unsigned int vlans; /* 802.1Q tags before the EtherType, 0..XN_FRAME_VLANS_MAX */
    bool csum_blank; /* sent with the pseudo-header sum, to be completed on the way */
    uint16_t gso_size; /* sent as a TCP super-frame of this segment size, 0: not */
    uint8_t target[6]; /* MAC addresses */
    uint8_t source[6]; /* ignored in frames without a label */
};

/* Turns what a caller wants into what the length permits: a kind whose headers do not fit becomes
 * XN_FRAME_RAW, GSO needs TCP with more than one segment of payload, and both GSO and a blank
 * checksum need a checksum field. */
void frame_spec_settle(struct XnFrameSpec *spec);

/* Bytes before the payload. */
unsigned int frame_header_length(enum XnFrameKind kind, unsigned int vlans);

/* Offset of the L4 checksum field, 0 if the kind has none. */
unsigned int frame_checksum_offset(enum XnFrameKind kind, unsigned int vlans);

/* Offset of the L4 header, where the checksummed bytes begin; 0 if the kind has none. */
unsigned int frame_checksum_start(enum XnFrameKind kind, unsigned int vlans);

/* Writes spec->length bytes. The checksum is complete unless spec->csum_blank. */
void frame_build(const struct XnFrameSpec *spec, uint8_t *frame);

/* Rewrites the checksum field of a frame of this spec as complete or blank. */
void frame_set_checksum(const struct XnFrameSpec *spec, uint8_t *frame, bool blank);

/* Recognises a frame made by frame_build and fills @spec from it (the seed is the caller's). False
 * for anybody else's frame. A damaged frame may be taken for a foreign one only if the damage is in
 * its EtherType or addresses. */
bool frame_identify(const uint8_t *frame, size_t length, uint32_t seed, struct XnFrameSpec *spec);

/* What netif and virtio_net_hdr shall say about a frame of this spec. */
struct XnFrameMeta frame_meta(const struct XnFrameSpec *spec);

#endif
