#include "script/lua_processor.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread_role.h"
#include "script/lua_abi.h"
#include "script/lua_state.h"

struct lua_processor {
    struct processor base; /* first: a pointer to it is a pointer to this */
    unsigned worker;
    struct lua_state *state;
};

static_assert(offsetof(struct lua_processor, base) == 0, "lua_of() casts");

static size_t run(struct processor *processor, struct work *const *batch, size_t count);
static void close_script(struct processor *processor);
static void destroy(struct processor *processor);
static const struct work *current(const struct processor *processor);
static size_t memory(struct processor *processor);

static const struct processor_ops OPS = {run, close_script, destroy, current, memory};

static struct lua_processor *lua_of(struct processor *processor)
{
    CHECK(processor->ops == &OPS);
    return (struct lua_processor *)processor;
}

static struct processor *create(void *context, unsigned worker, struct error *err)
{
    const struct script *script = context;
    struct lua_state *state = script_make_state(script, worker, err);
    if (state == NULL) {
        return NULL;
    }
    struct lua_processor *lua = memory_alloc(sizeof *lua);
    lua->base.ops = &OPS;
    lua->worker = worker;
    lua->state = state;
    return &lua->base;
}

struct processor_factory lua_processor_factory(const struct script *script)
{
    CHECK(script != NULL);
    /* the port's context is not const; create only reads */
    return (struct processor_factory){.create = create, .context = (void *)(uintptr_t)script};
}

static size_t run(struct processor *processor, struct work *const *batch, size_t count)
{
    thread_assert_worker();
    struct lua_processor *lua = lua_of(processor);
    return lua_state_run(lua->state, batch, count < TIDE_BATCH_MAX ? count : TIDE_BATCH_MAX);
}

static void close_script(struct processor *processor)
{
    thread_assert_worker();
    struct lua_processor *lua = lua_of(processor);
    struct error err = {0};
    if (!lua_state_close(lua->state, &err)) {
        log_warn("the script's close() failed", LOG_STR("error", err.text),
                 LOG_INT("worker", lua->worker));
    }
}

static const struct work *current(const struct processor *processor)
{
    CHECK(processor->ops == &OPS);
    return lua_state_current(((const struct lua_processor *)processor)->state);
}

static size_t memory(struct processor *processor)
{
    thread_assert_worker();
    return lua_state_memory(lua_of(processor)->state);
}

static void destroy(struct processor *processor)
{
    struct lua_processor *lua = lua_of(processor);
    lua_state_destroy(lua->state);
    memory_free(lua);
}
