#pragma once

#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "tests/run_family.h"

// Outputs against what is wanted, with a tolerance that follows from how much the setting forgives.
namespace sawtooth {

// Where an element lies along one dimension of its array.
struct Dimension {
    int64_t size = 1, inner = 1;  // inner: elements from one place to the next
    bool there = false;           // false: the array has no such dimension, every element lies at 0

    int64_t of(int64_t element) const { return element / inner % size; }
};
Dimension dimension_of(const Family& family, const Array& array, const std::string& dimension);

// The dimension of independent sequences: "batch", or "" where no input and output have it.
std::string batch_axis(const Family& family);

// The arrays with data of their own: those of a CPU plan share its memory, which its next run writes.
Arrays copied(const Arrays& arrays);
// Every float off by up to `share` of itself.
Arrays perturbed(const Arrays& inputs, double share, uint64_t seed);

// The outputs that are right, and the same of inputs that are off by a rounding: how far these lie from the
// first is what no algorithm can be blamed for.
struct Wanted {
    Arrays outputs, moved;
};
// Of the reference, with what the family makes for each variant: "VARIANT/NAME".
Wanted wanted_of_reference(const Family& family, const Parameters& parameters, const Arrays& inputs,
                           double share);
// Of the variant itself on the CPU in f32.
Wanted wanted_of_cpu(const Family& family, const Variant& variant, const Parameters& parameters,
                     const Arrays& inputs, double share);

// What a backend rounds, as shares of a value.
struct Rounding {
    double products = 0;  // of each factor of a product: what inputs are perturbed by
    double outputs = 0;   // of an output: its storage, and a few hundred sums on the way
};
Rounding rounding_of(const Parameters& parameters, Backend backend);

// Which sequences of the batch hold more than an f32 can work with (an f16 can store), and so show nothing.
std::vector<bool> wild_sequences(const Family& family, const Parameters& parameters, const Wanted& wanted);

// How far an output is from what is wanted.
struct Comparison {
    int64_t elements = 0;  // compared
    double worst = 0;      // the largest share of the tolerance that a sequence takes; above 1 it is wrong
    std::string words;     // which sequence that is, and how far it is off
};
// Sequence by sequence, in L2: that share of the wanted plus eight times what moves. Elements that are not
// finite in `wanted` are left out, and so are wild sequences.
Comparison compare(const Family& family, const Array& got, const Array& wanted, const Array& moved,
                   const std::vector<bool>& wild, double share);

}  // namespace sawtooth
