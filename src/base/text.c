#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

struct unit {
    const char *name;
    int64_t size;
};

static const struct unit TIME_UNITS[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", INT64_C(60) * 1000000000},
    {"h", INT64_C(3600) * 1000000000},
    {"d", INT64_C(86400) * 1000000000},
    {NULL, 0},
};

static const struct unit BYTE_UNITS[] = {
    {"B", 1},
    {"KiB", INT64_C(1) << 10},
    {"MiB", INT64_C(1) << 20},
    {"GiB", INT64_C(1) << 30},
    {"TiB", INT64_C(1) << 40},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", INT64_C(1000000000000)},
    {NULL, 0},
};

static const char BAD_DURATION[] = "must be a duration such as 5ms, 1.5s, 10m or 1h, not \"%s\"";
static const char BAD_BYTES[] = "must be a size such as 512, 100kB or 64MiB, not \"%s\"";

static bool parse_amount(const char *text, const struct unit *units, int64_t plain_unit,
                         int64_t *amount);
static bool find_unit(const char *name, const struct unit *units, int64_t *size);
static bool parse_fraction(const char **text, int64_t unit, int64_t *amount);
static char fold(char byte);
static size_t smaller(size_t a, size_t b);

bool text_parse_int(const char *text, int64_t min, int64_t max, int64_t *value, struct error *err)
{
    CHECK(text != NULL);
    CHECK(min <= max);
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    if (!isdigit((unsigned char)digits[0])) {
        return error_set(err, E_CONFIG, "must be a whole number, not \"%s\"", text);
    }
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (*end != 0) {
        return error_set(err, E_CONFIG, "must be a whole number, not \"%s\"", text);
    }
    if (errno == ERANGE || number < min || number > max) {
        return error_set(err, E_CONFIG, "must be between %" PRId64 " and %" PRId64 ", not %s", min,
                         max, text);
    }
    *value = number;
    return true;
}

bool text_parse_duration_ns(const char *text, int64_t plain_unit_ns, int64_t *ns, struct error *err)
{
    CHECK(text != NULL);
    CHECK(plain_unit_ns >= 0);
    int64_t plain_unit = strcmp(text, "0") == 0 ? 1 : plain_unit_ns;
    if (!parse_amount(text, TIME_UNITS, plain_unit, ns)) {
        return error_set(err, E_CONFIG, BAD_DURATION, text);
    }
    return true;
}

bool text_parse_duration_ms(const char *text, int64_t *ms, struct error *err)
{
    int64_t ns = 0;
    if (!text_parse_duration_ns(text, 1000000, &ns, err)) {
        return false;
    }
    if (ns % 1000000 != 0) {
        return error_set(err, E_CONFIG, "must be a whole number of milliseconds, not \"%s\"", text);
    }
    *ms = ns / 1000000;
    return true;
}

bool text_parse_bytes(const char *text, int64_t *bytes, struct error *err)
{
    CHECK(text != NULL);
    if (!parse_amount(text, BYTE_UNITS, 1, bytes)) {
        return error_set(err, E_CONFIG, BAD_BYTES, text);
    }
    return true;
}

/* A decimal number and the name of a unit. False too when the result does not fit. */
static bool parse_amount(const char *text, const struct unit *units, int64_t plain_unit,
                         int64_t *amount)
{
    size_t number_size = strspn(text, "0123456789.");
    int64_t unit = plain_unit;
    const char *name = text + number_size;
    if (*name != 0 && !find_unit(name, units, &unit)) {
        return false;
    }
    if (unit == 0 || !isdigit((unsigned char)text[0])) {
        return false;
    }
    int64_t whole = 0;
    const char *at = text;
    for (; isdigit((unsigned char)*at); at++) {
        bool fits = !__builtin_mul_overflow(whole, 10, &whole) &&
                    !__builtin_add_overflow(whole, *at - '0', &whole);
        if (!fits) {
            return false;
        }
    }
    if (__builtin_mul_overflow(whole, unit, &whole) || !parse_fraction(&at, unit, &whole) ||
        at != name) {
        return false;
    }
    *amount = whole;
    return true;
}

