#pragma once

#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "tests/run_family.h"

// Compares outputs with expected ones; the tolerance follows from the sensitivity of the setting.
namespace sawtooth {

// The position of an element along one dimension of its array.
struct Dimension {
    int64_t size = 1, inner = 1;  // inner: elements from one position to the next
    bool there = false;           // false: the array has no such dimension, all positions are 0

    int64_t of(int64_t element) const { return element / inner % size; }
};
Dimension dimension_of(const Family& family, const Array& array, const std::string& dimension);

// The dimension of independent sequences: "batch", or "" if no input and output have it.
std::string batch_axis(const Family& family);

// Perturbs every float by up to `share` of itself.
Arrays perturbed(const Arrays& inputs, double share, uint64_t seed);

// The expected outputs, and the same for inputs perturbed by a rounding: no algorithm can be expected to be
// closer than their distance.
struct Wanted {
    Arrays outputs, moved;
};
// Of the reference, including its arrays for single variants: "VARIANT/NAME".
Wanted wanted_of_reference(const Family& family, const Parameters& parameters, const Arrays& inputs,
                           double share);
// Of the variant itself on the CPU in f32.
Wanted wanted_of_cpu(const Family& family, const Variant& variant, const Parameters& parameters,
                     const Arrays& inputs, double share);

// The roundings of a backend, as shares of a value.
struct Tolerance {
    double products = 0;  // of each factor of a product: the perturbation of inputs
    double outputs = 0;   // of an output: its storage, and a few hundred sums on the way
};
Tolerance tolerance_of(const Variant& variant, const Parameters& parameters, Backend backend);

// The sequences of the batch with values too large for f32 (or f16 storage), which prove nothing.
std::vector<bool> wild_sequences(const Family& family, const Parameters& parameters, const Wanted& wanted);

// The largest norm of any output, without values that are not finite.
double largest_norm(const Arrays& outputs);

// The distance of an output from the expected one.
struct Comparison {
    int64_t elements = 0;  // compared
    double worst = 0;      // the largest error as a share of the tolerance; above 1 it is wrong
    std::string words;     // the sequence with that error
};
// Compares sequence by sequence, in L2; the tolerance is that share of the expected values plus eight times
// the perturbation. An output that is zero because its terms cancel keeps the rounding of terms as large as
// `largest`, 0 if none are rounded. Skips elements that are not finite in `wanted` or `moved`, and wild
// sequences.
Comparison compare(const Family& family, const Array& got, const Array& wanted, const Array& moved,
                   const std::vector<bool>& wild, double share, double largest);

// Whether a variant gives the same bits every time: not if atomics of a GPU add floats.
inline bool keeps_bits(const Variant& variant, const Parameters& parameters, Backend backend) {
    return backend == Backend::cpu || !variant.unordered ||
           (parameters.has("arithmetic") && parameters.is("arithmetic", "integer"));
}

}  // namespace sawtooth
