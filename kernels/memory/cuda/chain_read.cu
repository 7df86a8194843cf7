// Reads the outputs y of a tile's tokens from a chain's memory:
//   y_t = a_t M q_t + b_t S q_t - sum over s of w_ts e_s (k_s . q_t)
// with M, S at the start of the tile; with AT_BOUNDARY only M q_t, with M at the start of the chunk. A warp
// keeps 16 tokens and their queries in registers. M, S and the sources, in blocks of SOURCE_BLOCK, pass
// through shared memory one after another. With SIDES = 2 the next copies overlap with the work:
//   side 0   M   . | block 0  . | block 2 …      block 0 is copied once M is no longer needed,
//   side 1   . S   | .  block 1 | .              while S is processed
//
// Defines: THREADS, SHARED_BYTES, QUERIES, Y (storages), QUERIES_ARE_INPUT (no launch writes them), COLUMNS,
// ROWS, NORMALISE_QUERIES, PRECISION, SIDES (1 or 2), SOURCES, SOURCE_BLOCK, HAS_MOMENTUM, AT_BOUNDARY,
// NORM_SILU (y is bent and normalised: trellis).

#include "kernels/cuda/device/activations.cuh"
#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/integers.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/tiles.cuh"
#include "kernels/memory/cuda/chain.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;
using device::Lies;
using device::Tile;

constexpr int columns = device::round_up(COLUMNS, 16), rows = device::round_up(ROWS, 16);
constexpr int tile_tokens = THREADS / 2;  // 16 per warp
constexpr int block = SOURCE_BLOCK, blocks = AT_BOUNDARY ? 0 : SOURCES / SOURCE_BLOCK;
constexpr int states = HAS_MOMENTUM && !AT_BOUNDARY ? 2 : 1;  // M, then S
constexpr int stages = states + blocks;
// Unrolled code needs fewer registers if a product is few instructions; a loop needs fewer if it is many.
constexpr int unrolled = sizeof(Element) == 2 && stages <= 3 ? stages : 1;
constexpr int column_tiles = columns / 8, row_tiles = rows / 8, source_tiles = block / 8;
constexpr int padding = device::bank_padding<precision>;
constexpr int state_stride = columns + padding, error_stride = block + padding, weight_stride = block + 4;
// Elements of a side: a state [rows, columns], or keys [block, columns] and errors [rows, block]. Rows are
// padded so that the rows of a fragment start in different banks.
constexpr int state_elements = rows * state_stride;
constexpr int errors_at = AT_BOUNDARY ? 0 : block * state_stride;  // after the keys of a block
constexpr int source_elements = AT_BOUNDARY ? 0 : errors_at + rows * error_stride;
constexpr int most_elements = state_elements > source_elements ? state_elements : source_elements;
static_assert(THREADS % 32 == 0 && SOURCES % block == 0, "whole warps and blocks");
static_assert(SIDES == 1 || SIDES == 2, "at most one stage is being copied");

struct Side {
    alignas(16) Element elements[most_elements];  // a state, or the keys and errors of a block

    __device__ Element* keys() { return elements; }
    __device__ Element* errors() { return elements + errors_at; }
};

struct Shared {
    Side sides[SIDES];
    alignas(16) float weights[AT_BOUNDARY ? 1 : tile_tokens][weight_stride];  // -w_ts of a block
    Gate gates[tile_tokens];  // gates of the tile's tokens, zeros after a short tile
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

// w = sqrt(ROWS) silu(w) / max(norm(silu(w)), 1e-12) for the rows of 16 tokens; columns from ROWS on are
// zeros.
__device__ void norm_silu(Tile (&w)[row_tiles]) {
#pragma unroll
    for (int n = 0; n < row_tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at) w[n][at] = device::silu(w[n][at]);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        // The norm is computed in double, because the square of a silu of f32 may overflow.
        const double norm = sqrt(device::wide_square_of_row(w, half)), wanted = sqrt(double{ROWS});
        device::scale_row(w, half, static_cast<float>(wanted / (norm < 1e-12 ? 1e-12 : norm)));
    }
}

