// The backward pass through the gates, and through the relu of hidden units.
#pragma once

#include "kernels/ar_ssm/cuda/product.cuh"

namespace sawtooth::ar_ssm {

// What the forward pass knows of one rank of a token: its gate and the slope of the gate, x U^T and x V^T.
struct Gated {
    float gate, slope, u, v;
};

// Stores the gradients of x U^T, x V^T and the logit for one rank of a token. With pu = x U^T, pv = x V^T:
//   u = pu g, v = pv g   ->   dpu = du g,  dpv = dv g,  dlogit = (du pu + dv pv) slope
__device__ inline void store_gate_gradients(const Layer& layer, int64_t at, const Gated& gated, float du,
                                            float dv) {
    const float dgate = du * gated.u + dv * gated.v;
    static_cast<Element*>(layer.dprojected_u)[at] = Storage::narrow(du * gated.gate);
    static_cast<Element*>(layer.dprojected_v)[at] = Storage::narrow(dv * gated.gate);
    static_cast<Element*>(layer.dlogits)[at] = Storage::narrow(dgate * gated.slope);
}

// Loads hidden units after their relu [tokens, hidden], in the layout of the sums of a product.
template <class Product, class There>
__device__ typename Product::Sums load_units(const Layer& layer, int64_t first_token, int64_t first_unit,
                                             There is_there) {
    return Product::loaded(is_there, [&](int row, int column) {
        return element(layer.hidden_units, (first_token + row) * layer.hidden + first_unit + column);
    });
}
// Sets gradients to 0 where the relu had cut off the unit.
template <class Product>
__device__ void differentiate_relu(typename Product::Sums& gradients, typename Product::Sums& units) {
    Product::join(gradients, units, [](float& gradient, float unit) { gradient = unit > 0 ? gradient : 0; });
}

}  // namespace sawtooth::ar_ssm
