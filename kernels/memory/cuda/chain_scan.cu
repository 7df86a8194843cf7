// Turns the sums of tiles into the states before them, for updates that do not depend on the memory: S after
// a tile is h S + its sum, M is a M + b S + its sum. A thread owns one element of M and S and prefetches the
// sums of the next tiles.
//
// Example: three tiles with a = 1, b = 0 add 1, 2 and 3 to an element of M = 10. The states before them are
// 10, 11 and 13; the last tile leaves 16.
//
// Defines: THREADS, COLUMNS, ROWS, PRECISION, SOURCES, HAS_MOMENTUM.

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/integers.cuh"
#include "kernels/memory/cuda/chain.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

constexpr int columns = device::round_up(COLUMNS, 16), rows = device::round_up(ROWS, 16);
constexpr int size = rows * columns;
constexpr int ahead = 8;  // tiles whose sums are loaded together
static_assert(size % THREADS == 0, "one element per thread");

// The sums of a tile for one element of M and S, and the coefficients of the tile.
struct Sums {
    float m, s, a, b, h;
};

// `slot` is the tile's index among those of all sequences. All threads of a block read the same scalars;
// neighbours read neighbouring elements of the sums.
__device__ Sums sums_of(const ChainArguments& given, int64_t slot, int element) {
    const float* const scalars = given.ends + slot * (2 * SOURCES + 4) + 2 * SOURCES;
    return {given.sums_m[slot * size + element], HAS_MOMENTUM ? given.sums_s[slot * size + element] : 0,
            scalars[0], scalars[1], scalars[2]};
}

// Grid: size / THREADS, batch. A thread walks element blockIdx.x THREADS + threadIdx.x of the padded state
// [rows, columns] over all tiles; threads share no element.
//   reads    sums_m, sums_s [batch, tiles, rows, columns], ends [batch, tiles, 2 SOURCES + 4]
//   writes   states_m, states_s [batch, tiles, rows, columns] at the tiles' starts, for chain_read.cu
// Initial states, final states and boundaries are not padded: [ROWS, COLUMNS].
extern "C" __global__ void __launch_bounds__(THREADS) chain_scan(ChainArguments given) {
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const TilingArguments& tiling = given.tiling;
    const int element = blockIdx.x * THREADS + threadIdx.x, r = element / columns, c = element % columns;
    const bool is_padding = r >= ROWS || c >= COLUMNS;
    const int64_t batch = blockIdx.y, first_slot = batch * tiling.tiles, live = batch * size + element;
    const int64_t at = (batch * ROWS + r) * COLUMNS + c;
    // Starts from the state that the previous range left, or from the initial state.
    float m = 0, s = 0;
    if (tiling.first > 0) {
        m = given.m.live[live];
        if (HAS_MOMENTUM) s = given.s.live[live];
    } else if (!is_padding) {
        m = given.m.from ? given.m.from[at] : 0;
        if (HAS_MOMENTUM && given.s.from) s = given.s.from[at];
    }
    const bool puts_boundaries = given.boundaries && !is_padding;
    const auto put_boundary = [&](int64_t number) {
        given.boundaries[((batch * given.boundary_count + number) * ROWS + r) * COLUMNS + c] = m;
    };
    auto* const states_m = static_cast<Element*>(given.states_m) + first_slot * size + element;
    auto* const states_s = static_cast<Element*>(given.states_s) + first_slot * size + element;
    // The loads of `ahead` tiles are independent; only the fold over them is sequential.
    Sums now[ahead];
    for (int first = 0; first < tiling.tiles; first += ahead) {
#pragma unroll
        for (int k = 0; k < ahead; ++k)
            if (first + k < tiling.tiles) now[k] = sums_of(given, first_slot + first + k, element);
#pragma unroll
        for (int k = 0; k < ahead; ++k) {
            const int64_t tile = first + k;
            if (tile >= tiling.tiles) break;
            // Stores the state before the tile, then applies the tile.
            if (puts_boundaries && opens_chunk(tiling, tile))
                put_boundary(tokens_of(tiling, tile).first / given.chunk);
            states_m[tile * size] = P::element(m);
            if (HAS_MOMENTUM) states_s[tile * size] = P::element(s);
            m = now[k].a * m + now[k].m;
            if (HAS_MOMENTUM) {
                m += now[k].b * s;
                s = now[k].h * s + now[k].s;
            }
        }
    }
    if (tiling.last < given.length) {
        given.m.live[live] = m;
        if (HAS_MOMENTUM) given.s.live[live] = s;
        return;
    }
    // After the last token, the state is the final state and the last boundary.
    if (puts_boundaries) put_boundary(given.boundary_count - 1);
    if (is_padding) return;
    if (given.m.to) given.m.to[at] = m;
    if (HAS_MOMENTUM && given.s.to) given.s.to[at] = s;
}
