#include "cli/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "engine/engine.h"

static struct engine *_Atomic signal_engine;
static atomic_int signal_count;
static _Atomic int64_t signal_ms; /* of the last one that counted */
static atomic_int signal_exit_code;
static atomic_bool signal_report;

/* One wish may arrive twice: timeout(1) signals its child and then the process group, and so do
 * some shells. */
enum { ECHO_MS = 200 };

static void on_signal(int number)
{
    (void)number;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* safe in a handler */
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    int before = atomic_load_explicit(&signal_count, memory_order_relaxed);
    if (before > 0 && now_ms - atomic_load_explicit(&signal_ms, memory_order_relaxed) < ECHO_MS) {
        return;
    }
    atomic_store_explicit(&signal_ms, now_ms, memory_order_relaxed);
    atomic_store_explicit(&signal_count, before + 1, memory_order_relaxed);
    struct engine *engine = atomic_load_explicit(&signal_engine, memory_order_acquire);
    if (engine) {
        engine_stop(engine, before > 0);
    }
}

static void on_report(int number)
{
    (void)number;
    atomic_store_explicit(&signal_report, true, memory_order_relaxed);
}

static void set_action(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    int failed = sigaction(number, &action, NULL);
    CHECK(failed == 0);
}

void signals_ignore(void)
{
    set_action(SIGPIPE, SIG_IGN);
    set_action(SIGUSR1, SIG_IGN);
}

void signals_open(struct engine *engine)
{
    CHECK(engine != NULL);
    atomic_store_explicit(&signal_count, 0, memory_order_relaxed);
    atomic_store_explicit(&signal_engine, engine, memory_order_release);
    set_action(SIGINT, on_signal);
    set_action(SIGTERM, on_signal);
    set_action(SIGUSR1, on_report);
}

void signals_close(void)
{
    set_action(SIGINT, SIG_DFL);
    set_action(SIGTERM, SIG_DFL);
    set_action(SIGUSR1, SIG_IGN);
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
    set_action(SIGALRM, on_alarm);
    alarm(seconds);
}

bool signals_take_report(void)
{
    return atomic_exchange_explicit(&signal_report, false, memory_order_relaxed);
}

int signals_count(void)
{
    return atomic_load_explicit(&signal_count, memory_order_relaxed);
}
