#pragma once

#include <utility>
#include <vector>

#include "kernels/attention/tiles.h"
#include "kernels/core/plan_builder.h"

namespace sawtooth::attention {

// The arrays of the family. Vectors are [Z, H, N, D], rows [Z, H, N]; heads count those of all sequences.
// Kernels read vectors as f32 on the CPU and in the storage of the request on CUDA: `working`. Gradients and
// rows are f32.
struct Tensors {
    Tensors(PlanBuilder& builder, Storage working);

    int64_t at(int64_t head, int64_t position) const { return (head * length + position) * d; }
    // On the CPU, the vectors from that position on.
    float* vectors(const Buffer& array, int64_t head, int64_t position) const {
        return array.as<float>() + at(head, position);
    }
    bool has_backward() const { return static_cast<bool>(dout); }
    // Pairs that the mask allows, of all heads.
    double pairs() const;
    double numbers() const { return static_cast<double>(heads * length * d); }

    int64_t heads, length, d, block_m, block_n;
    Mask mask;
    float scale;
    Storage storage, working;

    Buffer q, k;  // before the prologue rotates them; absent if q1 to k2 are given
    Buffer q1, q2, k1, k2, v;
    Buffer dout;                                     // absent without a backward pass
    std::vector<std::pair<Buffer, Buffer>> widened;  // inputs, and what the prologue makes of them
    // As the product with a tile of queries reads them: the CPU has copies in strips (CpuTensors).
    Buffer k1_columns, k2_columns, v_columns;
    std::vector<Buffer> softmax;  // what a backward pass needs of every query: lse

    Buffer o, stored_o;  // the same if the storage of the request is `working`
    Buffer lse;
    // Absent without a backward pass, dq and dk also if there is no prologue.
    Buffer delta, dq1, dq2, dk1, dk2, dv, dq, dk;
};

}  // namespace sawtooth::attention
