/*
 * sim_world: a Kafka in one thread: partitions with gaps, a group, commits, an output log; and what
 * is remembered of each record to judge the engine (the oracles).
 *
 * Why: one seed decides the options, the faults and the order of all turns, so a failing run can be
 * replayed exactly. The oracles are here, where records come from and outputs go to, and know
 * nothing of how the engine works.
 *
 * Oracles:
 *
 * O1  A record is fetched, runs once and then once more for each retry that is due, and is released
 *     exactly once, after its last use.
 *
 * O2  Per key (or partition, by the order asked for) records run in offset order within an era, and
 *     none runs while an earlier one of its key waits for a retry.
 *
 * O3  Outputs leave with emit=input in offset order within an era, with completion in order within
 *     each key; each emission of a fetched record at most once, of its last attempt only.
 *
 * O4  A commit passes no record that is not settled, never falls within an era, and only the owner
 *     of a partition commits. Settled: all emissions delivered (or left out, if that is the policy
 *     for outputs), or skipped by verdict, or its dead letter delivered.
 *
 * O5  Nothing is lost: at the end every record is settled and the committed offset is the end.
 *
 * O6  Liveness: with the faults off the end is reached within a bound of steps.
 *
 * O7  A calm run (rebalances, full sinks, slow threads, a broker that is away, orderly stops and
 *     retries, but nothing that fails for good) puts out what a serial loop does, with emit=input
 *     or K = 1: each emission once, in order from the first assignment to the end; with K = 1 and
 *     no retries each record also runs once.
 *
 * O8  Verdicts: what becomes of a record that failed is what the settings say, by a second opinion;
 *     nothing of a skipped one leaves, and of a dead letter nothing else.
 *
 * An era of a partition is the time from an assignment, or from the source going back, to the next
 * one.
 *
 * Thread: one.
 */
#ifndef SIM_SIM_WORLD_H
#define SIM_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/annotations.h"
#include "base/clock.h"
#include "engine/engine_options.h"
#include "stream/work.h"

enum {
    SIM_PARTITIONS_MAX = 4,
    SIM_RECORDS_MAX = 200,
    SIM_KEYS_MAX = 8,
    SIM_LINE_NULL = SIM_KEYS_MAX, /* lines of records that stay in order: one a key, and these */
    SIM_LINE_ALL,
    SIM_LINES,
    SIM_PIPELINES_MAX = 3,
    SIM_EMISSIONS_MAX = 3,
    SIM_LETTER = 3, /* the number of a dead letter among the emissions */
    SIM_ERAS_MAX = 4096,
};

struct sim_era {
    int64_t last_run[SIM_LINES]; /* index + 1 of the last record that ran */
    int64_t last_out[SIM_LINES]; /* the same of outputs, times 4 plus the emission's number */
    uint32_t waiting[SIM_LINES]; /* index + 1 of the record that is to run again */
    int64_t committed;
    bool went_back; /* the source did: a commit may fall */
};

/* How a run ended, as the settings want it. */
enum sim_verdict { SIM_NOT_RUN, SIM_DONE, SIM_STOP, SIM_RETRY, SIM_SKIP, SIM_LETTERED };

/* One fetch of one record: what its `message` points to. */
struct sim_message {
    struct sim_message *next;
    char *bytes; /* key, then value; gone after release */
    int32_t partition;
    uint32_t index;
    uint32_t era;
    uint32_t assignment;
    uint32_t runs;
    enum sim_verdict verdict;
    int64_t due_ms;    /* RETRY: not before */
    uint8_t delivered; /* a bit for each emission, and SIM_LETTER */
    uint8_t lost;      /* emissions that the sink did not deliver */
    bool released;
};

struct sim_partition {
    uint32_t records;
    int64_t offsets[SIM_RECORDS_MAX];
    int8_t keys[SIM_RECORDS_MAX];       /* -1: none */
    uint8_t delivered[SIM_RECORDS_MAX]; /* emissions that are in the output, a bit each, over all
                                           eras */
    bool ran[SIM_RECORDS_MAX];          /* in any era */
    bool settled[SIM_RECORDS_MAX];      /* in any era, see O4 */
    int64_t committed;                  /* what a restart resumes from; -1: nothing */
    int owner;                          /* pipeline; -1: none */
    uint32_t era;                       /* SIM_ERAS_MAX: none yet */
    uint32_t assignment;                /* counts them */
};

enum sim_count {
    SIM_RUNS,
    SIM_OUTPUTS,
    SIM_COMMITS,
    SIM_REFUSALS,
    SIM_REVOKES,
    SIM_LOSSES,
    SIM_CRASHES,
    SIM_REGRESSIONS,
    SIM_RETRIES,
    SIM_SKIPS,
    SIM_LETTERS,
    SIM_FATALS,
    SIM_COUNTS
};

struct sim_world {
    uint64_t random;
    bool verbose;
    bool faults; /* off for the last part */
    bool calm;   /* O7 */
    int64_t now_ns;
    struct clock_source clock;
    struct engine_options options;
    unsigned pipelines;
    unsigned workers; /* of each */
    int32_t partition_count;
    struct sim_partition partitions[SIM_PARTITIONS_MAX];
    struct sim_era eras[SIM_ERAS_MAX];
    uint32_t era_count;
    struct sim_message *messages;
    int target[SIM_PARTITIONS_MAX]; /* who is to own each partition */
    bool cooperative;
    unsigned script_failure; /* per mille of runs that fail */
    unsigned delivery_failure;
    int64_t away_until_ns; /* the broker answers nothing before */
    uint64_t counts[SIM_COUNTS]; /* events that happened, for the summary */
};

void sim_world_init(struct sim_world *world, uint64_t seed, bool verbose);
void sim_world_fini(struct sim_world *world);

/* A number below n, n > 0; the next of the seed. */
uint64_t sim_below(struct sim_world *world, uint64_t n);
/* True in `permille` of 1,000 cases, and never when the faults are off. */
bool sim_fault(struct sim_world *world, unsigned permille);
/* The same of what costs a duplicate: never in a calm run. */
bool sim_rough_fault(struct sim_world *world, unsigned permille);
/* Prints one event of a verbose run. */
void sim_say(const struct sim_world *world, const char *format, ...) PRINTF_LIKE(2, 3);

/* A new era of the partition; returns its number. */
uint32_t sim_begin_era(struct sim_world *world, int32_t partition);
/* Makes the record at `index` of a partition, as fetched in its era. */
void sim_make_record(struct sim_world *world, int32_t partition, uint32_t index,
                     struct record *rec);
void sim_release(struct sim_world *world, struct record *rec);
/* The fetch that the value of a record, as borrowed from it, belongs to. */
struct sim_message *sim_message_of(const char *value);
/* The broker does not answer now. */
bool sim_is_away(const struct sim_world *world);
/* How many emissions the script makes of it. */
uint32_t sim_emissions(int32_t partition, uint32_t index);

/* The oracles; each aborts with a sentence. */
void sim_judge_run(struct sim_world *world, const struct record *rec);
/* The run of the record has ended; failed: with what the script says of it. */
void sim_judge_end_of_run(struct sim_world *world, const struct work *work);
/* The emission was not and will never be delivered. */
void sim_judge_loss(struct sim_world *world, struct sim_message *message, uint32_t emission);
void sim_judge_output(struct sim_world *world, struct sim_message *message, uint32_t emission);
void sim_judge_commit(struct sim_world *world, int pipeline, int32_t partition, int64_t position);
void sim_judge_end(const struct sim_world *world);

/* Fails the run with a sentence. */
NORETURN void sim_fail(const struct sim_world *world, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
