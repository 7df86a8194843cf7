// The sums of a product in shared memory, so that threads can take neighbouring channels of a row:
//
//   product (product.cuh)    a lane holds pairs of columns 8 apart, in rows 8 apart
//   values [rows, columns + 4]   | row 0 … | pad |    rows start four banks apart
//   convolution.cuh          a thread takes neighbouring channels of every row of its slice
//
// A barrier has to separate put() from at().
#pragma once

#include "kernels/ar_ssm/cuda/convolution.cuh"

namespace sawtooth::ar_ssm {

template <class Product>
struct Staged {
    static constexpr int stride = Product::columns + 4;
    float values[Product::rows * stride];

    __device__ void put(const typename Product::Sums& sums) {
#pragma unroll
        for (int i = 0; i < Product::down; ++i)
            device::store_tiles(sums.tiles[i],
                                values + (Product::first_row() + 16 * i) * stride + Product::first_column(),
                                stride);
    }
    __device__ float at(int row, int column) const { return values[row * stride + column]; }
};

}  // namespace sawtooth::ar_ssm
