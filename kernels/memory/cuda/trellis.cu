// Trellis, token by token, both passes in one launch:
//   e = S_K x - k[:c];  S_K = (1 - alpha - theta lambda_k) S_K - theta e x^T;  z = nsilu(S_K x)
//                                                                            r = nsilu(S_K q)
//   f = S_V z - v;      S_V = (1 - alpha - theta lambda_v) S_V - theta f z^T;  y = S_V r
// with S_K [c, d], S_V [d, c] and nsilu(w) = sqrt(c) silu(w) / max(norm(silu(w)), 1e-12). The key slots never
// depend on the value slots. So a group of tokens walks over S_K, whose rows are independent, then nsilu is
// applied to all z and r, then the group walks over S_V: four barriers per group, none per token. Eight lanes
// keep row r of both memories in registers (lane_row.cuh).
//
// A group of GROUP tokens:  load | walk over S_K | nsilu of z and r | walk over S_V | store y
// Each `|` is a barrier: what is written by rows is then read by tokens, or the other way round.
//
// Defines: THREADS, SHARED_BYTES, X (storage), WIDTH (d), COMPRESS (c), NORMALISE, GROUP, LOCAL (whether the
// tokens are cut into local memories).

#include "kernels/cuda/device/activations.cuh"
#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/lane_row.cuh"
#include "kernels/cuda/device/rows.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/memory/cuda/gates.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

using Storage = device::X;
using Word = Storage::Word;
constexpr int d = WIDTH, c = COMPRESS, lanes = 8, warps = THREADS / 32;
// Padded rows of S_K and of S_V.
constexpr int wide = device::round_up(d, 4 * lanes), narrow = device::round_up(c, 4 * lanes);
constexpr int group = GROUP;
static_assert(THREADS == device::round_up(d * lanes, 32), "eight lanes per row, in whole warps");
static_assert(c <= d, "a row of S_K shares the lanes of the same row of S_V");

struct Shared {
    alignas(16) float x[group][wide], k[group][wide], v[group][wide], q[group][wide];
    alignas(16) float z[group][narrow], r[group][narrow];
    float y[group][wide];
    Gate keys[group];
    float decay_of_values[group];
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

using KeyRow = device::LaneRow<wide, lanes>;
using ValueRow = device::LaneRow<narrow, lanes>;

// The product with a row in shared memory, four columns at a time.
template <class Row>
__device__ float product(const Row& row, const float* with, int lane) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j < Row::columns; j += 4) {
        const float4 four = *reinterpret_cast<const float4*>(with + Row::column(lane, j));
        sum += row[j] * four.x + row[j + 1] * four.y + row[j + 2] * four.z + row[j + 3] * four.w;
    }
    return device::sum_of_lanes<lanes>(sum);
}

// row = decay * row + u * (a row in shared memory).
template <class Row>
__device__ void advance(Row& row, float decay, float u, const float* with, int lane) {
#pragma unroll
    for (int j = 0; j < Row::columns; j += 4) {
        const float4 four = *reinterpret_cast<const float4*>(with + Row::column(lane, j));
        row[j] = decay * row[j] + u * four.x, row[j + 1] = decay * row[j + 1] + u * four.y;
        row[j + 2] = decay * row[j + 2] + u * four.z, row[j + 3] = decay * row[j + 3] + u * four.w;
    }
}

// Loads rows and gates of `count` tokens from `first` on, one warp per row; a barrier must follow.
__device__ void load_tokens(const Arguments& given, int64_t batch, int64_t first, int count, Shared& shared) {
    for (int at = device::warp_of_thread(); at < 4 * count; at += warps) {
        // All x first, then all k, v and q.
        const int which = at / count, i = at % count;
        const void* const from = which == 0 ? given.x : which == 1 ? given.k : which == 2 ? given.v : given.q;
        float* const to = which == 0   ? shared.x[i]
                          : which == 1 ? shared.k[i]
                          : which == 2 ? shared.v[i]
                                       : shared.q[i];
        device::stage_row<Storage, d, wide>(
            static_cast<const Word*>(from) + (batch * given.length + first + i) * d, true,
            NORMALISE && (which == 1 || which == 3), to);
    }
    // Both memories have the same gates except lambda.
    for (int i = threadIdx.x; i < count; i += THREADS) {
        Gates gates = given.gates;
        shared.keys[i] = gate_at(gates, batch * given.length + first + i);
        gates.lambda = given.lambda_values;
        shared.decay_of_values[i] = gate_at(gates, batch * given.length + first + i).decay;
    }
}

