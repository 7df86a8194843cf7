#pragma once

#include <stop_token>

#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut_table {

// Functions that the families lut and lut_sequence share, besides those of schema.h.

// Generates an input.
Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop);
// The minimum of work on the tables if detectors choose `choices` rows in all. Every array is read or written
// once, of the weights only as many rows as can be chosen. A neuron of a sparse table counts with the average
// number of its synapses: half of `synapses_per_neuron` as long as there are no inputs.
Work table_work(const Parameters& parameters, const Arrays& inputs, double choices);

}  // namespace sawtooth::lut_table
