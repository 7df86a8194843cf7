// Steps 2 and 3 for ROWS positions by one thread block: the hidden layer, x U^T and x V^T as one product with
// stacked weights; then the gates, the effective rank, and the sum of u over the tile.
//
//   columns of the first product   | hidden units … | x U^T … | x V^T … |     hidden + 2 rank
//   panels of PANEL columns        |    panel 0    |    panel 1    | …        a panel may straddle a border
//
// Defines: THREADS, SHARED_BYTES, STORAGE, ALIGNED, ALIGNED_CHANNELS, HARD, GUMBEL, BACKWARD, ROWS, DEPTH,
// PANEL (columns of the first product at a time), RANKS (gates at a time).

#include "kernels/ar_ssm/cuda/convolution.cuh"
#include "kernels/ar_ssm/cuda/gates.cuh"
#include "kernels/ar_ssm/cuda/totals.cuh"
#include "kernels/cuda/device/sync.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

using Projections = Product<ROWS, PANEL, DEPTH, 2, 4, Lies::in_rows, Lies::in_columns>;
using Gates = Product<ROWS, RANKS, DEPTH, 4, 2, Lies::in_rows, Lies::in_columns>;

struct Shared {
    union {
        Projections::Shared projections;
        Gates::Shared gates;
    };
    ColumnTotals<Gates> totals;
    float effective[2][ROWS];
    const Element* weights[PANEL];  // the rows of the stacked weights that a panel multiplies
};
static_assert(sizeof(Shared) == SHARED_BYTES);

// Computes columns panel … panel + PANEL - 1 of the first product. All of them are offered to every array:
// store_units and store_pair skip those that lie before or after the columns of the array.
__device__ void project_panel(const Layer& layer, const Positions& at, int64_t panel, Shared& shared) {
    for (int r = static_cast<int>(threadIdx.x); r < PANEL; r += THREADS)
        shared.weights[r] = weights_row(layer, panel + r);
    device::sync_block();  // the rows are visible
    Projections::Sums sums;
    Projections::clear(sums);
    Projections::add(shared.projections, layer.width, sums, [&](Projections::Stage& stage, int64_t k) {
        copy_tile<ROWS, DEPTH>(stage.left, Projections::left_stride,
                               {layer.x, at.token + at.count, layer.width}, at.token, k);
        copy_rows<PANEL, DEPTH>(stage.right, Projections::right_stride, layer.width, k,
                                [&](int r) { return shared.weights[r]; });
    });
    const auto is_unit = [&](int row, int column) { return row < at.count && panel + column < layer.hidden; };
    Projections::for_each(sums, [&](float& value, int row, int column) {
        if (is_unit(row, column)) value += element(layer.gate_b1, panel + column);
    });
    settle_units<Projections>(layer, sums, at.token, panel, is_unit);
    Projections::for_each_pair(sums, [&](float first, float second, int row, int column) {
        if (row >= at.count) return;
        const int64_t token = at.token + row, unit = panel + column, rank = unit - layer.hidden;
        store_units(layer, token, unit, relu(first), relu(second));
        store_pair<Storage>(layer.projected_u, token, layer.rank, rank, first, second);
        store_pair<Storage>(layer.projected_v, token, layer.rank, rank - layer.rank, first, second);
    });
}

// Computes gates first … first + RANKS - 1, and the sum of u over the tile for the same ranks. Adds the gates
// to `effective`, which has a number for each of the lane's two rows.
__device__ void compute_gates(const Layer& layer, const Positions& at, int64_t tile, int64_t first,
                              float (&effective)[2], Shared& shared) {
    const auto is_there = [&](int row, int column) { return row < at.count && first + column < layer.rank; };
    Gates::Sums u = Gates::loaded(is_there, [&](int row, int column) {  // not gated yet
        return element(layer.projected_u, (at.token + row) * layer.rank + first + column);
    });
    Gates::Sums sums;
    Gates::clear(sums);
    add_logits<Gates>(layer, shared.gates, at.token, at.token + at.count, first, sums);
    Gates::for_each(sums, [&](float& logit, int row, int column) {
        if (is_there(row, column)) logit += element(layer.gate_b2, first + column);
    });
    settle_logits<Gates>(layer, sums, at.token, first, is_there);

    static_assert(Gates::down == 1, "a lane has two rows");
    Gates::for_each(sums, [&](float& value, int row, int column) {
        value = is_there(row, column) ? store_gate(layer, at.token + row, first + column, value) : 0;
        effective[row / 8 % 2] += value;
    });
    Gates::join(u, sums, [](float& projection, float gate) { projection *= gate; });
    shared.totals.store(u, layer.totals + tile * layer.rank, first, layer.rank);
}

// Stores the sums of gates of all rows, from the sums that every lane has for its two rows. The four lanes of
// a quad hold columns of the same rows, and two warps lie side by side: shared.effective [2, ROWS] has a row
// for each of these warps.
__device__ void store_effective_ranks(const Layer& layer, const Positions& at, const float (&effective)[2],
                                      Shared& shared) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float sum = device::sum_of_quad(effective[half]);
        const int row = Gates::first_row() + device::row_of_lane() + 8 * half;
        if (device::lane_of_thread() % 4 == 0) shared.effective[Gates::first_column() > 0][row] = sum;
    }
    device::sync_block();  // the sums of both warps of a row are visible
    const auto row = static_cast<int>(threadIdx.x);
    if (row < at.count)
        layer.effective_rank[at.token + row] = shared.effective[0][row] + shared.effective[1][row];
}

// Grid: B ceil(L / ROWS). A thread block owns a tile, ROWS positions of one sequence:
//
//   panels of x [W1; U; V]^T   8 warps, 2 down x 4 across; a warp owns ROWS / 2 rows x PANEL / 4 columns
//     -> hidden_units [B, L, hidden], projected_u and projected_v [B, L, rank]
//   ---- barrier: the product reads all hidden units ----
//   RANKS gates at a time      8 warps, 4 down x 2 across; a warp owns ROWS / 4 rows x RANKS / 2 columns
//     -> gates, gate_slopes [B, L, rank], totals [B, tiles, rank]
//   rows                       effective_rank [B, L]
//
// The product of the gates needs all hidden units of a row, so they pass through global memory.
extern "C" __global__ void __launch_bounds__(THREADS, blocks_together)
    project(const __grid_constant__ Layer layer) {
    extern __shared__ uint4 shared_words[];
    Shared& shared = *reinterpret_cast<Shared*>(shared_words);
    const int64_t tile = blockIdx.x;
    const Positions at = positions_of<ROWS>(layer, tile);
    for (int64_t panel = 0; panel < layer.hidden + 2 * layer.rank; panel += PANEL)
        project_panel(layer, at, panel, shared);
    device::sync_block();  // hidden units and x U^T in global memory are visible to the thread block
    float effective[2] = {};
    for (int64_t first = 0; first < layer.rank; first += RANKS)
        compute_gates(layer, at, tile, first, effective, shared);
    store_effective_ranks(layer, at, effective, shared);
}
