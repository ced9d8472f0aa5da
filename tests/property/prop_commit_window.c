/*
 * prop_commit_window: the window against a naive model, which is a plain list and the rules of the
 * header spelt out: random operations, and every order of completions and reports of small windows.
 *   prop_commit_window [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "commit/commit_window.h"

enum { HISTORY_MAX = 600, EPOCH = 3, RUNS = 400, OPERATIONS = 800 };

/* One admitted record, as the model sees it. */
struct entry {
    struct slot *slot;
    int64_t offset;
    size_t bytes;
    bool ran, known, retired, freed, failed;
    int emissions, sent, reports;
    bool undeliverable;
};

struct model {
    struct commit_window *win;
    enum processing_emit emit;
    uint32_t capacity;
    size_t bytes_max;
    bool held, draining;
    struct entry list[HISTORY_MAX];
    size_t count;             /* admitted */
    size_t freed;             /* of the front */
    size_t done[HISTORY_MAX]; /* emit=completion: indices in order of completion */
    size_t done_first, done_count;
    int64_t next_offset;
};

static uint64_t random_state;

static unsigned below(unsigned n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % n;
}

static void begin(struct model *model, uint32_t capacity, size_t bytes_max,
                  enum processing_emit emit)
{
    memset(model, 0, sizeof *model);
    model->capacity = capacity;
    model->bytes_max = bytes_max;
    model->emit = emit;
    model->next_offset = 1;
    model->win = commit_window_create(&(struct commit_window_options){
        .capacity = capacity, .bytes_max = bytes_max, .epoch = EPOCH, .emit = emit});
}

static ON_THREAD(poll_thread) void end(struct model *model)
{
    struct record rec;
    commit_window_set_mode(model->win, WINDOW_DEAD);
    commit_window_forget(model->win);
    size_t left = 0;
    while (commit_window_take_abandoned(model->win, &rec)) {
        CHECK(rec.offset == model->list[model->freed + left].offset);
        left++;
    }
    CHECK(left == model->count - model->freed); /* I4 */
    commit_window_destroy(model->win);
}

/* --- the rules ----------------------------------------------------------------------------- */

static size_t used_bytes(const struct model *model)
{
    size_t bytes = 0;
    for (size_t i = model->freed; i < model->count; i++) {
        bytes += model->list[i].bytes;
    }
    return bytes;
}

static void update_held(struct model *model)
{
    size_t used = model->count - model->freed;
    size_t bytes = used_bytes(model);
    if (used == model->capacity || bytes >= model->bytes_max) {
        model->held = true;
    } else if (used * 4 < (size_t)model->capacity * 3 && bytes * 4 < model->bytes_max * 3) {
        model->held = false;
    }
}

static struct entry *next_retirable(struct model *model)
{
    if (model->emit == EMIT_COMPLETION) {
        return model->done_count ? &model->list[model->done[model->done_first]] : NULL;
    }
    for (size_t i = 0; i < model->count; i++) {
        struct entry *entry = &model->list[i];
        if (!entry->retired) {
            return entry->known && !entry->failed ? entry : NULL;
        }
    }
    return NULL;
}

static bool is_acked(const struct entry *entry)
{
    return entry->retired && !entry->undeliverable && entry->reports == entry->emissions;
}

static ON_THREAD(poll_thread) void compare(struct model *model)
{
    commit_window_check(model->win, true);
    int64_t position = POSITION_NONE;
    if (model->count > model->freed) {
        position = model->list[model->freed].offset;
    } else if (model->count > 0) {
        position = model->list[model->count - 1].offset + 1;
    }
    CHECK(commit_window_commit_pos(model->win) == position); /* I1, I10 */
    CHECK(commit_window_is_held(model->win) == model->held); /* I3 */
    CHECK(commit_window_used(model->win) == model->count - model->freed);
    CHECK(commit_window_bytes(model->win) == used_bytes(model));
    struct entry *next = next_retirable(model);
    CHECK(commit_window_next_retirable(model->win) == (next ? next->slot : NULL)); /* I6 */
}

/* --- operations on both -------------------------------------------------------------------- */

