/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue-private.h - a queue as the data path sees it
 *
 * Theory of operation
 *
 * A queue has two directions that share nothing but their worker. Each direction is `ready` when
 * there may be something to do; the worker gives ready directions turns until they say that there
 * is not. A direction that is not ready waits for one of: an event from the guest, the port
 * becoming readable or writable, or `deadline_ns`.
 *
 * Event channels stay masked from the moment an event is taken until the directions that the
 * channel serves are idle again, so a busy guest costs no event handling at all.
 */
#ifndef XN_DATA_QUEUE_PRIVATE_H
#define XN_DATA_QUEUE_PRIVATE_H

#include "data/copy-batch.h"
#include "netif/offload.h"
#include "netif/ring.h"
#include "netif/segment.h"

/* Largest frame: netif's 16-bit size. */
#define XN_FRAME_MAX 65535u
#define XN_FRAME_PAGES ((XN_GUEST_RX_HEADROOM_MAX + XN_FRAME_MAX + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE)

/* What a worker's descriptors are for; the address of one is epoll's datum. */
enum XnPollKind {
    XN_POLL_COMMAND,
    XN_POLL_EVTCHN,
    XN_POLL_PORT,
};

struct XnNeighbours;

struct XnPollSource {
    enum XnPollKind kind;
    struct XnQueue *queue;
    int fd;
    /* what epoll watches now */
    uint32_t events;
};

/*
 * The one frame that a queue ever keeps: one that the guest cannot have yet, for lack of buffers or
 * credit, or a super-frame that it gets in segments.
 */
struct XnHeldFrame {
    /* 0 = none */
    uint32_t length;
    struct XnGuestRxMeta meta;
    /* count == 0: the frame is given as it is */
    struct XnSegments segments;
    uint32_t next_segment;
    uint8_t bytes[XN_FRAME_MAX];
};

struct XnQueue {
    struct XnQueueConfig config;

    netif_tx_back_ring_t guest_tx_ring;
    bool guest_tx_ready;
    /* the port was full; until it is writable nothing is sent */
    bool guest_tx_port_full;
    /* the packets before this ring index have paid for themselves */
    uint32_t guest_tx_paid;
    /* when there is credit for the next packet; 0 = it has not been asked for in vain */
    uint64_t guest_tx_credit_ns;
    /* packets that a neighbour has got, by the ring index of their first entry */
    bool guest_tx_delivered[XN_RING_SIZE];
    /* the neighbour without room for the packet at guest_tx_wait_start; NULL = none */
    struct XnQueue *guest_tx_waits_for;
    uint32_t guest_tx_wait_start;
    /* when that packet goes the ordinary way; 0 = no packet has waited */
    uint64_t guest_tx_wait_until_ns;

    netif_rx_back_ring_t guest_rx_ring;
    bool guest_rx_ready;
    /* ring index of the next request to be used, in the batch being handled */
    uint32_t guest_rx_next;
    /* slots that the guest must have posted before the port is read again; 0 = not waiting */
    uint32_t guest_rx_slots_needed;
    /* in whose ring; NULL = its own. Only with steering can it be another's */
    struct XnQueue *guest_rx_waits_for;
    /* since when; 0 = not waiting, or not known yet */
    uint64_t guest_rx_waits_since_ns;
    /* of its own ring, whichever queue's frames go there */
    struct XnGuestRxStall guest_rx_stall;
    /* when there is credit for the frame that is held; 0 = not waiting */
    uint64_t guest_rx_credit_ns;
    /* the next in the worker's table of neighbours */
    struct XnQueue *neighbour_next;
    /* a neighbour has a frame for this guest and no room in its ring */
    bool guest_rx_waited_for;
    /* until when neighbours' frames come through the port; 0 = they do not */
    uint64_t detour_until_ns;
    /* and until the port has been found empty */
    bool detour_pending;
    /* nothing to be read from the port until epoll says that there is */
    bool port_drained;
    /* frames come one by one: the port is not asked for a second one */
    bool port_sparse;
    /* the worker's round in which the port was readable last */
    uint64_t port_round;
    /* own mapping, so that it costs no memory before it is used */
    struct XnHeldFrame *held;
    /* it has used some */
    bool held_used;
    /* when that memory is given back if none is held until then; 0 = not decided */
    uint64_t held_until_ns;

    /* why a ring is no longer served; NULL while all is well */
    const char *broken_reason;
    bool broken_told;

    /* masked channels, by direction; both when one channel serves both */
    bool guest_tx_masked;
    bool guest_rx_masked;
    /* events in a row that brought no work */
    uint32_t spurious_events;
    bool event_since_work;

    /* when to look again without being woken; 0 = never */
    uint64_t deadline_ns;

    struct XnPollSource evtchn_source;
    struct XnPollSource port_source;
};

