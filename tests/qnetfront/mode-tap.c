/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mode-tap.c - a tap on top of the vif: this kernel's network stack is the guest
 *
 * Theory of operation: no frame is copied here. A frame from the tap is read straight into the
 * guest_tx pages it will be sent from, one page after the other from offset 0; a frame from the
 * guest_rx ring is written to the tap from its pages. The virtio_net_hdr has an iovec of its own.
 * While the ring has no room for the largest frame, the tap is not read and its own queue fills.
 */
#include "modes.h"
#include "tap.h"
#include "vnet.h"

#include <errno.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

/* Packets per direction and turn, and per push: the backend begins before the turn is over. */
#define BATCH 64
#define PUSH_EVERY 16
/* One page more than fits, so that a frame that is too long shows as such. */
#define READ_PAGES (XN_FRAME_MAX / XN_PAGE_SIZE + 2)

struct XnTapMode {
    struct XnFrontend *frontend;
    const struct XnOptions *options;
    int fd;
    uint64_t unfit; /* frames from the tap that the protocol cannot carry */
    uint64_t undelivered; /* frames from the backend that the tap refused */
    uint64_t bad_packets; /* frames from the backend with an error or impossible flags */
    struct XnGuestRxPacket packet;
};

static bool queue_frame(struct XnTapMode *mode, const struct virtio_net_hdr *header, size_t length)
{
    struct XnSlot slot[READ_PAGES];
    struct XnFrameMeta meta;
    unsigned int count = 0;

    if (length < XN_FRAME_MIN || length > XN_FRAME_MAX || !vnet_to_meta(header, &meta) ||
        (length > XN_PAGE_SIZE && !mode->frontend->features.sg)) {
        mode->unfit++;
        return false;
    }
    for (; length; count++) {
        slot[count].offset = 0;
        slot[count].size = length < XN_PAGE_SIZE ? length : XN_PAGE_SIZE;
        length -= slot[count].size;
    }
    guest_tx_queue(&mode->frontend->guest_tx, slot, count, &meta);
    return true;
}

static int tap_to_guest_tx(struct XnTapMode *mode)
{
    struct XnGuestTx *guest_tx = &mode->frontend->guest_tx;
    struct virtio_net_hdr header;
    struct iovec iov[1 + READ_PAGES] = {{.iov_base = &header, .iov_len = sizeof(header)}};
    int count = 0;
    int unpushed = 0;

    while (count < BATCH && guest_tx_room(guest_tx) >= XN_GUEST_TX_ROOM) {
        ssize_t got;

        for (unsigned int i = 0; i < READ_PAGES; i++) {
            iov[1 + i].iov_base = guest_tx_next_page(guest_tx, i);
            iov[1 + i].iov_len = XN_PAGE_SIZE;
        }
        got = readv(mode->fd, iov, 1 + READ_PAGES);
        if (got < (ssize_t)sizeof(header)) {
            break;
        }
        count++;
        unpushed += queue_frame(mode, &header, got - sizeof(header));
        if (unpushed == PUSH_EVERY) {
            frontend_push_guest_tx(mode->frontend);
            unpushed = 0;
        }
    }
    if (unpushed) {
        frontend_push_guest_tx(mode->frontend);
    }
    return count;
}

static void deliver(struct XnTapMode *mode, const struct XnGuestRxPacket *packet)
{
    struct virtio_net_hdr header;
    struct iovec iov[1 + XN_GUEST_RX_PARTS] = {{.iov_base = &header, .iov_len = sizeof(header)}};

    if (packet->bad || !packet->parts ||
        !vnet_from_meta(&packet->meta, packet->part[0].data, packet->part[0].length, &header)) {
        mode->bad_packets++;
        return;
    }
    for (unsigned int i = 0; i < packet->parts; i++) {
        iov[1 + i].iov_base = (void *)(uintptr_t)packet->part[i].data;
        iov[1 + i].iov_len = packet->part[i].length;
    }
    if (writev(mode->fd, iov, 1 + packet->parts) < 0) {
        mode->undelivered++;
    }
}