// y[t][r] = a_t * (q_t . row r of M [rows, columns]) for the warp's 16 tokens.
__device__ void read_m(const Element* m, Tile (&q)[column_tiles], const float (&a)[2], Tile (&y)[row_tiles]) {
    device::clear(y);
    device::multiply<precision, Lies::in_columns>(q, m, state_stride, y);
#pragma unroll
    for (int half = 0; half < 2; ++half) device::scale_row(y, half, a[half]);
}

// Adds b_t * (q_t . row r of S [rows, columns]) to y[t][r] for the warp's 16 tokens.
__device__ void add_s(const Element* s, const Tile (&q)[column_tiles], const float (&b)[2],
                      Tile (&y)[row_tiles]) {
    // The queries are scaled, because they are in registers and S is the same for all tokens.
    Tile scaled[column_tiles];
#pragma unroll
    for (int n = 0; n < column_tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at) scaled[n][at] = b[at / 2] * q[n][at];
    device::multiply<precision, Lies::in_columns>(scaled, s, state_stride, y);
}

// The stages of a tile: M, S, then its sources block by block.
struct TileStages {
    const ChainArguments& given;
    Shared& shared;
    int64_t batch;
    int tile;
    Range tokens;

    // The distance from the tile's first token to the first source of a block; negative inside windows.
    __device__ int source_of(int number) const {
        return static_cast<int>(first_source(given.tiling, tokens.first) - tokens.first) + number * block;
    }

    // Starts the copies of a stage. All threads call it.
    __device__ void start_copies(int stage, Side& side) const {
        if (stage < states) {
            const int state_tile = AT_BOUNDARY ? tile - tile % given.tiling.tiles_a_chunk : tile;
            copy_state(stage == 0 ? given.states_m : given.states_s, state_tile, side);
        } else {
            copy_sources(stage - states, side);
        }
    }
    // Copies M or S [rows, columns] at the start of a tile. Their padding is stored as zeros.
    __device__ void copy_state(const void* from, int state_tile, Side& side) const {
        const int64_t slot = batch * given.tiling.tiles + state_tile;
        device::copy_tile<rows, columns, THREADS>(
            side.elements, state_stride, static_cast<const Element*>(from) + slot * rows * columns, rows);
    }
    // Copies keys [block, columns] and errors [rows, block] of block `number` of the tile's sources. Keys
    // after the last token become zeros; their errors were computed from zeros too.
    __device__ void copy_sources(int number, Side& side) const {
        const TilingArguments& tiling = given.tiling;
        const int64_t first = tokens.first + source_of(number);
        const int there = first < tokens.last ? static_cast<int>(tokens.last - first) : 0;
        // Any address will do if nothing is read.
        const int64_t row = batch * (tiling.last - tiling.origin) + (there > 0 ? first - tiling.origin : 0);
        device::copy_tile<block, columns, THREADS>(
            side.elements, state_stride, static_cast<const Element*>(given.keys) + row * columns, there);
        const int64_t slot = batch * tiling.tiles + tile;
        device::copy_tile<rows, block, THREADS, SOURCES>(
            side.errors(), error_stride,
            static_cast<const Element*>(given.errors) + slot * rows * SOURCES + number * block, rows);
    }

    // Computes -w_ts of a block of sources, [tile_tokens, block]: one thread per source fills its column
    // token by token. The weight is zero if s comes after t or after the tile; if only t does, it is some
    // number, and y_t is not stored.
    __device__ void make_weights(int number) const {
        const int first = source_of(number), count = tokens.count();
        const Windows windows = windows_of(given.tiling, given.gates, batch * given.length + tokens.first);
        for (int s = threadIdx.x; s < block; s += THREADS) {
            SourceCoefficients source(first + s < count ? first + s : tile_tokens, windows);
            // Gates are loaded eight at a time, because the compiler moves no load over a store.
            constexpr int each = 8;
            for (int from = 0; from < tile_tokens; from += each) {
                Gate gates[each];
#pragma unroll
                for (int k = 0; k < each; ++k) gates[k] = shared.gates[from + k];
#pragma unroll
                for (int k = 0; k < each; ++k) {
                    const int t = from + k;
                    if (!WINDOWS_VARY || t < count) source.advance(gates[k], t);
                    shared.weights[AT_BOUNDARY ? 0 : t][s] = -source.w;
                }
            }
        }
    }
};

