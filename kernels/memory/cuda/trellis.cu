// Trellis, token by token, both passes in one launch:
//   e = S_K x - k[:c]; S_K = (1 - alpha - theta lambda_k) S_K - theta e x^T; z = nsilu(S_K x), r = nsilu(S_K
//   q); f = S_V z - v;     S_V = (1 - alpha - theta lambda_v) S_V - theta f z^T; y = S_V r,
// nsilu(w) = sqrt(c) silu(w) / max(norm(silu(w)), 1e-12). The keys' memory never looks at the values', so
// that a group of tokens walks past S_K, whose rows never meet, then all rows are bent and normalised at
// once, then the group walks past S_V. Eight lanes have row r of both, lane p of them columns 4 (p + 8 j) …
// + 3.
//
// Defines: X (storage), WIDTH (d), COMPRESS (c), NORMALISE, GROUP.

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/memory/gates.cuh"
#include "kernels/memory/rows.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

using Storage = device::X;
using Word = Storage::Word;
constexpr int d = WIDTH, c = COMPRESS, lanes = 8;
constexpr int threads = padded_to(d * lanes, 32), warps = threads / 32;
constexpr int wide = padded_to(d, 4 * lanes), narrow = padded_to(c, 4 * lanes);  // rows of S_K, of S_V
constexpr int group = GROUP;

struct Shared {
    alignas(16) float x[group][wide], k[group][wide], v[group][wide], q[group][wide];
    alignas(16) float z[group][narrow], r[group][narrow];
    float y[group][wide];
    Gate keys[group];
    float decay_of_values[group];
};

// A row of a memory of `width` padded columns over eight lanes.
template <int width>
struct Row {
    static constexpr int columns = width / lanes;
    float at[columns];

    static __device__ int column(int lane, int j) { return 4 * (lane + lanes * (j / 4)) + j % 4; }

    __device__ void load(const float* state, int64_t first, int count, bool there, int lane) {
#pragma unroll
        for (int j = 0; j < columns; ++j)
            at[j] = state && there && column(lane, j) < count ? state[first + column(lane, j)] : 0;
    }
    __device__ void store(float* state, int64_t first, int count, bool there, int lane) const {
        if (!state || !there) return;
#pragma unroll
        for (int j = 0; j < columns; ++j)
            if (column(lane, j) < count) state[first + column(lane, j)] = at[j];
    }
    __device__ float dot(const float* with, int lane) const {
        float sum = 0;
#pragma unroll
        for (int j = 0; j < columns; j += 4) {
            const float4 four = *reinterpret_cast<const float4*>(with + column(lane, j));
            sum += at[j] * four.x + at[j + 1] * four.y + at[j + 2] * four.z + at[j + 3] * four.w;
        }
#pragma unroll
        for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(device::whole_warp, sum, step);
        return sum;
    }
    // decay times this, plus u times a row.
    __device__ void advance(float decay, float u, const float* with, int lane) {
#pragma unroll
        for (int j = 0; j < columns; j += 4) {
            const float4 four = *reinterpret_cast<const float4*>(with + column(lane, j));
            at[j] = decay * at[j] + u * four.x, at[j + 1] = decay * at[j + 1] + u * four.y;
            at[j + 2] = decay * at[j + 2] + u * four.z, at[j + 3] = decay * at[j + 3] + u * four.w;
        }
    }
};

__device__ void load_tokens(const device_side::Trellis& given, int64_t batch, int64_t first, int count,
                            Shared& shared) {
    const int lane = device::lane_of_thread();
    constexpr int each = (wide + 31) / 32;
    for (int at = device::warp_of_thread(); at < 4 * count; at += warps) {
        const int which = at / count, i = at % count;
        const void* const from = which == 0 ? given.x : which == 1 ? given.k : which == 2 ? given.v : given.q;
        const Word* const words = static_cast<const Word*>(from) + (batch * given.length + first + i) * d;
        float mine[each];
        load_row<Storage, d>(words, true, NORMALISE && (which == 1 || which == 3), mine);
        float* const to = which == 0   ? shared.x[i]
                          : which == 1 ? shared.k[i]
                          : which == 2 ? shared.v[i]
                                       : shared.q[i];
#pragma unroll
        for (int n = 0; n < each; ++n) to[lane + 32 * n] = mine[n];
    }
    for (int i = threadIdx.x; i < count; i += threads) {
        device_side::Gates gates = given.gates;
        shared.keys[i] = gate_at(gates, batch * given.length + first + i);
        gates.lambda = given.lambda_values;
        shared.decay_of_values[i] = gate_at(gates, batch * given.length + first + i).decay;
    }
}

// z and r of all tokens of the group, a warp a row.
__device__ void bend(int count, Shared& shared) {
    const int lane = device::lane_of_thread();
    constexpr int each = (narrow + 31) / 32;
    for (int at = device::warp_of_thread(); at < 2 * count; at += warps) {
        float* const row = at % 2 == 0 ? shared.z[at / 2] : shared.r[at / 2];
        float mine[each];
#pragma unroll
        for (int n = 0; n < each; ++n) mine[n] = lane + 32 * n < c ? silu_of(row[lane + 32 * n]) : 0;
        const float factor = inverse_norm(mine) * sqrtf(static_cast<float>(c));
#pragma unroll
        for (int n = 0; n < each; ++n) row[lane + 32 * n] = mine[n] * factor;
    }
}

// Grid: batch.
extern "C" __global__ void __launch_bounds__(threads) trellis(device_side::Trellis given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const int64_t batch = blockIdx.x;
    const int r = threadIdx.x / lanes, lane = threadIdx.x % lanes;
    const bool has_key = r < c, has_value = r < d;
    Row<wide> keys;
    Row<narrow> values;
    keys.load(given.keys_from, (batch * c + r) * d, d, has_key, lane);
    values.load(given.values_from, (batch * d + r) * c, c, has_value, lane);
    for (int64_t first = given.first; first < given.last; first += group) {
        const int count = static_cast<int>(given.last - first < group ? given.last - first : group);
        load_tokens(given, batch, first, count, shared);
        __syncthreads();
        for (int i = 0; i < count; ++i) {
            const Gate gate = shared.keys[i];
            const float e = keys.dot(shared.x[i], lane) - (has_key ? shared.k[i][r] : 0);
            keys.advance(gate.decay, -gate.step * e, shared.x[i], lane);
            const float z = keys.dot(shared.x[i], lane), of_query = keys.dot(shared.q[i], lane);
            if (lane == 0 && has_key) shared.z[i][r] = z, shared.r[i][r] = of_query;
        }
        __syncthreads();
        bend(count, shared);
        __syncthreads();
        for (int i = 0; i < count; ++i) {
            const float f = values.dot(shared.z[i], lane) - (has_value ? shared.v[i][r] : 0);
            values.advance(shared.decay_of_values[i], -shared.keys[i].step * f, shared.z[i], lane);
            const float y = values.dot(shared.r[i], lane);
            if (lane == 0 && has_value) shared.y[i][r] = y;
        }
        __syncthreads();
        Word* const y = static_cast<Word*>(given.y) + (batch * given.length + first) * d;
        for (int at = threadIdx.x; at < count * d; at += threads)
            y[at] = narrowed<Storage>(shared.y[at / d][at % d]);
    }
    keys.store(given.keys_to, (batch * c + r) * d, d, has_key, lane);
    values.store(given.values_to, (batch * d + r) * c, c, has_value, lane);
}
