/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring.h - the shared rings of a vif, as a backend sees them
 *
 * Theory of operation
 *
 * This is the only file that touches a shared ring. The guest can write to the page at any moment,
 * so every value is read once, into private memory, and nothing is ever read from it a second time
 * (XSA-155). Each function below makes one such read or one publication, with its barrier.
 *
 * Indices are free-running 32-bit counters. Ours (consumed requests, produced responses) live in
 * private memory only; of the guest's, `req_prod` is believed only after the check that no more
 * than a ring full of requests is outstanding (XSA-39).
 *
 * A ring is used by one thread: the worker that owns its queue, or the main thread for the control
 * ring. The memory is mapped and unmapped by the control plane.
 */
#ifndef XN_NETIF_RING_H
#define XN_NETIF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef xen_mb
#define xen_mb() __sync_synchronize()
#if defined(__x86_64__) || defined(__i386__)
#define xen_rmb() __asm__ volatile("" ::: "memory")
#define xen_wmb() __asm__ volatile("" ::: "memory")
#else
#define xen_rmb() __sync_synchronize()
#define xen_wmb() __sync_synchronize()
#endif
#endif

#include <xen/xen.h>
#include <xen/grant_table.h>
#include <xen/io/ring.h>
#include <xen/io/netif.h>

#define XN_PAGE_SIZE 4096u
/* Entries of a ring: both rings of netif fill one page each (netif.h). */
#define XN_RING_SIZE 256u

_Static_assert(__CONST_RING_SIZE(netif_tx, XN_PAGE_SIZE) == XN_RING_SIZE, "guest_tx ring size");
_Static_assert(__CONST_RING_SIZE(netif_rx, XN_PAGE_SIZE) == XN_RING_SIZE, "guest_rx ring size");

/* What stands in a guest_tx slot: a request, or extra info that belongs to the one before. */
union XnGuestTxEntry {
    netif_tx_request_t request;
    netif_extra_info_t extra;
};

/* What we write into a guest_rx slot: a response, or extra info. */
union XnGuestRxEntry {
    netif_rx_response_t response;
    netif_extra_info_t extra;
};

_Static_assert(sizeof(union XnGuestRxEntry) == sizeof(netif_rx_response_t), "guest_rx slot size");

/* Where both ends of a ring are; all indices count up and wrap. */
struct XnRingView {
    /* As the guest sees them: its last request, our last answer, and when each wants an event. */
    uint32_t req_prod;
    uint32_t rsp_prod;
    uint32_t req_event;
    uint32_t rsp_event;
    /* Ours: requests taken, answers written. */
    uint32_t consumed;
    uint32_t answered;
};

/* Entries of the control ring, one page too. */
#define XN_CTRL_RING_SIZE 128u

_Static_assert(__CONST_RING_SIZE(xen_netif_ctrl, XN_PAGE_SIZE) == XN_CTRL_RING_SIZE,
               "control ring size");

/*
 * Declares, for one of the rings, of `size` entries: attach at the ring's own rsp_prod (0 for a
 * fresh ring), number of unconsumed requests (more than `size` outstanding means the guest broke
 * its ring: false), arming of the event for the next `count` requests, and publication.
 *
 * ring_*_attach:  false when the shared indices are further apart than a ring (kexec leaves
 *                 non-zero ones; a hostile guest leaves anything).
 * ring_*_unconsumed: reads req_prod once; *ret_count is untouched on failure.
 * ring_*_arm:     asks for an event when `count` more requests than we consumed stand in the
 *                 ring, then looks again: true when they are already there.
 * ring_*_push:    publishes the responses written so far; true when the guest asked to be told.
 * ring_*_view:    looks at all indices, which the guest may change meanwhile.
 */
