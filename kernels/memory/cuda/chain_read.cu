// What the tokens of a tile read of a chain's memory: y_t = a_t M q_t + b_t S q_t - sum of w_ts e_s (k_s .
// q_t) with M, S at the tile's start (AT_BOUNDARY: of the memory M at the start of its chunk alone). A warp
// has 16 tokens, and their queries in registers.
//
// Defines: QUERIES, Y (storages), COLUMNS, ROWS, NORMALISE_QUERIES, PRECISION, WARPS, SOURCES, SOURCE_BLOCK,
// HAS_MOMENTUM, AT_BOUNDARY, NORM_SILU (y is bent and normalised: trellis).

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/memory/coefficients.cuh"
#include "kernels/memory/norm_silu.cuh"
#include "kernels/memory/precision.cuh"
#include "kernels/memory/tiles.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

constexpr int columns = padded_to(COLUMNS, 16), rows = padded_to(ROWS, 16);
constexpr int tile_tokens = 16 * WARPS;
constexpr int block = SOURCE_BLOCK, blocks = SOURCES / SOURCE_BLOCK;
constexpr int column_tiles = columns / 8, row_tiles = rows / 8, source_tiles = block / 8;
constexpr int padding = bank_padding<precision>;
constexpr int state_stride = columns + padding, error_stride = block + padding, weight_stride = block + 4;
constexpr int state_elements = rows * state_stride;
constexpr int source_elements = block * state_stride + rows * error_stride;
constexpr int most_elements = state_elements > source_elements ? state_elements : source_elements;

struct Shared {
    alignas(16) Element elements[most_elements];  // a state, or a block of keys and errors
    alignas(16) float weights[AT_BOUNDARY ? 1 : tile_tokens][weight_stride];
    Gate gates[tile_tokens];
};

// A pair of neighbours of a row of `width` words, zeros behind it.
template <class Storage, int width>
__device__ float2 load_pair(const typename Storage::Word* row, int column) {
    if constexpr (width % 2 == 0) {
        if (column >= width) return {0, 0};
        float two[2];
        device::load<Storage>(row, column, two);
        return {two[0], two[1]};
    } else {
        return {column < width ? widened<Storage>(row[column]) : 0,
                column + 1 < width ? widened<Storage>(row[column + 1]) : 0};
    }
}

template <class Storage, int width>
__device__ void store_pair(typename Storage::Word* row, int column, float first, float second) {
    if constexpr (width % 2 == 0) {
        if (column < width) device::store<Storage>(row, column, {first, second});
    } else {
        if (column < width) row[column] = narrowed<Storage>(first);
        if (column + 1 < width) row[column + 1] = narrowed<Storage>(second);
    }
}

// Scales both rows of a lane so that they have norm 1.
__device__ void normalise_rows(Tile (&tiles)[column_tiles]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float square = 0;
#pragma unroll
        for (int n = 0; n < column_tiles; ++n)
            square +=
                tiles[n][2 * half] * tiles[n][2 * half] + tiles[n][2 * half + 1] * tiles[n][2 * half + 1];
        square = sum_of_quad(square);
        float factor = 1 / sqrtf(square);
        const bool is_plain = is_plain_square(square);
        // The whole warp together, as its lanes sum.
        if (__any_sync(device::whole_warp, !is_plain)) {
            double wide = 0;
#pragma unroll
            for (int n = 0; n < column_tiles; ++n)
#pragma unroll
                for (int at = 2 * half; at < 2 * half + 2; ++at)
                    wide += static_cast<double>(tiles[n][at]) * static_cast<double>(tiles[n][at]);
            wide = sqrt(sum_of_quad(wide));
            if (!is_plain) factor = static_cast<float>(1 / (wide > 1e-12 ? wide : 1e-12));
        }
#pragma unroll
        for (int n = 0; n < column_tiles; ++n) tiles[n][2 * half] *= factor, tiles[n][2 * half + 1] *= factor;
    }
}

