#pragma once

#include <stop_token>

#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut_table {

// What the families lut and lut_sequence have in common besides schema.h.

// Generated inputs.
Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop);
// The minimum of work on the tables, of which detectors choose so many rows in all: every array is read or
// written once, and of the weights only the rows that can be touched. A generated neuron has half of
// `synapses_per_neuron` synapses on average.
Work table_work(const Parameters& parameters, double choices);

}  // namespace sawtooth::lut_table
