/*
 * sim_processor: the script of the simulation: sim_emissions() outputs a record, to the partition
 * of the record, the first with bytes of the record itself, the others with copies.
 *
 * Thread: one.
 */
#ifndef SIM_SIM_PROCESSOR_H
#define SIM_SIM_PROCESSOR_H

#include "sim/sim_world.h"
#include "stream/processor.h"

struct processor *sim_processor_create(struct sim_world *world);

/* What an emission says of itself. */
struct sim_output {
    struct sim_message *message; /* the record that it comes from */
    uint32_t number;             /* among the emissions of the record, or SIM_LETTER */
    uint32_t attempt;            /* the run that it is of, from 1 */
};

/* Reads all bytes of the emission; aborts when they are not those of its record, or of an earlier
 * run. */
void sim_output_read(const struct emission *emission, struct sim_output *output);

#endif
