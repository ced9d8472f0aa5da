#include "base/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"

static bool read_all(int fd, struct byte_buffer *out, int *why);

bool file_bytes_read(const char *path, struct byte_buffer *out, struct error *err)
{
    CHECK(path != NULL);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return error_set(err, E_IO, "cannot open %s: %s", path, strerrordesc_np(errno));
    }
    int why = 0;
    bool ok = read_all(fd, out, &why);
    close(fd);
    if (!ok) {
        return error_set(err, E_IO, "cannot read %s: %s", path, strerrordesc_np(why));
    }
    return true;
}

static bool read_all(int fd, struct byte_buffer *out, int *why)
{
    char block[16384];
    for (size_t total = 0; total <= FILE_BYTES_MAX;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got == 0) {
            return true;
        }
        if (got > 0) {
            byte_buffer_append(out, block, (size_t)got);
            total += (size_t)got;
        } else if (errno != EINTR) {
            *why = errno;
            return false;
        }
    }
    *why = EFBIG;
    return false;
}
