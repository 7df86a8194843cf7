#pragma once

#include <optional>

#include "kernels/core/family.h"
#include "kernels/core/request.h"

namespace sawtooth {

// Random settings of any family, drawn from its schema alone: what the check tries beyond the tests of the
// family.

// An integer from `least` to `most`, evenly over magnitudes; sometimes exactly `least`, or close to a power
// of two.
int64_t random_integer(Random& random, int64_t least, int64_t most);

// How large a drawn setting may be.
struct DrawLimits {
    int64_t widest = 64;       // every dimension but the sequence axis
    int64_t longest = 400;     // the sequence axis, if the variant has no tiles
    double operations = 3e6;   // these take a few milliseconds, also in the reference
    double extra_steps = 1e9;  // of the variant; these take a second
};

// A setting that the family and the variant accept, as the values that differ from the defaults. Lengths are
// close to the borders of the variant's tiles, and parameters in `kept` keep their value. Absent after too
// many refusals.
std::optional<Parameters> draw_setting(Random& random, const Family& family, const Variant& variant,
                                       const Chip& chip, const DrawLimits& limits = {},
                                       const Parameters& kept = {});

// Returns whether a parameter is a dimension other than the length of the sequence.
bool is_width(const Family& family, const Parameter& row);

// The tiles of all outputs of a variant, along dimensions that an integer parameter sets.
std::vector<Tiling> tilings_of(const Family& family, const Variant& variant, const Parameters& values,
                               Backend backend);

// All parameter values of a setting, with automatic ones settled.
Parameters settled_values(const Family& family, const Parameters& set, Backend backend);

}  // namespace sawtooth