// The queries of 16 tokens from `first` on, of which `there` are there.
__device__ void load_queries(const device::QUERIES::Word* queries, int64_t first_of_batch, int there,
                             Tile (&q)[column_tiles]) {
    const int r = row_of_lane();
#pragma unroll
    for (int n = 0; n < column_tiles; ++n)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float2 pair = {0, 0};
            if (r + 8 * half < there)
                pair = load_pair<device::QUERIES, COLUMNS>(
                    queries + (first_of_batch + r + 8 * half) * COLUMNS, 8 * n + column_of_lane());
            q[n][2 * half] = pair.x, q[n][2 * half + 1] = pair.y;
        }
    if (NORMALISE_QUERIES) normalise_rows(q);
}

// y += factor of each row times its query times the state.
__device__ void add_state(const Element* state, const Tile (&q)[column_tiles], const float (&factors)[2],
                          Tile (&y)[row_tiles]) {
    Tile scaled[column_tiles];
#pragma unroll
    for (int n = 0; n < column_tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at) scaled[n][at] = factors[at / 2] * q[n][at];
    multiply<precision, Lies::in_columns>(scaled, state, state_stride, y);
}

__device__ void copy_state(const void* states, int64_t slot, Shared& shared) {
    copy_matrix<columns>(shared.elements, state_stride,
                         static_cast<const Element*>(states) + slot * rows * columns, columns, rows, rows);
}

// -w_ts of a block of sources, which start `first` tokens from the tile's first, a thread a source.
__device__ void make_weights(Shared& shared, int tokens, int first, int halo) {
    for (int s = threadIdx.x; s < block; s += blockDim.x) {
        SourceCoefficients source(first + s, halo);
        for (int t = 0; t < tile_tokens; ++t) {
            if (t < tokens) source.advance(shared.gates[t], t);
            shared.weights[t][s] = t < tokens && first + s < tokens ? -source.w : 0;
        }
    }
}

__device__ void copy_sources(const device_side::Chain& given, int64_t batch, int tile, int number,
                             Shared& shared) {
    const device_side::Tiling& tiling = given.tiling;
    const Range tokens = tokens_of(tiling, tile);
    const int64_t first = first_source(tiling, tokens.first) + number * block;
    const int there = first < tokens.last ? static_cast<int>(tokens.last - first) : 0;
    const int64_t row = batch * (tiling.last - tiling.origin) + (there > 0 ? first - tiling.origin : 0);
    copy_matrix<columns>(shared.elements, state_stride,
                         static_cast<const Element*>(given.keys) + row * columns, columns, block, there);
    const int64_t slot = batch * tiling.tiles + tile;
    copy_matrix<block>(shared.elements + block * state_stride, error_stride,
                       static_cast<const Element*>(given.errors) + slot * rows * SOURCES + number * block,
                       SOURCES, rows, rows);
    make_weights(shared, tokens.count(), static_cast<int>(first - tokens.first), tiling.halo);
}

__device__ void add_sources(const Shared& shared, Tile (&q)[column_tiles], Tile (&y)[row_tiles]) {
    Tile scores[source_tiles], weights[source_tiles];
    clear(scores);
    multiply<precision, Lies::in_columns>(q, shared.elements, state_stride, scores);
    load_tiles(shared.weights[AT_BOUNDARY ? 0 : device::warp_of_thread() * 16], weight_stride, weights);
#pragma unroll
    for (int n = 0; n < source_tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at) scores[n][at] *= weights[n][at];
    multiply<precision, Lies::in_columns>(scores, shared.elements + block * state_stride, error_stride, y);
}

