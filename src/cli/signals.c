#include "cli/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "base/check.h"
#include "engine/engine.h"

static struct engine *_Atomic signal_engine;
static atomic_int signal_count;
static atomic_int signal_exit_code;

static void on_signal(int number)
{
    (void)number;
    int before = atomic_fetch_add_explicit(&signal_count, 1, memory_order_relaxed);
    struct engine *engine = atomic_load_explicit(&signal_engine, memory_order_acquire);
    if (engine) {
        engine_stop(engine, before > 0);
    }
}

static void set_action(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    int failed = sigaction(SIGINT, &action, NULL);
    CHECK(failed == 0);
    failed = sigaction(SIGTERM, &action, NULL);
    CHECK(failed == 0);
}

void signals_open(struct engine *engine)
{
    CHECK(engine != NULL);
    atomic_store_explicit(&signal_count, 0, memory_order_relaxed);
    atomic_store_explicit(&signal_engine, engine, memory_order_release);
    set_action(on_signal);
}

void signals_close(void)
{
    set_action(SIG_DFL);
    atomic_store_explicit(&signal_engine, NULL, memory_order_release);
}

static void on_alarm(int number)
{
    (void)number;
    _exit(atomic_load_explicit(&signal_exit_code, memory_order_relaxed));
}

void signals_deadline(unsigned seconds, int exit_code)
{
    CHECK(seconds > 0);
    atomic_store_explicit(&signal_exit_code, exit_code, memory_order_relaxed);
    struct sigaction action = {.sa_handler = on_alarm};
    sigemptyset(&action.sa_mask);
    int failed = sigaction(SIGALRM, &action, NULL);
    CHECK(failed == 0);
    alarm(seconds);
}

int signals_count(void)
{
    return atomic_load_explicit(&signal_count, memory_order_relaxed);
}