// Subtracts the sources of a block from y in two products: scores of 16 tokens, then scores times errors.
__device__ void add_sources(const Shared& shared, Side& side, Tile (&q)[column_tiles], Tile (&y)[row_tiles]) {
    // scores [16 tokens, block] are k_s . q_t times -w_ts; the weights are 0 if s comes after t.
    Tile scores[source_tiles], weights[source_tiles];
    device::clear(scores);
    device::multiply<precision, Lies::in_columns>(q, side.keys(), state_stride, scores);
    device::load_tiles(shared.weights[AT_BOUNDARY ? 0 : device::warp_of_thread() * 16], weight_stride,
                       weights);
#pragma unroll
    for (int n = 0; n < source_tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at) scores[n][at] *= weights[n][at];
    device::multiply<precision, Lies::in_columns>(scores, side.errors(), error_stride, y);
}

// Subtracts the sources of a block one by one, for tokens from `row` on. A product multiplies later sources
// by zero, which gives NaN if they are not finite. The first source lies `first` tokens from the tile's first
// one.
__device__ void add_sources_one_by_one(const Shared& shared, Side& side, Tile (&q)[column_tiles], int row,
                                       int first, Tile (&y)[row_tiles]) {
    Tile scores[source_tiles];
    device::clear(scores);
    device::multiply<precision, Lies::in_columns>(q, side.keys(), state_stride, scores);
    const Element* const errors = side.errors();
    // The lanes of a quad share rows: lane c / 2 of them holds the score of source 8 n + c.
    const int quad = device::lane_of_thread() / 4 * 4;
#pragma unroll 1
    for (int n = 0; n < source_tiles; ++n) {
#pragma unroll
        for (int c = 0; c < 8; ++c)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int source = 8 * n + c, token = row + device::row_of_lane() + 8 * half;
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
                            P::value(errors[(8 * m + device::column_of_lane() + at) * error_stride + source]);
            }
        device::rotate(scores);  // the next 8 sources: registers cannot be indexed by n
    }
}

// Computes a_t and b_t of the two tokens of a lane, `first` and `first` + 8, of a tile of `tokens`.
__device__ void load_factors(const Shared& shared, int tokens, int first, float (&a)[2], float (&b)[2]) {
    // Every warp scans all gates, two a lane: a barrier would cost more.
    static_assert(tile_tokens <= 64);
    const int lane = device::lane_of_thread();
    StateCoefficients even, odd;  // after the lane's tokens
    if (2 * lane < tokens) even.advance(shared.gates[2 * lane]);
    odd = even;
    if (2 * lane + 1 < tokens) odd.advance(shared.gates[2 * lane + 1]);
    StateCoefficients before;  // of the tokens of lower lanes
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const StateCoefficients all = before.then(odd);
        const StateCoefficients earlier = device::shuffle_up(all, step);
        if (lane >= step) before = earlier.then(before);
    }
    even = before.then(even), odd = before.then(odd);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int token = first + 8 * half;
        const StateCoefficients of_even = device::shuffle(even, token / 2),
                                of_odd = device::shuffle(odd, token / 2);
        a[half] = token % 2 == 0 ? of_even.a : of_odd.a;
        b[half] = token % 2 == 0 ? of_even.b : of_odd.b;
    }
}

