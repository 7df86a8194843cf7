// Kernel arguments: plain structs, filled in by the host. Kernels use what they need; null means "absent".
// Chains in tiles have a struct of their own: with one for all, chain_walk.cu of exact_chunk spilled
// registers (sm_90a, d = 24).
#pragma once

#include "kernels/cuda/device/tensor_map.cuh"
#include "kernels/cuda/device/types.cuh"

namespace sawtooth::memory {

// The gates of tokens, [batch, length] each; null means alpha 0, eta 0, theta 1.
struct Gates {
    const float *alpha, *eta, *theta;
    float lambda;            // decay in proportion to the step
    float share;             // fraction of a step that each token of a window takes
    const int32_t* windows;  // tokens of every window; null if all are the same
};

// A state that launches pass on from one range of tokens to the next.
struct PassedState {
    const float* from;  // before the first token; null: zeros
    float* to;          // after the last token; null: not stored
    float* live;        // between two launches
};

// Tokens first … last - 1 in chunks, and chunks in tiles, the unit of work. The sources of a tile are its
// tokens and `halo` tokens before it that windows reach; `origin` is the first token of all.
struct TilingArguments {
    int64_t first, last, chunk, origin;
    int tile, tiles_a_chunk, tiles, halo;
};

// The arguments of all other kernels, for tokens first … last - 1 of vectors [batch, length, d], which are
// stored as the parameter `dtype` says. A launch of token steps goes from m.from and s.from to m.to and s.to.
// States have no padding: M and S are [batch, d, d], S_K [batch, c, d], S_V [batch, d, c], slots
// [batch, slot_count, d].
struct Arguments {
    const void *k, *v, *q, *x;
    void* y;
    int64_t y_stride;  // numbers from one sequence to the next; levels lie between
    // M and its momentum S; S_K and S_V of trellis; `m` holds the slots of lattice.
    PassedState m, s;
    float* boundaries;       // m at multiples of `chunk` and after the last token; null: not stored
    int64_t chunk;           // tokens between boundaries, at most the length; of tnt the length of a shard
    int64_t boundary_count;  // chunks + 1
    Gates gates;
    float lambda_values;   // trellis.cu: the lambda of the gates belongs to the keys
    const float* w_omega;  // W of atlas, [d, 2 d]
    int64_t length, first, last;
    // In tnt, a local memory covers local_tokens tokens and starts from m.from, and from s.from if that
    // belongs to trellis, otherwise without momentum.
    int64_t local_tokens = 0, locals = 0;
    float* sums = nullptr;  // sums of y over each local memory, [batch, locals, d]
    // lattice.cu reads these if slots are frozen at boundaries.
    TilingArguments tiling = {};
    float* tile_slots = nullptr;  // slots at a tile's start, [batch, tiles, slot_count, d]
};

// The arguments of chain_prepare.cu, chain_solve.cu, chain_walk.cu and chain_scan.cu, for a matrix memory in
// tiles. Columns and rows of the memory (also of m.live and s.live) and the `sources` of a tile are padded to
// multiples of 16; m.from, s.from, m.to, s.to and boundaries are not.
struct ChainArguments {
    PassedState m, s;
    float* boundaries;
    int64_t chunk, boundary_count;
    TilingArguments tiling;
    int64_t length;
    Gates gates;
    const void *given_keys, *given_values;  // [batch, length, columns], [batch, length, width of values]
    const float* w_omega;                   // W of atlas, [rows, 2 rows]
    // Arrays between launches; keys and values have one row per token from `origin` on.
    void *keys, *solved;  // [batch, last - origin, columns]; solved: keys after the solve of exact_chunk
    void* values;         // [batch, last - origin, rows]
    float* ends;          // [batch, tiles, 2 sources + 4]: w, h, then a, b, h, 0 of the tile's last token
    void* errors;         // [batch, tiles, rows, sources]
    void *states_m, *states_s;  // [batch, tiles, rows, columns]: at the tile's start
    float *sums_m, *sums_s;     // [batch, tiles, rows, columns]: the sum of a tile
};

// The arguments of chain_read.cu, which reads the outputs of a chain.
struct ChainReadArguments {
    ChainArguments chain;
    const void* queries;  // [batch, length, columns]
    void* y;              // [batch of y_stride elements, length, rows]
    int64_t y_stride;
};

// The arguments of chain_fused.cu, and maps of its arrays, three dimensions each.
struct ChainFusedArguments {
    ChainArguments chain;
    TensorMap keys, queries;   // [batch, length, columns]
    TensorMap solved, values;  // [batch, last - origin, columns or rows]
    TensorMap y;               // [batch, length, rows]
};

// The arguments of pulse.cu.
struct PulseArguments {
    int32_t* to;  // [length]
    int64_t length, chunk;
};

}  // namespace sawtooth::memory
