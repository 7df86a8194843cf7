#pragma once

#include <utility>
#include <vector>

#include "kernels/attention/tiles.h"
#include "kernels/core/plan_builder.h"

namespace sawtooth::attention {

// The arrays of the family. Vectors are [Z, H, N, D], rows are [Z, H, N]; `heads` is Z H. Kernels read
// vectors in the storage `working`, which is f32 on the CPU and that of the request on CUDA. Gradients and
// rows are f32.
struct Tensors {
    Tensors(PlanBuilder& builder, Storage working);

    int64_t at(int64_t head, int64_t position) const { return (head * length + position) * d; }
    // The vectors from `position` on, in memory of the CPU.
    float* vectors(const Buffer& array, int64_t head, int64_t position) const {
        return array.as<float>() + at(head, position);
    }
    bool has_backward() const { return static_cast<bool>(dout); }
    // The number of pairs that the mask allows, over all heads.
    double pairs() const;
    // The number of elements of an array of vectors.
    double numbers() const { return static_cast<double>(heads * length * d); }

    int64_t heads, length, d, block_m, block_n;
    Mask mask;
    float scale;
    Storage storage, working;

    Buffer q, k;  // what the prologue rotates; absent if q1 to k2 are given
    Buffer q1, q2, k1, k2, v;
    Buffer dout;                                     // absent without a backward pass
    std::vector<std::pair<Buffer, Buffer>> widened;  // inputs, and their copies in `working`
    // The right factors of products with a tile of queries. On the CPU they are copies in strips (CpuJob), on
    // CUDA k1, k2 and v.
    Buffer k1_columns, k2_columns, v_columns;
    // The rows from which a backward pass recomputes probabilities: lse on CUDA, shift and sum on the CPU.
    std::vector<Buffer> softmax;

    Buffer o, stored_o;  // the same array if the storage of the request is `working`
    Buffer lse;
    // These are absent without a backward pass; dq and dk also without a prologue.
    Buffer delta, dq1, dq2, dk1, dk2, dv, dq, dk;
};

}  // namespace sawtooth::attention
