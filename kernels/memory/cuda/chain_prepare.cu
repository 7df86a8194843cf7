// Prepares a chain in tiles: normalises keys, copies values (for atlas -w = -W silu([k; v]), so that the
// error M k - v without the memory is w), and computes the coefficients of every tile after its last token.
//
// Example of the coefficients, `ends`: two tokens with decay 0.9, keep 0.5 and steps 0.1 and 0.2 give
//   w = 0.9 0.1 + 0.5 0.1 = 0.14 and 0.2,  h = 0.5 0.1 = 0.05 and 0.2   for its two sources,
//   a = 0.81,  b = 0.9 0.5 + 0.25 = 0.7,  h = 0.25                      for the state before it.
//
// Defines: THREADS, KEYS, VALUES (storages), COLUMNS (of the memory), ROWS, VALUE_WIDTH (of a row of values,
// whose first ROWS are used), NORMALISE_KEYS, NORMALISE_VALUES, READS_W_OMEGA, PRECISION, TILE, SOURCES.

#include "kernels/cuda/device/activations.cuh"
#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/rows.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/memory/cuda/chain.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

constexpr int warps = THREADS / 32;
constexpr int columns = device::round_up(COLUMNS, 16), rows = device::round_up(ROWS, 16);
static_assert(THREADS % 32 == 0, "one warp per row");

// One warp converts a row of `count` words: keeps the first `taken` numbers and pads with zeros up to `room`.
// Lane l writes elements l, l + 32, …
template <class Storage, int count, int taken, int room>
__device__ void prepare_row(const typename Storage::Word* from, bool normalises, Element* to) {
    constexpr int each = device::ceil_divide(count > room ? count : room, 32);
    const int lane = device::lane_of_thread();
    float mine[each];
    device::load_row<Storage, count>(from, true, normalises, mine);
#pragma unroll
    for (int k = 0; k < each; ++k)
        if (lane + 32 * k < room) to[lane + 32 * k] = P::element(lane + 32 * k < taken ? mine[k] : 0);
}

constexpr int w_columns = 32;  // columns of W in shared memory at a time
constexpr int input_stride = device::round_up(2 * COLUMNS, w_columns) + 4;

// What the threads of a block share: inputs [16, 2 d], padded, and a tile [rows, 32] of W.
struct AtlasShared {
    float inputs[16][input_stride];  // silu([k; v]), then zeros
    float w[rows][w_columns + 1];    // one more column, so that rows start in different banks
};

// Loads silu([k; v]) of 16 tokens, one warp per token, and zeros for missing tokens.
__device__ void load_inputs_of_w(const ChainArguments& given, int64_t batch, Range tokens,
                                 AtlasShared& shared) {
    const auto* const keys = static_cast<const device::KEYS::Word*>(given.given_keys);
    const auto* const values = static_cast<const device::VALUES::Word*>(given.given_values);
    for (int i = device::warp_of_thread(); i < 16; i += warps) {
        const int64_t at = (batch * given.length + tokens.first + i) * COLUMNS;
        const bool there = i < tokens.count();
        float* const row = shared.inputs[i];
        device::stage_row<device::KEYS, COLUMNS, COLUMNS>(keys + at, there, NORMALISE_KEYS, row);
        device::stage_row<device::VALUES, COLUMNS, COLUMNS>(values + at, there, false, row + COLUMNS);
        device::sync_warp();  // both halves: the silu reads elements that other lanes wrote
        for (int c = device::lane_of_thread(); c < input_stride; c += 32)
            row[c] = c < 2 * COLUMNS ? device::silu(row[c]) : 0;
    }
}

