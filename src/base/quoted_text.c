#include "base/quoted_text.h"

static size_t utf8_size(const unsigned char *bytes, size_t left);

void quoted_text_append(struct byte_buffer *out, const char *text, size_t size, bool json)
{
    byte_buffer_append_char(out, '"');
    quoted_text_append_bare(out, text, size, json);
    byte_buffer_append_char(out, '"');
}

static char short_escape(unsigned char byte)
{
    switch (byte) {
    case '"':
        return '"';
    case '\\':
        return '\\';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

/* JSON cannot say "this byte", so a byte that is not UTF-8 becomes the replacement character there;
 * the other formats keep its value as \xNN. */
void quoted_text_append_bare(struct byte_buffer *out, const char *text, size_t size, bool json)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t at = 0; at < size;) {
        unsigned char byte = bytes[at];
        size_t length = byte < 0x80 ? 1 : utf8_size(bytes + at, size - at);
        if (length == 2 && byte == 0xc2 && bytes[at + 1] < 0xa0 && !json) {
            length = 0; /* a control character, by which some terminals are told what to do */
        }
        if (short_escape(byte)) {
            byte_buffer_printf(out, "\\%c", short_escape(byte));
        } else if (byte < ' ' || byte == 0x7f) {
            byte_buffer_printf(out, json ? "\\u%04x" : "\\x%02x", (unsigned)byte);
        } else if (length == 0) {
            byte_buffer_printf(out, json ? "\\ufffd" : "\\x%02x", (unsigned)byte);
        } else {
            byte_buffer_append(out, text + at, length);
        }
        at += length ? length : 1;
    }
}

/* Bytes of the well-formed multi-byte sequence at `bytes` (Unicode table 3-7), or 0. */
static size_t utf8_size(const unsigned char *bytes, size_t left)
{
    unsigned char first = bytes[0];
    size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < size) {
        return 0;
    }
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < low || bytes[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < size; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xbf) {
            return 0;
        }
    }
    return size;
}