static int guest_rx_to_tap(struct XnTapMode *mode)
{
    struct XnGuestRx *guest_rx = &mode->frontend->guest_rx;
    int count = 0;
    int got = 0;

    while (count < BATCH && (got = guest_rx_receive(guest_rx, &mode->packet)) > 0) {
        deliver(mode, &mode->packet);
        guest_rx_repost(guest_rx, &mode->packet);
        count++;
        if (count % PUSH_EVERY == 0) {
            frontend_push_guest_rx(mode->frontend);
        }
    }
    if (count % PUSH_EVERY) {
        frontend_push_guest_rx(mode->frontend);
    }
    return got < 0 ? -1 : count;
}

static void rest(struct XnTapMode *mode)
{
    struct XnFrontend *frontend = mode->frontend;
    bool more_guest_tx;
    bool more_guest_rx;
    bool room;

    if (mode_spin(mode->options, &frontend->guest_rx.sring->rsp_prod,
                  frontend->guest_rx.ring.rsp_cons)) {
        return;
    }
    more_guest_tx = guest_tx_arm(&frontend->guest_tx);
    more_guest_rx = guest_rx_arm(&frontend->guest_rx);
    room = guest_tx_room(&frontend->guest_tx) >= XN_GUEST_TX_ROOM;
    frontend_wait(frontend, room ? mode->fd : -1, POLLIN, more_guest_tx || more_guest_rx ? 0 : 500);
}

static enum XnExit shuttle(struct XnTapMode *mode, struct XnFailure *failure)
{
    struct XnFrontend *frontend = mode->frontend;
    uint64_t end =
        mode->options->seconds ? clock_ms() + mode->options->seconds * UINT64_C(1000) : UINT64_MAX;
    unsigned int turn = 0;

    while (!xn_stop_requested && clock_ms() < end) {
        int from_tap = tap_to_guest_tx(mode);
        int to_tap = guest_rx_to_tap(mode);

        if (to_tap < 0 || guest_tx_reap(&frontend->guest_tx) < 0) {
            fail(failure, "a response index of the backend is impossible");
            return XN_EXIT_FAILED;
        }
        if (!from_tap && !to_tap) {
            rest(mode);
        } else if (++turn % BATCH == 0) {
            frontend_wait(frontend, -1, 0, 0);
        }
        if (!frontend_alive(frontend)) {
            return mode_end(frontend, failure);
        }
    }
    return XN_EXIT_OK;
}

static bool read_mac(struct XnFrontend *frontend, uint8_t *mac)
{
    char text[32];

    return store_read(frontend->xs, frontend->path, "mac", text, sizeof(text)) &&
           sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", &mac[0], &mac[1], &mac[2], &mac[3],
                  &mac[4], &mac[5]) == 6;
}

enum XnExit mode_tap(struct XnFrontend *frontend, const struct XnOptions *options,
                     struct XnReport *report, struct XnFailure *failure)
{
    static struct XnTapMode mode;
    const struct XnBackendFeatures *features = &frontend->features;
    uint8_t mac[6];
    struct XnTapConfig config = {
        .name = options->tap,
        .mac = read_mac(frontend, mac) ? mac : NULL,
        .mtu = store_read_number(frontend->xs, frontend->path, "mtu", 0),
        /* One switch of the tap stands for both families. */
        .csum = features->csum_ipv4 && features->csum_ipv6,
        .tso4 = features->gso_tcpv4,
        .tso6 = features->gso_tcpv6,
    };
    enum XnExit result;

    mode.frontend = frontend;
    mode.options = options;
    mode.fd = tap_open(&config, failure);
    if (mode.fd < 0) {
        return XN_EXIT_FAILED;
    }
    tap_set_carrier(mode.fd, true);
    result = shuttle(&mode, failure);
    close(mode.fd);
    report_number(report, "tap_unfit", mode.unfit);
    report_number(report, "tap_undelivered", mode.undelivered);
    report_number(report, "guest_rx_packets_bad", mode.bad_packets);
    report_guest_tx(report, &frontend->guest_tx.counters);
    report_guest_rx(report, &frontend->guest_rx.counters);
    if (result == XN_EXIT_OK && (guest_tx_violations(&frontend->guest_tx.counters) ||
                                 guest_rx_violations(&frontend->guest_rx.counters))) {
        fail(failure, "the backend broke the protocol, see the counters");
        result = XN_EXIT_FAILED;
    }
    return result;
}
