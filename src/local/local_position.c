#include "local/local_position.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/byte_buffer.h"
#include "base/check.h"
#include "base/file_bytes.h"
#include "base/memory.h"
#include "base/text.h"

enum { SAMPLE = 4096 /* bytes at each of the two places that are compared */ };

static const char *const FRAMINGS[] = {[LOCAL_LINES] = "lines", [LOCAL_RECORDS] = "records"};
static const char TITLE[] = "moontide position 1\n";

struct local_position {
    char *input; /* absolute path */
    char *file;  /* of the position */
    char *fresh; /* where the next one is written first */
    char *folder;
    enum local_framing framing;
    int lock; /* descriptor, -1: none */
};

/* What the file of a position says. */
struct saved {
    struct local_mark mark;
    char framing[16];
    char print[40];
};

static bool make_folder(const char *folder, struct error *err);
static bool take_lock(struct local_position *position, const char *name, struct error *err);
static bool parse(const char *text, struct saved *saved);
static bool take_print(const struct local_position *position, int fd, uint64_t byte, char *print,
                       size_t size, struct error *err);

/* --- life ---------------------------------------------------------------------------------- */

static char *join(const char *folder, const char *name, const char *end)
{
    struct byte_buffer text = {0};
    byte_buffer_printf(&text, "%s/%s%s", folder, name, end);
    return byte_buffer_take(&text);
}

struct local_position *local_position_open(const char *folder, const char *path,
                                           enum local_framing framing, struct error *err)
{
    CHECK(folder != NULL);
    char real[PATH_MAX];
    if (realpath(path, real) == NULL) {
        error_set(err, E_IO, "reading file:%s: %s", path, strerrordesc_np(errno));
        return NULL;
    }
    if (!make_folder(folder, err)) {
        return NULL;
    }
    char name[32];
    snprintf(name, sizeof name, "%016" PRIx64, (uint64_t)XXH3_64bits(real, strlen(real)));
    struct local_position *position = memory_alloc(sizeof *position);
    position->framing = framing;
    position->input = memory_copy_text(real);
    position->folder = memory_copy_text(folder);
    position->file = join(folder, name, ".position");
    position->fresh = join(folder, name, ".position.new");
    position->lock = -1;
    if (!take_lock(position, name, err)) {
        local_position_close(position);
        return NULL;
    }
    return position;
}

static bool make_folder(const char *folder, struct error *err)
{
    char *path = memory_copy_text(folder);
    bool good = true;
    for (char *at = path + 1; good; at++) {
        char byte = *at;
        if (byte == '/' || byte == 0) {
            *at = 0;
            good = mkdir(path, 0777) == 0 || errno == EEXIST;
            *at = byte;
        }
        if (byte == 0) {
            break;
        }
    }
    if (!good) {
        error_set(err, E_IO, "state.dir: making %s: %s", folder, strerrordesc_np(errno));
    }
    memory_free(path);
    return good;
}

static bool take_lock(struct local_position *position, const char *name, struct error *err)
{
    char *path = join(position->folder, name, ".lock");
    position->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    bool good = position->lock >= 0 && flock(position->lock, LOCK_EX | LOCK_NB) == 0;
    if (!good && position->lock >= 0 && errno == EWOULDBLOCK) {
        error_set(err, E_IO,
                  "reading %s: another process reads it with the same state.dir and "
                  "application.id; give this one its own",
                  position->input);
    } else if (!good) {
        error_set(err, E_IO, "state.dir: %s: %s", path, strerrordesc_np(errno));
    }
    memory_free(path);
    return good;
}

void local_position_close(struct local_position *position)
{
    if (position == NULL) {
        return;
    }
    if (position->lock >= 0) {
        close(position->lock);
    }
    memory_free(position->fresh);
    memory_free(position->file);
    memory_free(position->folder);
    memory_free(position->input);
    memory_free(position);
}

/* --- load ---------------------------------------------------------------------------------- */

static bool judge(const struct local_position *position, int fd, const struct saved *saved,
                  struct error *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return error_set(err, E_IO, "%s", strerrordesc_np(errno));
    }
    if (strcmp(saved->framing, FRAMINGS[position->framing]) != 0) {
        return error_set(err, E_IO, "it was read with local.framing = %s", saved->framing);
    }
    if ((uint64_t)status.st_size < saved->mark.byte) {
        return error_set(err, E_IO,
                         "it has %lld bytes, and %" PRIu64 " were processed: it was cut, or is "
                         "another file",
                         (long long)status.st_size, saved->mark.byte);
    }
    char print[sizeof saved->print];
    if (!take_print(position, fd, saved->mark.byte, print, sizeof print, err)) {
        return false;
    }
    if (strcmp(print, saved->print) != 0) {
        return error_set(err, E_IO, "its content is not what was processed: it is another file");
    }
    return true;
}

