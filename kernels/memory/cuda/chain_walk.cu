// Walks the state of a chain from tile to tile, in matrix products. With K, V the keys and values of a tile's
// sources, E its errors and w, h its coefficients after the last token (chain.cuh):
//   E^T = M X^T - V^T, X = K or the keys after the solve;
//   M = a M + b S - E^T diag(w) K,  S = h S - E^T diag(h) K.
// A warp keeps 16 rows of M and S in registers and walks them over all tiles (if parallel, one block per tile
// sums it from zeros); rows are independent. Sources come in blocks of SOURCE_BLOCK, which the copying warps
// of the block fetch two steps ahead. Errors use the memory at the chunk's boundary, which is kept in shared
// memory if a chunk or its sources take more than one step; with the solve they are exact.
//
//   copying warps   fetch 0, 1 |  fetch 2  |  fetch 3  | …      into sides 0, 1, 2, 0, …
//   walking warps      wait    |  step 0   |  step 1   | …      each `|` is a barrier of all warps
//
// A step for one row of M = [1 0] and one source k = [0.6 0.8], v = 2, with a = 0.9, b = 0, w = 0.5:
//   e = M k - v = 0.6 - 2 = -1.4;  M = 0.9 [1 0] + 0.5 1.4 [0.6 0.8] = [1.32 0.56]
//
// Defines: THREADS, SHARED_BYTES, COLUMNS, ROWS, PRECISION, WARPS (that walk; the others copy), SOURCES,
// SOURCE_BLOCK, SOLVES, READS_MEMORY, HAS_MOMENTUM, KEEPS_BOUNDARY, RESCALES (rows of M get norms
// sqrt(COLUMNS) at every boundary, before it is used).

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
constexpr int strip = 16 * WARPS;  // rows of the block
constexpr int block = SOURCE_BLOCK, blocks = SOURCES / SOURCE_BLOCK;
constexpr int key_stride = columns + device::bank_padding<precision>;
constexpr int value_stride = strip + device::bank_padding<precision>;
constexpr int boundary_stride = columns + 4;  // rows start four banks apart
constexpr int side_count = 3;                 // one in use, two being copied
constexpr int copy_threads = THREADS - 32 * WARPS;
constexpr int column_tiles = columns / 8, source_tiles = block / 8;
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
    alignas(16) float boundary[KEEPS_BOUNDARY ? strip : 1][boundary_stride];  // M, 16 rows per warp
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

// A step is a block of sources of a tile.
struct Step {
    int tile, block;
    __device__ Step next() const { return block + 1 < blocks ? Step{tile, block + 1} : Step{tile + 1, 0}; }
};

// Starts the copies of a step's sources: keys, values of the block's strip, and coefficients. The copying
// warps call it. Sources after the tile's last token become zeros.
__device__ void start_copies(const ChainArguments& given, int64_t batch, int first_row, const Step& step,
                             Side& side) {
    const int thread = threadIdx.x - 32 * WARPS;
    const TilingArguments& tiling = given.tiling;
    const Range tokens = tokens_of(tiling, step.tile);
    const int64_t first = first_source(tiling, tokens.first) + step.block * block;
    const int there = first < tokens.last ? static_cast<int>(tokens.last - first) : 0;
    // Any address will do if nothing is read.
    const int64_t row = batch * (tiling.last - tiling.origin) + (there > 0 ? first - tiling.origin : 0);
    device::copy_matrix<columns>(&side.k[0][0], key_stride,
                                 static_cast<const Element*>(given.keys) + row * columns, columns, block,
                                 there, thread, copy_threads);
    if (SOLVES)
        device::copy_matrix<columns>(&side.x[0][0], key_stride,
                                     static_cast<const Element*>(given.solved) + row * columns, columns,
                                     block, there, thread, copy_threads);
    device::copy_matrix<strip>(&side.v[0][0], value_stride,
                               static_cast<const Element*>(given.values) + row * rows + first_row, rows,
                               block, there, thread, copy_threads);
    const float* const ends = given.ends + (batch * tiling.tiles + step.tile) * (2 * SOURCES + 4);
    for (int at = thread * 4; at < block; at += copy_threads * 4) {
        device::copy_async<16>(side.w + at, ends + step.block * block + at, true);
        device::copy_async<16>(side.h + at, ends + SOURCES + step.block * block + at, true);
    }
    if (thread == copy_threads - 1) device::copy_async<16>(side.scalars, ends + 2 * SOURCES, true);
}

// Loads -V^T of the warp's rows, [16 rows, block], one source per column: the layout of a left factor.
__device__ void load_errors(const Side& side, Tile (&e)[source_tiles]) {
    const int r = device::warp_of_thread() * 16 + device::row_of_lane();
#pragma unroll
    for (int n = 0; n < source_tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at)
            e[n][at] = -P::value(side.v[8 * n + device::column_of_lane() + at % 2][r + at / 2 * 8]);
}

