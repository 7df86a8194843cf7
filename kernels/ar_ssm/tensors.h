#pragma once

#include <string>
#include <vector>

#include "kernels/ar_ssm/sizes.h"
#include "kernels/core/plan_builder.h"

namespace sawtooth::ar_ssm {

// One array for every weight: the weights themselves, or their gradients.
struct Weights {
    Buffer conv, gate_w1, gate_b1, gate_w2, gate_b2, u_proj, v_proj, out_proj, out_bias;

    Buffers all() const {
        return {conv, gate_w1, gate_b1, gate_w2, gate_b2, u_proj, v_proj, out_proj, out_bias};
    }
};

// The gradient of one weight: scale left^T right, summed over all tokens. The gradient of conv has a row per
// tap and multiplies every token of left by its neighbours in right.
struct WeightGradient {
    Buffer left;  // absent for a bias, where it counts as ones
    Buffer right;
    Buffer to;
    float scale = 1;
    bool transposed = false;        // `to` is [columns, rows]
    bool takes_neighbours = false;  // the gradient of conv
    bool adds = false;              // to `to`, instead of replacing it

    std::string weight() const { return to.name.substr(1); }
    int64_t rows() const { return to.shape.size() == 1 ? 1 : transposed ? to.shape.back() : to.shape[0]; }
    int64_t columns() const { return transposed ? to.shape[0] : to.shape.back(); }
};

// The arrays of the family. Arrays of tokens are [batch, length, n], where n is width, hidden or rank. Arrays
// that pass between launches have the storage of the request on CUDA; on the CPU they are f32, with rows
// padded to a multiple of 16 numbers. Scans, and gradients of ranks that are not factors of products, are
// always f32.
struct Tensors : Sizes {
    // Takes the arrays of the variant fused, or those of unfused. Without `keeps_hidden`, hidden units do not
    // leave the registers of the launch that computes them.
    Tensors(PlanBuilder& builder, bool fused, bool keeps_hidden = true);

    int64_t tiles() const { return ceil_divide(length, tile); }  // per sequence
    // The gradients of all weights, in the order of their launches.
    std::vector<WeightGradient> weight_gradients() const;

    bool on_cuda;
    int64_t tile;  // positions that fused computes at once

    Weights weight, gradient;
    Weights back;  // the weights as the backward pass reads them; on the CPU, copies in another order
    Buffer x, dy, y, effective_rank;
    Buffer gate_noise;           // only for gumbel gates
    Buffer gates, stored_gates;  // stored_gates is the output; gates has padded rows where it differs
    Buffer hidden_units;
    Buffer hidden_rest;  // the rounding errors of hidden_units in 16 bits, for hard gates on CUDA
    Buffer gate_slopes;  // derivatives of the gates by their logits; hard gates count as soft
    Buffer projected_u, projected_v;  // x U^T, x V^T
    Buffer u, v;                      // the same times the gates
    Buffer c, c_rev;  // scans of u from the start and from the end; fused keeps their sum in c
    Buffer w, w_rev;  // c v
    Buffer t, uv, uv_rev;
    Buffer dw, dc, dv, du, du_rev, dprojected_u, dprojected_v, dlogits, dhidden;
    Buffer dx, stored_dx;  // differ as gates and stored_gates do
    // The arrays that are outputs on request, and those outputs. On CUDA there are none, because the arrays
    // are the outputs.
    struct Stored {
        Buffer from, to;
    };
    std::vector<Stored> stored_intermediates;
    // Only in fused, [batch, tiles, rank]: the sums of u or dc over each tile, and the scans of these sums.
    Buffer totals, prefixes, reverse_prefixes;
    Buffer gradient_totals, gradient_prefixes, reverse_gradient_prefixes;
};

}  // namespace sawtooth::ar_ssm
