/*
 * prop_commit_window: the window against a naive model, which is a plain list and the rules of the
 * header spelt out: random operations with retries, skipped records, lost outputs and dead letters,
 * and every order of completions and reports of small windows. prop_commit_window [SEED]
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
    enum outcome outcome; /* of the last attempt */
    uint32_t attempt;
    bool ran, known; /* this attempt; the poll thread knows */
    bool waiting;    /* for its next attempt */
    bool failed;     /* for good, or unrun: never retires */
    bool retired, freed;
    int left, sent, reports; /* emissions: still to be sent, out, and reported */
    bool undeliverable, letter_due, letter;
};

struct model {
    struct commit_window *win;
    enum processing_emit emit;
    uint32_t capacity;
    size_t bytes_max;
    bool held, draining;
    size_t drain_to; /* what a drain still begins is below */
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
    return entry->retired && !entry->undeliverable && entry->left == 0 &&
           entry->reports == entry->sent;
}

static bool may_begin(const struct model *model, const struct entry *entry)
{
    return !model->draining || entry < model->list + model->drain_to;
}

/* What is with workers, waits, and has no report; and whether all is as drained as it gets. */
static ON_THREAD(poll_thread) void compare_counts(const struct model *model,
                                                  const struct entry *next)
{
    uint32_t outstanding = 0;
    uint32_t at_work = 0; /* what begun or still may */
    uint32_t waiting = 0;
    uint64_t undelivered = 0;
    for (size_t i = model->freed; i < model->count; i++) {
        const struct entry *entry = &model->list[i];
        bool out = !entry->known && !entry->waiting;
        bool begun = entry->ran && entry->outcome != OUTCOME_UNRUN;
        outstanding += out;
        at_work += out && (begun || may_begin(model, entry));
        waiting += entry->waiting;
        undelivered += (uint64_t)(entry->sent - entry->reports);
        CHECK(entry->slot->attempt == entry->attempt);
        CHECK(!entry->known || entry->slot->last_resort == entry->letter);
    }
    CHECK(commit_window_outstanding(model->win) == outstanding);
    CHECK(commit_window_waiting(model->win) == waiting);
    CHECK(commit_window_undelivered(model->win) == undelivered);
    bool head = model->count > model->freed && is_acked(&model->list[model->freed]);
    bool quiet = at_work + waiting + undelivered == 0 && next == NULL && !head;
    CHECK(commit_window_is_quiet(model->win) == quiet);
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
    compare_counts(model, next);
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

/* With emit=completion what lies before the last one that began is still run. */
static void drain(struct model *model)
{
    for (size_t i = model->freed; model->emit == EMIT_COMPLETION && i < model->count; i++) {
        if (model->list[i].ran || model->list[i].waiting) {
            model->drain_to = i;
        }
    }
    model->draining = true;
}

/* What has not begun when the drain does is handed back, and never retires. */
static void run_entry(const struct model *model, struct entry *entry, enum outcome outcome,
                      int emissions)
{
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    CHECK(slot_begin(entry->slot, 0) == may_begin(model, entry));
    entry->ran = true;
    if (!may_begin(model, entry)) {
        CHECK(entry->slot->work.outcome == OUTCOME_UNRUN);
        entry->outcome = OUTCOME_UNRUN;
        entry->failed = true;
        thread_role_set(ROLE_POLL);
        return;
    }
    entry->outcome = outcome;
    entry->failed = outcome == OUTCOME_FAILED;
    entry->left = outcome == OUTCOME_DONE ? emissions : outcome == OUTCOME_DEAD_LETTER ? 1 : 0;
    entry->letter = outcome == OUTCOME_DEAD_LETTER;
    for (int i = 0; i < entry->left; i++) {
        effects_emit(&entry->slot->work.effects);
    }
    entry->slot->work.outcome = (uint8_t)outcome;
    slot_finish(entry->slot);
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
    CHECK(commit_window_complete(win, EPOCH, sequence, attempt - 1) == NULL);
    CHECK(commit_window_complete(win, EPOCH, model->count, attempt) == NULL);
    CHECK(commit_window_ack(win, EPOCH + 1, sequence, false) == NULL);
    CHECK(commit_window_counts(win).late == late + 5);
}

static ON_THREAD(poll_thread) void complete(struct model *model, size_t index)
{
    struct entry *entry = &model->list[index];
    struct slot *got =
        commit_window_complete(model->win, EPOCH, entry->slot->sequence, entry->attempt);
    bool news = !entry->known && !entry->waiting;
    CHECK((got == entry->slot) == news); /* I7: a second one changes nothing */
    if (!news) {
        return;
    }
    entry->known = true;
    if (entry->outcome == OUTCOME_RETRY) {
        entry->failed = true; /* this attempt */
        compare(model);
        commit_window_wait(model->win, got);
        entry->waiting = true;
    } else if (!entry->failed && model->emit == EMIT_COMPLETION) {
        model->done[model->done_first + model->done_count++] = index;
    }
}

/* The next attempt, as after any time. */
static ON_THREAD(poll_thread) void retry(struct model *model, struct entry *entry)
{
    commit_window_retry(model->win, entry->slot);
    entry->attempt++;
    entry->waiting = entry->ran = entry->known = entry->failed = false;
}

static void leave_done(struct model *model)
{
    if (model->emit == EMIT_COMPLETION) {
        model->done_first++;
        model->done_count--;
    }
}

static ON_THREAD(poll_thread) void send_or_retire(struct model *model)
{
    struct entry *entry = next_retirable(model);
    if (entry == NULL) {
        return;
    }
    if (entry->left > 0) {
        commit_window_sent(model->win, entry->slot);
        entry->left--;
        entry->sent++;
        return;
    }
    commit_window_retire(model->win, entry->slot);
    entry->retired = true;
    leave_done(model);
}

/* The sink will never take the next emission, and one of the policies says what follows. */
static ON_THREAD(poll_thread) void be_refused(struct model *model)
{
    struct entry *entry = next_retirable(model);
    if (entry == NULL || entry->left == 0) {
        return;
    }
    switch (below(3)) {
    case 0:
        commit_window_drop(model->win, entry->slot);
        entry->left--;
        break;
    case 1:
        commit_window_lose(model->win, entry->slot);
        entry->left = 0;
        entry->undeliverable = true;
        break;
    default:
        commit_window_refuse(model->win, entry->slot);
        entry->failed = true;
        leave_done(model);
    }
}

/* An output was lost: forgiven, or a letter stands for it, which is sent some time later. */
static ON_THREAD(poll_thread) void mend(struct model *model, struct entry *entry)
{
    if (!entry->undeliverable || entry->freed) {
        return;
    }
    if (entry->letter_due) {
        commit_window_sent(model->win, entry->slot);
        commit_window_forgive(model->win, entry->slot);
        entry->left--;
        entry->sent++;
        entry->letter_due = entry->undeliverable = false;
    } else if (entry->retired && entry->reports == entry->sent && !entry->letter) {
        effects_emit(&entry->slot->work.effects);
        commit_window_send_letter(model->win, entry->slot);
        entry->left = 1;
        entry->letter = entry->letter_due = true;
    } else if (below(2)) {
        commit_window_forgive(model->win, entry->slot);
        entry->undeliverable = false;
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

/* How an attempt ends when one of `one_in` does not end well; 0: all do. */
static enum outcome random_outcome(unsigned one_in)
{
    if (one_in == 0 || below(one_in)) {
        return OUTCOME_DONE;
    }
    switch (below(8)) {
    case 0:
        return OUTCOME_FAILED;
    case 1:
        return OUTCOME_SKIPPED;
    case 2:
        return OUTCOME_DEAD_LETTER;
    default:
        return OUTCOME_RETRY;
    }
}

/* One operation on an entry that is in the window. */
static ON_THREAD(poll_thread) void touch(struct model *model, size_t index, unsigned failures)
{
    struct entry *entry = &model->list[index];
    switch (below(5)) {
    case 0:
        if (entry->waiting) {
            retry(model, entry);
        } else if (!entry->ran) {
            run_entry(model, entry, random_outcome(failures), (int)below(3));
        }
        break;
    case 1:
        if (entry->ran) {
            complete(model, index);
        }
        break;
    case 2:
        tell_stale(model, entry);
        break;
    case 3:
        mend(model, entry);
        break;
    default:
        report(model, index, failures && below(failures) == 0);
    }
}

static ON_THREAD(poll_thread) void random_run(void)
{
    struct model model;
    begin(&model, 2u << below(6), below(3) ? 1 << 20 : 1 + below(200),
          below(2) ? EMIT_INPUT : EMIT_COMPLETION);
    static const unsigned ONE_IN[] = {0, 2, 8, 50};
    unsigned failures = ONE_IN[below(4)];
    for (int i = 0; i < OPERATIONS && model.count < HISTORY_MAX; i++) {
        size_t used = model.count - model.freed;
        if (below(OPERATIONS * 2) == 0) {
            commit_window_set_mode(model.win, WINDOW_DRAIN);
            if (!model.draining) {
                drain(&model);
            }
        }
        switch (below(10)) {
        case 0:
        case 1:
            admit(&model);
            break;
        case 2:
            send_or_retire(&model);
            break;
        case 3:
            take(&model);
            break;
        case 4:
            if (failures && below(failures) == 0) {
                be_refused(&model);
            }
            break;
        case 5:
            if (model.freed > 0) {
                report(&model, below((unsigned)model.freed), false);
            }
            break;
        default:
            if (used > 0) {
                touch(&model, model.freed + below((unsigned)used), failures);
            }
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
        run_entry(&model, &model.list[completions[i]], OUTCOME_DONE, 1);
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
