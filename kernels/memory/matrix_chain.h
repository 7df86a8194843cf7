#pragma once

#include "kernels/memory/chunks.h"

namespace sawtooth::memory {

// The memory of a matrix rule over a range, in tiles of at most `tile` tokens.
TiledChain tile_matrix(const Job& job, Range tokens, Pulse pulse, int64_t tile, bool solves, Pieces& room);
// Rows of padded(d) to the job's y.
void put_rows(const Job& job, int64_t batch, Range tokens, const float* rows);
// prepare, walk, read.
void add_tiled_launches(Plan& plan, const SharedChain& tiled, const std::string& meaning);

}  // namespace sawtooth::memory
