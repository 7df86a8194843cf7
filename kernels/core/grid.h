#pragma once

#include <cstdint>
#include <string>

#include "kernels/core/launch.h"

namespace sawtooth {

// One side of a grid: its number of items and the formula for it. The same calls build both, so tooltips show
// what was launched.
struct Side {
    int64_t count = 1;
    std::string formula = "1";
};

// The side whose formula is one name, such as "B".
Side side(std::string name, int64_t count);
// The side with the formula "ceil(L / block_size)", or "ceil(L / 256)".
Side pieces(const std::string& name, int64_t count, const std::string& piece_name, int64_t piece);
Side pieces(const std::string& name, int64_t count, int64_t piece);
Side operator*(const Side& left, const Side& right);
Side operator+(const Side& left, const Side& right);

struct Grid {
    Side x = {}, y = {}, z = {};

    Extent extent() const { return {x.count, y.count, z.count}; }
    std::string formula() const;  // "ceil(L / 64), B"; trailing sides of 1 are omitted
};

}  // namespace sawtooth
