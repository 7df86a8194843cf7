// The steps of the variant unfused that are not products. They use no shared memory and no barriers. The
// numbers of an array are counted through all sequences: [B, L, rank] has B L rank of them.
//
// Defines: THREADS, SHARED_BYTES, STORAGE, ALIGNED, ALIGNED_CHANNELS, BIDIRECTIONAL, ROWS and CHANNELS (of a
// thread block that convolves).

#include "kernels/ar_ssm/cuda/convolution.cuh"
#include "kernels/ar_ssm/cuda/gate_gradients.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

static_assert(SHARED_BYTES == 0);

__device__ int64_t own_number() { return int64_t{blockIdx.x} * THREADS + threadIdx.x; }
__device__ int64_t ranks_of(const Layer& layer) { return layer.batch * layer.length * layer.rank; }

// Both convolutions: a thread block owns ROWS positions of one sequence x CHANNELS channels, a thread owns a
// slice of neighbouring channels of some rows (convolution.cuh). Grid: B ceil(L / ROWS), ceil(D / CHANNELS).
template <bool mirrored, class Put>
__device__ void convolve_tile(const Layer& layer, const void* values, Put put) {
    const Positions at = positions_of<ROWS>(layer, blockIdx.x);
    const int64_t channel = int64_t{blockIdx.y} * CHANNELS;
    Convolution<ROWS, CHANNELS, mirrored>(layer, values, at, channel)
        .for_each_row([&](int row, int column, const float(&sums)[channels_together]) {
            put((at.token + row) * layer.width + channel + column, sums);
        });
}

// x [B, L, D] -> t [B, L, D]
//   t[l] = tap_0 x[l - 1] + tap_1 x[l] + tap_2 x[l + 1]
extern "C" __global__ void __launch_bounds__(THREADS) convolve(Layer layer) {
    convolve_tile<false>(layer, layer.x, [&](int64_t at, const float(&t)[channels_together]) {
        device::store<Storage>(layer.t, at, t);
    });
}

// dy [B, L, D] -> dx [B, L, D], to which the launches of products.cu add
//   dx[l] = scale (tap_0 dy[l + 1] + tap_1 dy[l] + tap_2 dy[l - 1])
extern "C" __global__ void __launch_bounds__(THREADS) x_gradient_conv(Layer layer) {
    convolve_tile<true>(layer, layer.dy, [&](int64_t at, const float(&dt)[channels_together]) {
        float dx[channels_together];
#pragma unroll
        for (int v = 0; v < channels_together; ++v) dx[v] = layer.scale * dt[v];
        store_floats(layer.dx + at, dx);
    });
}

// gates [B, L, rank] -> effective_rank [B, L]. Grid: ceil(32 B L / THREADS).
//   warp w: token w; lane l sums gates l, l + 32, …, and shuffles add the lanes: all of them take part
extern "C" __global__ void __launch_bounds__(THREADS) effective_rank(Layer layer) {
    const int64_t warp = own_number() / 32;  // one per token
    if (warp >= layer.batch * layer.length) return;
    float sum = 0;
    for (int64_t k = device::lane_of_thread(); k < layer.rank; k += 32)
        sum += layer.gates[warp * layer.rank + k];
    sum = device::sum_of_warp(sum);
    if (device::lane_of_thread() == 0) layer.effective_rank[warp] = sum;
}

__device__ void multiply_scanned(const Layer& layer, const float* c, void* w) {
    const int64_t at = own_number();
    if (at < ranks_of(layer)) static_cast<Element*>(w)[at] = Storage::narrow(c[at] * element(layer.v, at));
}

// c, v [B, L, rank] -> w [B, L, rank], and c_rev, v -> w_rev. Grid: ceil(B L rank / THREADS).
//   thread n: number n of each array, w = c v
extern "C" __global__ void __launch_bounds__(THREADS) multiply(Layer layer) {
    multiply_scanned(layer, layer.c, layer.w);
}
extern "C" __global__ void __launch_bounds__(THREADS) reverse_multiply(Layer layer) {
    multiply_scanned(layer, layer.c_rev, layer.w_rev);
}

// t, uv, uv_rev [B, L, D] -> y [B, L, D]. Grid: ceil(B L D / (THREADS channels_together)).
//   thread n: numbers n channels_together …, 16 bytes if rows are aligned; y = scale (t + uv + uv_rev)
extern "C" __global__ void __launch_bounds__(THREADS) add(Layer layer) {
    const int64_t at = own_number() * channels_together;
    if (at >= layer.batch * layer.length * layer.width) return;
    float y[channels_together], more[channels_together];
    const auto add = [&](const void* values) {
        device::load<Storage>(values, at, more);
#pragma unroll
        for (int v = 0; v < channels_together; ++v) y[v] += more[v];
    };
    device::load<Storage>(layer.t, at, y);
    add(layer.uv);
    if constexpr (BIDIRECTIONAL) add(layer.uv_rev);
#pragma unroll
    for (int v = 0; v < channels_together; ++v) y[v] *= layer.scale;
    device::store<Storage>(layer.y, at, y);
}

// dw, v, c, c_rev [B, L, rank] -> dc, dv [B, L, rank]. Grid: ceil(B L rank / THREADS).
//   thread n: number n of each array, dc = dw v, dv = dw (c + c_rev)
extern "C" __global__ void __launch_bounds__(THREADS) factor_gradients(Layer layer) {
    const int64_t at = own_number();
    if (at >= ranks_of(layer)) return;
    const float dw = layer.dw[at];
    layer.dc[at] = dw * element(layer.v, at);
    layer.dv[at] = dw * (BIDIRECTIONAL ? layer.c[at] + layer.c_rev[at] : layer.c[at]);
}

// du, du_rev, dv, gates, gate_slopes, projections -> dprojected_u, dprojected_v, dlogits, all of
// them [B, L, rank]. Grid: ceil(B L rank / THREADS).
//   thread n: number n of each array (gate_gradients.cuh)
extern "C" __global__ void __launch_bounds__(THREADS) gate_gradients(Layer layer) {
    const int64_t at = own_number();
    if (at >= ranks_of(layer)) return;
    store_gate_gradients(layer, at,
                         {layer.gates[at], layer.gate_slopes[at], element(layer.projected_u, at),
                          element(layer.projected_v, at)},
                         BIDIRECTIONAL ? layer.du[at] + layer.du_rev[at] : layer.du[at], layer.dv[at]);
}
