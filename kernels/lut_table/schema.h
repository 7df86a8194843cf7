#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::lut_table {

// Shared by the families on single vectors and on pairs of positions: detectors compare anchors, the bits
// address a row of a table (a neuron), and the weights or synapses of the row add to the outputs.

inline const std::string source = "LUT Runtime CUDA Kernels Documentation";

// Rates in meta_lr where it is generated.
inline constexpr int64_t generated_metas = 3;

bool is_full(const Parameters& parameters);
bool is_sparse(const Parameters& parameters);

// Bits that address a row of a detector's table: C for single vectors; 2 C + P for a pair of positions, from
// the query, the key and the distance.
int64_t row_bits(const Parameters& parameters);
// Rows of all tables: T 2^row_bits.
int64_t neurons(const Parameters& parameters);

// Defaults that differ between the two families.
struct ShapeDefaults {
    int64_t batch, inputs, outputs, detectors, anchors_per_detector;
    int64_t most_batch;
    std::string batch_title;  // what it counts
};
std::vector<Parameter> shape_parameters(const ShapeDefaults& sizes);
// Connectivity, tiling, arithmetic and backward pass.
std::vector<Parameter> common_parameters();

// Anchors and weights, full or sparse; `rows` is the readable number of rows of a table.
std::vector<ArraySpec> table_arrays(const std::string& rows);
// dweights and weights_after.
std::vector<ArraySpec> table_gradients(const std::string& rows);

// Integers are not rounded until their sums are floats, which weights_after subtracts.
Rounding rounding(const Variant& variant, const Parameters& parameters, Backend backend);

void settle(Parameters& parameters, const Arrays& given, Backend backend);
std::optional<Refusal> check(const Parameters& parameters);
// Checks all given arrays, also unused ones.
std::optional<Refusal> check_inputs(const Parameters& parameters, const Arrays& given);

}  // namespace sawtooth::lut_table