// Grid: tiles, batch. Warp w of block (x, y) owns tokens 16 w … + 15 of tile x of sequence y; a lane owns the
// queries and y of two of them, four columns of every 16 x 8 tile (products.cuh).
//   reads    queries [batch, length, COLUMNS], gates [batch, length];
//            states_m, states_s [batch, tiles, rows, columns], slot y tiles + x, or the tile that opens the
//            chunk; keys [batch, last - origin, columns], rows first_source … of the tile;
//            errors [batch, tiles, rows, SOURCES]
//   writes   y [batch, length, ROWS], the tile's tokens: no other block writes or reads them
// rows and columns are ROWS and COLUMNS, zero-padded to multiples of 16, also in registers.
extern "C" __global__ void __launch_bounds__(THREADS) chain_read(ChainReadArguments reading) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const ChainArguments& given = reading.chain;
    const int tile = blockIdx.x;
    const int64_t batch = blockIdx.y;
    const TileStages tile_stages{given, shared, batch, tile, tokens_of(given.tiling, tile)};
    const Range tokens = tile_stages.tokens;
    // The warp's first token in the tile, and how many tokens of the tile are left from there on: 0 or less
    // if a short tile ends before.
    const int before = device::warp_of_thread() * 16, there = tokens.count() - before;
    Tile q[column_tiles], y[row_tiles];
    const auto load_own_queries = [&] {
        const auto* const queries = static_cast<const device::QUERIES::Word*>(reading.queries);
        const int64_t first = batch * given.length + tokens.first + before;
        device::load_rows<device::QUERIES, COLUMNS>(queries + first * COLUMNS, there, q);
        if (NORMALISE_QUERIES) device::normalise_rows(q);
    };
    // Gates and queries are inputs that no earlier launch writes, except z and r of trellis.
    if (!AT_BOUNDARY)
        load_gates<WINDOWS_VARY>(given.gates, batch * given.length + tokens.first, tokens.count(),
                                 tile_tokens, shared.gates);
    if (QUERIES_ARE_INPUT) load_own_queries();
    device::wait_for_launches_before();
    device::let_next_launch_start();
    // Stage 0 is copied while a_t, b_t and the weights of block 0 are computed.
    tile_stages.start_copies(0, shared.sides[0]);
    device::end_batch_of_copies();
    if (!QUERIES_ARE_INPUT) load_own_queries();
    float a[2] = {1, 1}, b[2] = {};
    if constexpr (!AT_BOUNDARY) {
        device::sync_block();  // the gates are visible to every lane
        load_factors(shared, tokens.count(), before + device::row_of_lane(), a, b);
        tile_stages.make_weights(0);
    }
    // The second pass replaces products that multiplied zero by a value that is not finite.
#pragma unroll 1
    for (bool one_by_one = false;; one_by_one = true) {
#pragma unroll unrolled
        for (int stage = 0; stage < stages; ++stage) {
            Side& side = shared.sides[stage % SIDES];
            // All warps have read the previous stage: its side and its weights may be overwritten.
            if (stage > 0) device::sync_block();
            // With one side this stage's copies start here, with two the next stage's.
            if (SIDES == 1 && stage > 0) tile_stages.start_copies(stage, shared.sides[0]);
            if (SIDES == 2 && stage + 1 < stages)
                tile_stages.start_copies(stage + 1, shared.sides[(stage + 1) % SIDES]);
            device::end_batch_of_copies();
            // Those of block 0 are there, unless a first pass has replaced them.
            if (blocks > 1 && (stage > states || (stage == states && one_by_one)))
                tile_stages.make_weights(stage - states);
            // Waits for the thread's copies of this stage; with two sides the next stage is still being
            // copied.
            device::wait_for_copies_but_last<SIDES - 1>();
            device::sync_block();  // the copies and weights of all threads are visible
            // Adds the stage to y of the warp's tokens.
            if (stage == 0)
                read_m(side.elements, q, a, y);
            else if (stage < states)
                add_s(side.elements, q, b, y);
            else if (one_by_one)
                add_sources_one_by_one(shared, side, q, before, tile_stages.source_of(stage - states), y);
            else
                add_sources(shared, side, q, y);
        }
        // A finite y is right: zero times a finite number adds nothing. One thread's NaN repeats the pass for
        // the whole block, as all threads copy. The barrier ends the last stage.
        if (AT_BOUNDARY || one_by_one || !device::any_of_block(!device::are_finite(y))) break;
        tile_stages.start_copies(0, shared.sides[0]);
        device::end_batch_of_copies();
    }
    if constexpr (NORM_SILU) norm_silu(y);
    auto* const to = static_cast<device::Y::Word*>(reading.y) + batch * reading.y_stride;
    device::store_rows<device::Y, ROWS>(y, there, to + (tokens.first + before) * ROWS);
}
