// exact_chunk: the errors of the delta rule in a tile obey e_t = a_(t-1) M k_t - v_t - sum over s < t of
// w_(t-1)s (k_s . k_t) e_s, a triangular system (I + T) E = diag(a) K M - V (the WY form). M is not known yet
// when all tiles are solved at once, so the system is solved for K and V: (I + T) X = [diag(a) K, V], and
// chain_walk.cu uses E = X_K M - X_V. Blocks of 16 tokens: a product subtracts the terms of earlier blocks,
// the inverse of the block's own triangle does the rest.
//
// A strip of 16 columns of X is independent of the others. A warp keeps it in registers, transposed, so that
// the solution of a block is the left factor of the products for later blocks.
//   warp     0          1          2          3
//   tokens   0 … 15     16 … 31    32 … 47    48 … 63    keys
//                       barrier                          keys and coefficients are visible
//   -T       (0, 0)     (1, 1)     (2, 2)     (3, 3)     blocks, and the inverses of these
//            (1, 0)     (2, 0)     (2, 1)     (3, 0)
//            (3, 1)     (3, 2)
//                       barrier                          all blocks are visible
//   X^T      16 columns each, strip after strip
//
// With two tokens, keys of norm 1, c = k_0 . k_1 and the step theta:
//   T = [0 0; theta c 0],  e_0 = M k_0 - v_0,  e_1 = a_0 M k_1 - v_1 - theta c e_0.
//
// Defines: THREADS, SHARED_BYTES, KEYS, VALUES, STORED (storages of inputs and of what is stored), COLUMNS
// (d), NORMALISE_KEYS, PRECISION (of the stored arrays), TILE, FUSED (whether chain_fused.cu follows, which
// needs no more than the solution).

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/integers.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/tiles.cuh"
#include "kernels/memory/cuda/chain.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;
using device::Lies;
using device::Precision;
using device::Tile;

// The solve uses more than bf16, because everything after it depends on its result.
constexpr Precision inner_precision = precision == Precision::f32 ? Precision::f32 : Precision::rounded_tf32;
using Inner = device::Products<inner_precision>;
constexpr int warps = THREADS / 32;
constexpr int d = device::round_up(COLUMNS, 16), block_rows = 16, blocks = TILE / block_rows;
constexpr int padding = device::bank_padding<inner_precision>;
constexpr bool moves_fours = sizeof(Element) == 2;  // columns of X per access
constexpr int key_stride = d + padding, t_stride = TILE + (blocks < 3 ? block_rows : 0) + padding;
static_assert(THREADS % 32 == 0 && blocks <= warps, "a warp owns at most one block of tokens");
static_assert(TILE < THREADS, "a thread owns at most one source, the last thread none");
static_assert(!HAS_MOMENTUM && !WINDOWS_VARY, "the delta rule has neither");

struct Shared {
    alignas(16) float k[TILE][key_stride];  // one row per token, rounded as factors like the others
    // -T, below and on the diagonal. Above it lie the inverses of the diagonal blocks of I + T: beside their
    // own, the last one in the corner, or in further columns if there is no corner.
    alignas(16) float t[TILE][t_stride];
    // Products of the decays of a block's tokens: before a token, after it and times its step, and of all.
    float before[TILE], after[TILE], all[blocks];
    float decays[TILE];  // of all earlier tokens of the tile
};
// Where in t the inverse of block i begins.
__device__ constexpr int inverse_at(int i) {
    return i + 1 < blocks || blocks < 3 ? block_rows * (i * t_stride + i + 1) : TILE - block_rows;
}
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

// The product of the decays of blocks first … last - 1.
__device__ float decay_of_blocks(const Shared& shared, int first, int last) {
    float product = 1;
#pragma unroll
    for (int i = 0; i < blocks; ++i)
        if (i >= first && i < last) product *= shared.all[i];
    return product;
}

