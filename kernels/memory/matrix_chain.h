#pragma once

#include "kernels/memory/chunks.h"

namespace sawtooth::memory {

// The memory of a matrix rule over a range, in tiles of at most `tile` tokens, and the room that it takes.
TiledChain tile_matrix(const Job& job, Range tokens, Pulse pulse, int64_t tile, bool solves, Pieces& room);
int64_t matrix_room(const Job& job, Range tokens, Pulse pulse, int64_t tile, bool solves);
// Rows of padded(d) to the job's y.
void put_rows(const Job& job, int64_t batch, Range tokens, const float* rows);
// prepare (or solve), walk, read.
void add_tiled_launches(Plan& plan, const SharedChain& tiled, const std::string& meaning);

}  // namespace sawtooth::memory
