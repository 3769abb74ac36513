/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout.c - how a frame's bytes are cut into guest_tx slots */
#include "layout.h"

#define HEADER_BYTES 66 /* Ethernet, IPv4 and TCP with timestamps */

const char *const xn_layout_name[XN_LAYOUTS] = {
    [XN_LAYOUT_FULL] = "full",
    [XN_LAYOUT_HEADER] = "header",
    [XN_LAYOUT_TINY] = "tiny",
    [XN_LAYOUT_RANDOM] = "random",
};

/* splitmix64: any seed will do, also consecutive ones. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static unsigned int min_uint(unsigned int a, unsigned int b)
{
    return a < b ? a : b;
}

static unsigned int max_uint(unsigned int a, unsigned int b)
{
    return a > b ? a : b;
}

static unsigned int pages_for(unsigned int length)
{
    return (length + XN_PAGE_SIZE - 1) / XN_PAGE_SIZE;
}

/* Cuts @length into exactly @count slots, each of a size from the range that the rest permits. */
static void cut_random(unsigned int length, unsigned int count, uint64_t *state,
                       struct XnSlot *slot)
{
    for (unsigned int i = 0; i < count; i++) {
        unsigned int left = count - 1 - i;
        unsigned int low = length > left * XN_PAGE_SIZE ? length - left * XN_PAGE_SIZE : 1;
        unsigned int high = min_uint(XN_PAGE_SIZE, length - left);

        slot[i].size = low + next_random(state) % (high - low + 1);
        length -= slot[i].size;
    }
}

static unsigned int cut_pages(unsigned int length, struct XnSlot *slot)
{
    unsigned int count = 0;

    for (; length; count++) {
        slot[count].size = min_uint(length, XN_PAGE_SIZE);
        length -= slot[count].size;
    }
    return count;
}

static unsigned int cut_header(unsigned int length, unsigned int max, struct XnSlot *slot)
{
    unsigned int header = min_uint(length, HEADER_BYTES);

    if (1 + pages_for(length - header) > max) {
        return cut_pages(length, slot);
    }
    slot[0].size = header;
    return 1 + cut_pages(length - header, slot + 1);
}

static unsigned int cut_tiny(unsigned int length, unsigned int max, struct XnSlot *slot)
{
    unsigned int count = 0;

    while (length && count + 1 + pages_for(length - 1) <= max) {
        slot[count].size = 1;
        count++;
        length--;
    }
    return count + cut_pages(length, slot + count);
}

/* Returns the new number of slots. */
static unsigned int add_empty(unsigned int empty, unsigned int count, unsigned int max,
                              uint64_t *state, struct XnSlot *slot)
{
    for (; empty && count < max; empty--, count++) {
        unsigned int at = next_random(state) % (count + 1);

        memmove(&slot[at + 1], &slot[at], (count - at) * sizeof(*slot));
        slot[at] = (struct XnSlot){0};
    }
    return count;
}

unsigned int layout_cut(const struct XnLayout *layout, unsigned int length, uint64_t random,
                        struct XnSlot *slot)
{
    unsigned int least = pages_for(length);
    unsigned int max = min_uint(layout->max, XN_LAYOUT_SLOTS);
    unsigned int count = 0;

    if (!length || least > max) {
        return 0;
    }
    memset(slot, 0, XN_LAYOUT_SLOTS * sizeof(*slot));
    if (layout->slots) {
        count = max_uint(least, min_uint(layout->slots, min_uint(length, max)));
        cut_random(length, count, &random, slot);
    } else if (layout->kind == XN_LAYOUT_RANDOM) {
        count = least + next_random(&random) % (min_uint(length, max) - least + 1);
        cut_random(length, count, &random, slot);
    } else if (layout->kind == XN_LAYOUT_HEADER) {
        count = cut_header(length, max, slot);
    } else if (layout->kind == XN_LAYOUT_TINY) {
        count = cut_tiny(length, max, slot);
    } else {
        count = cut_pages(length, slot);
    }
    count = add_empty(layout->empty, count, max, &random, slot);
    for (unsigned int i = 0; layout->random_offset && i < count; i++) {
        slot[i].offset = next_random(&random) % (XN_PAGE_SIZE - slot[i].size + 1u);
    }
    return count;
}
