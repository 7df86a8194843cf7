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

// The gradient of one weight: scale left^T right, summed over all tokens. That of conv has a row for each tap
// and multiplies left with the neighbours in right.
struct WeightGradient {
    Buffer left;  // absent for a bias: ones
    Buffer right;
    Buffer to;
    float scale = 1;
    bool transposed = false;  // `to` is [columns, rows]
    bool takes_neighbours = false;
    bool adds = false;  // to what is there

    std::string weight() const { return to.name.substr(1); }
    int64_t rows() const { return to.shape.size() == 1 ? 1 : transposed ? to.shape.back() : to.shape[0]; }
    int64_t columns() const { return transposed ? to.shape[0] : to.shape.back(); }
};

// The arrays of the family. Those of tokens are [batch, length, width, hidden or rank]. What passes between
// launches is in the storage of the request on CUDA. On the CPU it is f32, and its rows are padded to a
// multiple of 16 numbers. Scans and the gradients of ranks that are not factors of products are always f32.
struct Tensors : Sizes {
    // Takes the arrays of the variant fused, or those of unfused.
    Tensors(PlanBuilder& builder, bool fused);

    int64_t tiles() const { return ceil_divide(length, tile); }  // of a sequence
    // In the order of their launches.
    std::vector<WeightGradient> weight_gradients() const;

    bool on_cuda;
    int64_t tile;  // positions that fused computes at once

    Weights weight, gradient;
    Weights back;  // the weights as the backward pass reads them: the CPU has copies in another order
    Buffer x, dy, y, effective_rank;
    Buffer gates,
        stored_gates;  // the second is the output: the same, unless the rows of the first are padded
    Buffer hidden_units;
    Buffer hidden_rest;  // what hidden units lose in 16 bits, if hard gates need it on CUDA
    Buffer gate_slopes;  // the derivative of every gate by its logit; of hard ones as if they were soft
    Buffer projected_u, projected_v;  // x U^T, x V^T
    Buffer u, v;                      // the same, gated
    Buffer c, c_rev;  // the scan of u from the start, and from the end; fused: the sum of both
    Buffer w, w_rev;  // c v
    Buffer t, uv, uv_rev;
    Buffer dw, dc, dv, du, du_rev, dprojected_u, dprojected_v, dlogits, dhidden;
    Buffer dx, stored_dx;  // as gates and stored_gates
    // Of fused, [batch, tiles, rank]: sums of u or dc, and their scans.
    Buffer totals, prefixes, reverse_prefixes;
    Buffer gradient_totals, gradient_prefixes, reverse_gradient_prefixes;
};

}  // namespace sawtooth::ar_ssm
