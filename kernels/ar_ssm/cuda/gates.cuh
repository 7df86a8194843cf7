// The hidden layer and the gates. Where the sign of a number decides a jump, and rounding could flip it
// because the number is so near to 0, a warp computes the number again in double precision.
//
//   hidden unit, before its relu    below 2^-14 of the largest of the thread, but not 0    (BACKWARD)
//   logit                           below 2^-10, or NaN; in 16 bits first in f32           (HARD)
//
// In 16 bits a hidden unit is stored as two numbers if gates are hard: 1.2345 in bf16 is 1.234375, with a
// rest of about 0.000125. Logits are the sum of the products with both.
//
// Gumbel gates add noise to the logit and divide by the temperature: logit 0.5 with noise 0.7 and temperature
// 0.5 becomes 2.4.
//
// Defines: HARD, GUMBEL, BACKWARD.
#pragma once

#include "kernels/ar_ssm/cuda/product.cuh"
#include "kernels/cuda/device/activations.cuh"
#include "kernels/cuda/device/reductions.cuh"

namespace sawtooth::ar_ssm {

// The relu; NaN stays NaN.
template <class Number>
__device__ Number relu(Number value) {
    return value < 0 ? 0 : value;
}

// Computes the products of x of a token with `count` rows of weights, row_of(j). The whole warp takes part:
// lane l multiplies every 32nd channel, or 16 bytes of channels, and every lane gets the sums.
template <int count, class Number, class RowOf>
__device__ void exact_products(const Layer& layer, int64_t token, RowOf row_of, Number (&sums)[count]) {
#pragma unroll
    for (int j = 0; j < count; ++j) sums[j] = 0;
    constexpr int together = ALIGNED ? elements_of_16_bytes : 1;
    using Words = device::Words<Storage, together>;
    for (int64_t k = device::lane_of_thread() * together; k < layer.width; k += 32 * together) {
        const Words x = device::load_words<Storage, together>(layer.x, token * layer.width + k);
        Words weights[count];  // all are on their way before the first is used
#pragma unroll
        for (int j = 0; j < count; ++j) weights[j] = device::load_words<Storage, together>(row_of(j), k);
#pragma unroll
        for (int j = 0; j < count; ++j)
#pragma unroll
            for (int v = 0; v < together; ++v)
                sums[j] += static_cast<Number>(x.get(v)) * static_cast<Number>(weights[j].get(v));
    }
#pragma unroll
    for (int j = 0; j < count; ++j) sums[j] = device::sum_of_warp(sums[j]);
}

// Computes W1 x + b1 for `count` units from `first` on; beyond the last unit it repeats that one.
template <int count, class Number>
__device__ void exact_units(const Layer& layer, int64_t token, int64_t first, Number (&units)[count]) {
    const auto unit_of = [&](int j) { return first + j < layer.hidden ? first + j : layer.hidden - 1; };
    const auto row_of = [&](int j) {
        return static_cast<const Element*>(layer.gate_w1) + unit_of(j) * layer.width;
    };
    exact_products(layer, token, row_of, units);
#pragma unroll
    for (int j = 0; j < count; ++j) units[j] += static_cast<Number>(element(layer.gate_b1, unit_of(j)));
}

// Rounds to f32, but not to 0, so that the sign stays.
__device__ inline float rounded_with_sign(double value) {
    const auto rounded = static_cast<float>(value);
    return value != 0 && rounded == 0 ? copysignf(1.0e-45f, rounded) : rounded;
}

// W1 x + b1 of one unit, computed in double precision by the whole warp.
static __device__ __noinline__ float settled_unit(const Layer& layer, int64_t token, int64_t unit) {
    double value[1];
    exact_units(layer, token, unit, value);
    return rounded_with_sign(value[0]);
}

// The terms of W2 relu(W1 x + b1) of one rank for the units from `first` to `end`, computed by the whole
// warp, `together` units at a time so that their loads overlap.
template <class Number, int together = 8>
__device__ Number exact_terms(const Layer& layer, int64_t token, int64_t rank, int64_t first, int64_t end) {
    Number sum = 0;
    for (; first < end; first += together) {
        Number units[together];
        exact_units(layer, token, first, units);
#pragma unroll
        for (int j = 0; j < together; ++j)
            if (first + j < end)
                sum += static_cast<Number>(element(layer.gate_w2, rank * layer.hidden + first + j)) *
                       relu(units[j]);
    }
    return sum;
}

// Whether the sign of a logit that was computed in f32 from 16-bit numbers is certain. Products are exact
// then, and the sums of a lane are short: it errs much less than the sums of tensor cores with rounded hidden
// units.
__device__ inline bool is_certain(float logit) {
    return fabsf(logit) >= 0x1p-14f && fabsf(logit) <= 3.402823466e38f;
}

// W2 relu(W1 x + b1) + b2 of one rank, computed by the whole warp in double precision; in 16 bits only if the
// sign needs it, because conversions to double take most of the time.
static __device__ __noinline__ float settled_logit(const Layer& layer, int64_t token, int64_t rank) {
    const float bias = element(layer.gate_b2, rank);
    if constexpr (sizeof(Element) == 2) {
        const float logit = bias + exact_terms<float>(layer, token, rank, 0, layer.hidden);
        if (is_certain(logit)) return logit;
    }
    return rounded_with_sign(static_cast<double>(bias) +
                             exact_terms<double>(layer, token, rank, 0, layer.hidden));
}

// Settles hidden units before their relu: the sign of a unit decides whether it has a gradient.
template <class Product, class There>
__device__ void settle_units(const Layer& layer, typename Product::Sums& sums, int64_t first_token,
                             int64_t first_unit, There is_there) {
    if constexpr (BACKWARD) {
        float largest = 0;
        Product::for_each(sums, [&](float& value, int row, int column) {
            if (is_there(row, column)) largest = fmaxf(largest, fabsf(value));
        });
        const float doubtful = largest / 16384;
        Product::settle(
            sums,
            [&](float value, int row, int column) {
                return value != 0 && fabsf(value) < doubtful && is_there(row, column);
            },
            [&](int row, int column) { return settled_unit(layer, first_token + row, first_unit + column); });
    }
}

// Whether rounding could flip the sign of a logit, which decides a hard gate. NaN is doubtful, too, as it may
// only come from the rest of a hidden unit times an infinite weight.
__device__ inline bool is_doubtful(float logit) { return !(fabsf(logit) >= 0x1p-10f); }

// Settles the doubtful logits.
template <class Product, class There>
__device__ void settle_logits(const Layer& layer, typename Product::Sums& sums, int64_t first_token,
                              int64_t first_rank, There is_there) {
    if constexpr (HARD)
        Product::settle(
            sums,
            [&](float value, int row, int column) { return is_doubtful(value) && is_there(row, column); },
            [&](int row, int column) {
                return settled_logit(layer, first_token + row, first_rank + column);
            });
}

// The rounding error of a number that is stored in 16 bits.
__device__ inline float rest_of(float value) {
    const float kept = Storage::widen(Storage::narrow(value));
    return fabsf(kept) <= 3.402823466e38f ? value - kept : 0;
}

// Stores two neighbouring hidden units, and their rounding errors in 16 bits where hard gates need them.
__device__ inline void store_units(const Layer& layer, int64_t token, int64_t unit, float first,
                                   float second) {
    store_pair<Storage>(layer.hidden_units, token, layer.hidden, unit, first, second);
    if constexpr (HARD && sizeof(Element) == 2)
        store_pair<Storage>(layer.hidden_rest, token, layer.hidden, unit, rest_of(first), rest_of(second));
}

// Adds the logits of `Product::rows` tokens and `Product::columns` ranks, without their bias:
// hidden_units [tokens, hidden] times gate_w2^T, and hidden_rest times gate_w2^T where there is one.
template <class Product>
__device__ void add_logits(const Layer& layer, typename Product::Shared& shared, int64_t first_token,
                           int64_t tokens, int64_t first_rank, typename Product::Sums& sums) {
    const auto add = [&](const void* units) {
        Product::add(shared, layer.hidden, sums, [&](typename Product::Stage& stage, int64_t at) {
            copy_tile<Product::rows, Product::depth>(stage.left, Product::left_stride,
                                                     {units, tokens, layer.hidden}, first_token, at);
            copy_tile<Product::columns, Product::depth>(stage.right, Product::right_stride,
                                                        {layer.gate_w2, layer.rank, layer.hidden}, first_rank,
                                                        at);
        });
    };
    add(layer.hidden_units);
    if constexpr (HARD && sizeof(Element) == 2) add(layer.hidden_rest);
}

// Stores the gate of a logit and returns it. If BACKWARD, it also stores the slope of the gate; a hard gate
// has that of the soft one.
__device__ inline float store_gate(const Layer& layer, int64_t token, int64_t rank, float logit) {
    const int64_t at = token * layer.rank + rank;
    if constexpr (GUMBEL) logit = (logit + layer.gate_noise[at]) * layer.gate_sharpness;
    const float gate = !HARD ? device::sigmoid(logit) : logit >= 0 ? 1.0f : 0.0f;
    layer.gates[at] = gate;
    if constexpr (BACKWARD) {
        // Of gate and 1 - gate, the one nearer to 0 is computed, because the other has lost digits.
        const float nearer = device::sigmoid(-fabsf(logit));
        layer.gate_slopes[at] = nearer * (1 - nearer);
        if constexpr (GUMBEL) layer.gate_slopes[at] *= layer.gate_sharpness;
    }
    return gate;
}

}  // namespace sawtooth::ar_ssm
