// exact_chunk: the errors of the delta rule in a tile obey e_t = a_(t-1) M k_t - v_t - sum over s < t of
// w_(t-1)s (k_s . k_t) e_s, a triangular system (I + T) E = diag(a) K M - V (the WY form). M is not known yet
// when all tiles are solved at once, so the system is solved for K and V: (I + T) X = [diag(a) K, V], and
// chain_walk.cu uses E = X_K M - X_V. Blocks of 16 tokens: a product subtracts the terms of earlier blocks,
// the inverse of the block's own triangle does the rest. A warp owns columns of X, which are independent.
//
// With two tokens, keys of norm 1, c = k_0 . k_1 and the step theta:
//   T = [0 0; theta c 0],  e_0 = M k_0 - v_0,  e_1 = a_0 M k_1 - v_1 - theta c e_0.
//
// Defines: THREADS, SHARED_BYTES, KEYS, VALUES (storages), COLUMNS (d), NORMALISE_KEYS, PRECISION (of the
// stored arrays), TILE.

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/rows.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/tiles.cuh"
#include "kernels/memory/cuda/chain.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;
using device::Lies;
using device::Precision;
using device::Tile;

// The solve uses more than bf16, because everything after it depends on its result.
constexpr Precision inner_precision = precision == Precision::bf16 ? Precision::tf32 : precision;
constexpr int warps = THREADS / 32;
constexpr int d = device::round_up(COLUMNS, 16), block_rows = 16, blocks = TILE / block_rows;
constexpr int padding = device::bank_padding<inner_precision>;
constexpr int key_stride = d + padding, x_stride = 2 * d + padding, t_stride = TILE + padding;
constexpr int inverse_stride = block_rows + 4;
static_assert(THREADS % 32 == 0 && TILE % block_rows == 0, "16 rows or columns per warp");

