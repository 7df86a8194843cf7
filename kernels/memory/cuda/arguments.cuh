// Kernel arguments: one plain struct per kernel, filled in by the host. Null means "absent".
#pragma once

#include "kernels/memory/state.cuh"

namespace sawtooth::memory {

// Token by token: tokens first … last - 1, from m.from and s.from to m.to and s.to. Unpadded: M and S are
// [batch, d, d], S_K [batch, c, d], S_V [batch, d, c], slots [batch, slot_count, d].
struct TokenArguments : Vectors, States {
    Gates gates;
    int64_t length, first, last;
};

// exact.cu and tree.cu.
struct ExactArguments : TokenArguments {
    const float* w_omega;  // [d, 2 d]
    // A local memory covers local_tokens tokens and starts from m.from without momentum.
    int64_t local_tokens;
    float* sums;  // of y over each local memory, [batch, locals, d]
};

// trellis.cu: both passes. The lambda in the gates belongs to the keys.
struct TrellisArguments : TokenArguments {
    float lambda_values;
};

// tnt_step.cu: the step of the global memory after a shard; `chunk` is the shard's length.
struct TntStepArguments : TokenArguments {
    const float* sums;  // of y over each local memory, [batch, locals, d]
    int64_t locals;
};

// Tokens first … last - 1 in chunks, and chunks in tiles, the unit of work. The sources of a tile are its
// tokens and `halo` tokens before it that windows reach; `origin` is the first token of all.
struct TilingArguments {
    int64_t first, last, chunk, origin;
    int tile, tiles_a_chunk, tiles, halo;
};

// A matrix memory in tiles: chain_prepare.cu or chain_solve.cu, chain_walk.cu, chain_scan.cu. Columns and
// rows of the memory (also of m.live and s.live) and the `sources` of a tile are padded to multiples of 16;
// m.from, s.from, m.to, s.to and boundaries are not.
struct ChainArguments : States {
    TilingArguments tiling;
    int64_t length;
    Gates gates;
    const void *given_keys, *given_values;  // [batch, length, columns], [batch, length, width of values]
    const float* w_omega;                   // of atlas [rows, 2 rows]
    // Between launches; one row per token from `origin` on.
    void *keys, *solved;  // [batch, last - origin, columns]; solved: keys after the solve of exact_chunk
    void* values;         // [batch, last - origin, rows]
    float* ends;          // [batch, tiles, 2 sources + 4]: w, h, then a, b, h, 0 of the tile's last token
    void* errors;         // [batch, tiles, rows, sources]
    void *states_m, *states_s;  // [batch, tiles, rows, columns]: at the tile's start
    float *sums_m, *sums_s;     // [batch, tiles, rows, columns]: the sum of a tile
};

// chain_read.cu: the outputs of a chain.
struct ChainReadArguments {
    ChainArguments chain;
    const void* queries;  // [batch, length, columns]
    void* y;              // [batch of y_stride elements, length, rows]
    int64_t y_stride;
};

// lattice.cu.
struct LatticeArguments : TokenArguments {
    TilingArguments tiling;  // if slots are frozen at boundaries
    float* tile_slots;       // [batch, tiles, slot_count, d] at the tile's start
};

// pulse.cu.
struct PulseArguments {
    int32_t* to;  // [length]
    int64_t length, chunk;
};

}  // namespace sawtooth::memory
