#pragma once

#include <cstdint>

#include "kernels/cpu/scratch.h"

namespace sawtooth::lut_table {

// The scratch that CPU kernels of both families take for an item.

template <class Sum>
struct SumRooms {
    Sum* sums;

    SumRooms(cpu::Scratch& scratch, int64_t count) : sums(scratch.take<Sum>(count)) {}
};

// The addresses of the rows that are added to sums in one call.
struct RowRooms {
    const float** rows;

    RowRooms(cpu::Scratch& scratch, int64_t count) : rows(scratch.take<const float*>(count)) {}
};

// The most rows of one call where their number depends on the data: so many that loading and storing the sums
// once more costs nothing.
constexpr int64_t rows_at_once = 1024;

}  // namespace sawtooth::lut_table
