/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz.h - what a fuzz target is made of
 *
 * A target is one file NAME-fuzz.c with one entry function. libFuzzer calls it with inputs that it
 * makes up (make fuzz-smoke); replay.c calls it with the files of corpus/NAME and crashes/NAME
 * (make check-unit). A target aborts when a promise of the code is broken; g_assert is for that.
 */
#ifndef XN_TESTS_FUZZ_H
#define XN_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The entry function; its name is libFuzzer's. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is left of an input. Reading behind its end gives zeros. */
struct FuzzInput {
    const uint8_t *data;
    size_t left;
};

static inline uint8_t fuzz_u8(struct FuzzInput *input)
{
    if (input->left == 0) {
        return 0;
    }
    input->left--;
    return *input->data++;
}

static inline uint16_t fuzz_u16(struct FuzzInput *input)
{
    uint16_t low = fuzz_u8(input);

    return (uint16_t)(low | fuzz_u8(input) << 8);
}

static inline uint32_t fuzz_u32(struct FuzzInput *input)
{
    uint32_t low = fuzz_u16(input);

    return low | (uint32_t)fuzz_u16(input) << 16;
}

/* 16 bits, made to lie within `minimum` ... `maximum`. */
static inline uint32_t fuzz_range(struct FuzzInput *input, uint32_t minimum, uint32_t maximum)
{
    return minimum + fuzz_u16(input) % (maximum - minimum + 1);
}

/* Fills `bytes` as far as the input goes, the rest with zeros. */
static inline void fuzz_bytes(struct FuzzInput *input, void *bytes, size_t size)
{
    size_t part = size < input->left ? size : input->left;

    if (size == 0) {
        return;
    }
    memset(bytes, 0, size);
    if (part > 0) {
        memcpy(bytes, input->data, part);
        input->data += part;
        input->left -= part;
    }
}

/* The whole rest. */
static inline void fuzz_rest(struct FuzzInput *input, void *bytes, size_t size)
{
    fuzz_bytes(input, bytes, size);
    input->left = 0;
}

#endif