static ON_THREAD(poll_thread) void admit(struct model *model)
{
    size_t bytes = below(30);
    struct record rec = {.offset = model->next_offset, .value = "", .value_size = (uint32_t)bytes};
    bool regressed = commit_window_regressed(model->win, rec.offset - 1);
    CHECK(regressed ==
          (model->count > 0 && rec.offset - 1 <= model->list[model->count - 1].offset));
    struct slot *slot = commit_window_admit(model->win, &rec, NO_KEY);
    CHECK((slot == NULL) == (model->held || model->draining));
    if (slot) {
        model->list[model->count++] =
            (struct entry){.slot = slot, .offset = rec.offset, .bytes = bytes};
        model->next_offset += 1 + below(4);
        update_held(model);
    }
}

/* What has not begun when the drain does is handed back, and never retires. */
static void run_entry(const struct model *model, struct entry *entry, bool failed, int emissions)
{
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    CHECK(slot_begin(entry->slot, 0) == !model->draining);
    if (model->draining) {
        CHECK(entry->slot->work.outcome == OUTCOME_UNRUN);
        entry->ran = true;
        entry->failed = true;
        thread_role_set(ROLE_POLL);
        return;
    }
    entry->emissions = failed ? 0 : emissions;
    for (int i = 0; i < entry->emissions; i++) {
        effects_emit(&entry->slot->work.effects);
    }
    entry->slot->work.outcome = failed ? OUTCOME_FAILED : OUTCOME_DONE;
    slot_finish(entry->slot);
    entry->ran = true;
    entry->failed = failed;
    thread_role_set(ROLE_POLL);
}

/* I7: the epoch, the attempt or the sequence is another one's. */
static ON_THREAD(poll_thread) void tell_stale(struct model *model, const struct entry *entry)
{
    struct commit_window *win = model->win;
    uint64_t late = commit_window_counts(win).late;
    uint64_t sequence = entry->slot->sequence;
    uint32_t attempt = entry->slot->attempt;
    CHECK(commit_window_complete(win, EPOCH - 1, sequence, attempt) == NULL);
    CHECK(commit_window_complete(win, EPOCH, sequence, attempt + 1) == NULL);
    CHECK(commit_window_complete(win, EPOCH, model->count, attempt) == NULL);
    CHECK(commit_window_ack(win, EPOCH + 1, sequence, false) == NULL);
    CHECK(commit_window_counts(win).late == late + 4);
}

static ON_THREAD(poll_thread) void complete(struct model *model, size_t index)
{
    struct entry *entry = &model->list[index];
    struct slot *got =
        commit_window_complete(model->win, EPOCH, entry->slot->sequence, entry->slot->attempt);
    CHECK((got == entry->slot) == !entry->known); /* I7: a second one changes nothing */
    if (!entry->known && !entry->failed && model->emit == EMIT_COMPLETION) {
        model->done[model->done_first + model->done_count++] = index;
    }
    entry->known = true;
}

static ON_THREAD(poll_thread) void send_or_retire(struct model *model)
{
    struct entry *entry = next_retirable(model);
    if (entry == NULL) {
        return;
    }
    if (entry->sent < entry->emissions) {
        commit_window_sent(model->win, entry->slot);
        entry->sent++;
        return;
    }
    commit_window_retire(model->win, entry->slot);
    entry->retired = true;
    if (model->emit == EMIT_COMPLETION) {
        model->done_first++;
        model->done_count--;
    }
}

static ON_THREAD(poll_thread) void report(struct model *model, size_t index, bool failed)
{
    struct entry *entry = &model->list[index];
    bool due = !entry->freed && entry->reports < entry->sent;
    struct slot *got = commit_window_ack(model->win, EPOCH, index, failed);
    CHECK((got != NULL) == due); /* I7 */
    if (due) {
        entry->reports++;
        entry->undeliverable = entry->undeliverable || failed;
    }
}

static ON_THREAD(poll_thread) void take(struct model *model)
{
    struct record rec;
    bool due = model->freed < model->count && is_acked(&model->list[model->freed]);
    CHECK(commit_window_take_acked(model->win, &rec) == due);
    if (due) {
        CHECK(rec.offset == model->list[model->freed].offset);
        model->list[model->freed++].freed = true;
        update_held(model);
    }
}

