// Walks the state of a chain from tile to tile, in matrix products. With K, V the keys and values of a tile's
// sources, E its errors and w, h its coefficients after the last token (chain.cuh):
//   E^T = M X^T - V^T, X = K or the keys after the solve;
//   M = a M + b S - E^T diag(w) K,  S = h S - E^T diag(h) K.
// Rows of M and S are independent. Four warps walk 16 rows over all tiles (if parallel, one block per tile
// sums it from zeros): the tiles follow one another, so what counts is how long a step takes, not how many
// warps share it. Each keeps some columns of M and S in registers and computes the errors of some sources:
//
//   warp     0        1        2        3
//   errors   sources  0 … 15   16 … 31  32 … 47  48 … 63    all of M, in shared memory, is the left factor
//                     barrier of the four warps             all errors are visible
//   state    columns  0 … 15   16 … 31  32 … 47  48 … 63    all errors, in shared memory, are the left factor
//                     barrier of all warps                  M and the next sources are visible
//
// Sources come in blocks of SOURCE_BLOCK, which the copying warps of the block fetch SIDES - 1 steps ahead.
// Errors use the memory at the chunk's boundary; with the solve they are exact, and use it at the tile's
// start.
//
//   copying warps   fetch 0, 1 |  fetch 2  |  fetch 3  | …      into sides 0, 1, 2, 0, … if SIDES is 3
//   walking warps      wait    |  step 0   |  step 1   | …      each `|` is a barrier of all warps
//
// A step for one row of M = [1 0] and one source k = [0.6 0.8], v = 2, with a = 0.9, b = 0, w = 0.5:
//   e = M k - v = 0.6 - 2 = -1.4;  M = 0.9 [1 0] + 0.5 1.4 [0.6 0.8] = [1.32 0.56]
//
// Defines: THREADS, SHARED_BYTES, COLUMNS, ROWS, PRECISION, GROUPS (of 16 rows, with four walking warps each;
// the other warps copy), SIDES (2 to 4), SOURCES, SOURCE_BLOCK, SOLVES, READS_MEMORY, HAS_MOMENTUM, RESCALES
// (rows of M get norms sqrt(COLUMNS) at every boundary, before it is used).

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/integers.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/tiles.cuh"
#include "kernels/memory/cuda/chain.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;
using device::Lies;
using device::Tile;

constexpr bool parallel = !READS_MEMORY;  // errors are known at once: tiles are independent
constexpr int columns = device::round_up(COLUMNS, 16), rows = device::round_up(ROWS, 16);
constexpr int group_warps = 4, walkers = group_warps * GROUPS;
constexpr int strip = 16 * GROUPS;  // rows of the block
constexpr int block = SOURCE_BLOCK, blocks = SOURCES / SOURCE_BLOCK;
constexpr int padding = device::bank_padding<precision>;
constexpr int key_stride = columns + padding, value_stride = strip + padding, error_stride = block + padding;
constexpr int side_count = SIDES;  // one in use, the others being copied or free
constexpr int copy_threads = THREADS - 32 * walkers;
// Sources and columns come in pairs of tiles. A warp owns every fourth pair.
constexpr int own_sources = device::ceil_divide(block / 16, group_warps);
constexpr int own_columns = device::ceil_divide(columns / 16, group_warps);
static_assert(copy_threads > 0 && copy_threads % 32 == 0, "some warps copy");
static_assert(rows % strip == 0 && SOURCES % block == 0, "whole strips and blocks");

// A block of sources, one row each.
struct Side {
    alignas(16) Element k[block][key_stride];               // keys, for the states
    alignas(16) Element x[SOLVES ? block : 1][key_stride];  // keys after the solve, for the errors
    alignas(16) Element v[block][value_stride];             // values of the block's strip of rows
    alignas(16) float w[block];    // weight of each source in M after the tile's last token
    alignas(16) float h[block];    // weight of each source in S
    alignas(16) float scalars[4];  // a, b, h, 0 of the tile
};

