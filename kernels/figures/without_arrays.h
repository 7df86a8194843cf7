#pragma once

#include <string>
#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// Figures of results whose arrays have no data, as those of sessions and of cells of sweeps.

// Whether all arrays have their data.
bool has_arrays(const Result& result);

struct FigureName {
    std::string id;
    Place place;
    std::string title;
};
// The figures that arrays would give, each with a sentence that says so.
std::vector<Figure> left_out_without_arrays(const std::vector<FigureName>& names);

// The figures of one output: its values are left out, and its errors by position, which are part of the
// result, are drawn if there are any. `place` names a position ("token").
std::vector<Figure> output_without_arrays(const Result& result, const View& view, const std::string& output,
                                          const std::string& place);

}  // namespace sawtooth
