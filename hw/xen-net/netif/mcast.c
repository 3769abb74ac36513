/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mcast.c - which multicast frames the guest wants
 */
#include "netif/mcast.h"

#define ADDRESS_MASK 0xffffffffffffu
#define COUNT_ONE (1ull << 48)
#define COUNT_MAX 0xffffu

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static bool replace(uint64_t *word, uint64_t seen, uint64_t value)
{
    return __atomic_compare_exchange_n(word, &seen, value, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

static uint64_t address_number(const uint8_t *address)
{
    uint64_t number = 0;

    for (uint32_t i = 0; i < 6; i++) {
        number = number << 8 | address[i];
    }
    return number;
}

/* A word in use that has the address. */
static bool word_has(uint64_t word, uint64_t address)
{
    return word != 0 && (word & ADDRESS_MASK) == address;
}

void mcast_init(struct XnMcast *mcast)
{
    *mcast = (struct XnMcast){0};
}

void mcast_set_filter(struct XnMcast *mcast, bool on)
{
    __atomic_store_n(&mcast->filter, on, __ATOMIC_RELAXED);
}

/*
 * Counts the address once more where it is, and says whether it was there. The count stops at its
 * end. A word that changes meanwhile is looked at again: each time, some other thread got on.
 */
static bool count_again(struct XnMcast *mcast, uint64_t address)
{
    uint64_t word;

    for (uint32_t i = 0; i < XN_MCAST_MAX; i++) {
        word = load(&mcast->addresses[i]);
        while (word_has(word, address)) {
            if (word >> 48 == COUNT_MAX || replace(&mcast->addresses[i], word, word + COUNT_ONE)) {
                return true;
            }
            word = load(&mcast->addresses[i]);
        }
    }
    return false;
}

bool mcast_add(struct XnMcast *mcast, const uint8_t *address)
{
    uint64_t number = address_number(address);

    if (count_again(mcast, number)) {
        return true;
    }
    for (uint32_t i = 0; i < XN_MCAST_MAX; i++) {
        if (load(&mcast->addresses[i]) == 0 &&
            replace(&mcast->addresses[i], 0, COUNT_ONE | number)) {
            return true;
        }
    }
    return false;
}

void mcast_delete(struct XnMcast *mcast, const uint8_t *address)
{
    uint64_t number = address_number(address);
    uint64_t word;

    for (uint32_t i = 0; i < XN_MCAST_MAX; i++) {
        word = load(&mcast->addresses[i]);
        while (word_has(word, number)) {
            if (replace(&mcast->addresses[i], word, word >> 48 == 1 ? 0 : word - COUNT_ONE)) {
                return;
            }
            word = load(&mcast->addresses[i]);
        }
    }
}

bool mcast_pass(const struct XnMcast *mcast, const uint8_t *destination)
{
    uint64_t number;

    if (!(destination[0] & 1) || !__atomic_load_n(&mcast->filter, __ATOMIC_RELAXED)) {
        return true;
    }
    number = address_number(destination);
    if (number == ADDRESS_MASK) {
        return true;
    }
    for (uint32_t i = 0; i < XN_MCAST_MAX; i++) {
        if (word_has(load(&mcast->addresses[i]), number)) {
            return true;
        }
    }
    return false;
}
