#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "moontide: bug: %s:%d: CHECK(%s) failed; please report this\n", file, line,
            condition);
    abort();
}
