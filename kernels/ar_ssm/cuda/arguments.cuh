// Kernel arguments. A token is a position of a sequence; its number is sequence * length + position. The last
// index is the fastest:
//
//   [batch, length, width]    x, dy, y, dx, t, uv, uv_rev
//   [batch, length, hidden]   hidden_units, hidden_rest, dhidden
//   [batch, length, rank]     gates, gate_noise, gate_slopes, projected_u … w_rev, dw … dlogits
//   [batch, length]           effective_rank
//   [batch, tiles, rank]      totals … reverse_gradient_prefixes; a tile is ROWS positions of a sequence
//   weights                   conv [width, 3], gate_w1 [hidden, width], gate_b1 [hidden],
//                             gate_w2 [rank, hidden], gate_b2 [rank], u_proj and v_proj [rank, width],
//                             out_proj [width, rank], out_bias [width]
//
// Pointers to void are in the storage of the request, pointers to float in f32.
#pragma once

#include "kernels/cuda/device/tensor_map.cuh"
#include "kernels/cuda/device/types.cuh"

namespace sawtooth::ar_ssm {

// Every kernel except those of weight_gradients.cu and sum_parts.cu takes the whole layer. A pointer is null
// if the settings of the request do without its array.
struct Layer {
    int64_t batch, length, width, rank, hidden;
    float scale;  // sizes.h
    const void *x, *dy;
    const float* gate_noise;  // [batch, length, rank], added to logits; null unless gates are gumbel
    float gate_sharpness;     // 1 / temperature
    const void *conv, *gate_w1, *gate_b1, *gate_w2, *gate_b2, *u_proj, *v_proj, *out_proj, *out_bias;
    void* y;
    float *gates, *effective_rank, *dx;

    // Hidden units, and their rounding errors in 16 bits where hard gates need them.
    void *hidden_units, *hidden_rest;
    float* gate_slopes;               // derivatives of the gates by their logits; hard gates count as soft
    void *projected_u, *projected_v;  // x U^T, x V^T
    void *u, *v;                      // the same times the gates
    // The scans of u from the start and from the end. fused keeps their sum in c.
    float *c, *c_rev;
    void *w, *w_rev;  // c v
    void *t, *uv, *uv_rev;
    float *dw, *dc, *dv, *du, *du_rev;
    void *dprojected_u, *dprojected_v, *dlogits, *dhidden;

    // The sums of u or dc over each tile of positions, [batch, tiles, rank], and the scans of these sums: of
    // u from the start, of dc from the end, and if bidirectional also the other way.
    float *totals, *prefixes, *reverse_prefixes;
    float *gradient_totals, *gradient_prefixes, *reverse_gradient_prefixes;
};

// project_wgmma.cu: a layer, and maps of what it copies.
struct ProjectArguments {
    TensorMap x, gate_w1, u_proj, v_proj, gate_w2;
    Layer layer;
};

// split_weights.cu: where it stores high and rest of [W1; U; V], [2, hidden + 2 rank, width], and of W2, [2,
// rank, hidden].
struct SplitWeights {
    float *weights, *gate_w2;
    Layer layer;
};
// project_split.cu: maps of x and of both arrays of split weights.
struct SplitProjectArguments {
    TensorMap x, weights, gate_w2;
    Layer layer;
};

// weight_gradients.cu. The gradients of all weights of a launch lie one after the other, `total` numbers, at
// the offsets that their structs give. Every part of the tokens has its own numbers:
//
//   partial [parts, total]   part 0   | dgate_w1 … | du_proj … | … |
//                            part 1   | dgate_w1 … | du_proj … | … |
//
// out[rows, columns] = scale left^T right, summed over tokens; left is [tokens, rows], right [tokens,
// columns].
struct WeightProduct {
    const void *left, *right;
    int64_t rows, columns;
    float scale;
    int64_t offset;  // where out begins in the partial gradients
};
// out[columns] = the sum of values [tokens, columns].
struct ColumnSum {
    const void* values;
    int64_t columns, offset;
};
struct WeightGradients {
    int64_t tokens, length, part_tokens;
    WeightProduct products[5];
    ColumnSum sums[3];
    int product_count, sum_count;
    // The gradient of conv is absent if conv_width is 0.
    const void *x, *dy;
    int64_t conv_width, conv_offset;
    float conv_scale;
    float* partial;  // [parts, total]
    int64_t total;
};

// sum_parts.cu: where each gradient lies in a row of `partial`, and the array that gets the sum of its parts.
// If `adds`, the sum is added to that array.
struct GradientParts {
    struct {
        float* to;
        int64_t offset, count;
    } gradients[9];
    int gradient_count;
    const float* partial;
    int64_t parts, total;
    bool adds;
};

}  // namespace sawtooth::ar_ssm
