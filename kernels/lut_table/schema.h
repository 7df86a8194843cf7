#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::lut_table {

// The schema that lut, on single vectors, and lut_sequence, on pairs of positions, share. Detectors compare
// anchors, the bits address a row of a table (a neuron), and the weights or synapses of the row are added to
// the outputs.

inline const std::string source = "LUT Runtime CUDA Kernels Documentation";

// The number of rates in a generated meta_lr.
inline constexpr int64_t generated_metas = 3;

bool is_full(const Parameters& parameters);
bool is_sparse(const Parameters& parameters);

// Whether gradients are divided by their largest magnitude.
bool normalises(const Parameters& parameters);

// The limits of the weights after an update in place; infinite if there are none.
struct WeightLimits {
    explicit WeightLimits(const Parameters& parameters);

    bool exist() const { return least > -infinity || most < infinity; }

    static constexpr float infinity = std::numeric_limits<float>::infinity();
    float least = -infinity, most = infinity;
};

// The number of bits that address a row of a detector's table: C for single vectors; 2 C + P for a pair of
// positions, from the query, the key and the distance.
int64_t row_bits(const Parameters& parameters);
// The number of rows of all tables: T 2^row_bits.
int64_t neurons(const Parameters& parameters);

// Defaults that differ between the two families.
struct ShapeDefaults {
    int64_t batch, inputs, outputs, detectors, anchors_per_detector;
    int64_t most_batch;
    std::string batch_title;  // what the batch counts
};
std::vector<Parameter> shape_parameters(const ShapeDefaults& sizes);
// The parameters for connectivity, tiling, arithmetic and the backward pass.
std::vector<Parameter> common_parameters();

// The rows for anchors and weights, full or sparse; `rows` is the number of rows of a table in words.
std::vector<ArraySpec> table_arrays(const std::string& rows);
// The rows for dweights and weights_after.
std::vector<ArraySpec> table_gradients(const std::string& rows);

// Whether a variant equals the float64 formulas up to rounding: not if its terms become integers.
bool is_exact(const Variant& variant, const Parameters& parameters);
// Whether terms are added as floats, whose sums depend on the order.
bool adds_floats(const Parameters& parameters);
// How a variant rounds: integer sums are exact; only their conversion to floats rounds, and then the
// subtraction in weights_after.
Rounding rounding(const Variant& variant, const Parameters& parameters, Backend backend);

void settle(Parameters& parameters, const Arrays& given, Backend backend);
std::optional<Refusal> check(const Parameters& parameters);
// Checks all given arrays, including unused ones.
std::optional<Refusal> check_inputs(const Parameters& parameters, const Arrays& given);

}  // namespace sawtooth::lut_table