// Applies nsilu to z and r of all tokens of the group, one warp per row.
__device__ void bend(int count, Shared& shared) {
    const int lane = device::lane_of_thread();
    constexpr int each = device::ceil_divide(narrow, 32);
    for (int at = device::warp_of_thread(); at < 2 * count; at += warps) {
        float* const row = at % 2 == 0 ? shared.z[at / 2] : shared.r[at / 2];
        float mine[each];
#pragma unroll
        for (int n = 0; n < each; ++n) mine[n] = lane + 32 * n < c ? device::silu(row[lane + 32 * n]) : 0;
        const float factor = device::inverse_norm_over_warp(mine) * sqrtf(static_cast<float>(c));
#pragma unroll
        for (int n = 0; n < each; ++n) row[lane + 32 * n] = mine[n] * factor;
    }
}

// Grid: batch; a block owns both memories of its sequence, thread t owns row t / 8 of both. If LOCAL: local
// memories, batch; a block owns those of a local memory, and the last one passes them on.
//   reads    x, k, v, q [batch, length, d], gates [batch, length]; S_K = m.from [batch, c, d] and
//            S_V = s.from [batch, d, c]
//   writes   y [batch, length, d]; S_K to m.to and S_V to s.to
// Rows of d numbers are zero-padded to `wide`, rows of c to `narrow`.
extern "C" __global__ void __launch_bounds__(THREADS) trellis(Arguments given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const int64_t batch = LOCAL ? blockIdx.y : blockIdx.x;
    bool passes_on = true;
    if constexpr (LOCAL) {
        given.first += blockIdx.x * given.local_tokens;
        passes_on = given.last <= given.first + given.local_tokens;
        if (!passes_on) given.last = given.first + given.local_tokens;
    }
    const int r = threadIdx.x / lanes, lane = threadIdx.x % lanes;
    // Threads beyond the rows of a memory take part in warp sums with rows of zeros.
    const bool has_key = r < c, has_value = r < d;
    const int64_t key_at = (batch * c + r) * d, value_at = (batch * d + r) * c;
    KeyRow keys;
    ValueRow values;
    for (int64_t first = given.first; first < given.last; first += group) {
        const int count = static_cast<int>(given.last - first < group ? given.last - first : group);
        load_tokens(given, batch, first, count, shared);
        // Tokens are inputs that no earlier launch writes; the state may be written by one.
        if (first == given.first) {
            device::wait_for_launches_before();
            device::let_next_launch_start();
            keys.load_unpadded(given.m.from && has_key ? given.m.from + key_at : nullptr, d, lane);
            values.load_unpadded(given.s.from && has_value ? given.s.from + value_at : nullptr, c, lane);
        }
        device::sync_block();  // the tokens are visible to all rows of S_K
        for (int i = 0; i < count; ++i) {
            const Gate gate = shared.keys[i];
            const float e = product(keys, shared.x[i], lane) - (has_key ? shared.k[i][r] : 0);
            advance(keys, gate.decay, -gate.step * e, shared.x[i], lane);
            // Reads the memory after the token. Lane 0 of a row writes for all eight.
            const float z = product(keys, shared.x[i], lane),
                        query_product = product(keys, shared.q[i], lane);
            if (lane == 0 && has_key) shared.z[i][r] = z, shared.r[i][r] = query_product;
        }
        device::sync_block();  // z and r are visible: written by rows of S_K, read by tokens
        bend(count, shared);
        device::sync_block();  // nsilu of z and r is visible to all rows of S_V
        for (int i = 0; i < count; ++i) {
            const float f = product(values, shared.z[i], lane) - (has_value ? shared.v[i][r] : 0);
            advance(values, shared.decay_of_values[i], -shared.keys[i].step * f, shared.z[i], lane);
            const float y = product(values, shared.r[i], lane);
            if (lane == 0 && has_value) shared.y[i][r] = y;
        }
        device::sync_block();  // y is visible; the next tokens may be loaded
        Word* const y = static_cast<Word*>(given.y) + (batch * given.length + first) * d;
        for (int at = threadIdx.x; at < count * d; at += THREADS)
            y[at] = Storage::narrow(shared.y[at / d][at % d]);
    }
    if (!passes_on) return;
    if (has_key) keys.store_unpadded(given.m.to ? given.m.to + key_at : nullptr, d, lane);
    if (has_value) values.store_unpadded(given.s.to ? given.s.to + value_at : nullptr, c, lane);
}