// Computes -E^T times the coefficients of its columns.
__device__ void weigh(const Tile (&e)[source_tiles], const float* factors, Tile (&to)[source_tiles]) {
#pragma unroll
    for (int n = 0; n < source_tiles; ++n) {
        const float2 pair = *reinterpret_cast<const float2*>(factors + 8 * n + device::column_of_lane());
        to[n][0] = -pair.x * e[n][0], to[n][1] = -pair.y * e[n][1];
        to[n][2] = -pair.x * e[n][2], to[n][3] = -pair.y * e[n][3];
    }
}

// 16 rows of M and S, all columns, spread over a warp. Padding is zeros and stays zeros.
struct StateRows {
    Tile m[column_tiles];
    Tile s[column_tiles];  // takes no registers without momentum

    // M = a M + b S, S = h S.
    __device__ void decay(const float* scalars) {
        const float a = scalars[0], b = scalars[1], h = scalars[2];
#pragma unroll
        for (int n = 0; n < column_tiles; ++n)
#pragma unroll
            for (int at = 0; at < 4; ++at) {
                m[n][at] *= a;
                if (HAS_MOMENTUM) {
                    m[n][at] += b * s[n][at];
                    s[n][at] *= h;
                }
            }
    }

    // Scales the rows of M to norms sqrt(COLUMNS), but rows of zeros. Squares are summed in double, because
    // they may leave the range of f32.
    __device__ void rescale() {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const double norm = sqrt(device::wide_square_of_row(m, half)), wanted = sqrt(double{COLUMNS});
            device::scale_row(m, half, static_cast<float>(wanted / (norm < 1e-12 ? 1e-12 : norm)));
        }
    }

    // M -= E^T diag(w) K, S -= E^T diag(h) K in one pass over K: every fragment is loaded once for both
    // products.
    __device__ void add_errors(const Tile (&e)[source_tiles], const Side& side) {
        Tile weighed[source_tiles];
        weigh(e, side.w, weighed);
        if constexpr (HAS_MOMENTUM) {
            Tile also[source_tiles];
            weigh(e, side.h, also);
            device::multiply_both<precision, Lies::in_rows>(weighed, also, &side.k[0][0], key_stride, m, s);
        } else {
            device::multiply<precision, Lies::in_rows>(weighed, &side.k[0][0], key_stride, m);
        }
    }
};

// Stores the state at the start of tile `slot`, [rows, columns] with padding, rounded as product factors. If
// parallel, it stores the sum of the tile, in f32.
__device__ void store_state(const ChainArguments& given, int64_t slot, int row, const StateRows& state) {
    const int64_t at = (slot * rows + row) * columns;
    if constexpr (parallel) {
        device::store_tiles(state.m, given.sums_m + at, columns);
        if (HAS_MOMENTUM) device::store_tiles(state.s, given.sums_s + at, columns);
    } else {
        device::store_elements<precision>(state.m, static_cast<Element*>(given.states_m) + at, columns);
        if (HAS_MOMENTUM)
            device::store_elements<precision>(state.s, static_cast<Element*>(given.states_s) + at, columns);
    }
}

// Loads 16 rows of the state before the first tile: what the previous launch left, with padding, or the
// initial state of the sequence, [ROWS, COLUMNS].
__device__ void load_passed(const ChainArguments& given, const PassedState& state, int64_t batch, int row,
                            Tile (&to)[column_tiles]) {
    if (given.tiling.first > 0)
        device::load_tiles(state.live + (batch * rows + row) * columns, columns, to);
    else
        device::load_unpadded<ROWS, COLUMNS>(state.from ? state.from + batch * ROWS * COLUMNS : nullptr, row,
                                             to);
}

// Stores the state after the last tile: for the next launch, or as the final state.
__device__ void store_passed(const ChainArguments& given, const PassedState& state, int64_t batch, int row,
                             const Tile (&from)[column_tiles]) {
    if (given.tiling.last < given.length)
        device::store_tiles(from, state.live + (batch * rows + row) * columns, columns);
    else if (state.to)
        device::store_unpadded<ROWS, COLUMNS>(from, state.to + batch * ROWS * COLUMNS, row);
}

// Stores boundary `number` of the sequence.
__device__ void store_boundary(const ChainArguments& given, int64_t batch, int64_t number, int row,
                               const StateRows& state) {
    const int64_t at = batch * given.boundary_count + number;
    device::store_unpadded<ROWS, COLUMNS>(state.m, given.boundaries + at * ROWS * COLUMNS, row);
}

// At the start of a tile, stores its state for chain_read.cu; at the start of a chunk, its boundary too.
__device__ void begin_tile(const ChainArguments& given, int64_t batch, int tile, int row,
                           const StateRows& state, Shared& shared) {
    const TilingArguments& tiling = given.tiling;
    const int64_t first = tokens_of(tiling, tile).first;
    if (opens_chunk(tiling, tile)) {
        // Timed runs store none and skip a 64-bit division per chunk: 125 ns on an H200.
        if (given.boundaries) store_boundary(given, batch, first / given.chunk, row, state);
        if (KEEPS_BOUNDARY) {
            device::store_tiles(state.m, shared.boundary[device::warp_of_thread() * 16], boundary_stride);
            device::sync_warp();  // rows written by other lanes of the warp are visible
        }
    }
    store_state(given, batch * tiling.tiles + tile, row, state);
}

