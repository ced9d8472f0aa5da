/*
 * sim_world: a Kafka in one thread: partitions with gaps, a group, commits, an output log; and what
 * is remembered of each record to judge the engine (the oracles).
 *
 * Why: one seed decides the options, the faults and the order of all turns, so a failing run can be
 * replayed exactly. The oracles are here, where records come from and outputs go to, and know
 * nothing of how the engine works.
 *
 * Oracles:
 *   O1 a record is fetched, runs at most once per fetch, and is released exactly once, after its
 * last use O2 per key (or partition, by the order asked for) records run in offset order within an
 * era O3 outputs: emit=input in offset order within an era, completion in order within each key;
 * each emission of a fetched record at most once O4 a commit passes no record whose emissions are
 * not all delivered, never falls within an era, and only the owner of a partition commits O5
 * nothing is lost: at the end every emission of every record was delivered at least once, and the
 *      committed offset is the end
 *   O6 liveness: with the faults off the end is reached within a bound of steps
 *   O7 a calm run (rebalances, full sinks, slow threads and orderly stops, but nothing that fails)
 *      puts out what a serial loop does, with emit=input or K = 1: each emission once, in order
 * from the first assignment to the end; with K = 1 each record also runs once An era of a partition
 * is the time from an assignment, or from the source going back, to the next one.
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
#include "stream/record.h"

enum {
    SIM_PARTITIONS_MAX = 4,
    SIM_RECORDS_MAX = 200,
    SIM_KEYS_MAX = 8,
    SIM_LINE_NULL = SIM_KEYS_MAX, /* lines of records that stay in order: one a key, and these */
    SIM_LINE_ALL,
    SIM_LINES,
    SIM_PIPELINES_MAX = 3,
    SIM_EMISSIONS_MAX = 3,
    SIM_ERAS_MAX = 4096,
};

struct sim_era {
    int64_t last_run[SIM_LINES]; /* index + 1 of the last record that ran */
    int64_t last_out[SIM_LINES]; /* the same of outputs, times 4 plus the emission's number */
    int64_t committed;
    bool went_back; /* the source did: a commit may fall */
};

/* One fetch of one record: what its `message` points to. */
struct sim_message {
    struct sim_message *next;
    char *bytes; /* key, then value; gone after release */
    int32_t partition;
    uint32_t index;
    uint32_t era;
    uint8_t runs;
    uint8_t delivered; /* a bit for each emission */
    bool released;
};

struct sim_partition {
    uint32_t records;
    int64_t offsets[SIM_RECORDS_MAX];
    int8_t keys[SIM_RECORDS_MAX];       /* -1: none */
    uint8_t delivered[SIM_RECORDS_MAX]; /* emissions that are in the output, a bit each, over all
                                           eras */
    bool ran[SIM_RECORDS_MAX];          /* in any era */
    int64_t committed;                  /* what a restart resumes from; -1: nothing */
    int owner;                          /* pipeline; -1: none */
    uint32_t era;                       /* SIM_ERAS_MAX: none yet */
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
    uint64_t counts[8]; /* events that happened, for the summary */
};

enum sim_count {
    SIM_RUNS,
    SIM_OUTPUTS,
    SIM_COMMITS,
    SIM_REFUSALS,
    SIM_REVOKES,
    SIM_LOSSES,
    SIM_CRASHES,
    SIM_REGRESSIONS
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
/* How many emissions the script makes of it. */
uint32_t sim_emissions(int32_t partition, uint32_t index);

/* The oracles; each aborts with a sentence. */
void sim_judge_run(struct sim_world *world, const struct record *rec);
void sim_judge_output(struct sim_world *world, struct sim_message *message, uint32_t emission);
void sim_judge_commit(struct sim_world *world, int pipeline, int32_t partition, int64_t position);
void sim_judge_end(const struct sim_world *world);

/* Fails the run with a sentence. */
NORETURN void sim_fail(const struct sim_world *world, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