struct Shared {
    Side sides[side_count];
    alignas(16) Element m[READS_MEMORY ? strip : 1][key_stride];  // M of the errors
    alignas(16) Element added_m[strip][error_stride];             // -E^T diag(w), one source per column
    alignas(16) Element added_s[HAS_MOMENTUM ? strip : 1][error_stride];  // -E^T diag(h)
    double squares[RESCALES ? group_warps : 1][strip];                    // of rows of M, by warp
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

// A step is a block of sources of a tile.
struct Step {
    int tile, block;
    __device__ Step next() const { return block + 1 < blocks ? Step{tile, block + 1} : Step{tile + 1, 0}; }
};

// Where the sources of a step lie.
struct Sources {
    int there;          // the others, after the tile's last token, become zeros
    int64_t row;        // of the first source, in keys and values
    const float* ends;  // the coefficients of the tile, from the first source on

    __device__ Sources(const ChainArguments& given, int64_t batch, const Step& step) {
        const TilingArguments& tiling = given.tiling;
        const Range tokens = tokens_of(tiling, step.tile);
        const int64_t first = first_source(tiling, tokens.first) + step.block * block;
        there = first < tokens.last ? static_cast<int>(tokens.last - first) : 0;
        // Any address will do if nothing is read.
        row = batch * (tiling.last - tiling.origin) + (there > 0 ? first - tiling.origin : 0);
        ends = given.ends + (batch * tiling.tiles + step.tile) * (2 * SOURCES + 4) + step.block * block;
    }
};

// Starts the copies of a step's sources: keys, values of the block's strip, and coefficients. The copying
// warps call it.
__device__ void start_copies(const ChainArguments& given, const Sources& from, int first_row,
                             const Step& step, Side& side) {
    const int thread = threadIdx.x - 32 * walkers;
    device::copy_tile<block, columns, copy_threads>(
        &side.k[0][0], key_stride, static_cast<const Element*>(given.keys) + from.row * columns, from.there,
        thread);
    if (SOLVES)
        device::copy_tile<block, columns, copy_threads>(
            &side.x[0][0], key_stride, static_cast<const Element*>(given.solved) + from.row * columns,
            from.there, thread);
    device::copy_tile<block, strip, copy_threads, rows>(
        &side.v[0][0], value_stride, static_cast<const Element*>(given.values) + from.row * rows + first_row,
        from.there, thread);
    for (int at = thread * 4; at < block; at += copy_threads * 4) {
        device::copy_async<16>(side.w + at, from.ends + at, true);
        device::copy_async<16>(side.h + at, from.ends + SOURCES + at, true);
    }
    if (thread == copy_threads - 1)
        device::copy_async<16>(side.scalars, from.ends - step.block * block + 2 * SOURCES, true);
}

// The 16 rows of a walking warp, and its part of their columns and sources.
struct Place {
    int group = device::warp_of_thread() / group_warps, part = device::warp_of_thread() % group_warps;

    __device__ int row() const { return 16 * group; }  // of the block
    // The first column or source of the warp's pair `at` of tiles.
    __device__ int pair(int at) const { return 16 * (part + group_warps * at); }
};

// A warp's columns of M and S, 16 rows of them, spread over its lanes. Padding is zeros and stays zeros.
struct StateColumns {
    Place place;
    Tile m[own_columns][2];
    Tile s[own_columns][2];  // takes no registers without momentum

    // Calls visit(m, s, first column) for every pair of tiles.
    template <class Visit>
    __device__ void for_each(Visit visit) {
#pragma unroll
        for (int i = 0; i < own_columns; ++i)
            if (place.pair(i) < columns) visit(m[i], s[i], place.pair(i));
    }

    __device__ void clear() {
        for_each([](Tile(&of_m)[2], Tile(&of_s)[2], int) {
            device::clear(of_m);
            device::clear(of_s);
        });
    }