// Computes -w of 16 tokens. W passes through shared memory in tiles of columns; a thread owns four tokens for
// one row of W.
__device__ void prepare_atlas(const ChainArguments& given, int64_t batch, Range tokens, AtlasShared& shared) {
    // Item n of a thread is row r of W and tokens first … first + 3. There are rows * 4 items: 16 tokens in
    // groups of 4.
    constexpr int items = device::ceil_divide(rows * 4, THREADS);
    load_inputs_of_w(given, batch, tokens, shared);
    float sums[items][4] = {};
    for (int from = 0; from < 2 * COLUMNS; from += w_columns) {
        device::sync_block();  // inputs are visible; the previous tile has been read
        for (int at = threadIdx.x; at < rows * w_columns; at += THREADS) {
            const int r = at / w_columns, c = from + at % w_columns;
            shared.w[r][at % w_columns] =
                r < ROWS && c < 2 * COLUMNS ? given.w_omega[r * 2 * COLUMNS + c] : 0;
        }
        device::sync_block();  // the tile of W is visible
#pragma unroll
        for (int n = 0; n < items; ++n) {
            const int r = (threadIdx.x + n * THREADS) % rows, first = (threadIdx.x + n * THREADS) / rows * 4;
            if (first >= 16) continue;
            for (int c = 0; c < w_columns; ++c)
#pragma unroll
                for (int i = 0; i < 4; ++i) sums[n][i] += shared.w[r][c] * shared.inputs[first + i][from + c];
        }
    }
    const int64_t kept = given.tiling.last - given.tiling.origin;
    Element* const to =
        static_cast<Element*>(given.values) + (batch * kept + tokens.first - given.tiling.origin) * rows;
#pragma unroll
    for (int n = 0; n < items; ++n) {
        const int r = (threadIdx.x + n * THREADS) % rows, first = (threadIdx.x + n * THREADS) / rows * 4;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (first + i < tokens.count()) to[(first + i) * rows + r] = P::element(-sums[n][i]);
    }
    device::sync_block();  // all reads of the inputs are done: the next 16 tokens replace them
}

// Grid: tiles, batch. Block (x, y) prepares the tokens of tile x of sequence y; the first block also prepares
// those before `first` that windows reach, so that every token from `origin` on is prepared once.
//   reads    keys [batch, length, COLUMNS], values [batch, length, VALUE_WIDTH], gates [batch, length];
//            W [ROWS, 2 COLUMNS] if READS_W_OMEGA
//   writes   keys [batch, last - origin, columns], values [batch, last - origin, rows], padded to multiples
//            of 16 by zeros; ends [batch, tiles, 2 SOURCES + 4]
extern "C" __global__ void __launch_bounds__(THREADS) chain_prepare(ChainArguments given) {
    __shared__ Gate gates[TILE];
    __shared__ __align__(16) unsigned char memory[READS_W_OMEGA ? sizeof(AtlasShared) : 16];
    AtlasShared& for_atlas = *reinterpret_cast<AtlasShared*>(memory);
    const TilingArguments& tiling = given.tiling;
    const int tile = blockIdx.x;
    const int64_t batch = blockIdx.y, kept = tiling.last - tiling.origin;
    const Range tokens = tokens_of(tiling, tile);
    // Gates are inputs that no earlier launch writes; keys may be written by one (trellis).
    const int64_t first_token = batch * given.length + tokens.first;
    load_gates<WINDOWS_VARY>(given.gates, first_token, tokens.count(), tokens.count(), gates);
    device::wait_for_launches_before();
    device::let_next_launch_start();
    // A warp prepares the key and the value of a token.
    const auto* const keys = static_cast<const device::KEYS::Word*>(given.given_keys);
    const auto* const values = static_cast<const device::VALUES::Word*>(given.given_values);
    for (int64_t token = (tile == 0 ? tiling.origin : tokens.first) + device::warp_of_thread();
         token < tokens.last; token += warps) {
        const int64_t from = batch * given.length + token, to = batch * kept + token - tiling.origin;
        prepare_row<device::KEYS, COLUMNS, COLUMNS, columns>(
            keys + from * COLUMNS, NORMALISE_KEYS, static_cast<Element*>(given.keys) + to * columns);
        if (!READS_W_OMEGA)
            prepare_row<device::VALUES, VALUE_WIDTH, ROWS, rows>(
                values + from * VALUE_WIDTH, NORMALISE_VALUES,
                static_cast<Element*>(given.values) + to * rows);
    }
    if constexpr (READS_W_OMEGA)
        for (int64_t first = tokens.first; first < tokens.last; first += 16)
            prepare_atlas(given, batch, {first, first + 16 < tokens.last ? first + 16 : tokens.last},
                          for_atlas);
    device::sync_block();  // the gates are visible to every thread of store_ends
    const int64_t source = first_source(tiling, tokens.first);
    store_ends(gates, tokens.count(), static_cast<int>(source - tokens.first), tokens.count(),
               windows_of(tiling, given.gates, first_token), SOURCES,
               given.ends + (batch * tiling.tiles + tile) * (2 * SOURCES + 4));
}
