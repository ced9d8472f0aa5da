/*
 * sim_sink: the sink port of one pipeline: writes to the output log of the world, late and in order
 * of each partition, with full queues and failed deliveries.
 *
 * Thread: one.
 */
#ifndef SIM_SIM_SINK_H
#define SIM_SIM_SINK_H

#include "sim/sim_world.h"
#include "stream/sink.h"

struct sink *sim_sink_create(struct sim_world *world, int pipeline);

#endif
