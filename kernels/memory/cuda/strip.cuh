// Strips of rows of a matrix memory and their tokens, for kernels that keep rows in registers (exact.cu,
// tree.cu). Thread t of the block owns row t / LANES of the strip, as lane t % LANES of it (lane_row.cuh).
// Tokens come in groups of GROUP; the next group is copied asynchronously while the current one is processed.
//
// Defines: THREADS, SHARED_BYTES, HAS_MOMENTUM, READS_MEMORY, READS_W_OMEGA, IS_WINDOWED (of the rule), X
// (storage of k, v, q, y), WIDTH (d), LANES, GROUP, COPY (bytes per copy), NORMALISE, WINDOW
// (tokens of the longest window, 1 without windows), WINDOWS_VARY (whether every token has its own).
#pragma once

#include "kernels/cuda/device/activations.cuh"
#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/lane_row.cuh"
#include "kernels/cuda/device/rows.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/memory/cuda/gates.cuh"

namespace sawtooth::memory {

using Storage = device::X;
using Word = Storage::Word;

constexpr int d = WIDTH;
constexpr int row = device::round_up(d, 4 * LANES);  // keys and queries in shared memory
constexpr int warps = THREADS / 32, rows = THREADS / LANES;
constexpr int group = GROUP;
constexpr int ring = IS_WINDOWED ? WINDOW - 1 + GROUP : GROUP;  // tokens whose keys and values are kept
constexpr int raw_words = device::round_up(group * d, 8);
static_assert(THREADS % 32 == 0, "rows are summed over whole warps");

using Row = device::LaneRow<row, LANES>;
constexpr int columns = Row::columns;  // columns of a thread

// The tokens in shared memory. Keys and values of token t, those of a window and of the current group, are at
// t % ring.
struct Staged {
    alignas(16) Word raw[2][3][raw_words];  // k, v, q of two groups as stored
    alignas(16) float gates[2][3][group];   // alpha, eta, theta of two groups
    alignas(16) float k[ring][row];         // whole rows, read by all rows of M
    alignas(16) float q[group][row];
    float v[ring][rows];   // one number per row of the block
    float y[group][rows];  // one number per row, written by lane 0 of the row
    alignas(16) float inputs_of_w[READS_W_OMEGA ? group : 1][2 * row];  // silu([k; v]), each padded
};

__device__ inline float sum_of_row(float value) { return device::sum_of_lanes<LANES>(value); }

// The first token of the longest window that may end at `token`.
__device__ inline int64_t first_of_window(int64_t token) {
    return token > WINDOW - 1 ? token - (WINDOW - 1) : 0;
}
// The first token of the window that ends at `token` of a sequence.
__device__ inline int64_t first_of_window(const Arguments& given, int64_t batch, int64_t token) {
    if constexpr (WINDOWS_VARY) {
        const int64_t first = token + 1 - given.gates.windows[batch * given.length + token];
        return first > 0 ? first : 0;
    } else {
        return first_of_window(token);
    }
}

// Row r of a state [d, d] of a sequence; null if it does not exist.
template <class Number>
__device__ Number* row_of_state(Number* state, int64_t first, int r) {
    return state && r < d ? state + first + r * d : nullptr;
}

// Tokens `first` … `last` - 1 of a sequence, at most one group.
struct Tokens {
    int64_t batch, first, last;
    __device__ int count() const { return static_cast<int>(last - first < group ? last - first : group); }
};

// Sets absent gates, alpha 0, eta 0, theta 1, on both sides once: copies do not touch them. A barrier must
// follow.
__device__ inline void fill_absent_gates(const Gates& given, Staged& shared) {
    for (int at = threadIdx.x; at < 2 * group; at += THREADS) {
        auto& [alpha, eta, theta] = shared.gates[at / group];
        if (!given.alpha) alpha[at % group] = 0;
        if (!given.eta) eta[at % group] = 0;
        if (!given.theta) theta[at % group] = 1;
    }
}

// Starts the copies of a group into one side of `raw` and `gates`, with zeros after the last token. All
// threads call it. A thread waits for its own copies, then a barrier makes all of them visible.
__device__ inline void start_copies(const Arguments& given, const Tokens& tokens, Staged& shared, int side) {
    const int64_t token = tokens.batch * given.length + tokens.first;
    const int there = tokens.count();
    const void* const inputs[3] = {given.k, given.v, given.q};
#pragma unroll
    for (int i = 0; i < 3; ++i)
        device::copy_words<COPY>(shared.raw[side][i], static_cast<const Word*>(inputs[i]) + token * d,
                                 group * d, there * d);
    const float* const gates[3] = {given.gates.alpha, given.gates.eta, given.gates.theta};
    for (int at = threadIdx.x; at < 3 * group; at += THREADS) {
        const int which = at / group, i = at % group;
        const float* const from = which == 0 ? gates[0] : which == 1 ? gates[1] : gates[2];
        if (from) device::copy_async(&shared.gates[side][which][i], from + token + i, i < there);
    }
}

// Unpacks the copies of a group: keys and queries one warp per row, values of the block's rows one thread per
// number. A barrier must follow.
__device__ inline void unpack(const Tokens& tokens, int first_row, Staged& shared, int side) {
    for (int at = device::warp_of_thread(); at < 2 * group; at += warps) {
        const int i = at / 2, slot = static_cast<int>((tokens.first + i) % ring);
        if (i >= tokens.count()) break;
        device::stage_row<Storage, d, row>(shared.raw[side][at % 2 == 0 ? 0 : 2] + i * d, true, NORMALISE,
                                           at % 2 == 0 ? shared.k[slot] : shared.q[i]);
    }
    for (int at = threadIdx.x; at < tokens.count() * rows; at += THREADS) {
        const int i = at / rows, r = at % rows;
        shared.v[(tokens.first + i) % ring][r] =
            first_row + r < d ? Storage::widen(shared.raw[side][1][i * d + first_row + r]) : 0;
    }
    if constexpr (READS_W_OMEGA) {
        device::sync_block();  // the normalised keys are visible
        for (int at = threadIdx.x; at < tokens.count() * row; at += THREADS) {
            const int i = at / row, c = at % row;
            shared.inputs_of_w[i][c] = device::silu(shared.k[(tokens.first + i) % ring][c]);
            shared.inputs_of_w[i][row + c] =
                c < d ? device::silu(Storage::widen(shared.raw[side][1][i * d + c])) : 0;
        }
    }
}

// The gate of token i of the group; matrix rules have no lambda.
__device__ inline Gate gate_of(const Arguments& given, const Tokens& tokens, const Staged& shared, int side,
                               int i) {
    const auto& [alpha, eta, theta] = shared.gates[side];
    const int64_t at = tokens.batch * given.length + tokens.first + i;
    return {1 - alpha[i], eta[i], theta[i] * share_at<WINDOWS_VARY>(given.gates, at)};
}

// Stores y of the block's rows, except for the first `skipped` tokens. Call it after a barrier.
__device__ inline void store_y(const Arguments& given, const Tokens& tokens, int first_row, int skipped,
                               const Staged& shared) {
    Word* const y = static_cast<Word*>(given.y) + (tokens.batch * given.length + tokens.first) * d;
    for (int at = threadIdx.x + skipped * rows; at < tokens.count() * rows; at += THREADS) {
        const int i = at / rows, r = first_row + at % rows;
        if (r < d) y[i * d + r] = Storage::narrow(shared.y[i][at % rows]);
    }
}

}  // namespace sawtooth::memory
