#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::lut {

// What the families of one vector and of pairs of positions share: detectors compare anchors, the bits
// address a row of a table (a neuron), the row's weights or synapses add to the outputs.

inline const std::string source = "LUT Runtime CUDA Kernels Documentation";

bool is_full(const Parameters& parameters);
bool is_sparse(const Parameters& parameters);

// Bits that address a row of a detector's table: C of one vector; 2 C + P of a pair of positions, the
// query's, the key's and the positional ones.
int64_t row_bits(const Parameters& parameters);
// Rows of all tables: T 2^row_bits.
int64_t neurons(const Parameters& parameters);

// Defaults of what the two families set differently.
struct Sizes {
    int64_t batch, inputs, outputs, detectors, anchors_per_detector;
    int64_t most_batch;
};
std::vector<Parameter> shape_parameters(const Sizes& sizes);
// Connectivity, tiling, arithmetic and what the backward pass does.
std::vector<Parameter> common_parameters();

// Anchors and weights, full or sparse; `rows` says for people how many rows a table has.
std::vector<ArraySpec> table_arrays(const std::string& rows);
// dweights and weights_after.
std::vector<ArraySpec> table_gradients(const std::string& rows);

void settle(Parameters& parameters, const Arrays& given, Backend backend);
std::optional<Refusal> check(const Parameters& parameters);
// Looks at the arrays that were given, also at those which are not used.
std::optional<Refusal> check_inputs(const Parameters& parameters, const Arrays& given);

}  // namespace sawtooth::lut