// Computes what a source becomes in block i, whose gates lane l has for token l % 16, and block (i, i) of
// -w_(t-1)s. Nothing is divided by a product. Both halves of the warp do the same.
__device__ void load_coefficients(int i, const Gate& gate, Shared& shared) {
    const int s = device::lane_of_thread() % block_rows;
    float before = gate.decay, after = gate.decay;
#pragma unroll
    for (int step = 1; step < block_rows; step *= 2) {
        const float lower = __shfl_up_sync(device::whole_warp, before, step, block_rows),
                    upper = __shfl_down_sync(device::whole_warp, after, step, block_rows);
        if (s >= step) before *= lower;
        if (s + step < block_rows) after *= upper;
    }
    if (s == block_rows - 1) shared.all[i] = before;
    before = __shfl_up_sync(device::whole_warp, before, 1, block_rows);
    after = __shfl_down_sync(device::whole_warp, after, 1, block_rows);
    shared.before[16 * i + s] = s == 0 ? 1 : before;
    shared.after[16 * i + s] = gate.step * (s == block_rows - 1 ? 1 : after);
    float w = 0;
#pragma unroll
    for (int t = 0; t < block_rows; ++t) {
        const float decay = __shfl_sync(device::whole_warp, gate.decay, t);
        shared.t[16 * i + t][16 * i + s] = -w;
        w = t == s ? gate.step : w * decay;
    }
}

// Computes block (i, j) of -T, the coefficients times K K^T.
__device__ void multiply_keys(int i, int j, Shared& shared) {
    // t is k_t . k_s of 16 tokens t and 16 tokens s, then times -w_(t-1)s.
    Tile t[2];
    device::clear(t);
    device::multiply<inner_precision, Lies::in_columns, d>(shared.k[16 * i], key_stride, shared.k[16 * j],
                                                           key_stride, t);
    const float between = decay_of_blocks(shared, j + 1, i);
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at) {
            const int token = 16 * i + device::row_of_lane() + at / 2 * 8,
                      source = 16 * j + 8 * n + device::column_of_lane() + at % 2;
            float& to = shared.t[token][source];
            const float coefficient = i == j ? to : -shared.after[source] * between * shared.before[token];
            to = Inner::element(coefficient * t[n][at]);
        }
}

// Inverts diagonal block i of I + T, one lane per column.
__device__ void invert(int i, Shared& shared) {
    const int lane = device::lane_of_thread();
    if (lane >= block_rows) return;
    float x[block_rows];
#pragma unroll
    for (int r = 0; r < block_rows; ++r) {
        x[r] = r == lane ? 1 : 0;
#pragma unroll
        for (int c = 0; c < r; ++c) x[r] += shared.t[16 * i + r][16 * i + c] * x[c];
    }
#pragma unroll
    for (int r = 0; r < block_rows; ++r)
        (&shared.t[0][0] + inverse_at(i))[r * t_stride + lane] = Inner::element(x[r]);
}

// The right side of the system, [diag(a) K, V], and where its solution goes.
struct System {
    const Shared& shared;
    const device::VALUES::Word* v;  // of the tile's tokens, [tokens, COLUMNS]
    Element *solved, *values;       // of the tile's tokens, [tokens, d]
    int tokens;

    __device__ float key(int token, int column) const {
        return shared.decays[token] * shared.k[token][column];
    }
    __device__ float value(int token, int column) const {
        return token < tokens && column < COLUMNS ? device::VALUES::widen(v[token * COLUMNS + column]) : 0;
    }
};

// Solves 16 columns by substitution, one lane per column, and stores the solution. The products give the
// same, but they multiply later tokens by zero, which gives NaN if they are not finite. Not inlined, because
// it is rarely needed.
__device__ __noinline__ void substitute(const System& system, bool of_keys, int column, Element* to) {
    const int lane = device::lane_of_thread();
    float x[TILE];
    for (int t = 0; t < (lane < 16 ? system.tokens : 0); ++t) {
        x[t] = of_keys ? system.key(t, column + lane) : system.value(t, column + lane);
        for (int s = 0; s < t; ++s) x[t] += system.shared.t[t][s] * x[s];
        to[t * d + column + lane] = P::element(x[t]);
    }
}

// Solves 16 columns of X for the right side K or V. The whole warp must call it.
struct Strip {
    const System& system;
    Tile x[blocks][2];  // [16 columns, TILE tokens]

