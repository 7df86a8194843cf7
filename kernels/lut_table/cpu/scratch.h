#pragma once

#include <cstdint>

#include "kernels/cpu/scratch.h"

namespace sawtooth::lut_table {

// What kernels of both families take for an item.

template <class Sum>
struct SumRooms {
    Sum* sums;

    SumRooms(cpu::Scratch& scratch, int64_t count) : sums(scratch.take<Sum>(count)) {}
};

// Where rows begin that are added to sums in one call.
struct RowRooms {
    const float** rows;

    RowRooms(cpu::Scratch& scratch, int64_t count) : rows(scratch.take<const float*>(count)) {}
};

// Rows of one call if their number depends on the data: so many that it costs nothing to load and store the
// sums again.
constexpr int64_t rows_at_once = 1024;

}  // namespace sawtooth::lut_table