bool local_position_load(const struct local_position *position, int fd, struct local_mark *mark,
                         struct error *err)
{
    *mark = (struct local_mark){0};
    if (access(position->file, F_OK) != 0 && errno == ENOENT) {
        return true;
    }
    struct byte_buffer bytes = {0};
    struct saved saved = {0};
    bool good = file_bytes_read(position->file, &bytes, err);
    if (good && !parse(byte_buffer_text(&bytes), &saved)) {
        good = error_set(err, E_IO, "%s is damaged", position->file);
    }
    byte_buffer_fini(&bytes);
    if (good && judge(position, fd, &saved, err)) {
        *mark = saved.mark;
        return true;
    }
    char *reason = memory_copy_text(err->text);
    error_set(err, E_IO,
              "going on with %s: %s. Give --from-start to begin at its start, or put the right "
              "file there",
              position->input, reason);
    memory_free(reason);
    return false;
}

/* The rest of the line that begins with `name` and a space, copied; false when there is none. */
static bool find_line(const char *text, const char *name, char *out, size_t size)
{
    size_t length = strlen(name);
    const char *line = text;
    while (line && (strncmp(line, name, length) != 0 || line[length] != ' ')) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    const char *end = line ? strchr(line, '\n') : NULL;
    if (end == NULL || (size_t)(end - line) - length > size) {
        return false;
    }
    size_t value = (size_t)(end - line) - length - 1;
    memcpy(out, line + length + 1, value);
    out[value] = 0;
    return true;
}

static bool parse(const char *text, struct saved *saved)
{
    char offset[24];
    char byte[24];
    int64_t number = 0;
    struct error err;
    if (strncmp(text, TITLE, strlen(TITLE)) != 0 ||
        !find_line(text, "framing", saved->framing, sizeof saved->framing) ||
        !find_line(text, "offset", offset, sizeof offset) ||
        !find_line(text, "byte", byte, sizeof byte) ||
        !find_line(text, "print", saved->print, sizeof saved->print) ||
        !text_parse_int(offset, 0, INT64_MAX, &saved->mark.offset, &err) ||
        !text_parse_int(byte, 0, INT64_MAX, &number, &err)) {
        return false;
    }
    saved->mark.byte = (uint64_t)number;
    return true;
}

/* --- save ---------------------------------------------------------------------------------- */

/* As many bytes as there are at that place, hashed. */
static bool hash_at(int fd, uint64_t from, uint64_t to, uint64_t *hash)
{
    char sample[SAMPLE];
    size_t size = (size_t)(to - from);
    CHECK(size <= SAMPLE);
    size_t had = 0;
    while (had < size) {
        ssize_t got = pread(fd, sample + had, size - had, (off_t)(from + had));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            errno = got == 0 ? ENODATA : errno;
            return false;
        }
        had += (size_t)got;
    }
    *hash = XXH3_64bits(sample, size);
    return true;
}

/* The first bytes and the last ones of what was processed. */
static bool take_print(const struct local_position *position, int fd, uint64_t byte, char *print,
                       size_t size, struct error *err)
{
    uint64_t first = 0;
    uint64_t last = 0;
    if (!hash_at(fd, 0, byte < SAMPLE ? byte : SAMPLE, &first) ||
        !hash_at(fd, byte < SAMPLE ? 0 : byte - SAMPLE, byte, &last)) {
        return error_set(err, E_IO, "reading %s: %s", position->input, strerrordesc_np(errno));
    }
    snprintf(print, size, "%016" PRIx64 "%016" PRIx64, first, last);
    return true;
}

static bool write_whole(int fd, const char *text, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = write(fd, text + done, size - done);
        if (got < 0 && errno != EINTR) {
            return false;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return fsync(fd) == 0;
}

static bool write_fresh(const struct local_position *position, const char *text)
{
    int fd = open(position->fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        return false;
    }
    bool good = write_whole(fd, text, strlen(text));
    int code = errno;
    close(fd);
    errno = code;
    return good;
}

/* The new name is on the disk as well. */
static bool sync_folder(const struct local_position *position)
{
    int fd = open(position->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return good;
}

bool local_position_save(struct local_position *position, int fd, const struct local_mark *mark,
                         struct error *err)
{
    CHECK(mark->offset >= 0);
    char print[40];
    if (!take_print(position, fd, mark->byte, print, sizeof print, err)) {
        return false;
    }
    struct byte_buffer text = {0};
    byte_buffer_printf(&text, "%sinput %s\nframing %s\noffset %" PRId64 "\nbyte %" PRIu64 "\n",
                       TITLE, position->input, FRAMINGS[position->framing], mark->offset,
                       mark->byte);
    byte_buffer_printf(&text, "print %s\n", print);
    bool good = write_fresh(position, byte_buffer_text(&text)) &&
                rename(position->fresh, position->file) == 0 && sync_folder(position);
    if (!good) {
        error_set(err, E_IO, "writing %s: %s", position->file, strerrordesc_np(errno));
    }
    byte_buffer_fini(&text);
    return good;
}
