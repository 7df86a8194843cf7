#pragma once

#include "kernels/core/chip.h"
#include "kernels/scan/job.h"

namespace sawtooth::scan {

// How a thread block of the columns kernels (columns.cuh) covers a tile of block_size steps, D > 1.
struct ColumnTile {
    int64_t vector, units, warps;  // channels a lane, lanes side by side, warps stacked along the steps
    int64_t shared_rows;           // of a thread's rows, those that its registers do not hold
    int64_t shared_bytes;          // what they take
    int64_t min_blocks;            // that a multiprocessor shall hold at the least: it bounds the registers
    int64_t width() const { return vector * units; }
};
ColumnTile column_tile(const Job& job, const Chip& chip);

// Whether there are rows enough, D = 1, for a warp each to walk one: they need no look-back.
bool walks_rows(const Job& job, const Chip& chip);

}  // namespace sawtooth::scan
