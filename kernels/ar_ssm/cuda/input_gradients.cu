// The gradients of a tile of ROWS positions by one thread block, from dc back to x. It scans dc from the
// prefixes of the tile and computes the gradients of x U^T, x V^T and the logits, then of the hidden units,
// then of x.
//
// Defines: THREADS, SHARED_BYTES, STORAGE, ALIGNED, ALIGNED_CHANNELS, BIDIRECTIONAL, ROWS, DEPTH, CHANNELS
// (of dx or of hidden units at a time).

#include "kernels/ar_ssm/cuda/gate_gradients.cuh"
#include "kernels/ar_ssm/cuda/staged.cuh"
#include "kernels/ar_ssm/cuda/tile_scan.cuh"
#include "kernels/cuda/device/sync.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

using Gradients = Product<ROWS, CHANNELS, DEPTH, 2, 4, Lies::in_rows, Lies::in_rows>;
using Scan = TileScan<ROWS>;

union Shared {
    Gradients::Shared product;
    Staged<Gradients> staged;
    Scan::Shared scan;
};
static_assert(sizeof(Shared) == SHARED_BYTES);

// Computes du for 32 ranks, the scan of dc from the end and, if bidirectional, also from the start, and goes
// on through the gates.
__device__ void scan_ranks(const Layer& layer, const Positions& at, int64_t first, Scan::Shared& shared) {
    const int64_t rank = first + Scan::column();
    const float after = prefix_of<ROWS>(layer, layer.gradient_prefixes, at, 1, rank);
    float before = 0;
    if constexpr (BIDIRECTIONAL)
        before = prefix_of<ROWS>(layer, layer.reverse_gradient_prefixes, at, -1, rank);
    Scan::Values du(layer, at, first, [&](int64_t place) { return layer.dc[place]; });
    const Scan::Values dv(layer, at, first, [&](int64_t place) { return layer.dv[place]; }),
        gates(layer, at, first, [&](int64_t place) { return layer.gates[place]; }),
        slopes(layer, at, first, [&](int64_t place) { return layer.gate_slopes[place]; }),
        u(layer, at, first, [&](int64_t place) { return element(layer.projected_u, place); }),
        v(layer, at, first, [&](int64_t place) { return element(layer.projected_v, place); });
    Scan::scan<BIDIRECTIONAL, true>(shared, before, after, du);
    Scan::for_each(layer, at, first, [&](int r, int64_t place) {
        store_gate_gradients(layer, place, {gates.number[r], slopes.number[r], u.number[r], v.number[r]},
                             du.number[r], dv.number[r]);
    });
}

// sums += left W for all positions of the tile, where W [inner, width] are weights from column `channel` on.
__device__ void add_product(Gradients::Shared& shared, const Positions& at, const void* left, int64_t inner,
                            const void* weights, int64_t width, int64_t channel, Gradients::Sums& sums) {
    Gradients::add(shared, inner, sums, [&](Gradients::Stage& stage, int64_t k) {
        copy_tile<ROWS, DEPTH>(stage.left, Gradients::left_stride, {left, at.token + at.count, inner},
                               at.token, k);
        copy_tile<DEPTH, CHANNELS>(stage.right, Gradients::right_stride, {weights, inner, width}, k, channel);
    });
}

// Computes dhidden = dlogits W2 where hidden > 0, for CHANNELS hidden units from `unit` on.
__device__ void differentiate_units(const Layer& layer, const Positions& at, int64_t unit,
                                    Gradients::Shared& shared) {
    Gradients::Sums units = load_units<Gradients>(layer, at.token, unit, [&](int row, int column) {
        return row < at.count && unit + column < layer.hidden;
    });
    Gradients::Sums sums;
    Gradients::clear(sums);
    add_product(shared, at, layer.dlogits, layer.rank, layer.gate_w2, layer.hidden, unit, sums);
    differentiate_relu<Gradients>(sums, units);
    Gradients::for_each_pair(sums, [&](float first, float second, int row, int column) {
        if (row < at.count)
            store_pair<Storage>(layer.dhidden, at.token + row, layer.hidden, unit + column, first, second);
    });
}

// Computes dx for CHANNELS channels from `channel` on: three products in one sum, then the mirrored
// convolution of dy.
__device__ void differentiate_inputs(const Layer& layer, const Positions& at, int64_t channel,
                                     Shared& shared) {
    Convolution<ROWS, CHANNELS, true> convolution(layer, layer.dy, at, channel);
    Gradients::Sums sums;
    Gradients::clear(sums);
    add_product(shared.product, at, layer.dhidden, layer.hidden, layer.gate_w1, layer.width, channel, sums);
    add_product(shared.product, at, layer.dprojected_u, layer.rank, layer.u_proj, layer.width, channel, sums);
    add_product(shared.product, at, layer.dprojected_v, layer.rank, layer.v_proj, layer.width, channel, sums);
    shared.staged.put(sums);
    device::sync_block();  // the products of all warps are visible
    convolution.for_each_row([&](int row, int column, const float(&dt)[channels_together]) {
        float dx[channels_together];
#pragma unroll
        for (int v = 0; v < channels_together; ++v)
            dx[v] = fmaf(layer.scale, dt[v], shared.staged.at(row, column + v));
        store_floats(layer.dx + (at.token + row) * layer.width + channel + column, dx);
    });
    device::sync_block();  // all have read the products: the next one may overwrite them
}

// Grid: B ceil(L / ROWS). A thread block owns a tile, ROWS positions of one sequence:
//
//   32 ranks at a time          a warp has ROWS / 8 positions, a lane a rank (tile_scan.cuh)
//     dc, dv, gates, projections [B, L, rank] -> dprojected_u, dprojected_v, dlogits [B, L, rank]
//   ---- barrier: the product reads all ranks of dlogits ----
//   CHANNELS units at a time    8 warps, 2 down x 4 across; a warp owns ROWS / 2 rows x CHANNELS / 4 columns
//     dlogits W2 -> dhidden [B, L, hidden]
//   ---- barrier: the product reads all of dhidden ----
//   CHANNELS at a time          the same warps
//     dhidden W1 + dprojected_u U + dprojected_v V -> shared memory -> by rows, + convolution of dy
//     -> dx [B, L, width]
//
// The product, the staged sums and the scan take turns in the same shared memory; every turn ends with a
// barrier.
extern "C" __global__ void __launch_bounds__(THREADS, blocks_together)
    input_gradients(const __grid_constant__ Layer layer) {
    extern __shared__ uint4 shared_words[];
    Shared& shared = *reinterpret_cast<Shared*>(shared_words);
    const Positions at = positions_of<ROWS>(layer, blockIdx.x);
    for (int64_t first = 0; first < layer.rank; first += Scan::columns)
        scan_ranks(layer, at, first, shared.scan);
    device::sync_block();  // dlogits in global memory are visible to the thread block
    for (int64_t unit = 0; unit < layer.hidden; unit += CHANNELS)
        differentiate_units(layer, at, unit, shared.product);
    device::sync_block();  // dhidden in global memory is visible, too
    for (int64_t channel = 0; channel < layer.width; channel += CHANNELS)
        differentiate_inputs(layer, at, channel, shared);
}
