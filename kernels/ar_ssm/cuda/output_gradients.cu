// The gradients of c and v for ROWS positions by one thread block: dw = scale dy W_o, dc = dw v, dv = dw c,
// and the sum of dc over the tile.
//
// Defines: THREADS, SHARED_BYTES, STORAGE, ALIGNED, ALIGNED_CHANNELS, ROWS, DEPTH, RANKS (at a time).

#include "kernels/ar_ssm/cuda/convolution.cuh"
#include "kernels/ar_ssm/cuda/totals.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

using Gradients = Product<ROWS, RANKS, DEPTH, 4, 2, Lies::in_rows, Lies::in_rows>;

struct Shared {
    Gradients::Shared product;
    ColumnTotals<Gradients> totals;
};
static_assert(sizeof(Shared) == SHARED_BYTES);

// Grid: B ceil(L / ROWS). A thread block owns a tile, ROWS positions of one sequence, RANKS ranks at a time:
//
//   dw = dy [ROWS, width] W_o [width, RANKS]    8 warps, 4 down x 2 across; a warp owns ROWS / 4 rows x
//     |                                         RANKS / 2 columns, and v, c in the same layout
//     +- times v -> dc [B, L, rank], and its sum over the tile -> gradient_totals [B, tiles, rank]
//     +- times c -> dv [B, L, rank]
//
// One element with scale = 1/2: dy W_o = 4, v = 3, c = 5 give dw = 2, dc = 6, dv = 10. dw stays in registers.
// The only barriers are those of Product::add and of ColumnTotals::store, which leave their shared memory
// free.
extern "C" __global__ void __launch_bounds__(THREADS, blocks_together)
    output_gradients(const __grid_constant__ Layer layer) {
    extern __shared__ uint4 shared_words[];
    Shared& shared = *reinterpret_cast<Shared*>(shared_words);
    const int64_t tile = blockIdx.x;
    const Positions at = positions_of<ROWS>(layer, tile);
    for (int64_t first = 0; first < layer.rank; first += RANKS) {
        const auto is_there = [&](int row, int column) {
            return row < at.count && first + column < layer.rank;
        };
        const auto place = [&](int row, int column) {
            return (at.token + row) * layer.rank + first + column;
        };
        Gradients::Sums v = Gradients::loaded(is_there, [&](int row, int column) {
            return element(layer.projected_v, place(row, column)) * layer.gates[place(row, column)];
        });
        Gradients::Sums c =
            Gradients::loaded(is_there, [&](int row, int column) { return layer.c[place(row, column)]; });
        Gradients::Sums sums;
        Gradients::clear(sums);
        Gradients::add(shared.product, layer.width, sums, [&](Gradients::Stage& stage, int64_t k) {
            copy_tile<ROWS, DEPTH>(stage.left, Gradients::left_stride,
                                   {layer.dy, at.token + at.count, layer.width}, at.token, k);
            copy_tile<DEPTH, RANKS>(stage.right, Gradients::right_stride,
                                    {layer.out_proj, layer.width, layer.rank}, k, first);
        });
        Gradients::join(sums, c, [&](float& dw, float& factor) {
            dw *= layer.scale;
            factor *= dw;  // c becomes dv
        });
        Gradients::join(sums, v, [](float& dw, float factor) { dw *= factor; });  // dc
        Gradients::for_each(sums, [&](float dc, int row, int column) {
            if (is_there(row, column)) layer.dc[place(row, column)] = dc;
        });
        Gradients::for_each(c, [&](float dv, int row, int column) {
            if (is_there(row, column)) layer.dv[place(row, column)] = dv;
        });
        shared.totals.store(sums, layer.gradient_totals + tile * layer.rank, first, layer.rank);
    }
}