static bool find_unit(const char *name, const struct unit *units, int64_t *size)
{
    for (const struct unit *unit = units; unit->name; unit++) {
        if (strcmp(unit->name, name) == 0) {
            *size = unit->size;
            return true;
        }
    }
    return false;
}

/* ".5" of the unit; what is finer than the smallest unit is cut. */
static bool parse_fraction(const char **text, int64_t unit, int64_t *amount)
{
    const char *at = *text;
    if (*at != '.') {
        return true;
    }
    at++;
    if (!isdigit((unsigned char)*at)) {
        return false;
    }
    int64_t digits = 0;
    int64_t scale = 1;
    for (; isdigit((unsigned char)*at); at++) {
        if (scale < 10000) { /* four digits of the largest unit stay below 2^63 */
            digits = digits * 10 + (*at - '0');
            scale *= 10;
        } else if (*at != '0') {
            return false;
        }
    }
    *text = at;
    int64_t part = 0;
    if (__builtin_mul_overflow(digits, unit, &part)) {
        return false;
    }
    return !__builtin_add_overflow(*amount, part / scale, amount);
}

bool text_parse_bool(const char *text, bool *value, struct error *err)
{
    static const char *const WORDS[][2] = {
        {"false", "true"}, {"no", "yes"}, {"off", "on"}, {"0", "1"}};
    CHECK(text != NULL);
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        for (int truth = 0; truth < 2; truth++) {
            if (strcmp(text, WORDS[i][truth]) == 0) {
                *value = truth == 1;
                return true;
            }
        }
    }
    return error_set(err, E_CONFIG, "must be true or false, not \"%s\"", text);
}

/* Optimal string alignment over three rows. */
size_t text_distance(const char *a, const char *b)
{
    size_t a_size = strlen(a);
    size_t b_size = strlen(b);
    if (a_size > TEXT_NAME_MAX || b_size > TEXT_NAME_MAX) {
        return SIZE_MAX;
    }
    size_t rows[3][TEXT_NAME_MAX + 1] = {{0}};
    for (size_t j = 0; j <= b_size; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_size; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *above_that = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            char x = fold(a[i - 1]);
            char y = fold(b[j - 1]);
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == fold(b[j - 2]) && y == fold(a[i - 2])) {
                row[j] = smaller(row[j], above_that[j - 2] + 1);
            }
        }
    }
    return rows[a_size % 3][b_size];
}

static char fold(char byte)
{
    if (byte == '-' || byte == '_') {
        return '.';
    }
    return (char)tolower((unsigned char)byte);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A third of the name may be wrong, and one letter of two; from one letter nothing can be guessed.
 */
const char *text_nearest(const char *name, const char *const *names, size_t count)
{
    CHECK(name != NULL);
    CHECK(names != NULL || count == 0);
    size_t size = strlen(name);
    size_t limit = size < 2 ? 0 : size < 6 ? 1 : size / 3;
    const char *best = NULL;
    size_t best_distance = limit + 1;
    for (size_t i = 0; i < count; i++) {
        size_t distance = names[i] ? text_distance(name, names[i]) : SIZE_MAX;
        if (distance < best_distance) {
            best = names[i];
            best_distance = distance;
        }
    }
    DCHECK(best == NULL || best_distance <= limit);
    return best;
}

bool text_names_a_secret(const char *name)
{
    static const char *const PARTS[] = {
        "password",          "passphrase", "passwd",  "secret", "token",
        "credential",        "key.pem",    "api.key", "apikey", "api_key",
        "oauthbearer.config"};
    CHECK(name != NULL);
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        if (strcasestr(name, PARTS[i])) {
            return true;
        }
    }
    return false;
}
