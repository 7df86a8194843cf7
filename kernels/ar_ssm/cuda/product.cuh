// The product of two matrices in global memory by a thread block, in the layouts of products.cuh. Tiles of
// both factors pass through shared memory, `depth` terms at a time, while the next tiles are copied.
//
//   sums [rows, columns] of a thread block, here with warps_down = 2 and warps_across = 4:
//
//      columns   0 …
//     rows 0 …   | warp 0 | warp 1 | warp 2 | warp 3 |     a warp owns down x across tiles of 16 x 8,
//                | warp 4 | warp 5 | warp 6 | warp 7 |     a lane four elements of every tile
//
//   copy       0, 1 |  2  |  3  | …     the tiles of step 0, 1, … into stages 0, 1, 2, 0, …
//   multiply        |  0  |  1  | …     each `|` is a barrier of the thread block
//
// Defines: STORAGE, ALIGNED (rows of all matrices are multiples of 16 bytes), THREADS.
#pragma once

#include "kernels/ar_ssm/cuda/arguments.cuh"
#include "kernels/cuda/device/split_products.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/tiles.cuh"

namespace sawtooth::ar_ssm {

using device::Lies;
using device::Tile;
using Storage = device::STORAGE;
using Element = Storage::Word;
// Products of f32 run on tensor cores as well, with split factors.
constexpr bool splits = device::Precision::STORAGE == device::Precision::f32;
constexpr device::Precision precision = splits ? device::Precision::split_f32 : device::Precision::STORAGE;
using Factors = device::Products<precision>;

constexpr int stages = 3;
// The number of thread blocks per SM. With two, one computes while the other waits; in f32 most kernels need
// too many registers for that.
constexpr int blocks_together = sizeof(Element) == 2 ? 2 : 1;
constexpr int padding = device::bank_padding<precision>;

// A matrix [rows, columns] in global memory, which reads as zero beyond its rows and columns.
struct Matrix {
    const void* values;
    int64_t rows, columns;

