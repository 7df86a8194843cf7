// Loads and stores tiles of products (products.cuh), and copies matrices into shared memory.
#pragma once

#include "kernels/cuda/device/copy_async.cuh"
#include "kernels/cuda/device/products.cuh"
#include "kernels/cuda/device/reductions.cuh"
#include "kernels/cuda/device/words.cuh"

namespace sawtooth::device {

// The position of a lane's first element in a tile of 16 rows by 8 columns.
__device__ inline int row_of_lane() { return lane_of_thread() / 4; }
__device__ inline int column_of_lane() { return lane_of_thread() % 4 * 2; }

template <int tiles>
__device__ void clear(Tile (&to)[tiles]) {
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at) to[n][at] = 0;
}

// Whether the lane's own elements are finite.
template <int tiles>
__device__ bool are_finite(const Tile (&all)[tiles]) {
    constexpr float largest = 3.402823466e38f;
    bool finite = true;
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at) finite = finite && fabsf(all[n][at]) <= largest;
    return finite;
}

// Loads or stores rows 0 … 15 of an f32 matrix.
template <int tiles>
__device__ void load_tiles(const float* from, int stride, Tile (&to)[tiles]) {
    const float* const mine = from + row_of_lane() * stride + column_of_lane();
#pragma unroll
    for (int n = 0; n < tiles; ++n) {
        const float2 upper = *reinterpret_cast<const float2*>(mine + 8 * n);
        const float2 lower = *reinterpret_cast<const float2*>(mine + 8 * stride + 8 * n);
        to[n][0] = upper.x, to[n][1] = upper.y, to[n][2] = lower.x, to[n][3] = lower.y;
    }
}

template <int tiles>
__device__ void store_tiles(const Tile (&from)[tiles], float* to, int stride) {
    float* const mine = to + row_of_lane() * stride + column_of_lane();
#pragma unroll
    for (int n = 0; n < tiles; ++n) {
        *reinterpret_cast<float2*>(mine + 8 * n) = {from[n][0], from[n][1]};
        *reinterpret_cast<float2*>(mine + 8 * stride + 8 * n) = {from[n][2], from[n][3]};
    }
}

// Stores tiles, rounded to the precision of factors. A pair of elements must be aligned to its size.
template <Precision precision, int tiles>
__device__ void store_elements(const Tile (&from)[tiles], typename Products<precision>::Element* to,
                               int stride) {
    using P = Products<precision>;
    if constexpr (sizeof(typename P::Element) == 4) {
        Tile rounded[tiles];
#pragma unroll
        for (int n = 0; n < tiles; ++n)
#pragma unroll
            for (int at = 0; at < 4; ++at) rounded[n][at] = P::element(from[n][at]);
        store_tiles(rounded, to, stride);
    } else {
        auto* const mine = to + row_of_lane() * stride + column_of_lane();
#pragma unroll
        for (int n = 0; n < tiles; ++n) {
            *reinterpret_cast<uint32_t*>(mine + 8 * n) = P::pair(from[n][0], from[n][1]);
            *reinterpret_cast<uint32_t*>(mine + 8 * stride + 8 * n) = P::pair(from[n][2], from[n][3]);
        }
    }
}

// Calls visit(element, there, at) for every element of a lane's tiles, which start at (first_row,
// first_column) of an unpadded f32 matrix [rows, columns]. `there` tells whether the matrix has the element,
// `at` is its index.
template <int rows, int columns, class Tiles, class Visit>
__device__ void for_each_unpadded(Tiles& held, int first_row, int first_column, Visit visit) {
#pragma unroll
    for (int n = 0; n < static_cast<int>(sizeof(held) / sizeof(Tile)); ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at) {
            const int row = first_row + row_of_lane() + at / 2 * 8,
                      column = first_column + 8 * n + column_of_lane() + at % 2;
            visit(held[n][at], row < rows && column < columns, row * columns + column);
        }
}

template <int rows, int columns, int tiles>
__device__ void store_unpadded(const Tile (&from)[tiles], float* to, int first_row, int first_column) {
    for_each_unpadded<rows, columns>(from, first_row, first_column, [to](float element, bool there, int at) {
        if (there) to[at] = element;
    });
}

// Loads tiles of an unpadded matrix; zeros if it is null.
template <int rows, int columns, int tiles>
__device__ void load_unpadded(const float* from, int first_row, int first_column, Tile (&to)[tiles]) {
    for_each_unpadded<rows, columns>(to, first_row, first_column, [from](float& element, bool there, int at) {
        element = from && there ? from[at] : 0;
    });
}

