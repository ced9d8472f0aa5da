/*
 * fuzz_target: the one function of a fuzz target, as libFuzzer calls it.
 *
 * Why: the same function is driven by libFuzzer (make fuzz), which looks for new inputs, and by
 * replay.c, which runs the inputs of the repository in every test run. What a target finds wrong
 * aborts: a CHECK, or a sanitizer.
 *
 * Thread: one.
 */
#ifndef FUZZ_FUZZ_TARGET_H
#define FUZZ_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Runs one input, borrowed; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