    __device__ const Element* row(int64_t at) const {
        return static_cast<const Element*>(values) + at * columns;
    }
};

// Row `at` of the stacked weights [W1; U; V]; null beyond them.
__device__ inline const Element* weights_row(const Layer& layer, int64_t at) {
    const int64_t u = at - layer.hidden, v = u - layer.rank;
    const void* const weights = u < 0 ? layer.gate_w1 : v < 0 ? layer.u_proj : layer.v_proj;
    const int64_t row = u < 0 ? at : v < 0 ? u : v;
    return v < layer.rank ? static_cast<const Element*>(weights) + row * layer.width : nullptr;
}

constexpr int elements_of_16_bytes = 16 / static_cast<int>(sizeof(Element));

// copy_rows by vectors of `each` elements: neighbouring threads copy neighbouring vectors of a row. Single
// elements are stored at once, not asynchronously; the barrier before they are read serves both.
template <int rows, int columns, int each, class RowOf>
__device__ void copy_vectors(Element* to, int stride, int64_t length, int64_t first, RowOf row_of) {
    constexpr int vectors = columns / each;
    static_assert(columns % each == 0);
    const auto copy = [&](int r, int c) {
        const Element* const row = row_of(r);
        const bool is_there = row != nullptr && first + c < length;
        if constexpr (each > 1)
            device::copy_async<16>(to + r * stride + c, is_there ? row + first + c : to, is_there);
        else
            to[r * stride + c] = is_there ? row[first + c] : Element{0};
    };
    const auto thread = static_cast<int>(threadIdx.x);
    if constexpr (each > 1 && THREADS % vectors == 0) {  // the rows of a thread are `step` apart
        constexpr int step = THREADS / vectors;
#pragma unroll
        for (int r = 0; r < rows; r += step)
            if (rows % step == 0 || r + thread / vectors < rows)
                copy(r + thread / vectors, thread % vectors * each);
    } else {
#pragma unroll 4
        for (int at = thread; at < rows * vectors; at += THREADS) copy(at / vectors, at % vectors * each);
    }
}

// Starts to copy `rows` rows of `columns` elements to rows that are `stride` elements apart. The source has
// rows of `length` elements, of which those from `first` on are copied: row_of(r) is row r, or null if there
// is none.
template <int rows, int columns, class RowOf>
__device__ void copy_rows(Element* to, int stride, int64_t length, int64_t first, RowOf row_of) {
    if (ALIGNED || length % elements_of_16_bytes == 0)
        copy_vectors<rows, columns, elements_of_16_bytes>(to, stride, length, first, row_of);
    else
        copy_vectors<rows, columns, 1>(to, stride, length, first, row_of);
}

// Starts to copy the tile [rows, columns] of a matrix that begins at `row` and `column`.
template <int rows, int columns>
__device__ void copy_tile(Element* to, int stride, const Matrix& from, int64_t row, int64_t column) {
    const Element* const begin = from.row(row);
    const int64_t there = from.rows - row;
    copy_rows<rows, columns>(to, stride, from.columns, column,
                             [&](int r) { return r < there ? begin + r * from.columns : nullptr; });
}

// Replaces those of `count` elements of a lane for which doubtful(element, row, column) by exact(row,
// column), which a whole warp computes, one after the other, from the lowest lane and its lowest element on:
//
//   waiting   lane 3: elements 5 and 9, lane 20: element 0     order: (3, 5), (3, 9), (20, 0)
//
// This is a loop of its own: unrolled for each element, the call would take seconds to compile.
template <int count, class ElementOf, class RowOf, class ColumnOf, class Doubtful, class Exact>
__device__ void settle_elements(ElementOf element_of, RowOf row_of, ColumnOf column_of, Doubtful doubtful,
                                Exact exact) {
    static_assert(count <= 64, "a bit for each");
    uint64_t waiting = 0;
#pragma unroll
    for (int number = 0; number < count; ++number)
        if (doubtful(element_of(number), row_of(number), column_of(number))) waiting |= uint64_t{1} << number;
    while (const unsigned lanes = __ballot_sync(device::whole_warp, waiting != 0)) {
        const int lane = __ffs(static_cast<int>(lanes)) - 1;
        const int settled = __shfl_sync(device::whole_warp, __ffsll(static_cast<int64_t>(waiting)) - 1, lane);
        const float value = exact(__shfl_sync(device::whole_warp, row_of(settled), lane),
                                  __shfl_sync(device::whole_warp, column_of(settled), lane));
        if (device::lane_of_thread() == lane) {
            waiting &= waiting - 1;
#pragma unroll
            for (int number = 0; number < count; ++number)
                if (number == settled) element_of(number) = value;
        }
    }
}

// In shared memory, the tiles of a step lie as their matrices do in global memory:
//
//   left    in_rows [rows, depth]       in_columns [depth, rows]
//   right   in_rows [depth, columns]    in_columns [columns, depth]     all with `padding` after every row
// mixes_sequences: rows of the sums belong to several sequences.
template <int rows_, int columns_, int depth_, int warps_down, int warps_across, Lies left_lies,
          Lies right_lies, bool mixes_sequences = false>
struct Product {
    static constexpr int rows = rows_, columns = columns_, depth = depth_;
    static constexpr int down = rows / (16 * warps_down), across = columns / (8 * warps_across);
    static_assert(down * 16 * warps_down == rows && across * 8 * warps_across == columns);
    static_assert(across % 2 == 0 && depth % Factors::inner == 0 &&
                  THREADS == 32 * warps_down * warps_across);

    static constexpr int left_stride = (left_lies == Lies::in_rows ? depth : rows) + padding;
    static constexpr int right_stride = (right_lies == Lies::in_rows ? columns : depth) + padding;
    struct Stage {
        alignas(16) Element left[(left_lies == Lies::in_rows ? rows : depth) * left_stride];
        alignas(16) Element right[(right_lies == Lies::in_rows ? depth : columns) * right_stride];
    };
    struct Shared {
        Stage stage[stages];
    };
    struct Sums {
        Tile tiles[down][across];
    };

    // The first row and column of the sums that the warp owns.
    static __device__ int first_row() { return device::warp_of_thread() / warps_across * (16 * down); }
    static __device__ int first_column() { return device::warp_of_thread() % warps_across * (8 * across); }

    static __device__ void clear(Sums& sums) {
#pragma unroll
        for (int i = 0; i < down; ++i) device::clear(sums.tiles[i]);
    }