// Loads two neighbours of a row of `width` words, with zeros past its end. It is one access if `width` is
// even.
template <class Storage, int width>
__device__ float2 load_pair(const typename Storage::Word* row, int column) {
    if constexpr (width % 2 == 0) {
        if (column >= width) return {0, 0};
        float two[2];
        load<Storage>(row, column, two);
        return {two[0], two[1]};
    } else {
        return {column < width ? Storage::widen(row[column]) : 0,
                column + 1 < width ? Storage::widen(row[column + 1]) : 0};
    }
}

// Stores two neighbours, except past the end of the row.
template <class Storage, int width>
__device__ void store_pair(typename Storage::Word* row, int column, float first, float second) {
    if constexpr (width % 2 == 0) {
        if (column < width) store<Storage>(row, column, {first, second});
    } else {
        if (column < width) row[column] = Storage::narrow(first);
        if (column + 1 < width) row[column + 1] = Storage::narrow(second);
    }
}

// Loads 16 rows of `width` words, [16, width] from `from` on; rows from `there` on are zeros.
template <class Storage, int width, int tiles>
__device__ void load_rows(const typename Storage::Word* from, int there, Tile (&to)[tiles]) {
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = row_of_lane() + 8 * half;
            float2 pair = {0, 0};
            if (row < there) pair = load_pair<Storage, width>(from + row * width, 8 * n + column_of_lane());
            to[n][2 * half] = pair.x, to[n][2 * half + 1] = pair.y;
        }
}

// Stores 16 rows likewise; rows from `there` on are not stored.
template <class Storage, int width, int tiles>
__device__ void store_rows(const Tile (&from)[tiles], int there, typename Storage::Word* to) {
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = row_of_lane() + 8 * half;
            if (row < there)
                store_pair<Storage, width>(to + row * width, 8 * n + column_of_lane(), from[n][2 * half],
                                           from[n][2 * half + 1]);
        }
}

// Returns, to all lanes of the quad, the squared norm of a lane's upper row (half 0) or of the row 8 below
// it.
template <int tiles>
__device__ double wide_square_of_row(const Tile (&all)[tiles], int half) {
    double square = 0;
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
        for (int at = 2 * half; at < 2 * half + 2; ++at)
            square += static_cast<double>(all[n][at]) * static_cast<double>(all[n][at]);
    return sum_of_quad(square);
}

template <int tiles>
__device__ void scale_row(Tile (&all)[tiles], int half, float factor) {
#pragma unroll
    for (int n = 0; n < tiles; ++n) all[n][2 * half] *= factor, all[n][2 * half + 1] *= factor;
}

// Scales the rows to norm 1; rows of zeros stay.
template <int tiles>
__device__ void normalise_rows(Tile (&all)[tiles]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float square = 0;
#pragma unroll
        for (int n = 0; n < tiles; ++n)
            square += all[n][2 * half] * all[n][2 * half] + all[n][2 * half + 1] * all[n][2 * half + 1];
        scale_row(all, half,
                  inverse_norm(sum_of_quad(square), [&] { return wide_square_of_row(all, half); }));
    }
}

// Starts copies of `rows` rows of `columns` elements (a multiple of 16 bytes), `from_stride` elements apart,
// into rows of `stride`, as thread `thread` of `threads`; rows from `there` on become zeros.
template <int rows, int columns, int threads, int from_stride = columns, class Element>
__device__ void copy_tile(Element* to, int stride, const Element* from, int there,
                          int thread = static_cast<int>(threadIdx.x)) {
    constexpr int each = 16 / sizeof(Element), copies = columns / each;
    static_assert(columns % each == 0);
    if constexpr (threads % copies == 0) {  // the addresses of a thread differ by constants
        constexpr int step = threads / copies < rows ? threads / copies : rows;
        const int row = thread / copies, column = thread % copies * each;
        if (row >= step) return;
        to += row * stride + column;
        from += row * from_stride + column;
#pragma unroll
        for (int r = 0; r < rows; r += step)
            if (rows % step == 0 || row + r < rows)
                copy_async<16>(to + r * stride, from + r * from_stride, row + r < there);
    } else {
        for (int at = thread; at < rows * copies; at += threads) {
            const int row = at / copies, column = at % copies * each;
            copy_async<16>(to + row * stride + column, from + row * from_stride + column, row < there);
        }
    }
}

}  // namespace sawtooth::device