    // The column of the strip that row_of_lane() holds in the upper (half 0) or lower tiles. Narrow elements
    // are moved in fours, as columns of a token: 4 q … 4 q + 3 by lane q of a quad, the first two in the
    // upper tiles.
    static __device__ int column_of(int half) {
        const int row = device::row_of_lane();
        return moves_fours ? row / 2 * 4 + 2 * half + row % 2 : row + 8 * half;
    }
    static __device__ int first_of_four() { return device::lane_of_thread() % 4 * 4; }

    // Calls visit(element, token, column) for the lane's elements.
    template <class Visit>
    __device__ void for_each(Visit visit) {
#pragma unroll
        for (int i = 0; i < blocks; ++i)
#pragma unroll
            for (int n = 0; n < 2; ++n)
#pragma unroll
                for (int at = 0; at < 4; ++at)
                    visit(x[i][n][at], 16 * i + 8 * n + device::column_of_lane() + at % 2, column_of(at / 2));
    }

    __device__ void load_keys(int column) {
        for_each([&](float& element, int t, int c) { element = system.key(t, column + c); });
    }
    __device__ void load_values(int column) {
        using Values = device::VALUES;
        if constexpr (moves_fours && sizeof(Values::Word) == 2 && COLUMNS % 4 == 0) {
            const int c = column + first_of_four();
#pragma unroll
            for (int i = 0; i < 2 * blocks; ++i) {
                const int t = 8 * i + device::row_of_lane();
                device::Words<Values, 4> four{};
                if (t < system.tokens && c < COLUMNS)
                    four = device::load_words<Values, 4>(system.v, t * COLUMNS + c);
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    // Neighbours of a token become neighbours of a column.
                    const device::Words<Values, 2> two{{device::transpose(four.held[half])}};
                    x[i / 2][i % 2][2 * half] = two.get(0), x[i / 2][i % 2][2 * half + 1] = two.get(1);
                }
            }
        } else {
            for_each([&](float& element, int t, int c) { element = system.value(t, column + c); });
        }
    }

    // Solves block after block.
    __device__ void solve() {
        const Shared& shared = system.shared;
#pragma unroll
        for (int i = 0; i < blocks; ++i) {
            Tile solution[2];
            device::clear(solution);
            device::multiply<inner_precision, Lies::in_columns>(x[i], &shared.t[0][0] + inverse_at(i),
                                                                t_stride, solution);
#pragma unroll
            for (int n = 0; n < 2; ++n)
#pragma unroll
                for (int at = 0; at < 4; ++at) x[i][n][at] = solution[n][at];
#pragma unroll
            for (int later = i + 1; later < blocks; ++later)
                device::multiply<inner_precision, Lies::in_columns>(x[i], &shared.t[16 * later][16 * i],
                                                                    t_stride, x[later]);
        }
    }

    template <Precision stored = precision>
    __device__ void store(Element* to, int column) {
        if constexpr (moves_fours) {
#pragma unroll
            for (int i = 0; i < 2 * blocks; ++i) {
                // Neighbours of a column become neighbours of a token.
                const Tile& tile = x[i / 2][i % 2];
                const int t = 8 * i + device::row_of_lane();
                uint2 four;
                four.x = device::transpose(device::Products<stored>::pair(tile[0], tile[1]));
                four.y = device::transpose(device::Products<stored>::pair(tile[2], tile[3]));
                if (t < system.tokens)
                    *reinterpret_cast<uint2*>(to + t * d + column + first_of_four()) = four;
            }
        } else {
            for_each([&](float element, int t, int c) {
                if (t < system.tokens) to[t * d + column + c] = element;
            });
        }
    }

    __device__ bool is_finite() const {
        bool finite = true;
#pragma unroll
        for (int i = 0; i < blocks; ++i) finite = finite && device::are_finite(x[i]);
        return !__any_sync(device::whole_warp, !finite);
    }
};

// Stores the keys of the tile's tokens, 16 bytes at a time.
__device__ void store_keys(const Shared& shared, int tokens, device::STORED::Word* to) {
    constexpr int each = 16 / sizeof(Element);
    for (int at = threadIdx.x * each; at < tokens * d; at += THREADS * each) {
        float key[each];
#pragma unroll
        for (int n = 0; n < each; ++n) key[n] = shared.k[at / d][at % d + n];
        device::store<device::STORED>(to, at, key);
    }
}

