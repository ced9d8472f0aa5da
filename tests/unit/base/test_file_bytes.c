#include "base/file_bytes.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(file_bytes, nul_bytes_are_kept)
{
    char path[] = "/tmp/tide_file_bytes_XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, "a\0b\n", 4), 4);
    close(fd);
    struct byte_buffer out = {0};
    struct error err = {0};
    cr_assert(file_bytes_read(path, &out, &err), "%s", err.text);
    cr_assert_eq(out.size, 4);
    cr_assert_eq(memcmp(out.data, "a\0b\n", 4), 0);
    byte_buffer_fini(&out);
    unlink(path);
}

Test(file_bytes, folders_missing_files_and_endless_ones_are_errors)
{
    struct byte_buffer out = {0};
    struct error err = {0};
    cr_assert_not(file_bytes_read("/no/such", &out, &err));
    cr_assert_str_eq(err.text, "cannot open /no/such: No such file or directory");
    cr_assert_eq(err.code, E_IO);
    cr_assert_not(file_bytes_read("/", &out, &err));
    cr_assert_str_eq(err.text, "cannot read /: Is a directory");
    cr_assert_not(file_bytes_read("/dev/zero", &out, &err));
    cr_assert_str_eq(err.text, "cannot read /dev/zero: File too large");
    byte_buffer_fini(&out);
}
