// What a chain in tiles starts from: keys normalised, values (of atlas -w = -W silu([k; v]), so that the
// error M k - v of a memory that is not read is w), and the coefficients of every tile after its last token.
//
// Defines: KEYS, VALUES (storages), COLUMNS (of the memory), ROWS, VALUE_WIDTH (of a row of values, of which
// the first ROWS are taken), NORMALISE_KEYS, NORMALISE_VALUES, ATLAS, PRECISION, TILE, SOURCES.

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/memory/coefficients.cuh"
#include "kernels/memory/tiles.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

constexpr Precision precision = Precision::PRECISION;
using P = Products<precision>;
using Element = P::Element;
constexpr int threads = 128, warps = threads / 32;
constexpr int columns = padded_to(COLUMNS, 16), rows = padded_to(ROWS, 16);

// A row of `count` words by a warp; its first `taken` numbers are kept, zeros behind them up to `room`.
template <class Storage, int count, int taken, int room>
__device__ void prepare_row(const typename Storage::Word* from, bool normalises, Element* to) {
    constexpr int each = (count > room ? count + 31 : room + 31) / 32;
    const int lane = device::lane_of_thread();
    float mine[each];
#pragma unroll
    for (int k = 0; k < each; ++k)
        mine[k] = lane + 32 * k < count ? widened<Storage>(from[lane + 32 * k]) : 0;
    const float factor = normalises ? inverse_norm(mine) : 1;
#pragma unroll
    for (int k = 0; k < each; ++k)
        if (lane + 32 * k < room)
            to[lane + 32 * k] = P::element(lane + 32 * k < taken ? mine[k] * factor : 0);
}

// -w of 16 tokens from `first` on: a warp to every two tiles of 8 rows of W.
__device__ void prepare_atlas(const device_side::Chain& given, int64_t batch, Range tokens, float* inputs) {
    constexpr int half = COLUMNS, stride = padded_to(2 * half, 8) + 4;
    const auto* const keys = static_cast<const device::KEYS::Word*>(given.given_keys);
    const auto* const values = static_cast<const device::VALUES::Word*>(given.given_values);
    const int warp = device::warp_of_thread(), lane = device::lane_of_thread();
    for (int i = warp; i < 16; i += warps) {
        const int64_t at = (batch * given.length + tokens.first + i) * half;
        constexpr int each = (half + 31) / 32;
        float mine[each];
        const bool there = i < tokens.count();
#pragma unroll
        for (int k = 0; k < each; ++k)
            mine[k] = there && lane + 32 * k < half ? widened<device::KEYS>(keys[at + lane + 32 * k]) : 0;
        const float factor = NORMALISE_KEYS ? inverse_norm(mine) : 1;
#pragma unroll
        for (int k = 0; k < each; ++k) {
            const int c = lane + 32 * k;
            if (c >= half) break;
            inputs[i * stride + c] = silu_of(mine[k] * factor);
            inputs[i * stride + half + c] = there ? silu_of(widened<device::VALUES>(values[at + c])) : 0;
        }
    }
    __syncthreads();
    // Four tokens a thread and one row of W, whose numbers then come once.
    Element* const to =
        static_cast<Element*>(given.values) +
        (batch * (given.tiling.last - given.tiling.origin) + tokens.first - given.tiling.origin) * rows;
    for (int at = threadIdx.x; at < rows * 4; at += threads) {
        const int r = at % rows, first = at / rows * 4;
        float sums[4] = {};
        if (r < ROWS)
            for (int c = 0; c < 2 * half; ++c) {
                const float w = given.w_omega[r * 2 * half + c];
#pragma unroll
                for (int i = 0; i < 4; ++i) sums[i] += w * inputs[(first + i) * stride + c];
            }
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (first + i < tokens.count()) to[(first + i) * rows + r] = P::element(-sums[i]);
    }
    __syncthreads();
}

// Grid: tiles, batch.
extern "C" __global__ void __launch_bounds__(threads) prepare(device_side::Chain given) {
    __shared__ Gate gates[TILE];
    __shared__ float inputs[ATLAS ? 16 * (2 * COLUMNS + 16) : 1];
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const device_side::Tiling& tiling = given.tiling;
    const int tile = blockIdx.x;
    const int64_t batch = blockIdx.y, kept = tiling.last - tiling.origin;
    const Range tokens = tokens_of(tiling, tile);
    load_gates(given.gates, batch * given.length + tokens.first, tokens.count(), gates);
    const auto* const keys = static_cast<const device::KEYS::Word*>(given.given_keys);
    const auto* const values = static_cast<const device::VALUES::Word*>(given.given_values);
    for (int64_t token = (tile == 0 ? tiling.origin : tokens.first) + device::warp_of_thread();
         token < tokens.last; token += warps) {
        const int64_t from = batch * given.length + token, to = batch * kept + token - tiling.origin;
        prepare_row<device::KEYS, COLUMNS, COLUMNS, columns>(
            keys + from * COLUMNS, NORMALISE_KEYS, static_cast<Element*>(given.keys) + to * columns);
        if (!ATLAS)
            prepare_row<device::VALUES, VALUE_WIDTH, ROWS, rows>(
                values + from * VALUE_WIDTH, NORMALISE_VALUES,
                static_cast<Element*>(given.values) + to * rows);
    }
    if constexpr (ATLAS)
        for (int64_t first = tokens.first; first < tokens.last; first += 16)
            prepare_atlas(given, batch, {first, first + 16 < tokens.last ? first + 16 : tokens.last}, inputs);
    __syncthreads();
    const int64_t source = first_source(tiling, tokens.first);
    store_ends(gates, tokens.count(), static_cast<int>(source - tokens.first), tokens.count(), tiling.halo,
               SOURCES, given.ends + (batch * tiling.tiles + tile) * (2 * SOURCES + 4));
}
