/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mode-tap.c - a tap on top of the vif: this kernel's network stack is the guest
 *
 * Theory of operation: no frame is copied here. A frame from the tap is read straight into the
 * guest_tx pages it will be sent from, one page after the other from offset 0; a frame from the
 * guest_rx ring is written to the tap from its pages. The virtio_net_hdr has an iovec of its own.
 * While the ring has no room for the largest frame, the tap is not read and its own queue fills.
 * The tap has as many queues as the vif, and the kernel chooses by flow which of them a frame
 * takes.
 */
#include "ctrl-work.h"
#include "modes.h"
#include "tap.h"
#include "vnet.h"

#include <poll.h>
#include <sys/epoll.h>
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
    int fds[XN_QUEUES_MAX]; /* one for each queue */
    bool polled[XN_QUEUES_MAX]; /* is in epoll: its queue has room */
    int epoll;
    uint64_t unfit; /* frames from the tap that the protocol cannot carry */
    uint64_t undelivered; /* frames from the backend that the tap refused */
    uint64_t bad_packets; /* frames from the backend with an error or impossible flags */
    struct XnGuestRxPacket packet;
};

static bool queue_frame(struct XnTapMode *mode, struct XnGuestTx *guest_tx,
                        const struct virtio_net_hdr *header, size_t length)
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
    guest_tx_queue(guest_tx, slot, count, &meta);
    return true;
}

static int tap_to_guest_tx(struct XnTapMode *mode, unsigned int index)
{
    struct XnFrontendQueue *queue = &mode->frontend->queues[index];
    struct XnGuestTx *guest_tx = &queue->guest_tx;
    struct virtio_net_hdr header;
    struct iovec iov[1 + READ_PAGES] = {{.iov_base = &header, .iov_len = sizeof(header)}};
    int count = 0;
    int unpushed = 0;

    while (count < BATCH && frontend_can_send(mode->frontend, queue)) {
        ssize_t got;

        for (unsigned int i = 0; i < READ_PAGES; i++) {
            iov[1 + i].iov_base = guest_tx_next_page(guest_tx, i);
            iov[1 + i].iov_len = XN_PAGE_SIZE;
        }
        got = readv(mode->fds[index], iov, 1 + READ_PAGES);
        if (got < (ssize_t)sizeof(header)) {
            break;
        }
        count++;
        unpushed += queue_frame(mode, guest_tx, &header, got - sizeof(header));
        if (unpushed == PUSH_EVERY) {
            frontend_push_guest_tx(mode->frontend, queue);
            unpushed = 0;
        }
    }
    if (unpushed) {
        frontend_push_guest_tx(mode->frontend, queue);
    }
    return count;
}

static void deliver(struct XnTapMode *mode, int fd, const struct XnGuestRxPacket *packet)
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
    if (writev(fd, iov, 1 + packet->parts) < 0) {
        mode->undelivered++;
    }
}

static int guest_rx_to_tap(struct XnTapMode *mode, unsigned int index)
{
    struct XnFrontendQueue *queue = &mode->frontend->queues[index];
    struct XnGuestRx *guest_rx = &queue->guest_rx;
    int count = 0;
    int got = 0;

    while (count < BATCH && (got = guest_rx_receive(guest_rx, &mode->packet)) > 0) {
        deliver(mode, mode->fds[index], &mode->packet);
        guest_rx_repost(guest_rx, &mode->packet);
        count++;
        if (count % PUSH_EVERY == 0) {
            frontend_push_guest_rx(mode->frontend, queue);
        }
    }
    if (count % PUSH_EVERY) {
        frontend_push_guest_rx(mode->frontend, queue);
    }
    return got < 0 ? -1 : count;
}

