#pragma once

#include <vector>

#include "kernels/core/family.h"

// How far rounding may move the outputs of a right kernel, found by computing its definition with random
// roundings.
namespace sawtooth {

// A right kernel stays within this many typical distances of the definition; it has another order of
// operations.
constexpr double most_spreads = 12;

// How often a definition is computed with random roundings. The first draws can only call an output right:
// the spread is then what a few draws would give if the others moved nothing, so it is never larger. If they
// do not, a few draws decide, and many before an output near its bound is called wrong: numbers may share a
// rounding that is small in all of a few.
constexpr int first_draws = 2, few_draws = 8, many_draws = 32;
constexpr int draws_after(int draws) { return draws < few_draws ? few_draws : many_draws; }

// What an output of a variant should be, and how far rounding may move each of its elements.
struct Expected {
    Array want;  // from the definition, in float64; may have only chosen rows
    // The typical distance of a correct kernel from every number of `want` (two per complex number), or less
    // after the first draws; NaN if rounding decides whether the number is finite.
    std::vector<float> spread = {};
    int draws = 0;  // from which the spread was estimated; 0: it was not drawn
    // The most that flushing a number below the range of f32 may change; such a number may still be
    // multiplied by inputs.
    double flushed = 0;
    // NaN is right where `want` is infinite: in another order of operations a product may be 0 times
    // infinity.
    bool may_become_nan = false;
    // Whether a right kernel may take another course in a sequence before any of the draws does. Only the
    // steady spread can then call an output wrong: there all numbers of a sequence are unknown if larger
    // roundings send it elsewhere. It is drawn when needed.
    bool may_diverge = false;
    std::vector<float> steady_spread = {};
};

// Whether a right kernel may take another course than the definition: outputs may then have a steady spread.
bool may_diverge(const Family& family, const Parameters& parameters);

// Computes the definition of a variant `draws` times with random roundings and sets the spread of its
// outputs, which keep only the rows that these computations have. Up to `threads` computations run at once.
// Error: cancelled, or that of the definition.
std::optional<Error> add_spread(const Family& family, const DefinitionRequest& request,
                                const Rounding& rounding, int threads, std::vector<Expected>& outputs,
                                int draws);

// Sets the steady spread of outputs that have a spread. Error: as add_spread.
std::optional<Error> add_steady_spread(const Family& family, const DefinitionRequest& request,
                                       const Rounding& rounding, int threads, std::vector<Expected>& outputs);

}  // namespace sawtooth
