#pragma once

#include <optional>

#include "kernels/core/family.h"
#include "kernels/core/request.h"

namespace sawtooth {

// Random settings of any family, from its schema alone: what the check tries beyond tests of its own.

// From `least` to `most`, evenly over magnitudes; sometimes `least`, or close to a power of two.
int64_t random_integer(Random& random, int64_t least, int64_t most);

// How large a drawn setting may be.
struct DrawLimits {
    int64_t widest = 64;      // of every dimension but the sequence axis
    int64_t longest = 400;    // of the sequence axis, where the variant has no tiles
    double operations = 3e6;  // a few milliseconds, also for the reference
};

// A setting that the family and the variant accept, with the values that differ from the defaults; lengths
// lie at the borders of the variant's tiles. Parameters in `kept` have that value. Absent after too many
// refusals.
std::optional<Parameters> draw_setting(Random& random, const Family& family, const Variant& variant,
                                       const Chip& chip, const DrawLimits& limits = {},
                                       const Parameters& kept = {});

// A shape parameter other than the length of the sequence.
bool is_width(const Family& family, const Parameter& row);

// All values of a setting, automatic ones settled.
Parameters settled_values(const Family& family, const Parameters& set, Backend backend);

}  // namespace sawtooth
