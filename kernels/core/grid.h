#pragma once

#include <cstdint>
#include <string>

#include "kernels/core/launch.h"

namespace sawtooth {

// One side of a grid: how many items it has, and the formula that says so. Both are made by the same calls,
// so that what a tooltip says is what was launched.
struct Side {
    int64_t count = 1;
    std::string formula = "1";
};

// "B", and how many that is.
Side side(std::string name, int64_t count);
// "ceil(L / block_size)", or "ceil(L / 256)".
Side pieces(std::string name, int64_t count, std::string piece_name, int64_t piece);
Side pieces(std::string name, int64_t count, int64_t piece);
Side operator*(const Side& left, const Side& right);

struct Grid {
    Side x = {}, y = {}, z = {};

    Extent extent() const { return {x.count, y.count, z.count}; }
    std::string formula() const;  // "ceil(L / 64), B": sides of 1 at the end are left out
};

}  // namespace sawtooth