    // M = a M + b S, S = h S.
    __device__ void decay(const float* scalars) {
        const float a = scalars[0], b = scalars[1], h = scalars[2];
        for_each([&](Tile(&of_m)[2], Tile(&of_s)[2], int) {
#pragma unroll
            for (int n = 0; n < 2; ++n)
#pragma unroll
                for (int at = 0; at < 4; ++at) {
                    of_m[n][at] *= a;
                    if (HAS_MOMENTUM) {
                        of_m[n][at] += b * of_s[n][at];
                        of_s[n][at] *= h;
                    }
                }
        });
    }

    // M -= E^T diag(w) K, S -= E^T diag(h) K.
    __device__ void add_errors(const Shared& shared, const Side& side) {
        for_each([&](Tile(&of_m)[2], Tile(&of_s)[2], int column) {
            const Element* const k = &side.k[0][column];
            device::multiply<precision, Lies::in_rows, block>(shared.added_m[place.row()], error_stride, k,
                                                              key_stride, of_m);
            if constexpr (HAS_MOMENTUM)
                device::multiply<precision, Lies::in_rows, block>(shared.added_s[place.row()], error_stride,
                                                                  k, key_stride, of_s);
        });
    }

    // Scales the rows of M to norms sqrt(COLUMNS), but rows of zeros. Squares are summed in double, because
    // they may leave the range of f32.
    __device__ void rescale(Shared& shared) {
        double squares[2] = {};
        for_each([&](const Tile(&of_m)[2], const Tile(&)[2], int) {
#pragma unroll
            for (int half = 0; half < 2; ++half) squares[half] += device::wide_square_of_row(of_m, half);
        });
        const auto at = [&](int half) { return place.row() + device::row_of_lane() + 8 * half; };
#pragma unroll
        for (int half = 0; half < 2; ++half)
            if (device::lane_of_thread() % 4 == 0) shared.squares[place.part][at(half)] = squares[half];
        device::sync_group();  // the squares of all columns are visible
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            double square = 0;
            for (int part = 0; part < group_warps; ++part) square += shared.squares[part][at(half)];
            const double norm = sqrt(square), wanted = sqrt(double{COLUMNS});
            const auto factor = static_cast<float>(wanted / (norm < 1e-12 ? 1e-12 : norm));
            for_each([&](Tile(&of_m)[2], Tile(&)[2], int) { device::scale_row(of_m, half, factor); });
        }
    }
};

// Stores the state at the start of tile `slot`, [rows, columns] with padding, rounded as product factors. If
// parallel, it stores the sum of the tile, in f32.
__device__ void store_state(const ChainArguments& given, int64_t slot, int row, StateColumns& state) {
    state.for_each([&](const Tile(&m)[2], const Tile(&s)[2], int column) {
        const int64_t at = (slot * rows + row) * columns + column;
        if constexpr (parallel) {
            device::store_tiles(m, given.sums_m + at, columns);
            if (HAS_MOMENTUM) device::store_tiles(s, given.sums_s + at, columns);
        } else {
            device::store_elements<precision>(m, static_cast<Element*>(given.states_m) + at, columns);
            if (HAS_MOMENTUM)
                device::store_elements<precision>(s, static_cast<Element*>(given.states_s) + at, columns);
        }
    });
}

// Loads 16 rows of the state before the first tile: what the previous launch left, with padding, or the
// initial state of the sequence, [ROWS, COLUMNS].
__device__ void load_passed(const ChainArguments& given, const PassedState& state, int64_t batch, int row,
                            int column, Tile (&to)[2]) {
    if (given.tiling.first > 0)
        device::load_tiles(state.live + (batch * rows + row) * columns + column, columns, to);
    else
        device::load_unpadded<ROWS, COLUMNS>(state.from ? state.from + batch * ROWS * COLUMNS : nullptr, row,
                                             column, to);
}

