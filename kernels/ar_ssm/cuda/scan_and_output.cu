// Steps 4 to 6 for ROWS positions by one thread block. It scans u from the prefixes of the tile, multiplies
// by v, and writes y from the product with W_o and the convolution of x.
//
// Defines: THREADS, SHARED_BYTES, STORAGE, ALIGNED, ALIGNED_CHANNELS, BACKWARD, BIDIRECTIONAL, ROWS, DEPTH,
// CHANNELS (of y at a time).

#include "kernels/ar_ssm/cuda/staged.cuh"
#include "kernels/ar_ssm/cuda/tile_scan.cuh"
#include "kernels/cuda/device/sync.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

using Output = Product<ROWS, CHANNELS, DEPTH, 4, 2, Lies::in_rows, Lies::in_columns>;
using Scan = TileScan<ROWS>;
using Local = Convolution<ROWS, CHANNELS, false>;

union Shared {
    Output::Shared product;
    Staged<Output> staged;
    Scan::Shared scan;
};
static_assert(sizeof(Shared) == SHARED_BYTES);

// Computes w = c v for 32 ranks. u and v are not in memory; they are x U^T and x V^T times the gates.
__device__ void scan_ranks(const Layer& layer, const Positions& at, int64_t first, Scan::Shared& shared) {
    const int64_t rank = first + Scan::column();
    const float before = prefix_of<ROWS>(layer, layer.prefixes, at, -1, rank);
    float after = 0;
    if constexpr (BIDIRECTIONAL) after = prefix_of<ROWS>(layer, layer.reverse_prefixes, at, 1, rank);
    Scan::Values c(layer, at, first,
                   [&](int64_t place) { return element(layer.projected_u, place) * layer.gates[place]; });
    const Scan::Values v(layer, at, first, [&](int64_t place) {
        return element(layer.projected_v, place) * layer.gates[place];
    });
    Scan::scan<true, BIDIRECTIONAL>(shared, before, after, c);
    Scan::for_each(layer, at, first, [&](int r, int64_t place) {
        static_cast<Element*>(layer.w)[place] = Storage::narrow(c.number[r] * v.number[r]);
        if constexpr (BACKWARD) layer.c[place] = c.number[r];
    });
}

// Computes y = scale (t + w W_o^T) + b_o for CHANNELS channels. The convolution has started to load rows of x
// before, which hides the latency; t is added to the product row by row.
__device__ void output(const Layer& layer, const Positions& at, int64_t channel, Local& convolution,
                       Shared& shared) {
    Output::Sums sums;
    Output::clear(sums);
    Output::add(shared.product, layer.rank, sums, [&](Output::Stage& stage, int64_t k) {
        copy_tile<ROWS, DEPTH>(stage.left, Output::left_stride, {layer.w, at.token + at.count, layer.rank},
                               at.token, k);
        copy_tile<CHANNELS, DEPTH>(stage.right, Output::right_stride,
                                   {layer.out_proj, layer.width, layer.rank}, channel, k);
    });
    shared.staged.put(sums);
    device::Words<Storage, channels_together> bias = {};
    if (convolution.is_there())
        bias = device::load_words<Storage, channels_together>(layer.out_bias, convolution.channel());
    device::sync_block();  // the products of all warps are visible
    convolution.for_each_row([&](int row, int column, const float(&t)[channels_together]) {
        float y[channels_together];
#pragma unroll
        for (int v = 0; v < channels_together; ++v)
            y[v] = layer.scale * (t[v] + shared.staged.at(row, column + v)) + bias.get(v);
        device::store<Storage>(layer.y, (at.token + row) * layer.width + channel + column, y);
    });
    convolution.start(channel + CHANNELS);
    device::sync_block();  // all have read the products: the next one may overwrite them
}

// Grid: B ceil(L / ROWS). A thread block owns a tile, ROWS positions of one sequence:
//
//   32 ranks at a time     a warp has ROWS / 8 positions, a lane a rank (tile_scan.cuh)
//     prefixes [B, tiles, rank], projected_u, projected_v, gates [B, L, rank] -> w (and c) [B, L, rank]
//   ---- barrier: the product reads all ranks of w ----
//   CHANNELS at a time     8 warps, 4 down x 2 across; a warp owns ROWS / 4 rows x CHANNELS / 2 columns
//     w W_o^T -> shared memory -> + t, by rows (convolution.cuh) -> y [B, L, width]
//
// The product, the staged sums and the scan take turns in the same shared memory; every turn ends with a
// barrier.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    scan_and_output(const __grid_constant__ Layer layer) {
    extern __shared__ uint4 shared_words[];
    Shared& shared = *reinterpret_cast<Shared*>(shared_words);
    const Positions at = positions_of<ROWS>(layer, blockIdx.x);
    Local convolution(layer, layer.x, at, 0);
    for (int64_t first = 0; first < layer.rank; first += Scan::columns)
        scan_ranks(layer, at, first, shared.scan);
    device::sync_block();  // w in global memory is visible to the thread block
    for (int64_t channel = 0; channel < layer.width; channel += CHANNELS)
        output(layer, at, channel, convolution, shared);
}