/*
 * Gives the memory of held frames back to the system, some time after the last one, so that an idle
 * vif costs little. To be called when nothing is ready. Returns when to call it again, 0: never.
 */
uint64_t queue_trim(struct XnQueue *queue, uint64_t now_ns);

#define XN_NO_SEGMENT UINT16_MAX

/* One guest_tx packet of the batch being handled. */
struct XnGuestTxSlot {
    struct XnGuestTxPacket packet;
    /* NETIF_RSP_*, what its requests are answered with */
    int16_t status;
    /* nothing to send: answered only */
    bool dropped;
    /* counts it, when it is not for a good reason that nothing is sent; else NULL */
    uint64_t *drop_counter;
    /* where the bytes of its slots are: copied, or in the guest's own pages that stay mapped */
    uint8_t *bytes[XN_GUEST_TX_SLOTS_MAX];
    bool in_place;
    /* bytes of the first slot that are in head_page already; 0 = it has no such page */
    uint32_t fetched;
    uint32_t head_page;
    /* its operations in the copy batch */
    uint32_t first_segment;
    uint32_t segment_count;
};

/* One guest_rx frame of the batch being handled. */
struct XnGuestRxSlot {
    /* whose ring it goes to */
    struct XnQueue *queue;
    struct XnGuestRxPlan plan;
    struct XnGuestRxMeta meta;
    /* its operation in the copy batch, by data slot; XN_NO_SEGMENT where the page is mapped */
    uint16_t segments[XN_GUEST_RX_SLOTS_MAX];
};

/* What a worker lends to the queue whose turn it is; contents are dead between batches. */
struct XnTurn {
    struct XnBufferPool *pool;
    struct XnCopyBatch copies;
    struct XnNeighbours *neighbours;
    struct XnGuestTxSlot guest_tx[XN_BATCH_PACKETS];
    struct XnGuestRxSlot guest_rx[XN_BATCH_PACKETS];
};

/* Frames of one direction and queue in one turn, so that nobody starves his neighbours. */
#define XN_TURN_PACKETS 64u

/*
 * One turn of one direction: at most XN_TURN_PACKETS frames. Clears the direction's `ready` flag
 * when there is nothing to do, or sets broken_reason. Returns the number of frames and ring slots
 * dealt with: 0 means that the turn was for nothing.
 */
uint32_t guest_tx_turn(struct XnQueue *queue, struct XnTurn *turn);
uint32_t guest_rx_turn(struct XnQueue *queue, struct XnTurn *turn);

/*
 * Delivers those of turn->guest_tx[0 ... count - 1] that a neighbour can have directly, and marks
 * them as dealt with. Returns how many packets may be sent on: fewer when one has to wait.
 */
uint32_t guest_tx_direct(struct XnQueue *queue, struct XnTurn *turn, uint32_t count);

/* Executes the operations of a batch with one call, if there are any, and counts them. */
void guest_tx_flush(struct XnQueue *queue, struct XnCopyBatch *copies);

/* Counts a frame that has left the guest. */
void guest_tx_count(struct XnQueue *queue, const struct XnGuestTxSlot *slot);

/*
 * Buffers that the guest has posted and that are not used: those in the ring, and those that were
 * taken before and not used. False with broken_reason when the ring makes no sense.
 */
bool guest_rx_room(struct XnQueue *queue, uint32_t *ret_posted);

/*
 * Asks for an event when the guest has posted `needed` buffers, those included that were taken and
 * not used. True when they are there already.
 */
bool guest_rx_arm(struct XnQueue *queue, uint32_t needed);

/* Takes the requests for a planned frame, for which there is room. Ring index of the first. */
uint32_t guest_rx_take(struct XnGuestRxSlot *slot);

/* Answers the requests of a frame that was copied, and counts it. */
void guest_rx_answer(const struct XnTurn *turn, const struct XnGuestRxSlot *slot);

/* Publishes what was answered, and tells the guest once. */
void guest_rx_publish(struct XnQueue *queue);

/* The next frame for the guest, wherever it comes from. */
enum XnGuestRxSource {
    XN_GUEST_RX_FRAME,
    /* one that the guest does not get: counted, forgotten */
    XN_GUEST_RX_DROPPED,
    XN_GUEST_RX_NONE,
};

/*
 * Puts the next frame to `frame`, which has room for the largest, and tells its length and what to
 * tell the guest with it. NONE may set broken_reason.
 */
enum XnGuestRxSource guest_rx_source_next(struct XnQueue *queue, uint8_t *frame,
                                          uint32_t *ret_length, struct XnGuestRxMeta *ret_meta);

/* Puts the frame that guest_rx_source_next() gave last back, to be the next one again. */
void guest_rx_source_put_back(struct XnQueue *queue, const uint8_t *frame, uint32_t length,
                              const struct XnGuestRxMeta *meta);

#endif