static ON_THREAD(poll_thread) void random_run(void)
{
    struct model model;
    begin(&model, 2u << below(6), below(3) ? 1 << 20 : 1 + below(200),
          below(2) ? EMIT_INPUT : EMIT_COMPLETION);
    unsigned failures = below(4) ? 0 : 50;
    for (int i = 0; i < OPERATIONS && model.count < HISTORY_MAX; i++) {
        size_t index = model.freed + below((unsigned)(model.count - model.freed) + 1);
        bool some = index < model.count;
        if (below(OPERATIONS * 2) == 0) {
            commit_window_set_mode(model.win, WINDOW_DRAIN);
            model.draining = true;
        }
        switch (below(8)) {
        case 0:
        case 1:
            admit(&model);
            break;
        case 2:
            if (some && !model.list[index].ran) {
                run_entry(&model, &model.list[index], failures && below(failures) == 0,
                          (int)below(3));
            }
            break;
        case 3:
            if (some && model.list[index].ran) {
                complete(&model, index);
            }
            break;
        case 4:
            send_or_retire(&model);
            break;
        case 5:
            if (some) {
                tell_stale(&model, &model.list[index]);
            }
            break;
        case 6:
            if (model.count > 0) {
                report(&model, some ? index : below((unsigned)model.count),
                       failures && below(failures) == 0);
            }
            break;
        default:
            take(&model);
        }
        compare(&model);
    }
    end(&model);
}

/* --- every order --------------------------------------------------------------------------- */

/* The next permutation in the order of the alphabet; false after the last. */
static bool permute(int *items, int count)
{
    int i = count - 2;
    while (i >= 0 && items[i] > items[i + 1]) {
        i--;
    }
    if (i < 0) {
        return false;
    }
    int j = count - 1;
    while (items[j] < items[i]) {
        j--;
    }
    int item = items[i];
    items[i] = items[j];
    items[j] = item;
    for (int a = i + 1, b = count - 1; a < b; a++, b--) {
        item = items[a];
        items[a] = items[b];
        items[b] = item;
    }
    return true;
}

/* Completes in one order; what retires is reported in the other order as soon as it can be. */
static ON_THREAD(poll_thread) void one_order(const int *completions, const int *reports, int count,
                                             enum processing_emit emit)
{
    struct model model;
    begin(&model, 8, 1 << 20, emit);
    for (int i = 0; i < count; i++) {
        admit(&model);
    }
    for (int i = 0; i < count; i++) {
        run_entry(&model, &model.list[completions[i]], false, 1);
        complete(&model, (size_t)completions[i]);
        while (next_retirable(&model)) {
            send_or_retire(&model);
        }
        compare(&model);
    }
    for (int i = 0; i < count; i++) {
        report(&model, (size_t)reports[i], false);
        take(&model);
        take(&model);
        compare(&model);
    }
    while (model.freed < model.count) {
        size_t before = model.freed;
        take(&model);
        CHECK(model.freed == before + 1);
    }
    compare(&model);
    end(&model);
}

/* Every `stride`-th pair of orders; a stride that is prime to their number meets each order. */
static ON_THREAD(poll_thread) long all_orders(int count, int stride, enum processing_emit emit)
{
    long pairs = 0;
    long orders = 0;
    int completions[8], reports[8];
    for (int i = 0; i < count; i++) {
        completions[i] = i;
    }
    do {
        for (int i = 0; i < count; i++) {
            reports[i] = i;
        }
        do {
            if (pairs++ % stride == 0) {
                one_order(completions, reports, count, emit);
                orders++;
            }
        } while (permute(reports, count));
    } while (permute(completions, count));
    return orders;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 408;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    random_state = seed;
    thread_role_set(ROLE_POLL);
    thread_assert_poll();
    for (int i = 0; i < RUNS; i++) {
        random_run();
    }
    long orders = 0;
    for (int count = 1; count <= 6; count++) {
        int stride = count < 6 ? 1 : 7; /* all pairs of six would take seconds */
        orders += all_orders(count, stride, EMIT_INPUT);
        orders += all_orders(count, stride, EMIT_COMPLETION);
    }
    printf("%d random runs, %ld orders\n", RUNS, orders);
    printf("prop_commit_window: 2 passed, 0 failed, 0 skipped\n");
    return 0;
}
