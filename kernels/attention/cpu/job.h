#pragma once

#include "kernels/attention/tensors.h"
#include "kernels/cpu/plan_builder.h"
#include "kernels/cpu/products.h"

namespace sawtooth::attention {

// The job of a variant on the CPU. Vectors are padded with zeros to a multiple of 16 numbers. Keys have a
// transposed copy in strips of 16 positions, [heads, strips, width, 16], and for a backward pass so have
// values.
struct CpuJob : Tensors {
    explicit CpuJob(PlanBuilder& builder);

    int64_t query_tiles() const { return ceil_divide(query_count, block_m); }
    int64_t key_tiles() const { return ceil_divide(length, block_n); }
    Range queries(int64_t tile) const { return queries_at(tile, block_m, first_query(), length); }
    Range keys(int64_t tile) const { return tile_at(tile, block_n, length); }
    // The element of a query in an array of rows.
    float& number(const Buffer& rows, int64_t head, int64_t query) const {
        return rows.as<float>()[query_row(head, query)];
    }
    // The strip that begins at a multiple of 16 positions.
    float* strip(const Buffer& strips, int64_t head, int64_t position) const {
        const int64_t before = head / sharing() * cpu::strips_of(length) + position / cpu::lanes;
        return strips.as<float>() + before * width * cpu::lanes;
    }

    std::vector<std::pair<Buffer, Buffer>> transposed;  // arrays and their copies in strips
    // The softmax of a query is exp(score - shift) / sum, with its elements of these two rows.
    Buffer shift, sum;
};

// Makes the job of a request and adds the launch that prepares its inputs: it rotates q and k, widens numbers
// to f32, and transposes keys and values.
const CpuJob& prepared_job(cpu::PlanBuilder& builder);

// Adds the launches that finish the outputs: they store them in their dtype and without padding, and rotate
// the gradients of queries and keys back to dq and dk.
void add_epilogue(cpu::PlanBuilder& builder, const CpuJob& job);

}  // namespace sawtooth::attention
