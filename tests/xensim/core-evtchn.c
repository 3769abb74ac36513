/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core-evtchn.c - event channels as the hypervisor and Linux's evtchn driver together behave.
 *
 * Theory of operation
 *
 * A delivery sets the masked bit and puts the number into the owner's FIFO; further events only
 * set the pending bit, until unmask delivers again.  So a number is in its FIFO at most once and
 * the FIFO cannot fill.  Sending checks the generation that was current when the two ends were
 * bound, in the same atomic step that sets the bit: an event never reaches a later user of the
 * number.
 */
#include "core.h"

#include <errno.h>

#define WORD_PENDING 1ull
#define WORD_MASKED 2ull
#define WORD_STATE_SHIFT 2
#define WORD_STATE (7ull << WORD_STATE_SHIFT)

static uint64_t make_word(uint32_t generation, enum SimEvtchnState state)
{
    return (uint64_t)generation << 32 | (uint64_t)state << WORD_STATE_SHIFT;
}

static enum SimEvtchnState word_state(uint64_t word)
{
    return (enum SimEvtchnState)((word & WORD_STATE) >> WORD_STATE_SHIFT);
}

static uint32_t word_generation(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

/* Generations are compared by their low 32 bits; evtchn numbers need 16. */
static uint64_t make_peer(uint16_t domid, uint32_t number, uint32_t generation)
{
    return (uint64_t)domid << 48 | (uint64_t)(uint16_t)number << 32 | generation;
}

static uint16_t peer_domid(uint64_t peer)
{
    return (uint16_t)(peer >> 48);
}

static uint32_t peer_number(uint64_t peer)
{
    return (uint16_t)(peer >> 32);
}

enum SimEvtchnState evtchn_state(const struct SimEvtchn *evtchn)
{
    return word_state(evtchn->word);
}

struct SimEvtchn *evtchn_of(uint16_t domid, uint32_t number)
{
    struct SimDomain *domain = domain_tables(domid);

    if (!domain || !number || number >= SIM_MAX_EVTCHNS) {
        return NULL;
    }
    return &domain->evtchn[number];
}

static void set_state(struct SimEvtchn *evtchn, enum SimEvtchnState state)
{
    uint64_t word = evtchn->word;
    uint64_t wanted;

    do {
        wanted = (word & ~WORD_STATE) | (uint64_t)state << WORD_STATE_SHIFT;
    } while (!atomic_compare_exchange_weak(&evtchn->word, &word, wanted));
}

static void raise_event(uint16_t domid, uint32_t number, uint32_t generation)
{
    struct SimEvtchn *evtchn = evtchn_of(domid, number);
    uint64_t word;

    if (!evtchn) {
        return;
    }
    word = evtchn->word;
    for (;;) {
        if (word_generation(word) != generation || word_state(word) == SIM_EVTCHN_FREE) {
            return;
        }
        if (word & WORD_MASKED) {
            if ((word & WORD_PENDING) ||
                atomic_compare_exchange_weak(&evtchn->word, &word, word | WORD_PENDING)) {
                return;
            }
        } else if (atomic_compare_exchange_weak(&evtchn->word, &word, word | WORD_MASKED)) {
            handle_wake(evtchn->handle, evtchn->owner, number);
            return;
        }
    }
}

/* The lowest free number, as Xen gives it out; owned by the handle from now on. */
static int allocate(struct SimHandle *handle)
{
    struct SimDomain *domain = domain_tables(handle->domid);
    uint32_t number;

    for (number = 1; domain && number < SIM_MAX_EVTCHNS; number++) {
        struct SimEvtchn *evtchn = &domain->evtchn[number];

        if (evtchn_state(evtchn) != SIM_EVTCHN_FREE) {
            continue;
        }
        if (number >= domain->evtchns_top) {
            domain->evtchns_top = number + 1;
        }
        evtchn->handle = handle->slot;
        evtchn->owner = handle->seq;
        return (int)number;
    }
    errno = ENOSPC;
    return -1;
}

/* Publish a channel that allocate() gave, in its new generation, which is returned. */
static uint32_t start(struct SimEvtchn *evtchn, enum SimEvtchnState state)
{
    uint32_t generation = word_generation(evtchn->word) + 1;

    evtchn->word = make_word(generation, state);
    return generation;
}

int evtchn_alloc_unbound(struct SimHandle *handle, uint16_t remote_domid)
{
    int number = allocate(handle);

    if (number > 0) {
        struct SimEvtchn *evtchn = evtchn_of(handle->domid, (uint32_t)number);

        evtchn->remote_domid = remote_domid;
        start(evtchn, SIM_EVTCHN_UNBOUND);
    }
    return number;
}

int evtchn_bind_interdomain(struct SimHandle *handle, uint16_t remote_domid, uint32_t remote)
{
    struct SimEvtchn *peer;
    struct SimEvtchn *local;
    uint32_t generation;
    int number;

    if (!domain_is_alive(remote_domid)) {
        errno = ESRCH;
        return -1;
    }
    peer = evtchn_of(remote_domid, remote);
    if (!peer || evtchn_state(peer) != SIM_EVTCHN_UNBOUND || peer->remote_domid != handle->domid) {
        errno = EINVAL;
        return -1;
    }
    number = allocate(handle);
    if (number < 0) {
        return -1;
    }
    local = evtchn_of(handle->domid, (uint32_t)number);
    local->remote_domid = remote_domid;
    local->peer = make_peer(remote_domid, remote, word_generation(peer->word));
    generation = start(local, SIM_EVTCHN_INTERDOMAIN);
    peer->peer = make_peer(handle->domid, (uint32_t)number, generation);
    set_state(peer, SIM_EVTCHN_INTERDOMAIN);
    /* Xen: the remote end may have sent while unbound, so the local one starts pending. */
    raise_event(handle->domid, (uint32_t)number, generation);
    return number;
}

int evtchn_bind_virq(struct SimHandle *handle, uint16_t virq)
{
    struct SimDomain *domain = domain_tables(handle->domid);
    uint32_t i;
    int number;

    for (i = 1; domain && i < domain->evtchns_top; i++) {
        if (evtchn_state(&domain->evtchn[i]) == SIM_EVTCHN_VIRQ && domain->evtchn[i].virq == virq) {
            errno = EEXIST;
            return -1;
        }
    }
    number = allocate(handle);
    if (number > 0) {
        struct SimEvtchn *evtchn = evtchn_of(handle->domid, (uint32_t)number);

        evtchn->virq = virq;
        start(evtchn, SIM_EVTCHN_VIRQ);
    }
    return number;
}

void evtchn_close(uint16_t domid, uint32_t number)
{
    struct SimEvtchn *evtchn = evtchn_of(domid, number);

    if (!evtchn || evtchn_state(evtchn) == SIM_EVTCHN_FREE) {
        return;
    }
    if (evtchn_state(evtchn) == SIM_EVTCHN_INTERDOMAIN) {
        struct SimEvtchn *peer = evtchn_of(peer_domid(evtchn->peer), peer_number(evtchn->peer));

        if (peer && evtchn_state(peer) == SIM_EVTCHN_INTERDOMAIN &&
            word_generation(peer->word) == (uint32_t)evtchn->peer) {
            /* The other end keeps its number and waits for this domain to bind again. */
            peer->remote_domid = domid;
            set_state(peer, SIM_EVTCHN_UNBOUND);
        }
    }
    /* In this order: one that is not free always has an owner, whose death frees it. */
    evtchn->word = make_word(word_generation(evtchn->word) + 1, SIM_EVTCHN_FREE);
    evtchn->owner = 0;
}

void evtchn_send(uint16_t domid, uint32_t number)
{
    struct SimEvtchn *evtchn = evtchn_of(domid, number);

    if (evtchn && evtchn_state(evtchn) == SIM_EVTCHN_INTERDOMAIN) {
        uint64_t peer = evtchn->peer;

        raise_event(peer_domid(peer), peer_number(peer), (uint32_t)peer);
    }
}

void evtchn_unmask(struct SimHandle *handle, uint32_t number)
{
    struct SimEvtchn *evtchn = evtchn_of(handle->domid, number);
    uint64_t word;

    /* The driver skips numbers that are not the caller's, without an error. */
    if (!evtchn || evtchn->owner != handle->seq) {
        return;
    }
    word = evtchn->word;
    while (word & WORD_MASKED) {
        if (word & WORD_PENDING) {
            if (atomic_compare_exchange_weak(&evtchn->word, &word, word & ~WORD_PENDING)) {
                handle_wake(handle->slot, handle->seq, number);
                return;
            }
        } else if (atomic_compare_exchange_weak(&evtchn->word, &word, word & ~WORD_MASKED)) {
            return;
        }
    }
}

bool evtchn_raise_virq(uint16_t domid, uint16_t virq)
{
    struct SimDomain *domain = domain_tables(domid);
    uint32_t number;

    for (number = 1; domain && number < domain->evtchns_top; number++) {
        struct SimEvtchn *evtchn = &domain->evtchn[number];

        if (evtchn_state(evtchn) == SIM_EVTCHN_VIRQ && evtchn->virq == virq) {
            raise_event(domid, number, word_generation(evtchn->word));
            return true;
        }
    }
    return false;
}

/* A bind or close was cut short: an end whose other end does not point back is unbound. */
void evtchn_repair_domain(uint16_t domid)
{
    struct SimDomain *domain = domain_tables(domid);
    uint32_t number;

    for (number = 1; domain && number < domain->evtchns_top; number++) {
        struct SimEvtchn *evtchn = &domain->evtchn[number];
        uint64_t self = make_peer(domid, number, word_generation(evtchn->word));
        struct SimEvtchn *peer;

        if (evtchn_state(evtchn) == SIM_EVTCHN_FREE) {
            evtchn->owner = 0;
        }
        if (evtchn_state(evtchn) != SIM_EVTCHN_INTERDOMAIN) {
            continue;
        }
        peer = evtchn_of(peer_domid(evtchn->peer), peer_number(evtchn->peer));
        if (!peer || evtchn_state(peer) != SIM_EVTCHN_INTERDOMAIN || peer->peer != self) {
            evtchn->remote_domid = peer_domid(evtchn->peer);
            set_state(evtchn, SIM_EVTCHN_UNBOUND);
        }
    }
}
