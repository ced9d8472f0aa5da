/*
 * fuzz_input: the bytes of a fuzz target's input, taken apart from the front.
 *
 * Why: a target that needs structure (a few records, a few headers) decodes it the same way
 * everywhere; an input that ends early gives zeros and empty strings, so every input is valid.
 *
 * Thread: one.
 * Borrows: the input.
 */
#ifndef SUPPORT_FUZZ_INPUT_H
#define SUPPORT_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

/* One byte; 0 when there is none. */
uint8_t fuzz_input_byte(struct fuzz_input *input);
/* A byte with the size, cut to `size_max` and to what is left, then the bytes; borrowed. */
const char *fuzz_input_bytes(struct fuzz_input *input, uint8_t size_max, uint32_t *size);
/* The same, or NULL with size 0, as a byte before it says. */
const char *fuzz_input_nullable(struct fuzz_input *input, uint8_t size_max, uint32_t *size);

/* Equal bytes, and NULL where the other is NULL. */
bool fuzz_same(const char *a, uint32_t a_size, const char *b, uint32_t b_size);

#endif
