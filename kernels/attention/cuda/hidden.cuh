// Products with a left factor that is 0 where a pair is hidden: masked, or of the other encoding. On tensor
// cores 0 times infinity or NaN would spread to queries and keys that do not see them. Tiles that have both
// hidden pairs and such numbers are rare, and are multiplied pair by pair.
#pragma once

#include "kernels/cuda/device/tiles.cuh"

namespace sawtooth::attention {

// Returns true if the thread finds an infinity or NaN in [rows, width] words of f16 or bf16, of which the
// threads of the block look at different ones. Rows are aligned to 16 bytes.
template <class Storage, int rows, int width, int threads>
__device__ bool has_nonfinite(const uint16_t* words, int stride) {
    constexpr int vectors = width / 8;  // 16-byte vectors of a row
    bool found = false;
    for (int at = static_cast<int>(threadIdx.x); at < rows * vectors; at += threads) {
        const uint4 eight = *reinterpret_cast<const uint4*>(words + at / vectors * stride + at % vectors * 8);
        for (const uint32_t two : {eight.x, eight.y, eight.z, eight.w})
            found = found || device::without_nonfinite<Storage>(two) != two;
    }
    return found;
}

// to[16, 8 columns] += left[16, 8 inner] right[8 inner, 8 columns] without the hidden pairs. right(k, column)
// reads an element of the right factor; counts(row, k) is true if row 0 … 15 of the left factor sees row k of
// the right one.
template <int inner, int columns, class Right, class Counts>
__device__ void multiply_seen(device::Tile (&left)[inner], device::Tile (&to)[columns], Right right,
                              Counts counts) {
    const int quad = device::lane_of_thread() / 4 * 4;
#pragma unroll 1
    for (int n = 0; n < inner; ++n) {  // tile n has been rotated to the front, as registers have no addresses
#pragma unroll 1
        for (int pair = 0; pair < 4; ++pair)
#pragma unroll
            for (int at = 0; at < 4; ++at) {
                const float factor = __shfl_sync(device::whole_warp, left[0][at], quad + pair);
                const int k = 8 * n + 2 * pair + at % 2, half = at / 2;
                if (!counts(device::row_of_lane() + 8 * half, k)) continue;
#pragma unroll
                for (int c = 0; c < columns; ++c)
#pragma unroll
                    for (int e = 0; e < 2; ++e)
                        to[c][2 * half + e] =
                            fmaf(factor, right(k, 8 * c + device::column_of_lane() + e), to[c][2 * half + e]);
            }
        device::rotate(left);
    }
}

}  // namespace sawtooth::attention