// Stores the state after the last tile: for the next launch, or as the final state.
__device__ void store_passed(const ChainArguments& given, const PassedState& state, int64_t batch, int row,
                             int column, const Tile (&from)[2]) {
    if (given.tiling.last < given.length)
        device::store_tiles(from, state.live + (batch * rows + row) * columns + column, columns);
    else if (state.to)
        device::store_unpadded<ROWS, COLUMNS>(from, state.to + batch * ROWS * COLUMNS, row, column);
}

// Stores boundary `number` of the sequence.
__device__ void store_boundary(const ChainArguments& given, int64_t batch, int64_t number, int row,
                               StateColumns& state) {
    float* const to = given.boundaries + (batch * given.boundary_count + number) * ROWS * COLUMNS;
    state.for_each([&](const Tile(&m)[2], const Tile(&)[2], int column) {
        device::store_unpadded<ROWS, COLUMNS>(m, to, row, column);
    });
}

// At the start of a tile, stores its state for chain_read.cu; at the start of a chunk, its boundary too.
// Errors read M of the last boundary, or with the solve of the last tile.
__device__ void begin_tile(const ChainArguments& given, int64_t batch, int tile, int row, StateColumns& state,
                           Shared& shared) {
    const TilingArguments& tiling = given.tiling;
    if (SOLVES || opens_chunk(tiling, tile))
        state.for_each([&](const Tile(&m)[2], const Tile(&)[2], int column) {
            device::store_elements<precision>(m, &shared.m[parallel ? 0 : state.place.row()][column],
                                              key_stride);
        });
    // Timed runs store none and skip two divisions per chunk: 125 ns on an H200.
    if (given.boundaries && opens_chunk(tiling, tile))
        store_boundary(given, batch, tokens_of(tiling, tile).first / given.chunk, row, state);
    store_state(given, batch * tiling.tiles + tile, row, state);
}

// Computes E^T = M X^T - V^T, or -V^T if errors do not read the memory, for the warp's rows and sources.
// Stores them for chain_read.cu, and weighed for the state. `errors` are the rows and this block of sources.
__device__ void make_errors(const Side& side, Element* errors, const Place& place, Shared& shared) {
    const int row = place.row();
#pragma unroll
    for (int i = 0; i < own_sources; ++i) {
        const int source = place.pair(i);
        if (source >= block) break;
        Tile e[2];
        device::clear(e);
        if constexpr (READS_MEMORY)
            device::multiply<precision, Lies::in_columns, columns>(
                shared.m[row], key_stride, SOLVES ? side.x[SOLVES ? source : 0] : side.k[source], key_stride,
                e);
        Tile of_m[2], of_s[2];
#pragma unroll
        for (int n = 0; n < 2; ++n)
#pragma unroll
            for (int at = 0; at < 4; ++at) {
                const int s = source + 8 * n + device::column_of_lane() + at % 2;
                e[n][at] -= P::value(side.v[s][row + device::row_of_lane() + at / 2 * 8]);
                of_m[n][at] = -side.w[s] * e[n][at];
                if (HAS_MOMENTUM) of_s[n][at] = -side.h[s] * e[n][at];
            }
        device::store_elements<precision>(of_m, &shared.added_m[row][source], error_stride);
        if (HAS_MOMENTUM)
            device::store_elements<precision>(of_s, &shared.added_s[HAS_MOMENTUM ? row : 0][source],
                                              error_stride);
        device::store_elements<precision>(e, errors + source, SOURCES);
    }
}

// A barrier for all warps of the block, which reach it from two places in the code.
__device__ void meet() { device::sync_threads<1 + GROUPS, THREADS>(); }

