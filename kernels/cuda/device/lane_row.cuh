// A row of `width` numbers in the registers of `lanes` neighbouring lanes of a warp. Lane p owns columns
// 4 (p + lanes j) … + 3, so that the lanes read 16 contiguous bytes each:
//   lanes = 4, width = 32:  lane 0 has columns 0 … 3 and 16 … 19, lane 1 has 4 … 7 and 20 … 23, …
#pragma once

#include "kernels/cuda/device/reductions.cuh"

namespace sawtooth::device {

template <int width, int lanes>
struct LaneRow {
    static_assert(width % (4 * lanes) == 0, "whole groups of four per lane");
    static constexpr int columns = width / lanes;  // per lane
    float at[columns];

    // The column of the lane's number j.
    static __device__ int column(int lane, int j) { return 4 * (lane + lanes * (j / 4)) + j % 4; }

    __device__ float& operator[](int j) { return at[j]; }
    __device__ float operator[](int j) const { return at[j]; }

    // Loads from or stores to a padded row with a 16-byte aligned address.
    __device__ void load(const float* from, int lane) {
#pragma unroll
        for (int j = 0; j < columns; j += 4) {
            const float4 four = *reinterpret_cast<const float4*>(from + column(lane, j));
            at[j] = four.x, at[j + 1] = four.y, at[j + 2] = four.z, at[j + 3] = four.w;
        }
    }
    __device__ void store(float* to, int lane) const {
#pragma unroll
        for (int j = 0; j < columns; j += 4)
            *reinterpret_cast<float4*>(to + column(lane, j)) = {at[j], at[j + 1], at[j + 2], at[j + 3]};
    }

    // Loads from or stores to an unpadded row of `count` numbers. If the address is null, it loads zeros or
    // stores nothing.
    __device__ void load_unpadded(const float* from, int count, int lane) {
#pragma unroll
        for (int j = 0; j < columns; ++j) at[j] = from && column(lane, j) < count ? from[column(lane, j)] : 0;
    }
    __device__ void store_unpadded(float* to, int count, int lane) const {
        if (!to) return;
#pragma unroll
        for (int j = 0; j < columns; ++j)
            if (column(lane, j) < count) to[column(lane, j)] = at[j];
    }

    __device__ void scale(float factor) {
#pragma unroll
        for (int j = 0; j < columns; ++j) at[j] *= factor;
    }

    // The lane's part of a dot product, in four chains, so that no addition waits for the previous one.
    __device__ float dot(const LaneRow& other) const {
        float sums[4] = {};
#pragma unroll
        for (int j = 0; j < columns; ++j) sums[j % 4] += at[j] * other.at[j];
        return sums[0] + sums[1] + (sums[2] + sums[3]);
    }

    // Returns 1 / max(norm, 1e-12) of the row. The whole warp must call it.
    __device__ float inverse_norm() const {
        return device::inverse_norm(sum_of_lanes<lanes>(dot(*this)), [this] {
            double wide = 0;
#pragma unroll
            for (int j = 0; j < columns; ++j) wide += static_cast<double>(at[j]) * static_cast<double>(at[j]);
            return sum_of_lanes<lanes>(wide);
        });
    }
};

}  // namespace sawtooth::device
