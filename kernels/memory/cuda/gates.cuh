// The gates of tokens, and the tokens of a tile.
#pragma once

#include "kernels/memory/cuda/arguments.cuh"

namespace sawtooth::memory {

// The effect of a token on a state: how much of it and of the momentum is kept, and the size of the step.
struct Gate {
    float decay, keep, step;
};

// The fraction of a step that each token of a window takes; `at` is the index of the token in all sequences,
// batch * length + token.
template <bool windows_vary>
__device__ inline float share_at(const Gates& gates, int64_t at) {
    return windows_vary ? 1 / static_cast<float>(gates.windows[at]) : gates.share;
}

// The gate of a token.
template <bool windows_vary = false>
__device__ inline Gate gate_at(const Gates& gates, int64_t at) {
    const float step = gates.theta ? gates.theta[at] : 1, forgets = gates.alpha ? gates.alpha[at] : 0;
    return {1 - forgets - gates.lambda * step, gates.eta ? gates.eta[at] : 0,
            step * share_at<windows_vary>(gates, at)};
}

// Tokens first … last - 1.
struct Range {
    int64_t first, last;
    __device__ int count() const { return static_cast<int>(last - first); }
};

// The tokens of tile `tile` of a sequence. Chunks follow one another and are cut into tiles; the last tile of
// a chunk may be short. Tiles never cross the end of a chunk.
__device__ inline Range tokens_of(const TilingArguments& tiling, int tile) {
    const int64_t begin = tiling.first + tile / tiling.tiles_a_chunk * tiling.chunk;
    const int64_t end = begin + tiling.chunk < tiling.last ? begin + tiling.chunk : tiling.last;
    const int64_t first = begin + tile % tiling.tiles_a_chunk * tiling.tile;
    return {first, first + tiling.tile < end ? first + tiling.tile : end};
}

// The first token inside the windows of a tile that starts at `token`.
__device__ inline int64_t first_source(const TilingArguments& tiling, int64_t token) {
    return token > tiling.halo ? token - tiling.halo : 0;
}

// True if the tile is the first of its chunk; then the state before it is a boundary.
__device__ inline bool opens_chunk(const TilingArguments& tiling, int tile) {
    return tile % tiling.tiles_a_chunk == 0;
}

// True if the tile is the last of its chunk.
__device__ inline bool closes_chunk(const TilingArguments& tiling, int tile) {
    return opens_chunk(tiling, tile + 1) || tile + 1 == tiling.tiles;
}

// Loads the `count` gates of a tile into `slots` slots of shared memory, the rest of which become zeros, with
// all threads of the block; a barrier must follow.
template <bool windows_vary>
__device__ inline void load_gates(const Gates& gates, int64_t first_token_of_batch, int count, int slots,
                                  Gate* to) {
    for (int i = threadIdx.x; i < slots; i += blockDim.x)
        to[i] = i < count ? gate_at<windows_vary>(gates, first_token_of_batch + i) : Gate{0, 0, 0};
}

}  // namespace sawtooth::memory