#define XN_DEFINE_RING(side, netif_name, size)                                               \
    static inline bool ring_##side##_attach(netif_name##_back_ring_t *ring, void *page)      \
    {                                                                                        \
        netif_name##_sring_t *shared = page;                                                 \
        RING_IDX produced = __atomic_load_n(&shared->req_prod, __ATOMIC_ACQUIRE);            \
        RING_IDX answered = __atomic_load_n(&shared->rsp_prod, __ATOMIC_ACQUIRE);            \
                                                                                             \
        *ring = (netif_name##_back_ring_t){                                                  \
            .rsp_prod_pvt = answered,                                                        \
            .req_cons = answered,                                                            \
            .nr_ents = (size),                                                               \
            .sring = shared,                                                                 \
        };                                                                                   \
        return produced - answered <= (size);                                                \
    }                                                                                        \
                                                                                             \
    static inline bool ring_##side##_unconsumed(const netif_name##_back_ring_t *ring,        \
                                                uint32_t *ret_count)                         \
    {                                                                                        \
        RING_IDX produced = __atomic_load_n(&ring->sring->req_prod, __ATOMIC_ACQUIRE);       \
                                                                                             \
        if (produced - ring->rsp_prod_pvt > (size) || produced - ring->req_cons > (size)) {  \
            return false;                                                                    \
        }                                                                                    \
        *ret_count = produced - ring->req_cons;                                              \
        return true;                                                                         \
    }                                                                                        \
                                                                                             \
    static inline bool ring_##side##_arm(netif_name##_back_ring_t *ring, uint32_t count)     \
    {                                                                                        \
        __atomic_store_n(&ring->sring->req_event, ring->req_cons + count, __ATOMIC_RELAXED); \
        xen_mb();                                                                            \
        return (RING_IDX)(__atomic_load_n(&ring->sring->req_prod, __ATOMIC_RELAXED) -        \
                          ring->req_cons) >= count;                                          \
    }                                                                                        \
                                                                                             \
    static inline bool ring_##side##_push(netif_name##_back_ring_t *ring)                    \
    {                                                                                        \
        int notify;                                                                          \
                                                                                             \
        RING_PUSH_RESPONSES_AND_CHECK_NOTIFY(ring, notify);                                  \
        return notify;                                                                       \
    }                                                                                        \
                                                                                             \
    static inline struct XnRingView ring_##side##_view(const netif_name##_back_ring_t *ring) \
    {                                                                                        \
        return (struct XnRingView){                                                          \
            .req_prod = __atomic_load_n(&ring->sring->req_prod, __ATOMIC_RELAXED),           \
            .rsp_prod = __atomic_load_n(&ring->sring->rsp_prod, __ATOMIC_RELAXED),           \
            .req_event = __atomic_load_n(&ring->sring->req_event, __ATOMIC_RELAXED),         \
            .rsp_event = __atomic_load_n(&ring->sring->rsp_event, __ATOMIC_RELAXED),         \
            .consumed = ring->req_cons,                                                      \
            .answered = ring->rsp_prod_pvt,                                                  \
        };                                                                                   \
    }

XN_DEFINE_RING(guest_tx, netif_tx, XN_RING_SIZE)
XN_DEFINE_RING(guest_rx, netif_rx, XN_RING_SIZE)
XN_DEFINE_RING(ctrl, xen_netif_ctrl, XN_CTRL_RING_SIZE)

/* Copies the next guest_tx entry into private memory and consumes it. */
static inline void ring_guest_tx_consume(netif_tx_back_ring_t *ring, union XnGuestTxEntry *ret)
{
    memcpy(ret, (const void *)RING_GET_REQUEST(ring, ring->req_cons), sizeof(*ret));
    __asm__ volatile("" ::: "memory");
    ring->req_cons++;
}

/* Copies the next guest_rx request into private memory and consumes it. */
static inline void ring_guest_rx_consume(netif_rx_back_ring_t *ring, netif_rx_request_t *ret)
{
    memcpy(ret, (const void *)RING_GET_REQUEST(ring, ring->req_cons), sizeof(*ret));
    __asm__ volatile("" ::: "memory");
    ring->req_cons++;
}

/* Writes the next guest_tx response; the guest sees it at the next push. */
static inline void ring_guest_tx_respond(netif_tx_back_ring_t *ring, uint16_t id, int16_t status)
{
    netif_tx_response_t response = {.id = id, .status = status};

    memcpy(RING_GET_RESPONSE(ring, ring->rsp_prod_pvt), &response, sizeof(response));
    ring->rsp_prod_pvt++;
}

/* Writes the next guest_rx response or extra info; the guest sees it at the next push. */
static inline void ring_guest_rx_respond(netif_rx_back_ring_t *ring,
                                         const union XnGuestRxEntry *entry)
{
    memcpy(RING_GET_RESPONSE(ring, ring->rsp_prod_pvt), entry, sizeof(*entry));
    ring->rsp_prod_pvt++;
}

/* Copies the next control request into private memory and consumes it. */
static inline void ring_ctrl_consume(xen_netif_ctrl_back_ring_t *ring,
                                     struct xen_netif_ctrl_request *ret)
{
    memcpy(ret, (const void *)RING_GET_REQUEST(ring, ring->req_cons), sizeof(*ret));
    __asm__ volatile("" ::: "memory");
    ring->req_cons++;
}

/* Writes the next control response; the guest sees it at the next push. */
static inline void ring_ctrl_respond(xen_netif_ctrl_back_ring_t *ring,
                                     const struct xen_netif_ctrl_response *response)
{
    memcpy(RING_GET_RESPONSE(ring, ring->rsp_prod_pvt), response, sizeof(*response));
    ring->rsp_prod_pvt++;
}

#endif
