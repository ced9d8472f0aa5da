/*
 * sim_source: the source port of one pipeline in a simulated group.
 *
 * Thread: one.
 */
#ifndef SIM_SIM_SOURCE_H
#define SIM_SIM_SOURCE_H

#include "sim/sim_world.h"
#include "stream/source.h"

struct source *sim_source_create(struct sim_world *world, int pipeline);

/* Moves the group towards world->target: revokes what is to go, assigns what is free. */
void sim_source_rebalance(struct source *source);
/* Takes all partitions away at once. */
void sim_source_lose(struct source *source);
/* No event is on its way or waits for its answer. */
bool sim_source_is_settled(const struct source *source);
/* Makes one assigned partition go back to an earlier record. */
void sim_source_regress(struct source *source);
/* The group throws it out: a fatal error, and others may have its partitions at once. */
void sim_source_fence(struct source *source);
/* The process dies: a commit in flight arrives or not; what it owned is free. */
void sim_source_die(struct source *source);

#endif
