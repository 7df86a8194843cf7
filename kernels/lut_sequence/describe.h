#pragma once

#include "kernels/core/family.h"
#include "kernels/core/launch.h"
#include "kernels/lut_table/table_uses.h"

namespace sawtooth::lut_sequence::describe {

// The launches of the family lut_sequence on both backends; those of the document (lut_table::source) bear
// its names. Clearing and conversion are those of lut_table::describe. Grids are filled in by plan builders.
// Work counts the rows of tables that are read, and an atomic addition as one write. How many events there
// are depends on the data: work counts a main and an alternative event per pair and detector, and where equal
// ones are merged, as many as there are on average if all rows of a table are equally likely.

// The arrays that are cleared before others add to them.
Buffer y(const PlanRequest& request);
Buffer dx(const PlanRequest& request);
Buffer dpositional(const PlanRequest& request);
Buffer dweights(const PlanRequest& request);
Buffer event_count(const PlanRequest& request);              // on CUDA; on the CPU each position sets its own
Buffer alternative_event_count(const PlanRequest& request);  // likewise
Buffer hash_table(const PlanRequest& request);
Buffer hash_table_high(const PlanRequest& request);  // of integer sums, on CUDA

LaunchInfo check_detectors_for_sequence(const PlanRequest& request);
LaunchInfo check_positional_embeddings(const PlanRequest& request);
// Main events alone if only the forward pass runs, here and in the next.
LaunchInfo fill_after_detectors_firing_stat(const PlanRequest& request);
// The statistic is zero when the plan is built, and afterwards because this launch clears what it reads.
LaunchInfo densify_firing_stat(const PlanRequest& request);
LaunchInfo fill_outputs_by_sparse_firings(const PlanRequest& request);
using Events = lut_table::describe::Events;
LaunchInfo gather_x_gradients_for_sequence(const PlanRequest& request, Events events);
LaunchInfo gather_w_gradients_for_sequence(const PlanRequest& request);
LaunchInfo propagate_through_detectors_for_sequence(const PlanRequest& request);

// Of the variant fused.
LaunchInfo look_up_pairs(const PlanRequest& request);       // y
LaunchInfo pair_gradients(const PlanRequest& request);      // du of every pair, of x and of positional
LaunchInfo position_gradients(const PlanRequest& request);  // dx
LaunchInfo distance_gradients(const PlanRequest& request);  // dpositional
LaunchInfo sort_by_neuron(const PlanRequest& request);      // the pairs of every neuron
LaunchInfo weight_gradients(const PlanRequest& request);    // dweights, and weights_after

}  // namespace sawtooth::lut_sequence::describe
