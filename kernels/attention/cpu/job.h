#pragma once

#include "kernels/attention/outputs.h"
#include "kernels/attention/tiles.h"
#include "kernels/core/plan_builder.h"
#include "kernels/cpu/products.h"

namespace sawtooth::attention {

// What the variants on the CPU work on. Inputs are in f32: a prologue rotates and widens where necessary.
struct CpuJob : Outputs {
    Mask mask;
    int64_t heads = 0, length = 0, d = 0;
    int64_t block_m = 0, block_n = 0;
    float scale = 1;
    bool runs_backward = false;
    const float *q1 = nullptr, *q2 = nullptr, *k1 = nullptr, *k2 = nullptr, *v = nullptr, *dout = nullptr;
    // Transposed, in strips of 16 positions: [heads, strips, D, 16].
    float *k1_strips = nullptr, *k2_strips = nullptr, *v_strips = nullptr;
    Storage storage = Storage::f32;
    void* stored_o = nullptr;  // in that storage; `o` itself if it is f32
    float* o = nullptr;
    // Of the softmax of every query: what its scores were shifted by, and the sum of exponentials.
    float *shift = nullptr, *sum = nullptr;

    int64_t query_tiles() const { return ceil_divide(length, block_m); }
    int64_t key_tiles() const { return ceil_divide(length, block_n); }
    Range queries(int64_t tile) const { return tile_at(tile, block_m, length); }
    Range keys(int64_t tile) const { return tile_at(tile, block_n, length); }
    int64_t at(int64_t head, int64_t position) const { return (head * length + position) * d; }
    int64_t row_at(int64_t head, int64_t position) const { return head * length + position; }
    // The strip that begins at a multiple of 16 positions.
    int64_t strip_at(int64_t head, int64_t position) const {
        return (head * cpu::strips_of(length) + position / cpu::lanes) * d * cpu::lanes;
    }
};

}  // namespace sawtooth::attention
