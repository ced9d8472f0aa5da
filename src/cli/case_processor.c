#include "cli/case_processor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/memory.h"
#include "commit/commit_window.h"

struct planned {
    struct planned *next;
    int64_t offset;
    uint32_t times;
};

struct case_processor {
    struct processor base;
    struct processor *within;
    struct arena arena; /* texts and plans */
    struct planned *plans;
    struct case_failure *failures;
    size_t count;
    size_t settled; /* those before it are */
    size_t capacity;
};

static struct planned *plan_of(struct case_processor *p, int64_t offset)
{
    struct planned *plan = p->plans;
    while (plan && (plan->offset != offset || plan->times == 0)) {
        plan = plan->next;
    }
    return plan;
}

static void note(struct case_processor *p, const struct work *work)
{
    if (p->count == p->capacity) {
        p->capacity = p->capacity ? p->capacity * 2 : 16;
        p->failures = memory_resize(p->failures, p->capacity * sizeof *p->failures);
    }
    const char *reason = work->reason ? work->reason : "";
    p->failures[p->count++] = (struct case_failure){
        .topic = arena_copy(&p->arena, work->rec.topic, strlen(work->rec.topic)),
        .reason = arena_copy(&p->arena, reason, strlen(reason)),
        .offset = work->rec.offset,
        .partition = work->rec.partition,
        .attempt = ((const struct slot *)work)->attempt + 1,
        .outcome = OUTCOME_FAILED,
        .work = work,
    };
}

static size_t fail_as_planned(struct planned *plan, struct work *work)
{
    char text[48];
    int size = snprintf(text, sizeof text, "fail_at(%" PRId64 ") of the test", plan->offset);
    plan->times--;
    work->outcome = OUTCOME_FAILED;
    work->failure = FAILURE_RAISED;
    work->request = REQUEST_NONE;
    work->retry_delay_ms = RETRY_DELAY_BACKOFF;
    work->reason = arena_copy(&work->effects.arena, text, (size_t)size);
    return 1;
}

static size_t run(struct processor *processor, struct work *const *batch, size_t count)
{
    struct case_processor *p = (struct case_processor *)processor;
    size_t free_count = 0;
    while (free_count < count && plan_of(p, batch[free_count]->rec.offset) == NULL) {
        free_count++;
    }
    size_t ran = free_count == 0 ? fail_as_planned(plan_of(p, batch[0]->rec.offset), batch[0])
                                 : p->within->ops->run(p->within, batch, free_count);
    if (batch[ran - 1]->outcome == OUTCOME_FAILED) {
        note(p, batch[ran - 1]);
    }
    return ran;
}

static void close(struct processor *processor)
{
    struct processor *within = ((struct case_processor *)processor)->within;
    within->ops->close(within);
}

static void destroy(struct processor *processor)
{
    struct case_processor *p = (struct case_processor *)processor;
    p->within->ops->destroy(p->within);
    arena_fini(&p->arena);
    memory_free(p->failures);
    memory_free(p);
}

static const struct processor_ops OPS = {.run = run, .close = close, .destroy = destroy};

struct processor *case_processor_create(struct processor *within)
{
    CHECK(within != NULL);
    struct case_processor *p = memory_alloc(sizeof *p);
    p->base.ops = &OPS;
    p->within = within;
    arena_init(&p->arena);
    return &p->base;
}

void case_processor_fail_at(struct processor *processor, int64_t offset, uint32_t times)
{
    struct case_processor *p = (struct case_processor *)processor;
    struct planned *plan = arena_alloc(&p->arena, sizeof *plan);
    *plan = (struct planned){.next = p->plans, .offset = offset, .times = times};
    p->plans = plan;
}

void case_processor_settle(struct processor *processor)
{
    struct case_processor *p = (struct case_processor *)processor;
    for (; p->settled < p->count; p->settled++) {
        struct case_failure *failure = &p->failures[p->settled];
        failure->outcome = (enum outcome)failure->work->outcome;
        failure->work = NULL;
    }
}

const struct case_failure *case_processor_failure(const struct processor *processor, size_t index)
{
    const struct case_processor *p = (const struct case_processor *)processor;
    return index < p->settled ? &p->failures[index] : NULL;
}
