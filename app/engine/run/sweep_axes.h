#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// Parses an axis: names or titles of parameters that take the same values, separated by commas, and the
// values as `parse_values` reads them. Example: "chunk,C_G" and "16..256".
Outcome<SweepAxis> parse_axis(const Family& family, std::string_view names, std::string_view values);

// Checks that every axis is a parameter of the family that can be swept, and that its values are accepted. A
// cell that is refused later is no error.
std::optional<Error> check_sweep(const Sweep& sweep);

// A sentence for each axis that has no effect in any cell of a checked sweep: "slot_count has no effect: only
// for rule lattice". Empty if the arrays of a file could give an axis an effect.
std::vector<std::string> axes_without_effect(const Sweep& sweep);

}  // namespace sawtooth