// Grid: tiles, batch. Block (x, y) owns the tokens of tile x of sequence y. It reads only inputs that no
// earlier launch writes, so it waits for the previous launch only before it stores.
//   reads    keys and values [batch, length, COLUMNS], gates [batch, length]
//   writes   keys, solved and values [batch, last - origin, d], ends [batch, tiles, 2 TILE + 4]
// d is COLUMNS, and TILE the tokens of a tile, both zero-padded to a multiple of 16. Shared memory has room
// for four blocks; the compiler would take more registers than they leave.
extern "C" __global__ void __launch_bounds__(THREADS, 4) chain_solve(ChainArguments given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const TilingArguments& tiling = given.tiling;
    const int tile = blockIdx.x, warp = device::warp_of_thread();
    const int64_t batch = blockIdx.y;
    const Range tokens = tokens_of(tiling, tile);
    device::let_next_launch_start();
    const int64_t first_token = batch * given.length + tokens.first;
    const int64_t first_row = batch * (tiling.last - tiling.origin) + tokens.first - tiling.origin;

    const auto* const keys = static_cast<const device::KEYS::Word*>(given.given_keys);
    const System system{shared,
                        static_cast<const device::VALUES::Word*>(given.given_values) + first_token * COLUMNS,
                        static_cast<Element*>(given.solved) + first_row * d,
                        static_cast<Element*>(given.values) + first_row * d, tokens.count()};

    // Keys of the warp's tokens and values of its first strip are on their way while gates become
    // coefficients.
    Tile k[d / 8];
    const int own = 16 * warp;
    device::load_rows<device::KEYS, COLUMNS>(keys + (first_token + own) * COLUMNS, tokens.count() - own, k);
    Strip strip{system};
    if (warp < d / 16) strip.load_values(16 * warp);
    if (warp < blocks) {
        const int token = own + device::lane_of_thread() % block_rows;
        const Gate gate = token < tokens.count() ? gate_at(given.gates, first_token + token) : Gate{1, 0, 0};
        load_coefficients(warp, gate, shared);
    }
    if (NORMALISE_KEYS) device::normalise_rows(k);
    if (warp < blocks) device::store_elements<inner_precision>(k, shared.k[own], key_stride);
    device::sync_block();                        // all keys and coefficients are visible
    const int block = threadIdx.x / block_rows;  // of the thread's own token
    if (threadIdx.x < TILE)
        shared.decays[threadIdx.x] = decay_of_blocks(shared, 0, block) * shared.before[threadIdx.x];
    if (warp < blocks) {
        multiply_keys(warp, warp, shared);
        device::sync_warp();  // the diagonal block is visible to the warp's lanes
        invert(warp, shared);
    }
    // The blocks below the diagonal, row by row.
    for (int at = warp; at < blocks * (blocks - 1) / 2; at += warps) {
        const int i = at >= 3 ? 3 : at >= 1 ? 2 : 1;
        multiply_keys(i, at - i * (i - 1) / 2, shared);
    }
    device::sync_block();  // -T, the inverses and the decays are visible
    device::wait_for_launches_before();
    for (int at = warp; at < 2 * d / 16; at += warps) {
        const bool of_keys = at >= d / 16;
        const int column = of_keys ? 16 * at - d : 16 * at;
        Element* const to = of_keys ? system.solved : system.values;
        if (of_keys)
            strip.load_keys(column);
        else if (at >= warps)
            strip.load_values(column);
        strip.solve();
        if (strip.is_finite())
            strip.store(to, column);
        else
            substitute(system, of_keys, column, to);
    }
    if (FUSED) return;
    store_keys(shared, tokens.count(), static_cast<device::STORED::Word*>(given.keys) + first_row * d);
    float* const ends = given.ends + (batch * tiling.tiles + tile) * (2 * TILE + 4);
    if (threadIdx.x < TILE) {
        ends[threadIdx.x] = shared.after[threadIdx.x] * decay_of_blocks(shared, block + 1, blocks);
        ends[TILE + threadIdx.x] = 0;
    } else if (threadIdx.x == THREADS - 1) {
        *reinterpret_cast<float4*>(ends + 2 * TILE) = {decay_of_blocks(shared, 0, blocks), 0, 0, 0};
    }
}
