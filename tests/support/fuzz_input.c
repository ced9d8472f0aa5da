#include "support/fuzz_input.h"

#include <string.h>

uint8_t fuzz_input_byte(struct fuzz_input *input)
{
    if (input->left == 0) {
        return 0;
    }
    input->left--;
    return *input->at++;
}

const char *fuzz_input_bytes(struct fuzz_input *input, uint8_t size_max, uint32_t *size)
{
    size_t wanted = fuzz_input_byte(input);
    wanted = wanted < size_max ? wanted : size_max;
    wanted = wanted < input->left ? wanted : input->left;
    const char *bytes = (const char *)input->at;
    input->at += wanted;
    input->left -= wanted;
    *size = (uint32_t)wanted;
    return bytes;
}

const char *fuzz_input_nullable(struct fuzz_input *input, uint8_t size_max, uint32_t *size)
{
    *size = 0;
    return fuzz_input_byte(input) % 4 == 0 ? NULL : fuzz_input_bytes(input, size_max, size);
}

bool fuzz_same(const char *a, uint32_t a_size, const char *b, uint32_t b_size)
{
    if (a == NULL || b == NULL) {
        return a == b && a_size == b_size;
    }
    return a_size == b_size && memcmp(a, b, a_size) == 0;
}
