// The sums of the columns of a product over the rows of a thread block. With 64 rows:
//
//   rows of a warp          0 … 15   16 … 31   32 … 47   48 … 63
//   warp_totals [4, columns]   [0][c]   [1][c]    [2][c]    [3][c]     2 rows of a lane, 8 lanes by shuffles
//   to [columns]            warp_totals[0][c] + … + warp_totals[3][c]     one thread a column, in this order
#pragma once

#include "kernels/ar_ssm/cuda/product.cuh"
#include "kernels/cuda/device/sync.cuh"

namespace sawtooth::ar_ssm {

template <class Product>
struct ColumnTotals {
    static constexpr int warps = Product::rows / 16;  // that share a column
    static_assert(Product::down == 1);
    float warp_totals[warps][Product::columns];

    // Stores the sums in to[first …], up to column `columns`. All threads take part.
    __device__ void store(const typename Product::Sums& values, float* to, int64_t first, int64_t columns) {
#pragma unroll
        for (int n = 0; n < Product::across; ++n)
#pragma unroll
            for (int v = 0; v < 2; ++v) {
                float sum = values.tiles[0][n][v] + values.tiles[0][n][2 + v];
#pragma unroll
                for (int lanes = 4; lanes < 32; lanes *= 2)
                    sum += __shfl_xor_sync(device::whole_warp, sum, lanes);
                if (device::lane_of_thread() < 4)
                    warp_totals[Product::first_row() / 16]
                               [Product::first_column() + 8 * n + device::column_of_lane() + v] = sum;
            }
        device::sync_block();  // the sums of the warps are visible
        for (int column = threadIdx.x; column < Product::columns && first + column < columns;
             column += THREADS) {
            float sum = 0;
#pragma unroll
            for (int warp = 0; warp < warps; ++warp) sum += warp_totals[warp][column];
            to[first + column] = sum;
        }
        device::sync_block();  // all have read them: warp_totals may be overwritten
    }
};

}  // namespace sawtooth::ar_ssm
