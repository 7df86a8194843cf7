// Strips of rows of a matrix memory and the tokens that they meet, for kernels that keep rows in registers
// (walk.cu, tree.cu). A row lies over LANES neighbouring lanes, lane p of them with columns 4 (p + LANES j)
// … + 3. Tokens come in groups of GROUP, the next one on its way past the registers while one is worked on.
//
// Defines: RULE, X (storage of k, v, q, y), WIDTH (d), LANES, WARPS, GROUP, COPY (bytes of a copy that rows
// allow), NORMALISE, WINDOW (of atlas_omega, else 1).
#pragma once

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/memory/gates.cuh"
#include "kernels/memory/rows.cuh"

namespace sawtooth::memory {

enum class Rule { titans, delta, hebbian, atlas, atlas_omega };

using Storage = device::X;
using Word = Storage::Word;

constexpr Rule rule = Rule::RULE;
constexpr bool has_momentum = rule == Rule::titans || rule == Rule::atlas || rule == Rule::atlas_omega;
constexpr bool reads_memory = rule != Rule::hebbian && rule != Rule::atlas;
constexpr bool is_windowed = rule == Rule::atlas_omega;

constexpr int d = WIDTH;
constexpr int row = padded_to(d, 4 * LANES);  // of keys and queries in shared memory
constexpr int columns = row / LANES;          // of a thread
constexpr int rows_a_warp = 32 / LANES, rows = WARPS * rows_a_warp;
constexpr int threads = 32 * WARPS;
constexpr int group = GROUP;
constexpr int ring = is_windowed ? WINDOW - 1 + GROUP : GROUP;  // tokens whose keys and values are kept
constexpr int raw_words = padded_to(group * d, 8);

struct Staged {
    alignas(16) Word raw[2][3][raw_words];  // k, v, q of two groups as they come
    alignas(16) float gates[2][3][group];
    alignas(16) float k[ring][row];
    alignas(16) float q[group][row];
    float v[ring][rows];
    float y[group][rows];
    alignas(16) float inputs_of_w[rule == Rule::atlas ? group : 1][2 * row];
};

using Row = float[columns];

__device__ inline int column_of(int lane, int j) { return 4 * (lane + LANES * (j / 4)) + j % 4; }

__device__ inline void load_part(const float* from, int lane, Row& part) {
#pragma unroll
    for (int j = 0; j < columns; j += 4) {
        const float4 four = *reinterpret_cast<const float4*>(from + column_of(lane, j));
        part[j] = four.x, part[j + 1] = four.y, part[j + 2] = four.z, part[j + 3] = four.w;
    }
}

// In four chains, so that no addition waits for the one before it.
__device__ inline float dot(const Row& left, const Row& right) {
    float sums[4] = {};
#pragma unroll
    for (int j = 0; j < columns; ++j) sums[j % 4] += left[j] * right[j];
    return sums[0] + sums[1] + (sums[2] + sums[3]);
}

__device__ inline float sum_of_row(float part) {
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) part += __shfl_xor_sync(device::whole_warp, part, step);
    return part;
}

// A row of a state [d, d] of a batch item; zeros where there is none.
__device__ inline void load_state(const float* state, int64_t first, int r, int lane, Row& part) {
#pragma unroll
    for (int j = 0; j < columns; ++j) {
        const int column = column_of(lane, j);
        part[j] = state && r < d && column < d ? state[first + r * d + column] : 0;
    }
}

__device__ inline void store_state(float* state, int64_t first, int r, int lane, const Row& part) {
    if (!state || r >= d) return;
#pragma unroll
    for (int j = 0; j < columns; ++j)
        if (const int column = column_of(lane, j); column < d) state[first + r * d + column] = part[j];
}

// Tokens `first` … `last` - 1 of a batch item, at most a group of them.
struct Tokens {
    int64_t batch, first, last;
    __device__ int count() const { return static_cast<int>(last - first < group ? last - first : group); }
};

__device__ inline void start_copies(const device_side::Walk& given, const Tokens& tokens, Staged& shared,
                                    int side) {
    const int64_t token = tokens.batch * given.length + tokens.first;
    const int there = tokens.count();
    const void* const inputs[3] = {given.k, given.v, given.q};
#pragma unroll
    for (int i = 0; i < 3; ++i)
        copy_rows<COPY>(shared.raw[side][i], static_cast<const Word*>(inputs[i]) + token * d, group * d,
                        there * d);
    const float* const gates[3] = {given.gates.alpha, given.gates.eta, given.gates.theta};
    for (int at = threadIdx.x; at < 3 * group; at += threads) {
        const int which = at / group, i = at % group;
        const float* const from = which == 0 ? gates[0] : which == 1 ? gates[1] : gates[2];
        if (from) device::copy_async(&shared.gates[side][which][i], from + token + i, i < there);
    }
}

// One row of d words, a warp to it, normalised where it is to be; zeros behind d.
__device__ inline void normalise_row(const Word* from, float* to, bool normalises) {
    constexpr int each = (row + 31) / 32;
    float mine[each];
    const int lane = device::lane_of_thread();
    load_row<Storage, d>(from, true, normalises, mine);
#pragma unroll
    for (int k = 0; k < each; ++k)
        if (lane + 32 * k < row) to[lane + 32 * k] = mine[k];
}

// The copies of a group, which all threads see, become what the tokens are worked on with.
__device__ inline void unpack(const Tokens& tokens, int first_row, Staged& shared, int side) {
    const int warp = device::warp_of_thread();
    for (int at = warp; at < 2 * group; at += WARPS) {
        const int i = at / 2, slot = static_cast<int>((tokens.first + i) % ring);
        if (i >= tokens.count()) break;
        normalise_row(shared.raw[side][at % 2 == 0 ? 0 : 2] + i * d,
                      at % 2 == 0 ? shared.k[slot] : shared.q[i], NORMALISE);
    }
    for (int at = threadIdx.x; at < tokens.count() * rows; at += threads) {
        const int i = at / rows, r = at % rows;
        shared.v[(tokens.first + i) % ring][r] =
            first_row + r < d ? widened<Storage>(shared.raw[side][1][i * d + first_row + r]) : 0;
    }
    if constexpr (rule == Rule::atlas) {
        __syncthreads();
        for (int at = threadIdx.x; at < tokens.count() * row; at += threads) {
            const int i = at / row, c = at % row;
            shared.inputs_of_w[i][c] = silu_of(shared.k[(tokens.first + i) % ring][c]);
            shared.inputs_of_w[i][row + c] =
                c < d ? silu_of(widened<Storage>(shared.raw[side][1][i * d + c])) : 0;
        }
    }
}

__device__ inline Gate gate_of(const device_side::Gates& given, const Staged& shared, int side, int i) {
    const float step = given.theta ? shared.gates[side][2][i] : 1;
    return {1 - (given.alpha ? shared.gates[side][0][i] : 0), given.eta ? shared.gates[side][1][i] : 0,
            step * given.share};
}

__device__ inline void store_y(const device_side::Walk& given, const Tokens& tokens, int first_row,
                               int skipped, const Staged& shared) {
    Word* const y = static_cast<Word*>(given.y) + (tokens.batch * given.length + tokens.first) * d;
    for (int at = threadIdx.x + skipped * rows; at < tokens.count() * rows; at += threads) {
        const int i = at / rows, r = first_row + at % rows;
        if (r < d) y[i * d + r] = narrowed<Storage>(shared.y[i][at % rows]);
    }
}

}  // namespace sawtooth::memory