    static __device__ typename Factors::Left left(const Stage& stage, int row, int k) {
        if constexpr (left_lies == Lies::in_rows)
            return Factors::left_in_rows(stage.left + row * left_stride + k, left_stride);
        else
            return Factors::left_in_columns(stage.left + k * left_stride + row, left_stride);
    }

    // sums += the product of the tiles of one step. Every fragment of the right factor serves all `down`
    // tiles of the warp.
    template <class P = Factors>
    static __device__ void multiply(const Stage& stage, Sums& sums) {
#pragma unroll
        for (int k = 0; k < depth; k += Factors::inner) {
            typename Factors::Left lefts[down];
#pragma unroll
            for (int i = 0; i < down; ++i) lefts[i] = left(stage, first_row() + 16 * i, k);
#pragma unroll
            for (int n = 0; n < across; n += 2) {
                const int column = first_column() + 8 * n;
                typename Factors::Right two[2];
                device::right_of<precision>(
                    stage.right +
                        (right_lies == Lies::in_rows ? k * right_stride + column : column * right_stride + k),
                    right_lies, right_stride, two);
#pragma unroll
                for (int part = 0; part < (splits ? 3 : 1); ++part)
#pragma unroll
                    for (int i = 0; i < down; ++i)
#pragma unroll
                        for (int v = 0; v < 2; ++v)
                            if constexpr (splits)
                                P::add_part(sums.tiles[i][n + v], lefts[i], two[v], part);
                            else
                                P::add(sums.tiles[i][n + v], lefts[i], two[v]);
            }
        }
    }

    // The same by multiply-adds, for those elements of a thread whose bit is set.
    static __device__ void multiply_plainly(const Stage& stage, uint64_t which, Sums& sums) {
        const auto left_of = [&](int row, int k) {
            return stage.left[left_lies == Lies::in_rows ? row * left_stride + k : k * left_stride + row];
        };
        const auto right_of = [&](int k, int column) {
            constexpr bool as_is = right_lies == Lies::in_rows;
            return stage.right[as_is ? k * right_stride + column : column * right_stride + k];
        };
#pragma unroll 1
        for (int k = 0; k < depth; ++k)
#pragma unroll
            for (int number = 0; number < elements; ++number)
                if (which >> number & 1) {
                    float& sum = element_of(sums, number);
                    sum = fmaf(left_of(row_of(number), k), right_of(k, column_of(number)), sum);
                }
    }

    // The same for f32: the sum of the step is rounded as usual when it is added. It is computed plainly if
    // it is not finite, because split factors may be why, and in products of so few terms that the errors of
    // split factors could be larger than those of the additions.
    static __device__ void multiply_split(const Stage& stage, int64_t inner, Sums& sums) {
        constexpr int64_t few = 8;
        Sums step;
        clear(step);
        bool plainly = inner < few;
        if (!plainly) {
            multiply(stage, step);
            plainly = __any_sync(device::whole_warp, !are_finite(step));
        }
        if (plainly) {
            uint64_t which = ~uint64_t{0};
            if constexpr (mixes_sequences) {  // finite sums keep their bits, whatever other sequences contain
                if (inner >= few) which = clear_strange(step);
            } else {
                clear(step);
            }
            multiply_plainly(stage, which, step);
        }
        join(sums, step, [](float& sum, float more) { sum += more; });
    }

    // Zero times a number is NaN if the number is not finite.
    static __device__ bool are_finite(Sums& sums) {
        float zeros[2] = {};  // two, so that an addition does not wait for the one before
#pragma unroll
        for (int number = 0; number < elements; ++number)
            zeros[number % 2] = fmaf(element_of(sums, number), 0, zeros[number % 2]);
        return zeros[0] + zeros[1] == 0;
    }

    // Clears the elements of a thread that are not finite, and returns a bit for each.
    static __device__ uint64_t clear_strange(Sums& sums) {
        static_assert(elements <= 64, "a bit for each");
        uint64_t strange = 0;
#pragma unroll
        for (int number = 0; number < elements; ++number) {
            float& element = element_of(sums, number);
            if (isfinite(element)) continue;
            element = 0;
            strange |= uint64_t{1} << number;
        }
        return strange;
    }

