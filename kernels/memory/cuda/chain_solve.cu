// exact_chunk: the errors of the delta rule in a tile obey e_t = a_(t-1) M k_t - v_t - sum over s < t of
// w_(t-1)s (k_s . k_t) e_s, a triangular system (I + T) E = diag(a) K M - V (the WY form). M is not known yet
// when all tiles are solved at once, so the system is solved for K and V: (I + T) X = [diag(a) K, V], and
// chain.cu has E = X_K M - X_V. Blocks of 16 tokens: a product takes off what earlier blocks give, and the
// inverse of the block's own triangle does the rest. A warp owns columns of X, which never meet.
//
// Defines: KEYS, VALUES (storages), COLUMNS (d), NORMALISE_KEYS, PRECISION (of what is stored), TILE.

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/memory/coefficients.cuh"
#include "kernels/memory/precision.cuh"
#include "kernels/memory/tiles.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

// The solve itself in more than bf16: what it leaves is what all else is made of.
constexpr Precision inner_precision = precision == Precision::bf16 ? Precision::tf32 : precision;
constexpr int warps = 4, threads = 32 * warps;
constexpr int d = padded_to(COLUMNS, 16), block_rows = 16, blocks = TILE / block_rows;
constexpr int padding = bank_padding<inner_precision>;
constexpr int key_stride = d + padding, x_stride = 2 * d + padding, t_stride = TILE + padding;
constexpr int inverse_stride = block_rows + 4;

struct Shared {
    alignas(16) float k[TILE][key_stride];
    alignas(16) float x[TILE][x_stride];
    alignas(16) float t[TILE][t_stride];
    alignas(16) float inverse[TILE][inverse_stride];
    Gate gates[TILE];
    float decays[TILE];  // a before each token
};

// Keys and values of the tile into shared memory; keys stored too. Rows that are not there are zeros.
__device__ void load_rows(const device_side::Chain& given, int64_t batch, Range tokens, Shared& shared) {
    const int lane = device::lane_of_thread();
    constexpr int each = (d + 31) / 32;
    const int64_t kept = given.tiling.last - given.tiling.origin;
    auto* const keys =
        static_cast<Element*>(given.keys) + (batch * kept + tokens.first - given.tiling.origin) * d;
    for (int t = device::warp_of_thread(); t < TILE; t += warps) {
        const bool there = t < tokens.count();
        const int64_t at = (batch * given.length + tokens.first + t) * COLUMNS;
        float k[each], v[each];
        load_row<device::KEYS, COLUMNS>(static_cast<const device::KEYS::Word*>(given.given_keys) + at, there,
                                        NORMALISE_KEYS, k);
        load_row<device::VALUES, COLUMNS>(static_cast<const device::VALUES::Word*>(given.given_values) + at,
                                          there, false, v);
#pragma unroll
        for (int i = 0; i < each; ++i) {
            const int column = lane + 32 * i;
            if (column >= d) break;
            shared.k[t][column] = k[i];
            shared.x[t][column] = shared.decays[t] * k[i];
            shared.x[t][d + column] = v[i];
            if (there) keys[t * d + column] = P::element(k[i]);
        }
    }
}

// a before each token, and -w_(t-1)s below the diagonal, zeros elsewhere: a thread a column.
__device__ void load_coefficients(const device_side::Chain& given, int tokens, Shared& shared) {
    for (int s = threadIdx.x; s < TILE; s += threads) {
        SourceCoefficients source(s, given.tiling.halo);
        for (int t = 0; t < TILE; ++t) {
            shared.t[t][s] = s < t && t < tokens ? -source.w : 0;
            if (t < tokens) source.advance(shared.gates[t], t);
        }
    }
    if (threadIdx.x != threads - 1) return;
    float a = 1;
    for (int t = 0; t < TILE; ++t) {
        shared.decays[t] = a;
        if (t < tokens) a *= shared.gates[t].decay;
    }
}

// -T = the coefficients times K K^T, a warp 16 rows.
__device__ void multiply_keys(Shared& shared) {
    for (int i = device::warp_of_thread(); i < blocks; i += warps) {
        Tile k[d / 8], t[TILE / 8], coefficients[TILE / 8];
        load_tiles(shared.k[16 * i], key_stride, k);
        clear(t);
        multiply<inner_precision, Lies::in_columns>(k, &shared.k[0][0], key_stride, t);
        load_tiles(shared.t[16 * i], t_stride, coefficients);
#pragma unroll
        for (int n = 0; n < TILE / 8; ++n)
#pragma unroll
            for (int at = 0; at < 4; ++at) t[n][at] *= coefficients[n][at];
        store_tiles(t, shared.t[16 * i], t_stride);
    }
}

// The inverse of I + T of a block on the diagonal, a warp a block and a lane a column.
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

// A block of 16 columns of X by substitution, a lane a column. A product with the inverse is the same but
// takes zero times the rows below, which is not nothing where those are not finite.
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

// Two tiles of 8 columns of X, block after block.
__device__ void solve_columns(Shared& shared, int column) {
    for (int i = 0; i < blocks; ++i) {
        float* const here = &shared.x[16 * i][column];
        Tile x[2], left[2];
        load_tiles(here, x_stride, x);
        for (int j = 0; j < i; ++j) {
            load_tiles(&shared.t[16 * i][16 * j], t_stride, left);
            multiply<inner_precision, Lies::in_rows>(left, &shared.x[16 * j][column], x_stride, x);
        }
        store_tiles(x, here, x_stride);
        __syncwarp();
        load_tiles(shared.inverse[16 * i], inverse_stride, left);
        clear(x);
        multiply<inner_precision, Lies::in_rows>(left, here, x_stride, x);
        __syncwarp();
        if (__any_sync(device::whole_warp, !are_finite(x)))
            substitute(shared, i, column);
        else
            store_tiles(x, here, x_stride);
        __syncwarp();
    }
}

__device__ void store_solution(const device_side::Chain& given, int64_t first_row, int tokens,
                               const Shared& shared) {
    auto* const solved = static_cast<Element*>(given.solved) + first_row * d;
    auto* const values = static_cast<Element*>(given.values) + first_row * d;
    for (int at = threadIdx.x; at < tokens * d; at += threads) {
        solved[at] = P::element(shared.x[at / d][at % d]);
        values[at] = P::element(shared.x[at / d][d + at % d]);
    }
}

// Grid: tiles, batch.
extern "C" __global__ void __launch_bounds__(threads) solve(device_side::Chain given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const device_side::Tiling& tiling = given.tiling;
    const int tile = blockIdx.x;
    const int64_t batch = blockIdx.y;
    const Range tokens = tokens_of(tiling, tile);
    load_gates(given.gates, batch * given.length + tokens.first, tokens.count(), shared.gates);
    __syncthreads();
    load_coefficients(given, tokens.count(), shared);
    __syncthreads();
    load_rows(given, batch, tokens, shared);
    __syncthreads();
    multiply_keys(shared);
    __syncthreads();
    invert(shared);
    __syncthreads();
    for (int pair = device::warp_of_thread(); pair < 2 * d / 16; pair += warps)
        solve_columns(shared, 16 * pair);
    __syncthreads();
    store_solution(given, batch * (tiling.last - tiling.origin) + tokens.first - tiling.origin,
                   tokens.count(), shared);
    store_ends(shared.gates, tokens.count(), 0, tokens.count(), tiling.halo, TILE,
               given.ends + (batch * tiling.tiles + tile) * (2 * TILE + 4));
}
