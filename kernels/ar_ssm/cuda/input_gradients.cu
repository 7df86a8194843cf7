// The gradients of a tile of ROWS positions by one thread block, from dc back to x: scans dc from the
// prefixes of the tile, then the gradients of x U^T, x V^T and the logits, of the hidden units, and of x.
//
// Defines: THREADS, SHARED_BYTES, STORAGE, ALIGNED, HARD, BACKWARD, BIDIRECTIONAL, ROWS, DEPTH, CHANNELS (of
// dx or of hidden units at a time).

#include "kernels/ar_ssm/cuda/gates.cuh"
#include "kernels/ar_ssm/cuda/staged.cuh"
#include "kernels/ar_ssm/cuda/tile_scan.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

using Gradients = Product<ROWS, CHANNELS, DEPTH, 4, 2, Lies::in_rows, Lies::in_rows>;
using Scan = TileScan<ROWS>;

union Shared {
    Gradients::Shared product;
    Staged<Gradients> staged;
    Scan::Shared scan;
};
static_assert(sizeof(Shared) == SHARED_BYTES);

// du of 32 ranks, and through the gates.
__device__ void scan_ranks(const Layer& of, const Positions& at, int64_t tile, int64_t first,
                           Scan::Shared& shared) {
    const int64_t rank = first + Scan::column(), tiles = (of.length + ROWS - 1) / ROWS;
    const bool is_rank = rank < of.rank;
    const int64_t index = tile % tiles;
    float before = 0, after = 0;
    if (is_rank) {
        after = prefix_of(of.reverse_gradient_prefixes, at.sequence, tiles, index + 1, of.rank, rank);
        if constexpr (BIDIRECTIONAL)
            before = prefix_of(of.gradient_prefixes, at.sequence, tiles, index - 1, of.rank, rank);
    }
    const auto place = [&](int row) { return (at.token + row) * of.rank + rank; };
    const auto load = [&](int row) { return is_rank && row < at.count ? of.dc[place(row)] : 0; };
    Scan::scan<BIDIRECTIONAL, true>(shared, before, after, load, [&](int row, float du) {
        if (is_rank && row < at.count) differentiate_gates(of, place(row), du, of.dv[place(row)]);
    });
}

// sums += left W of all positions, with the weights W [inner, width] and their channels from `channel` on.
__device__ void add_product(Gradients::Shared& shared, const Positions& at, const void* left, int64_t inner,
                            const void* weights, int64_t width, int64_t channel, Gradients::Sums& sums) {
    Gradients::add(shared, inner, sums, [&](Gradients::Stage& stage, int64_t k) {
        copy_part<ROWS, DEPTH>(stage.left, Gradients::left_stride, {left, at.token + at.count, inner},
                               at.token, k);
        copy_part<DEPTH, CHANNELS>(stage.right, Gradients::right_stride, {weights, inner, width}, k, channel);
    });
}

__device__ void differentiate_units(const Layer& of, const Positions& at, int64_t unit,
                                    Gradients::Shared& shared) {
    Gradients::Sums sums;
    Gradients::clear(sums);
    add_product(shared, at, of.dlogits, of.rank, of.gate_w2, of.hidden, unit, sums);
    Gradients::for_each_pair(sums, [&](float first, float second, int row, int column) {
        if (row < at.count) store_unit_gradients(of, at.token + row, unit + column, first, second);
    });
}

__device__ void differentiate_inputs(const Layer& of, const Positions& at, int64_t channel, Shared& shared) {
    Gradients::Sums sums;
    Gradients::clear(sums);
    add_product(shared.product, at, of.dhidden, of.hidden, of.gate_w1, of.width, channel, sums);
    add_product(shared.product, at, of.dprojected_u, of.rank, of.u_proj, of.width, channel, sums);
    add_product(shared.product, at, of.dprojected_v, of.rank, of.v_proj, of.width, channel, sums);
    shared.staged.put(sums);
    __syncthreads();  // the products are visible
    convolve<ROWS, CHANNELS, true>(
        of, of.dy, at, channel, [&](int row, int column, const float(&dt)[channels_together]) {
            float dx[channels_together];
#pragma unroll
            for (int v = 0; v < channels_together; ++v)
                dx[v] = fmaf(of.scale, dt[v], shared.staged.at(row, column + v));
            store_floats(of.dx + (at.token + row) * of.width + channel + column, dx);
        });
    __syncthreads();  // all have read the products
}

// Grid: B ceil(L / ROWS).
extern "C" __global__ void __launch_bounds__(THREADS) input_gradients(Layer of) {
    extern __shared__ uint4 shared_words[];
    Shared& shared = *reinterpret_cast<Shared*>(shared_words);
    const int64_t tile = blockIdx.x;
    const Positions at = positions_of<ROWS>(of, tile);
    for (int64_t first = 0; first < of.rank; first += Scan::columns)
        scan_ranks(of, at, tile, first, shared.scan);
    __syncthreads();  // gradients of the logits are visible to the block
    for (int64_t unit = 0; unit < of.hidden; unit += CHANNELS)
        differentiate_units(of, at, unit, shared.product);
    __syncthreads();  // those of hidden units too
    for (int64_t channel = 0; channel < of.width; channel += CHANNELS)
        differentiate_inputs(of, at, channel, shared);
}