/* A tap that cannot be read for lack of room must not end the sleep. */
static void poll_where_room(struct XnTapMode *mode)
{
    for (unsigned int i = 0; i < mode->frontend->queues_count; i++) {
        bool room = frontend_can_send(mode->frontend, &mode->frontend->queues[i]);
        struct epoll_event event = {.events = EPOLLIN};

        if (room != mode->polled[i]) {
            epoll_ctl(mode->epoll, room ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, mode->fds[i], &event);
            mode->polled[i] = room;
        }
    }
}

static void rest(struct XnTapMode *mode)
{
    struct XnFrontend *frontend = mode->frontend;
    bool more;

    if (mode_spin(mode->options, frontend, XN_RINGS_GUEST_RX)) {
        return;
    }
    more = frontend_arm_guest_tx(frontend);
    more |= frontend_arm_guest_rx(frontend);
    poll_where_room(mode);
    frontend_wait(frontend, mode->epoll, POLLIN, more ? 0 : 500);
}

/* Frames both ways, -1 for a broken ring. */
static int shuttle_once(struct XnTapMode *mode)
{
    int count = 0;

    for (unsigned int i = 0; i < mode->frontend->queues_count; i++) {
        int from_tap = tap_to_guest_tx(mode, i);
        int to_tap = guest_rx_to_tap(mode, i);

        if (to_tap < 0) {
            return -1;
        }
        count += from_tap + to_tap;
    }
    return frontend_reap(mode->frontend) < 0 ? -1 : count;
}

static enum XnExit shuttle(struct XnTapMode *mode, struct XnFailure *failure)
{
    struct XnFrontend *frontend = mode->frontend;
    uint64_t end =
        mode->options->seconds ? clock_ms() + mode->options->seconds * UINT64_C(1000) : UINT64_MAX;
    unsigned int turn = 0;

    while (!xn_stop_requested && clock_ms() < end) {
        int count = shuttle_once(mode);

        if (count < 0) {
            fail(failure, "a response index of the backend is impossible");
            return XN_EXIT_FAILED;
        }
        if (!count) {
            rest(mode);
        } else if (++turn % BATCH == 0) {
            frontend_wait(frontend, -1, 0, 0);
        }
        if (!frontend_alive(frontend)) {
            return mode_end(frontend, failure);
        }
        if (!ctrl_work_turn(frontend->ctrl_work, frontend, failure)) {
            return XN_EXIT_FAILED;
        }
    }
    return XN_EXIT_OK;
}

static bool open_taps(struct XnTapMode *mode, struct XnTapConfig *config, struct XnFailure *failure)
{
    mode->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (mode->epoll < 0) {
        return fail_errno(failure, "cannot create an epoll descriptor");
    }
    config->queues = mode->frontend->queues_count;
    if (!tap_open(config, mode->fds, failure)) {
        close(mode->epoll);
        return false;
    }
    tap_set_carrier(mode->fds[0], true);
    return true;
}

static void close_taps(struct XnTapMode *mode)
{
    for (unsigned int i = 0; i < mode->frontend->queues_count; i++) {
        close(mode->fds[i]);
    }
    close(mode->epoll);
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
    struct XnGuestTxCounters guest_tx;
    struct XnGuestRxCounters guest_rx;
    enum XnExit result;

    mode.frontend = frontend;
    mode.options = options;
    if (!open_taps(&mode, &config, failure)) {
        return XN_EXIT_FAILED;
    }
    result = shuttle(&mode, failure);
    close_taps(&mode);
    report_number(report, "tap_unfit", mode.unfit);
    report_number(report, "tap_undelivered", mode.undelivered);
    report_number(report, "guest_rx_packets_bad", mode.bad_packets);
    report_guest_tx(report, frontend);
    report_guest_rx(report, frontend);
    guest_tx = frontend_guest_tx_counters(frontend);
    guest_rx = frontend_guest_rx_counters(frontend);
    if (result == XN_EXIT_OK &&
        (guest_tx_violations(&guest_tx) || guest_rx_violations(&guest_rx))) {
        fail(failure, "the backend broke the protocol, see the counters");
        result = XN_EXIT_FAILED;
    }
    return result;
}
