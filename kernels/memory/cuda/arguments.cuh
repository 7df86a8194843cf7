// What the kernels of this folder are given: one plain struct a kernel, the same for the host, which fills it
// in. Null means "absent".
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::memory {

// [batch, length] each; null: alpha 0, eta 0, theta 1.
struct GateArguments {
    const float *alpha, *eta, *theta;
    float lambda;  // decay in proportion to the step
    float share;   // of a step that each token of a window gets
};

// exact.cu and tree.cu. Tokens first … last - 1; local memories cut them into pieces of local_tokens, each
// from m_from with no momentum.
struct ExactArguments {
    const void *k, *v, *q;  // [batch, length, d]
    GateArguments gates;
    const float* w_omega;          // [d, 2 d]
    const float *m_from, *s_from;  // [batch, d, d], before `first`; null: zeros
    float *m_to, *s_to;            // [batch, d, d], after `last`; null: not stored
    float* boundaries;             // [batch, boundary_count, d, d]; null: not stored
    void* y;                       // [batch, length, d]
    float* sums;                   // of y over each local memory, [batch, locals, d]
    int64_t length, first, last, chunk, boundary_count, local_tokens;
};

// Tokens first … last - 1 in chunks, and chunks in tiles, which are what is worked on at once. The sources of
// a tile are its tokens and `halo` ones before them, which windows reach; `origin` is the first of all.
struct TilingArguments {
    int64_t first, last, chunk, origin;
    int tile, tiles_a_chunk, tiles, halo;
};

// A matrix memory in tiles: chain_prepare.cu or chain_solve.cu, chain_walk.cu, chain_scan.cu. Columns and
// rows of the memory are padded to multiples of 16; the `sources` of a tile likewise.
struct ChainArguments {
    TilingArguments tiling;
    int64_t length;
    GateArguments gates;
    const void *given_keys, *given_values;  // [batch, length, columns], [batch, length, width of values]
    const float* w_omega;                   // of atlas [rows, 2 rows]
    // Between launches; a row a token from `origin` on.
    void *keys, *solved;  // [batch, last - origin, columns]; solved: keys after the solve of exact_chunk
    void* values;         // [batch, last - origin, rows]
    float* ends;          // [batch, tiles, 2 sources + 4]: w, h, then a, b, h, 0 of the tile's last token
    void* errors;         // [batch, tiles, rows, sources]
    void *states_m, *states_s;  // [batch, tiles, rows, columns]: at the tile's start
    float *sums_m, *sums_s;     // [batch, tiles, rows, columns]: what a tile adds
    float *live_m, *live_s;     // [batch, rows, columns]: after the last tile of a launch
    // Not padded.
    const float *m0, *s0;      // null: zeros
    float *final_m, *final_s;  // null: not stored
    float* boundaries;         // null: not stored
    int64_t boundary_chunk, boundary_count;
};

// chain_read.cu: what tokens read of a chain.
struct ChainReadArguments {
    ChainArguments chain;
    const void* queries;  // [batch, length, columns]
    void* y;              // [batch of y_stride elements, length, rows]
    int64_t y_stride;
};

// lattice.cu.
struct LatticeArguments {
    TilingArguments tiling;  // where boundaries' slots are frozen; else first and last alone
    int64_t length;
    const void *k, *v, *q;  // [batch, length, d]
    const float* given;     // [batch, slot_count, d], before the first token
    // null final: not stored
    float *live, *final;  // [batch, slot_count, d]: after `last`, the latter after the last token of all
    float* states;        // [batch, tiles, slot_count, d] at the tile's start
    float* boundaries;    // [batch, boundary_count, slot_count, d]; null: not stored
    int64_t boundary_chunk, boundary_count;
    void* y;  // [batch of y_stride elements, length, d]
    int64_t y_stride;
};

// trellis.cu: both passes, token by token.
struct TrellisArguments {
    const void *x, *k, *v, *q;  // [batch, length, d]
    GateArguments gates;        // lambda: of the keys
    float lambda_values;
    const float *keys_from, *values_from;  // [batch, c, d], [batch, d, c]; null: zeros
    float *keys_to, *values_to;
    void* y;  // [batch, length, d]
    int64_t length, first, last;
};

// tnt_step.cu: the step of the global memory after a shard.
struct TntStepArguments {
    const float* sums;    // of y over each local memory [batch, locals, d]
    const float* alpha;   // [batch, length]
    const float* m_from;  // [batch, d, d]; null: zeros
    float* m_to;
    float* boundaries;  // [batch, boundary_count, d, d]: the memory before the shard; null: not stored
    int64_t length, first, last, locals, shard, boundary_count;
};

// pulse.cu.
struct PulseArguments {
    int32_t* to;  // [length]
    int64_t length, chunk;
};

}  // namespace sawtooth::memory
