#pragma once

#include "kernels/attention/tensors.h"
#include "kernels/cpu/plan_builder.h"
#include "kernels/cpu/products.h"

namespace sawtooth::attention {

// What the variants on the CPU work on. Keys and values are also transposed, in strips of 16 positions:
// [heads, strips, D, 16].
struct CpuJob : Tensors {
    explicit CpuJob(PlanBuilder& builder);

    int64_t query_tiles() const { return ceil_divide(length, block_m); }
    int64_t key_tiles() const { return ceil_divide(length, block_n); }
    Range queries(int64_t tile) const { return tile_at(tile, block_m, length); }
    Range keys(int64_t tile) const { return tile_at(tile, block_n, length); }
    // The number of a position, in an array of rows.
    float& number(const Buffer& rows, int64_t head, int64_t position) const {
        return rows.as<float>()[head * length + position];
    }
    // The strip that begins at a multiple of 16 positions.
    float* strip(const Buffer& strips, int64_t head, int64_t position) const {
        return strips.as<float>() + (head * cpu::strips_of(length) + position / cpu::lanes) * d * cpu::lanes;
    }

    std::vector<std::pair<Buffer, Buffer>> transposed;  // rows and their strips
    // Of the softmax of every query: what its scores were shifted by, and the sum of exponentials.
    Buffer shift, sum;
};

// The job of a request. Adds the launch that prepares its inputs: rotations of q and k, numbers in f32,
// transposed keys and values.
const CpuJob& prepared_job(cpu::PlanBuilder& builder);

// Adds the launches that finish the outputs: o in its own storage, and dq and dk through the rotations.
void add_epilogue(cpu::PlanBuilder& builder, const CpuJob& job);

}  // namespace sawtooth::attention
