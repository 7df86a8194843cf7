#pragma once

#include "kernels/core/chip.h"
#include "kernels/scan/job.h"

namespace sawtooth::scan {

// How a thread block of the columns kernels (columns.cuh) covers a tile of block_size steps.
struct ColumnTile {
    int64_t vector, units, warps;  // channels per lane, lanes side by side, warps along the steps
    int64_t shared_rows;           // rows of a thread that do not fit in its registers
    int64_t shared_bytes;          // shared memory of these rows
    int64_t min_blocks;            // minimum blocks per SM: bounds the registers
    int64_t ahead;                 // earlier tiles that a look back sees at once; more if channels are few
    int64_t width() const { return vector * units; }
};
ColumnTile column_tile(const Job& job, const Chip& chip);

// The neighbouring steps of a row of that length, D = 1, that a lane reads at once.
inline int64_t vector_of_row(int64_t length) { return length % 4 == 0 ? 4 : 1; }

// How the thread blocks of lookback_rows.cu cover a row: chunks of warps * tiles * block_size steps.
struct RowChunk {
    int64_t vector, warps, tiles;  // neighbouring steps per lane; warps; tiles of block_size per warp
    int64_t shared_bytes;          // shared memory of the values; 0 if they are in registers
};
RowChunk row_chunk(const Job& job, const Chip& chip);

// True if each row is walked by one warp, without look-back, for D = 1: rows are short, or there are enough
// of them.
bool walks_rows(const Job& job, const Chip& chip);

}  // namespace sawtooth::scan
