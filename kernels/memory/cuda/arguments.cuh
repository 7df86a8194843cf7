// What the kernels of this folder are given: one plain struct a kernel, the same for the host, which fills it
// in. Null means "absent".
#pragma once

#include "kernels/memory/state.cuh"

namespace sawtooth::memory {

// Token by token: tokens first … last - 1, from m.from and s.from to m.to and s.to. M and S are
// [batch, d, d], S_K [batch, c, d], S_V [batch, d, c], slots [batch, slot_count, d], none of them padded.
struct TokenArguments : Vectors, States {
    Gates gates;
    int64_t length, first, last;
};

// exact.cu and tree.cu.
struct ExactArguments : TokenArguments {
    const float* w_omega;  // [d, 2 d]
    // Local memories cut the tokens into pieces of local_tokens, each from m.from with no momentum.
    int64_t local_tokens;
    float* sums;  // of y over each local memory, [batch, locals, d]
};

// trellis.cu: both passes. The gates' lambda is that of the keys.
struct TrellisArguments : TokenArguments {
    float lambda_values;
};

// tnt_step.cu: the step of the global memory after a shard; `chunk` is the shard's length.
struct TntStepArguments : TokenArguments {
    const float* sums;  // of y over each local memory, [batch, locals, d]
    int64_t locals;
};

// Tokens first … last - 1 in chunks, and chunks in tiles, which are what is worked on at once. The sources of
// a tile are its tokens and `halo` ones before them, which windows reach; `origin` is the first of all.
struct TilingArguments {
    int64_t first, last, chunk, origin;
    int tile, tiles_a_chunk, tiles, halo;
};

// A matrix memory in tiles: chain_prepare.cu or chain_solve.cu, chain_walk.cu, chain_scan.cu. Columns and
// rows of the memory are padded to multiples of 16 (m.live and s.live too), but for m.from, s.from, m.to,
// s.to and boundaries; the `sources` of a tile likewise.
struct ChainArguments : States {
    TilingArguments tiling;
    int64_t length;
    Gates gates;
    const void *given_keys, *given_values;  // [batch, length, columns], [batch, length, width of values]
    const float* w_omega;                   // of atlas [rows, 2 rows]
    // Between launches; a row a token from `origin` on.
    void *keys, *solved;  // [batch, last - origin, columns]; solved: keys after the solve of exact_chunk
    void* values;         // [batch, last - origin, rows]
    float* ends;          // [batch, tiles, 2 sources + 4]: w, h, then a, b, h, 0 of the tile's last token
    void* errors;         // [batch, tiles, rows, sources]
    void *states_m, *states_s;  // [batch, tiles, rows, columns]: at the tile's start
    float *sums_m, *sums_s;     // [batch, tiles, rows, columns]: what a tile adds
};

// chain_read.cu: what tokens read of a chain.
struct ChainReadArguments {
    ChainArguments chain;
    const void* queries;  // [batch, length, columns]
    void* y;              // [batch of y_stride elements, length, rows]
    int64_t y_stride;
};

// lattice.cu.
struct LatticeArguments : TokenArguments {
    TilingArguments tiling;  // where boundaries' slots are frozen
    float* tile_slots;       // [batch, tiles, slot_count, d] at the tile's start
};

// pulse.cu.
struct PulseArguments {
    int32_t* to;  // [length]
    int64_t length, chunk;
};

}  // namespace sawtooth::memory
