// The coefficients of a tile's sources. With given errors e_s, a tile that starts from M and S has
//   M_t = a_t M + b_t S - sum of w_ts e_s k_s^T,  S_t = h_t S - sum of h_ts e_s k_s^T.
// The coefficients are running sums and products of the gates, so nothing is divided by a product.
//
// Defines: PRECISION, HAS_MOMENTUM, WINDOWS_VARY (whether every token has a window of its own).
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
        h = HAS_MOMENTUM ? h * gate.keep : 0;
        a *= gate.decay;
        b = HAS_MOMENTUM ? gate.decay * b + h : 0;
    }
    // The coefficients after these tokens and the later ones.
    __device__ StateCoefficients then(const StateCoefficients& later) const {
        return {later.a * a, HAS_MOMENTUM ? later.a * b + later.b * h : 0, later.h * h};
    }
};

// The windows of a tile's tokens: each has `halo` tokens before its own, or a size of its own.
struct Windows {
    int halo;
    const int32_t* sizes;  // from the tile's first token on; read only if WINDOWS_VARY
    // Whether the source `at` is in the window of a later token, or of its own.
    __device__ bool reach(int at, int token) const {
        return token - at <= (WINDOWS_VARY ? sizes[token] - 1 : halo);
    }
};
__device__ inline Windows windows_of(const TilingArguments& tiling, const Gates& gates, int64_t token) {
    return {tiling.halo, WINDOWS_VARY ? gates.windows + token : nullptr};
}

// The coefficients w and h of the source `at` tokens after the first token of the tile (negative: before it).
struct SourceCoefficients {
    int at;  // a source adds to the momentum of its own token and of those whose windows reach it
    Windows windows;
    float w = 0, h = 0;
    __device__ SourceCoefficients(int at_token, const Windows& of_tile) : at(at_token), windows(of_tile) {}
    // This is also called for tokens before the source: w and h stay zero.
    __device__ void advance(const Gate& gate, int token) {
        h = HAS_MOMENTUM ? h * gate.keep : 0;
        if (at <= token && windows.reach(at, token)) h += gate.step;
        w = gate.decay * w + h;
    }
};

// Stores w and h of all `sources` after the last token, zeros for missing ones, then a, b, h and a zero. All
// threads of the block call it; each owns whole sources.
__device__ inline void store_ends(const Gate* gates, int tokens, int first_source, int last_source,
                                  const Windows& windows, int sources, float* ends) {
    for (int s = threadIdx.x; s < sources; s += blockDim.x) {
        SourceCoefficients source(first_source + s, windows);
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
