#pragma once

#include "kernels/core/family.h"
#include "kernels/core/launch.h"
#include "kernels/lut_table/table_uses.h"

namespace sawtooth::lut::describe {

using Events = lut_table::describe::Events;

// The launches of the family lut on both backends; those of the document (lut_table::source) bear its names.
// Grids are filled in by plan builders. Work counts the rows of tables that are read, and an atomic addition
// as one write.

// The arrays of sums that become outputs.
Buffer y(const PlanRequest& request);
Buffer dx(const PlanRequest& request);
Buffer dweights(const PlanRequest& request);

LaunchInfo check_detectors(const PlanRequest& request);
LaunchInfo fire_detectors(const PlanRequest& request);
LaunchInfo fill_outputs_by_forward_groups(const PlanRequest& request);
LaunchInfo fill_outputs_fully_connected(const PlanRequest& request);
LaunchInfo fire_detectors_by_lookup_indices(const PlanRequest& request);
LaunchInfo gather_gradients(const PlanRequest& request, Events events);
LaunchInfo gather_x_gradients_fully_connected(const PlanRequest& request, Events events);
LaunchInfo gather_w_gradients_fully_connected(const PlanRequest& request);
LaunchInfo propagate_through_detectors(const PlanRequest& request);

// Of the variant fused.
LaunchInfo look_up(const PlanRequest& request);           // detectors, then y
LaunchInfo input_gradients(const PlanRequest& request);   // g of every detector, then dx
LaunchInfo sort_by_neuron(const PlanRequest& request);    // the items of every neuron
LaunchInfo weight_gradients(const PlanRequest& request);  // dweights, and weights_after

}  // namespace sawtooth::lut::describe
