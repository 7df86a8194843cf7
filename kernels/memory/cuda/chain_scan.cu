// The sums of tiles become the states before them, where what tokens add does not depend on the memory: S
// after a tile is h S + its sum, M is a M + b S + its sum. A thread has one element of M and S, and the sums
// of the next tiles on their way.
//
// Three tiles with a = 1, b = 0 that add 1, 2 and 3 to an element of M = 10: the states before them are 10,
// 11 and 13, and the last one leaves 16.
//
// Defines: THREADS, COLUMNS, ROWS, PRECISION, SOURCES, HAS_MOMENTUM.

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/integers.cuh"
#include "kernels/memory/cuda/chain.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

constexpr int columns = device::round_up(COLUMNS, 16), rows = device::round_up(ROWS, 16);
constexpr int size = rows * columns;
constexpr int ahead = 8;  // tiles whose sums are fetched at once
static_assert(size % THREADS == 0, "a thread has an element");

// What a tile adds to an element of M and S, and its coefficients.
struct Sums {
    float m, s, a, b, h;
};

// `slot`: of the tile among those of all sequences; all threads of a block read the same scalars, each its
// own element of the sums, neighbours next to each other.
__device__ Sums sums_of(const ChainArguments& given, int64_t slot, int element) {
    const float* const scalars = given.ends + slot * (2 * SOURCES + 4) + 2 * SOURCES;
    return {given.sums_m[slot * size + element], HAS_MOMENTUM ? given.sums_s[slot * size + element] : 0,
            scalars[0], scalars[1], scalars[2]};
}

// Grid: size / THREADS, batch. A thread walks element blockIdx.x THREADS + threadIdx.x of the padded state
// [rows, columns] past all tiles; no thread sees another's.
//   reads    sums_m, sums_s [batch, tiles, rows, columns], ends [batch, tiles, 2 SOURCES + 4]
//   writes   states_m, states_s [batch, tiles, rows, columns] at the tiles' starts, for chain_read.cu
// What sequences start from and leave is not padded: [ROWS, COLUMNS], and so are boundaries.
extern "C" __global__ void __launch_bounds__(THREADS) chain_scan(ChainArguments given) {
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const TilingArguments& tiling = given.tiling;
    const int element = blockIdx.x * THREADS + threadIdx.x, r = element / columns, c = element % columns;
    const bool is_padding = r >= ROWS || c >= COLUMNS;
    const int64_t batch = blockIdx.y, first_slot = batch * tiling.tiles, live = batch * size + element;
    const int64_t at = (batch * ROWS + r) * COLUMNS + c;
    // Where it starts: with what the range before left, or with what the sequence was given.
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
    // Loads of `ahead` tiles do not wait for each other, only the fold over them does.
    Sums now[ahead];
    for (int first = 0; first < tiling.tiles; first += ahead) {
#pragma unroll
        for (int k = 0; k < ahead; ++k)
            if (first + k < tiling.tiles) now[k] = sums_of(given, first_slot + first + k, element);
#pragma unroll
        for (int k = 0; k < ahead; ++k) {
            const int64_t tile = first + k;
            if (tile >= tiling.tiles) break;
            // The state before the tile, then the tile.
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
    // After the last token of all.
    if (puts_boundaries) put_boundary(given.boundary_count - 1);
    if (is_padding) return;
    if (given.m.to) given.m.to[at] = m;
    if (HAS_MOMENTUM && given.s.to) given.s.to[at] = s;
}
