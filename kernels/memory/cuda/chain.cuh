// The coefficients of a tile's sources. With given errors e_s, a tile that starts from M and S has
//   M_t = a_t M + b_t S - sum of w_ts e_s k_s^T,  S_t = h_t S - sum of h_ts e_s k_s^T.
// The coefficients are running sums and products of the gates, so nothing is divided by a product.
#pragma once

#include "kernels/cuda/device/products.cuh"
#include "kernels/memory/cuda/gates.cuh"

namespace sawtooth::memory {

// The precision of the factors of a kernel's products, from its macro PRECISION.
constexpr device::Precision precision = device::Precision::PRECISION;
using P = device::Products<precision>;
using Element = P::Element;

// The coefficients a, b and h after the tokens so far: how much remains of M in M, of S in M and of S in S.
struct StateCoefficients {
    float a = 1, b = 0, h = 1;
    __device__ void advance(const Gate& gate) {
        h *= gate.keep;
        a *= gate.decay;
        b = gate.decay * b + h;
    }
};

// The coefficients w and h of the source `at` tokens after the first token of the tile (negative: before it).
struct SourceCoefficients {
    int at, halo;  // a source adds to the momentum of its own token and of the next `halo`
    float w = 0, h = 0;
    __device__ SourceCoefficients(int at_token, int halo_tokens) : at(at_token), halo(halo_tokens) {}
    // This is also called for tokens before the source: w and h stay zero.
    __device__ void advance(const Gate& gate, int token) {
        h *= gate.keep;
        if (at <= token && token - at <= halo) h += gate.step;
        w = gate.decay * w + h;
    }
};

// Stores w and h of all `sources` after the last token, zeros for missing ones, then a, b, h and a zero. All
// threads of the block call it; each owns whole sources.
__device__ inline void store_ends(const Gate* gates, int tokens, int first_source, int last_source, int halo,
                                  int sources, float* ends) {
    for (int s = threadIdx.x; s < sources; s += blockDim.x) {
        SourceCoefficients source(first_source + s, halo);
        if (first_source + s < last_source)
            for (int t = 0; t < tokens; ++t) source.advance(gates[t], t);
        ends[s] = source.w;
        ends[sources + s] = source.h;
    }
    if (threadIdx.x != blockDim.x - 1) return;
    // The last thread has the fewest sources. The scalars follow them: 16 bytes, one asynchronous copy.
    StateCoefficients state;
    for (int t = 0; t < tokens; ++t) state.advance(gates[t]);
    *reinterpret_cast<float4*>(ends + 2 * sources) = {state.a, state.b, state.h, 0};
}

}  // namespace sawtooth::memory
