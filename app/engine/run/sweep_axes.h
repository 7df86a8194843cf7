#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// An axis from typed text: names or titles of parameters that take the same values, comma separated, and the
// values as `parse_values` reads them: "chunk,C_G", "16..256".
Outcome<SweepAxis> parse_axis(const Family& family, std::string_view names, std::string_view values);

// Checks that every axis is a parameter of the family that can be swept, with accepted values. Cells that a
// check refuses are not errors.
std::optional<Error> check_sweep(const Sweep& sweep);

// "slot_count has no effect: only for rule lattice" for each axis without effect in any cell of a checked
// sweep. Empty if the arrays of a file could give an axis an effect.
std::vector<std::string> axes_without_effect(const Sweep& sweep);

}  // namespace sawtooth
