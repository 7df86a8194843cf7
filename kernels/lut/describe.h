#pragma once

#include "kernels/core/family.h"
#include "kernels/core/launch.h"

namespace sawtooth::lut::describe {

// The launches of the family lut on both backends; those of the document (lut::source) bear its names. Grids
// are filled in by plan builders. Work counts the rows of tables that are read, and an atomic addition as one
// write.

// "clear_y": zeros, before others add to the array. Also of lut_sequence.
LaunchInfo clear(const Buffer& array);
// Also of lut_sequence. Those of dweights are also subtracted from the weights if that is the policy.
LaunchInfo convert_integers_to_floats(const PlanRequest& request, const Buffer& array);

// The arrays of sums that become outputs; not of lut_sequence.
Buffer y(const PlanRequest& request);
Buffer dx(const PlanRequest& request);
Buffer dweights(const PlanRequest& request);

LaunchInfo check_detectors(const PlanRequest& request);
LaunchInfo fire_detectors(const PlanRequest& request);
LaunchInfo fill_outputs_by_forward_groups(const PlanRequest& request);
LaunchInfo fill_outputs_fully_connected(const PlanRequest& request);
LaunchInfo fire_detectors_by_lookup_indices(const PlanRequest& request);
enum class Events { main, alternative };
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
