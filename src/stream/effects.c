#include "stream/effects.h"

#include "base/check.h"

void effects_init(struct effects *effects)
{
    arena_init(&effects->arena);
    effects->first = NULL;
    effects->last = NULL;
    effects->count = 0;
}

void effects_fini(struct effects *effects)
{
    effects_clear(effects);
    arena_fini(&effects->arena);
}

void effects_clear(struct effects *effects)
{
    arena_reset(&effects->arena);
    effects->first = NULL;
    effects->last = NULL;
    effects->count = 0;
}

struct emission *effects_emit(struct effects *effects)
{
    struct emission *emission =
        effects->count == 0 ? &effects->inlined : arena_alloc(&effects->arena, sizeof *emission);
    *emission = (struct emission){.timestamp_ms = -1, .partition = PARTITION_BY_KEY};
    if (effects->last) {
        DCHECK(effects->count > 0);
        effects->last->next = emission;
    } else {
        DCHECK(effects->count == 0);
        effects->first = emission;
    }
    effects->last = emission;
    effects->count++;
    return emission;
}