// Computes E^T = M X^T - V^T for the warp's rows, or -V^T if errors do not read the memory.
__device__ void make_errors(const Side& side, StateRows& state, const Shared& shared,
                            Tile (&e)[source_tiles]) {
    load_errors(side, e);
    if constexpr (READS_MEMORY) {
        const Element* const x = SOLVES ? &side.x[0][0] : &side.k[0][0];
        if constexpr (KEEPS_BOUNDARY) {
            Tile boundary[column_tiles];
            device::load_tiles(shared.boundary[device::warp_of_thread() * 16], boundary_stride, boundary);
            device::multiply<precision, Lies::in_columns>(boundary, x, key_stride, e);
        } else {
            device::multiply<precision, Lies::in_columns>(state.m, x, key_stride, e);
        }
    }
}

// A barrier for all warps of the block, which reach it from two places in the code.
__device__ void meet() { device::sync_threads<1, THREADS>(); }

// Fetches the blocks of all steps, two steps ahead. The copying warps call it.
__device__ void fetch(const ChainArguments& given, int64_t batch, int first_row, Step step, int last_tile,
                      Shared& shared) {
    Step ahead = step;
    int side = 0;
    const auto start_next = [&] {
        if (ahead.tile < last_tile) start_copies(given, batch, first_row, ahead, shared.sides[side]);
        device::end_batch_of_copies();
        ahead = ahead.next();
        side = side + 1 < side_count ? side + 1 : 0;
    };
    for (int k = 0; k < side_count - 1; ++k) start_next();
    for (; step.tile < last_tile; step = step.next()) {
        // Waits for the thread's copies of this step; the next step is still being copied.
        device::wait_for_copies_but_last<side_count - 2>();
        meet();        // this step may be read; the side of the last one is free
        start_next();  // into that side
    }
}

// Adds one block of sources of a tile. The state decays once per tile, before its first block.
__device__ void take_step(const ChainArguments& given, int64_t batch, const Step& step, int row,
                          const Side& side, StateRows& state, Shared& shared) {
    if (!parallel && step.block == 0) begin_tile(given, batch, step.tile, row, state, shared);
    Tile e[source_tiles];
    make_errors(side, state, shared, e);
    const int64_t slot = batch * given.tiling.tiles + step.tile;
    device::store_elements<precision>(
        e, static_cast<Element*>(given.errors) + (slot * rows + row) * SOURCES + step.block * block, SOURCES);
    if (!parallel && step.block == 0) state.decay(side.scalars);
    state.add_errors(e, side);
}

// Grid: tiles if parallel (otherwise 1: a block has all tiles), strips of rows, batch. Warp w of block y owns
// rows 16 (y WARPS + w) … + 15; a lane owns four elements of each 16 x 8 tile (products.cuh). Warps from
// WARPS on copy.
//   reads    keys, solved [batch, last - origin, columns], values [batch, last - origin, rows], the block's
//            strip, ends [batch, tiles, 2 SOURCES + 4]; the state before the first tile
//   writes   errors [batch, tiles, rows, SOURCES], the warp's rows; states_m, states_s or sums_m, sums_s
//            [batch, tiles, rows, columns]; the state after the last tile; boundaries
// rows and columns are ROWS and COLUMNS zero-padded to multiples of 16, SOURCES to whole blocks.
extern "C" __global__ void __launch_bounds__(THREADS) chain_walk(ChainArguments given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const int64_t batch = blockIdx.z;
    const int first_row = blockIdx.y * strip, row = first_row + device::warp_of_thread() * 16;
    const int first_tile = parallel ? blockIdx.x : 0,
              last_tile = parallel ? first_tile + 1 : given.tiling.tiles;
    // From here on the two kinds of warps synchronise only in meet(), equally often on both sides.
    if (device::warp_of_thread() >= WARPS)
        return fetch(given, batch, first_row, {first_tile, 0}, last_tile, shared);
    StateRows state;
    if (parallel) {
        device::clear(state.m);
        device::clear(state.s);
    } else {
        load_passed(given, given.m, batch, row, state.m);
        if (HAS_MOMENTUM) load_passed(given, given.s, batch, row, state.s);
        if (RESCALES && given.tiling.first == 0) state.rescale();
    }
    int side = 0;
    for (Step step{first_tile, 0}; step.tile < last_tile; step = step.next()) {
        meet();  // the copies of this step are visible
        take_step(given, batch, step, row, shared.sides[side], state, shared);
        side = side + 1 < side_count ? side + 1 : 0;
        if (RESCALES && step.block == blocks - 1 && closes_chunk(given.tiling, step.tile)) state.rescale();
    }
    if (parallel) return store_state(given, batch * given.tiling.tiles + first_tile, row, state);
    store_passed(given, given.m, batch, row, state.m);
    if (HAS_MOMENTUM) store_passed(given, given.s, batch, row, state.s);
    if (given.boundaries && given.tiling.last == given.length)
        store_boundary(given, batch, given.boundary_count - 1, row, state);
}