    // sums += left * right over `inner` terms; copy(stage, at) starts to copy the tiles from term `at` on.
    // Ends with a barrier, so that the shared memory may be reused.
    template <class Copy>
    static __device__ void add(Shared& shared, int64_t inner, Sums& sums, Copy copy) {
        const auto steps = static_cast<int>((inner + depth - 1) / depth);
#pragma unroll
        for (int step = 0; step < stages - 1; ++step) {
            if (step < steps) copy(shared.stage[step], int64_t{step} * depth);
            device::end_batch_of_copies();
        }
        int now = 0, next = stages - 1;
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
            device::wait_for_copies_but_last<stages - 2>();  // the thread's own copies of this step
            device::sync_block();  // this step is visible, and the step before is no longer read
            if (step + stages - 1 < steps) copy(shared.stage[next], int64_t{step + stages - 1} * depth);
            device::end_batch_of_copies();
            if constexpr (splits)
                multiply_split(shared.stage[now], inner, sums);
            else
                multiply(shared.stage[now], sums);
            now = now + 1 == stages ? 0 : now + 1;
            next = next + 1 == stages ? 0 : next + 1;
        }
        device::sync_block();  // all warps have read the last step: the stages may be overwritten
    }

    // The elements of a thread, numbered by tile, then by their place in it.
    static constexpr int elements = 4 * down * across;
    static __device__ float& element_of(Sums& sums, int number) {
        return sums.tiles[number / (4 * across)][number / 4 % across][number % 4];
    }
    static __device__ int row_of(int number) {
        return first_row() + device::row_of_lane() + number / (4 * across) * 16 + number % 4 / 2 * 8;
    }
    static __device__ int column_of(int number) {
        return first_column() + device::column_of_lane() + number / 4 % across * 8 + number % 2;
    }
    // Calls visit(element, row, column) for the elements of a thread.
    template <class Visit>
    static __device__ void for_each(Sums& sums, Visit visit) {
#pragma unroll
        for (int number = 0; number < elements; ++number)
            visit(element_of(sums, number), row_of(number), column_of(number));
    }
    // Sums whose elements are load(row, column), or zero where is_there(row, column) is false.
    template <class There, class Load>
    static __device__ Sums loaded(There is_there, Load load) {
        Sums sums;
        for_each(sums, [&](float& element, int row, int column) {
            element = is_there(row, column) ? load(row, column) : 0;
        });
        return sums;
    }
    // Calls join(element, other) for the elements of a thread.
    template <class Join>
    static __device__ void join(Sums& sums, Sums& others, Join join) {
#pragma unroll
        for (int number = 0; number < elements; ++number)
            join(element_of(sums, number), element_of(others, number));
    }
    // Calls visit(first, second, row, column) for pairs of neighbours in a row.
    template <class Visit>
    static __device__ void for_each_pair(Sums& sums, Visit visit) {
#pragma unroll
        for (int number = 0; number < elements; number += 2)
            visit(element_of(sums, number), element_of(sums, number + 1), row_of(number), column_of(number));
    }

    // Replaces doubtful elements by exact ones: see settle_elements.
    template <class Doubtful, class Exact>
    static __device__ void settle(Sums& sums, Doubtful doubtful, Exact exact) {
        settle_elements<elements>([&](int number) -> float& { return element_of(sums, number); }, row_of,
                                  column_of, doubtful, exact);
    }
};

// Stores two neighbours in a row of `columns` numbers, except for those outside of the row. At an even column
// of a row of even length both or neither are inside, and one access stores them.
template <class To>
__device__ void store_pair(void* rows, int64_t row, int64_t columns, int64_t column, float first,
                           float second) {
    typename To::Word* const to = static_cast<typename To::Word*>(rows) + row * columns + column;
    if (ALIGNED || ((columns | column) & 1) == 0) {
        if (column >= 0 && column < columns) device::store<To>(to, 0, {first, second});
    } else {
        if (column >= 0 && column < columns) to[0] = To::narrow(first);
        if (column + 1 >= 0 && column + 1 < columns) to[1] = To::narrow(second);
    }
}

__device__ inline float element(const void* array, int64_t at) {
    return Storage::widen(static_cast<const Element*>(array)[at]);
}

}  // namespace sawtooth::ar_ssm