// Fetches the blocks of all steps, SIDES - 1 steps ahead. The copying warps call it.
__device__ void fetch(const ChainArguments& given, int64_t batch, int first_row, Step step, int last_tile,
                      Shared& shared) {
    Step ahead = step;
    Sources next(given, batch, ahead);
    int side = 0;
    const auto start_next = [&] {
        if (ahead.tile < last_tile) start_copies(given, next, first_row, ahead, shared.sides[side]);
        device::end_batch_of_copies();
        ahead = ahead.next();
        next = Sources(given, batch, ahead);  // before the next wait, as it takes two divisions
        side = side + 1 < side_count ? side + 1 : 0;
    };
    for (int k = 0; k < side_count - 1; ++k) start_next();
    for (; step.tile < last_tile; step = step.next()) {
        // Waits for the thread's copies of this step; later ones are still being copied.
        device::wait_for_copies_but_last<side_count - 2>();
        meet();        // this step may be read; the side of the last one is free
        start_next();  // into that side
    }
}

// Grid: tiles if parallel (otherwise 1: a block has all tiles), strips of rows, batch. Warp w of block y
// walks rows 16 (y GROUPS + w / 4) … + 15; a lane owns four elements of each 16 x 8 tile (products.cuh).
// Warps from 4 GROUPS on copy.
//   reads    keys, solved [batch, last - origin, columns], values [batch, last - origin, rows], the block's
//            strip, ends [batch, tiles, 2 SOURCES + 4]; the state before the first tile
//   writes   errors [batch, tiles, rows, SOURCES], the block's rows; states_m, states_s or sums_m, sums_s
//            [batch, tiles, rows, columns]; the state after the last tile; boundaries
// rows and columns are ROWS and COLUMNS zero-padded to multiples of 16, SOURCES to whole blocks.
extern "C" __global__ void __launch_bounds__(THREADS) chain_walk(ChainArguments given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const TilingArguments& tiling = given.tiling;
    const int64_t batch = blockIdx.z;
    const int first_row = blockIdx.y * strip;
    const int first_tile = parallel ? blockIdx.x : 0, last_tile = parallel ? first_tile + 1 : tiling.tiles;
    // From here on the two kinds of warps synchronise only in meet(), equally often on both sides.
    if (device::warp_of_thread() >= walkers)
        return fetch(given, batch, first_row, {first_tile, 0}, last_tile, shared);
    StateColumns state;
    const int row = first_row + state.place.row();
    if (parallel) {
        state.clear();
    } else {
        state.for_each([&](Tile(&m)[2], Tile(&s)[2], int column) {
            load_passed(given, given.m, batch, row, column, m);
            if (HAS_MOMENTUM) load_passed(given, given.s, batch, row, column, s);
        });
        if (RESCALES && tiling.first == 0) state.rescale(shared);
        begin_tile(given, batch, first_tile, row, state, shared);
    }
    int number = 0;
    for (Step step{first_tile, 0}; step.tile < last_tile; step = step.next()) {
        const Side& side = shared.sides[number];
        number = number + 1 < side_count ? number + 1 : 0;
        const int64_t slot = batch * tiling.tiles + step.tile;
        meet();  // the copies of this step and M are visible
        make_errors(side,
                    static_cast<Element*>(given.errors) + (slot * rows + row) * SOURCES + step.block * block,
                    state.place, shared);
        device::sync_group();  // the errors of all sources are visible, and all have read M
        if (!parallel && step.block == 0) state.decay(side.scalars);
        state.add_errors(shared, side);
        if (parallel || step.block + 1 < blocks) continue;
        if (RESCALES && closes_chunk(tiling, step.tile)) state.rescale(shared);
        if (step.tile + 1 < last_tile) begin_tile(given, batch, step.tile + 1, row, state, shared);
    }
    if (parallel) return store_state(given, batch * tiling.tiles + first_tile, row, state);
    state.for_each([&](const Tile(&m)[2], const Tile(&s)[2], int column) {
        store_passed(given, given.m, batch, row, column, m);
        if (HAS_MOMENTUM) store_passed(given, given.s, batch, row, column, s);
    });
    if (given.boundaries && tiling.last == given.length)
        store_boundary(given, batch, given.boundary_count - 1, row, state);
}
