#include "stream/work.h"

#include <assert.h>
#include <stddef.h>

#include "base/check.h"

static const char *const KIND_NAMES[] = {"raised", "failed", "memory", "timeout"};

static_assert(sizeof KIND_NAMES / sizeof KIND_NAMES[0] == FAILURE_KIND_COUNT, "one name a kind");

const char *failure_kind_name(enum failure_kind kind)
{
    CHECK(kind < FAILURE_KIND_COUNT);
    return KIND_NAMES[kind];
}
