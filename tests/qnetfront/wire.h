/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire.h - frames into and out of a network interface, through a packet socket
 *
 * What the kernel permits (AF_PACKET with PACKET_VNET_HDR on a tap, Linux 5.10 to 6.18):
 * - 14 bytes is the least, in both directions;
 * - without GSO the frame may have MTU + 14 bytes, and the largest MTU of a tap, 65521, allows
 *   65535; wire_open raises the MTU for that if asked to;
 * - with GSO any length up to 65535 goes at any MTU, but the TCP header must be there in full and
 *   the payload must exceed the segment size;
 * - a frame with VIRTIO_NET_HDR_F_NEEDS_CSUM must hold the checksum field; its checksum is
 * completed by the kernel if the tap's reader has not asked for TUN_F_CSUM.
 */
#ifndef QNETFRONT_WIRE_H
#define QNETFRONT_WIRE_H

#include "fail.h"
#include "ring.h"

struct XnWire {
    int fd;
    char name[16];
    uint64_t refused; /* frames that the kernel did not take or deliver */
};

/* Opens @interface for sending, or for receiving what comes from it (not what is sent to it). */
bool wire_open(struct XnWire *wire, const char *interface, bool receive, struct XnFailure *failure);
void wire_close(struct XnWire *wire);

/* Makes the interface take frames of @length bytes. */
bool wire_raise_mtu(struct XnWire *wire, unsigned int length, struct XnFailure *failure);

/* Sends one frame: 1, 0 if the kernel has no room now, -1 with errno. */
int wire_send(struct XnWire *wire, const uint8_t *frame, unsigned int length,
              const struct XnFrameMeta *meta);

/* Receives one frame into @buffer, VLAN tags as on the wire, and returns the first byte in @frame:
 * 1, 0 if there is none, -1 with errno. */
int wire_receive(struct XnWire *wire, uint8_t *buffer, unsigned int size, const uint8_t **frame,
                 unsigned int *length, struct XnFrameMeta *meta);

/* Frames that the socket had no memory for since the last call. */
unsigned int wire_drops(struct XnWire *wire);

/* Frames that went out through the interface, or were dropped on the way, since it exists. For a
 * tap: what its reader has taken. False if there are no such counters. */
bool wire_taken(const struct XnWire *wire, uint64_t *taken);

#endif