// The same source by source, for tokens from `row` on: products take zero times what later sources hold,
// which is not nothing where that is not finite. The first source lies `first` tokens from the tile's first
// one.
__device__ void add_sources_one_by_one(const Shared& shared, Tile (&q)[column_tiles], int row, int first,
                                       Tile (&y)[row_tiles]) {
    Tile scores[source_tiles];
    clear(scores);
    multiply<precision, Lies::in_columns>(q, shared.elements, state_stride, scores);
    const Element* const errors = shared.elements + block * state_stride;
    const int quad = device::lane_of_thread() / 4 * 4;
#pragma unroll 1
    for (int n = 0; n < source_tiles; ++n) {
#pragma unroll
        for (int c = 0; c < 8; ++c)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int source = 8 * n + c, token = row + row_of_lane() + 8 * half;
                const float score =
                    __shfl_sync(device::whole_warp, scores[0][2 * half + c % 2], quad + c / 2);
                if (first + source > token) continue;
                const float weighed =
                    P::value(P::element(score * shared.weights[AT_BOUNDARY ? 0 : token][source]));
#pragma unroll
                for (int m = 0; m < row_tiles; ++m)
#pragma unroll
                    for (int at = 0; at < 2; ++at)
                        y[m][2 * half + at] +=
                            weighed *
                            P::value(errors[(8 * m + column_of_lane() + at) * error_stride + source]);
            }
        rotate(scores);
    }
}

__device__ void store_y(const device_side::Reading& reading, int64_t batch, int64_t first, int there,
                        const Tile (&y)[row_tiles]) {
    auto* const to = static_cast<device::Y::Word*>(reading.y) + batch * reading.y_stride + first * ROWS;
    const int r = row_of_lane();
#pragma unroll
    for (int n = 0; n < row_tiles; ++n)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            if (r + 8 * half < there)
                store_pair<device::Y, ROWS>(to + (r + 8 * half) * ROWS, 8 * n + column_of_lane(),
                                            y[n][2 * half], y[n][2 * half + 1]);
}

// Grid: tiles, batch.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    read(device_side::Chain given, device_side::Reading reading) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const device_side::Tiling& tiling = given.tiling;
    const int tile = blockIdx.x;
    const int64_t batch = blockIdx.y, first_slot = batch * tiling.tiles;
    const Range tokens = tokens_of(tiling, tile);
    const int before = device::warp_of_thread() * 16, there = tokens.count() - before;
    const auto copy_memory = [&] {
        copy_state(given.states_m, first_slot + (AT_BOUNDARY ? tile - tile % tiling.tiles_a_chunk : tile),
                   shared);
    };
    copy_memory();
    Tile q[column_tiles], y[row_tiles];
    load_queries(static_cast<const device::QUERIES::Word*>(reading.queries),
                 batch * given.length + tokens.first + before, there, q);
    float of_memory[2] = {1, 1}, of_momentum[2] = {};
    if constexpr (!AT_BOUNDARY) {
        load_gates(given.gates, batch * given.length + tokens.first, tokens.count(), shared.gates);
        __syncthreads();
        StateCoefficients state;
        for (int t = 0; t < tokens.count() && t <= before + row_of_lane() + 8; ++t) {
            state.advance(shared.gates[t]);
            if (t == before + row_of_lane()) of_memory[0] = state.a, of_momentum[0] = state.b;
            if (t == before + row_of_lane() + 8) of_memory[1] = state.a, of_momentum[1] = state.b;
        }
    }
    // The second time where a product may have brought together what must stay apart.
#pragma unroll 1
    for (bool one_by_one = false;; one_by_one = true) {
        clear(y);
        device::wait_for_copies();
        __syncthreads();
        add_state(shared.elements, q, of_memory, y);
        if constexpr (AT_BOUNDARY) break;
        if constexpr (HAS_MOMENTUM) {
            __syncthreads();
            copy_state(given.states_s, first_slot + tile, shared);
            device::wait_for_copies();
            __syncthreads();
            add_state(shared.elements, q, of_momentum, y);
        }
        for (int number = 0; number < blocks; ++number) {
            __syncthreads();
            copy_sources(given, batch, tile, number, shared);
            device::wait_for_copies();
            __syncthreads();
            if (one_by_one)
                add_sources_one_by_one(
                    shared, q, before,
                    static_cast<int>(first_source(tiling, tokens.first) - tokens.first) + number * block, y);
            else
                add_sources(shared, q, y);
        }
        if (!__syncthreads_or(!are_finite(y)) || one_by_one) break;
        copy_memory();
    }
    if constexpr (NORM_SILU) norm_silu<ROWS>(y);
    store_y(reading, batch, tokens.first + before, there, y);
}