struct Shared {
    alignas(16) float k[TILE][key_stride];            // one row per token
    alignas(16) float x[TILE][x_stride];              // [diag(a) K, V], then X
    alignas(16) float t[TILE][t_stride];              // -T
    alignas(16) float inverse[TILE][inverse_stride];  // inverses of the diagonal blocks of I + T
    Gate gates[TILE];
    float decays[TILE];  // a before each token
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

// Loads keys and values of the tile into shared memory, one warp per token. Missing rows are zeros.
__device__ void load_rows(const ChainArguments& given, int64_t batch, Range tokens, Shared& shared) {
    const auto* const keys = static_cast<const device::KEYS::Word*>(given.given_keys);
    const auto* const values = static_cast<const device::VALUES::Word*>(given.given_values);
    for (int t = device::warp_of_thread(); t < TILE; t += warps) {
        const bool there = t < tokens.count();
        const int64_t at = (batch * given.length + tokens.first + t) * COLUMNS;
        device::stage_row<device::KEYS, COLUMNS, d>(keys + at, there, NORMALISE_KEYS, shared.k[t]);
        device::stage_row<device::VALUES, COLUMNS, d>(values + at, there, false, shared.x[t] + d);
        // The right side of the system is [diag(a) K, V]. A lane reads only its own elements of k.
        for (int column = device::lane_of_thread(); column < d; column += 32)
            shared.x[t][column] = shared.decays[t] * shared.k[t][column];
    }
}

// Computes a before each token of the tile, and -w_(t-1)s below the diagonal with zeros elsewhere, one thread
// per column.
__device__ void load_coefficients(const Windows& windows, int tokens, Shared& shared) {
    for (int s = threadIdx.x; s < TILE; s += THREADS) {
        SourceCoefficients source(s, windows);
        for (int t = 0; t < TILE; ++t) {
            shared.t[t][s] = s < t && t < tokens ? -source.w : 0;
            if (t < tokens) source.advance(shared.gates[t], t);
        }
    }
    if (threadIdx.x != THREADS - 1) return;
    float a = 1;
    for (int t = 0; t < TILE; ++t) {
        shared.decays[t] = a;
        if (t < tokens) a *= shared.gates[t].decay;
    }
}

// Computes -T = the coefficients times K K^T, 16 rows per warp.
__device__ void multiply_keys(Shared& shared) {
    for (int i = device::warp_of_thread(); i < blocks; i += warps) {
        // t is k_t . k_s of 16 tokens t and all s, then times -w_(t-1)s.
        Tile k[d / 8], t[TILE / 8], coefficients[TILE / 8];
        device::load_tiles(shared.k[16 * i], key_stride, k);
        device::clear(t);
        device::multiply<inner_precision, Lies::in_columns>(k, &shared.k[0][0], key_stride, t);
        device::load_tiles(shared.t[16 * i], t_stride, coefficients);
#pragma unroll
        for (int n = 0; n < TILE / 8; ++n)
#pragma unroll
            for (int at = 0; at < 4; ++at) t[n][at] *= coefficients[n][at];
        device::store_tiles(t, shared.t[16 * i], t_stride);
    }
}

// Inverts the diagonal blocks of I + T, one warp per block, one lane per column.
__device__ void invert(Shared& shared) {
    const int lane = device::lane_of_thread();
    for (int i = device::warp_of_thread(); i < blocks; i += warps) {
        if (lane >= block_rows) continue;
        float x[block_rows];
#pragma unroll
        for (int r = 0; r < block_rows; ++r) {
            float sum = r == lane ? 1 : 0;
#pragma unroll
            for (int c = 0; c < r; ++c) sum += shared.t[16 * i + r][16 * i + c] * x[c];
            x[r] = sum;
            shared.inverse[16 * i + r][lane] = sum;
        }
    }
}

// Solves a block of 16 columns of X by substitution, one lane per column. The product with the inverse gives
// the same, but it multiplies later rows by zero, which gives NaN if they are not finite.
__device__ void substitute(Shared& shared, int i, int column) {
    const int lane = device::lane_of_thread();
    if (lane >= 16) return;
    for (int r = 1; r < block_rows; ++r) {
        float sum = shared.x[16 * i + r][column + lane];
        for (int c = 0; c < r; ++c)
            sum += shared.t[16 * i + r][16 * i + c] * shared.x[16 * i + c][column + lane];
        shared.x[16 * i + r][column + lane] = sum;
    }
}

// Solves two tiles of 8 columns of X, block after block.
__device__ void solve_columns(Shared& shared, int column) {
    for (int i = 0; i < blocks; ++i) {
        float* const here = &shared.x[16 * i][column];
        Tile x[2], left[2];
        device::load_tiles(here, x_stride, x);
        for (int j = 0; j < i; ++j) {
            device::load_tiles(&shared.t[16 * i][16 * j], t_stride, left);
            device::multiply<inner_precision, Lies::in_rows>(left, &shared.x[16 * j][column], x_stride, x);
        }
        device::store_tiles(x, here, x_stride);
        device::sync_warp();  // the right side of this block is visible: the product reads whole rows
        device::load_tiles(shared.inverse[16 * i], inverse_stride, left);
        device::clear(x);
        device::multiply<inner_precision, Lies::in_rows>(left, here, x_stride, x);
        device::sync_warp();  // all lanes have read it: the solution may overwrite it
        if (__any_sync(device::whole_warp, !device::are_finite(x)))
            substitute(shared, i, column);
        else
            device::store_tiles(x, here, x_stride);
        device::sync_warp();  // the solution is visible to later blocks
    }
}

// Stores the keys and X of the tile's tokens.
__device__ void store_solution(const ChainArguments& given, int64_t first_row, int tokens,
                               const Shared& shared) {
    auto* const keys = static_cast<Element*>(given.keys) + first_row * d;
    auto* const solved = static_cast<Element*>(given.solved) + first_row * d;
    auto* const values = static_cast<Element*>(given.values) + first_row * d;
    for (int at = threadIdx.x; at < tokens * d; at += THREADS) {
        keys[at] = P::element(shared.k[at / d][at % d]);
        solved[at] = P::element(shared.x[at / d][at % d]);
        values[at] = P::element(shared.x[at / d][d + at % d]);
    }
}

// Grid: tiles, batch. Block (x, y) owns the tokens of tile x of sequence y. It reads only inputs that no
// earlier launch writes, so it waits for the previous launch only before it stores.
//   reads    keys and values [batch, length, COLUMNS], gates [batch, length]
//   writes   keys, solved and values [batch, last - origin, d], ends [batch, tiles, 2 TILE + 4]
// d is COLUMNS, and TILE the tokens of a tile, both zero-padded to a multiple of 16.
extern "C" __global__ void __launch_bounds__(THREADS) chain_solve(ChainArguments given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const TilingArguments& tiling = given.tiling;
    const int tile = blockIdx.x;
    const int64_t batch = blockIdx.y;
    const Range tokens = tokens_of(tiling, tile);
    device::let_next_launch_start();
    const int64_t first_token = batch * given.length + tokens.first;
    const Windows windows = windows_of(tiling, given.gates, first_token);
    load_gates<WINDOWS_VARY>(given.gates, first_token, tokens.count(), shared.gates);
    device::sync_block();  // the gates are visible to every column
    load_coefficients(windows, tokens.count(), shared);
    device::sync_block();  // the decays of one thread are visible to all warps
    load_rows(given, batch, tokens, shared);
    device::sync_block();  // all keys and coefficients are visible
    multiply_keys(shared);
    device::sync_block();  // -T is visible: other warps may invert its diagonal blocks
    invert(shared);
    device::sync_block();  // the inverses of all blocks are visible
    for (int pair = device::warp_of_thread(); pair < 2 * d / 16; pair += warps)
        solve_columns(shared, 16 * pair);
    device::sync_block();  // all columns of X are visible: it is stored by rows
    device::wait_for_launches_before();
    store_solution(given, batch * (tiling.last - tiling.origin) + tokens.first - tiling.origin,
                   tokens.count(), shared);
    store_ends(shared.gates, tokens.count(), 0, tokens.count(), windows, TILE,
               given.ends + (batch * tiling.tiles + tile) * (2 * TILE + 4));
}
