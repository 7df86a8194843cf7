#pragma once

#include <utility>
#include <vector>

#include "kernels/attention/tiles.h"
#include "kernels/core/grid.h"
#include "kernels/core/plan_builder.h"

namespace sawtooth::attention {

// The arrays of the family. Vectors of queries are [Z, H, N_q, width], those of keys and values [Z, H_kv, N,
// width], and rows [Z, H, N_q]; `heads` is Z H, `key_heads` Z H_kv. Functions take the number of a head of
// queries, and for an array of keys find the head that it shares with others. Queries are named by their
// positions, as keys are. Kernels read vectors in the storage `working`, which is f32 on the CPU and that of
// the request on CUDA. Gradients and rows are f32.
struct Tensors {
    // `lanes`: kernels read vectors padded with zeros to a multiple of as many numbers.
    Tensors(PlanBuilder& builder, Storage working, int64_t lanes = 1);

    int64_t sharing() const { return heads / key_heads; }         // heads of queries with the same keys
    int64_t first_query() const { return length - query_count; }  // its position
    int64_t query_row(int64_t head, int64_t position) const {
        return head * query_count + position - first_query();
    }
    int64_t key_row(int64_t head, int64_t position) const { return head / sharing() * length + position; }
    // The vectors from `position` on, in memory of the CPU.
    float* query_vectors(const Buffer& array, int64_t head, int64_t position) const {
        return array.as<float>() + query_row(head, position) * width;
    }
    float* key_vectors(const Buffer& array, int64_t head, int64_t position) const {
        return array.as<float>() + key_row(head, position) * width;
    }
    bool has_backward() const { return static_cast<bool>(dout); }
    // The number of pairs that the mask allows, over all heads.
    double pairs() const { return static_cast<double>(heads) * mask.pairs(first_query(), length); }
    // The number of elements of an array of vectors of queries or of keys.
    double query_numbers() const { return static_cast<double>(heads * query_count * d); }
    double key_numbers() const { return static_cast<double>(key_heads * length * d); }

    // The sides of grids. Their formulas name N_q and H_kv only where these differ from N and H.
    const char* name_of_queries() const { return query_count == length ? "N" : "N_q"; }
    Side query_side() const { return pieces(name_of_queries(), query_count, "BLOCK_M", block_m); }
    Side key_side() const { return pieces("N", length, "BLOCK_N", block_n); }
    Side head_side() const { return side("Z H", heads); }
    Side key_head_side() const { return side(key_heads == heads ? "Z H" : "Z H_kv", key_heads); }

    int64_t heads, key_heads, length, query_count, d, width, block_m, block_n;
    Mask mask;
    float scale;
    double base;
    Storage storage, working;

    Buffer q, k;  // what the prologue rotates; absent if q1 to k2 are given
    Buffer q1, q2, k1, k2, v;
    Buffer dout;                                     // absent without a backward pass
    std::vector<std::pair<Buffer, Buffer>> widened;  // inputs, and their copies as kernels read them
    // The right factors of products with a tile of queries. On the CPU they are copies in strips (CpuJob), on
    // CUDA k1, k2 and v.
    Buffer k1_columns, k2_columns, v_columns;
    // The rows from which a backward pass recomputes probabilities: lse on CUDA, shift and sum on the CPU.
    std::vector<Buffer> softmax;

    Buffer o, lse;
    // These are absent without a backward pass; dq and dk also without a prologue.
    Buffer delta, dq1, dq2, dk1, dk2, dv, dq, dk;
    std::vector<std::pair<Buffer, Buffer>> stored;  // results as kernels write them, and the outputs
};

}  // namespace sawtooth::attention
