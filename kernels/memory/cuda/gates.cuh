// What tokens do to a state, and which tokens a tile has.
#pragma once

#include "kernels/memory/cuda/arguments.cuh"

namespace sawtooth::memory {

// What a token does to a state: how much of it stays, how much of the momentum, and how large its step is.
struct Gate {
    float decay, keep, step;
};

// Token `at` of all sequences: batch * length + token.
__device__ inline Gate gate_at(const Gates& gates, int64_t at) {
    const float step = gates.theta ? gates.theta[at] : 1, forgets = gates.alpha ? gates.alpha[at] : 0;
    return {1 - forgets - gates.lambda * step, gates.eta ? gates.eta[at] : 0, step * gates.share};
}

// Tokens first … last - 1.
struct Range {
    int64_t first, last;
    __device__ int count() const { return static_cast<int>(last - first); }
};

// Of tile `tile` of a sequence: chunks lie one after another, and tiles in a chunk, whose last one is short
// where tiles do not divide it. Tiles never cross the end of a chunk.
__device__ inline Range tokens_of(const TilingArguments& tiling, int tile) {
    const int64_t begin = tiling.first + tile / tiling.tiles_a_chunk * tiling.chunk;
    const int64_t end = begin + tiling.chunk < tiling.last ? begin + tiling.chunk : tiling.last;
    const int64_t first = begin + tile % tiling.tiles_a_chunk * tiling.tile;
    return {first, first + tiling.tile < end ? first + tiling.tile : end};
}

// The first token that windows of a tile reach that starts at `token`.
__device__ inline int64_t first_source(const TilingArguments& tiling, int64_t token) {
    return token > tiling.halo ? token - tiling.halo : 0;
}

// Does a chunk begin with this tile? Its boundary is the state there.
__device__ inline bool opens_chunk(const TilingArguments& tiling, int tile) {
    return tile % tiling.tiles_a_chunk == 0;
}

// A tile's gates in shared memory, by all threads of the block; a barrier makes them seen.
__device__ inline void load_gates(const Gates& gates, int64_t first_token_of_batch, int count, Gate* to) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = gate_at(gates, first_token_of_batch + i);
}

}  // namespace sawtooth::memory
