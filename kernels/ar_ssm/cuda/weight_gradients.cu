// Gradients of the weights: sums over tokens. A thread block sums a tile of one gradient over a part of the
// tokens; `sum_parts` adds the parts in order.
//
// Defines: THREADS, SHARED_BYTES, STORAGE, ALIGNED, DEPTH.

#include "kernels/ar_ssm/cuda/product.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

constexpr int rows = 64, columns = 128;
using Sum = Product<rows, columns, DEPTH, 2, 4, Lies::in_columns, Lies::in_rows>;
constexpr int lanes = 32, groups = THREADS / lanes;  // of column sums

// `sum_parts` has no products and no shared memory.
static_assert(SHARED_BYTES == 0 || sizeof(Sum::Shared) == SHARED_BYTES);

__device__ int64_t pieces(int64_t count, int64_t piece) { return (count + piece - 1) / piece; }

struct Part {
    int64_t first, last;  // tokens
    float* to;            // partial gradients
};

__device__ void sum_products(const WeightProduct& of, int64_t tile, const Part& part, Sum::Shared& shared) {
    const int64_t across = pieces(of.columns, columns);
    const int64_t row = tile / across * rows, column = tile % across * columns;
    Sum::Sums sums;
    Sum::clear(sums);
    Sum::add(shared, part.last - part.first, sums, [&](Sum::Stage& stage, int64_t k) {
        copy_part<DEPTH, rows>(stage.left, Sum::left_stride, {of.left, part.last, of.rows}, part.first + k,
                               row);
        copy_part<DEPTH, columns>(stage.right, Sum::right_stride, {of.right, part.last, of.columns},
                                  part.first + k, column);
    });
    Sum::for_each(sums, [&](float value, int r, int c) {
        if (row + r < of.rows && column + c < of.columns)
            part.to[of.offset + (row + r) * of.columns + column + c] = of.scale * value;
    });
}

// Sums term(token, column) into to[column] for 32 columns, every group of lanes some of the tokens.
template <int count, class Term>
__device__ void sum_columns(const Part& part, int64_t column, int64_t columns, float* to, Term term) {
    __shared__ float room[groups][count][lanes];
    const int lane = static_cast<int>(threadIdx.x) % lanes, group = static_cast<int>(threadIdx.x) / lanes;
    float sums[count] = {};
    if (column + lane < columns)
        for (int64_t token = part.first + group; token < part.last; token += groups)
            term(token, column + lane, sums);
#pragma unroll
    for (int k = 0; k < count; ++k) room[group][k][lane] = sums[k];
    __syncthreads();  // the sums of the groups are visible
    if (group != 0 || column + lane >= columns) return;
#pragma unroll
    for (int k = 0; k < count; ++k) {
        float sum = 0;
#pragma unroll
        for (int g = 0; g < groups; ++g) sum += room[g][k][lane];
        to[(column + lane) * count + k] = sum;
    }
}

__device__ void sum_taps(const WeightGradients& of, int64_t column, const Part& part) {
    sum_columns<3>(part, column, of.conv_width, part.to + of.conv_offset,
                   [&](int64_t token, int64_t channel, float(&sums)[3]) {
                       const int64_t position = token % of.length;
                       const float dt = of.conv_scale * element(of.dy, token * of.conv_width + channel);
#pragma unroll
                       for (int k = 0; k < 3; ++k)
                           if (position + k > 0 && position + k <= of.length)
                               sums[k] = fmaf(dt, element(of.x, (token + k - 1) * of.conv_width + channel),
                                              sums[k]);
                   });
}

// Grid: tiles of all gradients, parts.
extern "C" __global__ void __launch_bounds__(THREADS) weight_gradients(WeightGradients of) {
    extern __shared__ uint4 shared_words[];
    const int64_t first = blockIdx.y * of.part_tokens, left = of.tokens - first;
    const Part part = {first, first + (left < of.part_tokens ? left : of.part_tokens),
                       of.partial + blockIdx.y * of.total};
    int64_t tile = blockIdx.x;
    for (int i = 0; i < of.product_count; ++i) {
        const WeightProduct& product = of.products[i];
        const int64_t tiles = pieces(product.rows, rows) * pieces(product.columns, columns);
        if (tile < tiles)
            return sum_products(product, tile, part, *reinterpret_cast<Sum::Shared*>(shared_words));
        tile -= tiles;
    }
    for (int i = 0; i < of.sum_count; ++i) {
        const ColumnSum& sum = of.sums[i];
        const int64_t tiles = pieces(sum.columns, lanes);
        if (tile < tiles)
            return sum_columns<1>(part, tile * lanes, sum.columns, part.to + sum.offset,
                                  [&](int64_t token, int64_t column, float(&sums)[1]) {
                                      sums[0] += element(sum.values, token * sum.columns + column);
                                  });
        tile -= tiles;
    }
    sum_taps(of, tile * lanes, part);
}

// Grid: ceil(weights / THREADS).
extern "C" __global__ void __launch_bounds__(THREADS) sum_parts(GradientParts of) {
    const int64_t at = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (at >= of.total) return;
    float sum = 0;
#pragma unroll 4
    for (int64_t part = 0; part < of.parts; ++part) sum += of.partial[part * of.total + at];
    for (int i = 0; i < of.gradient_count; ++i) {
        const auto& gradient = of.gradients[i];
        if (at >= gradient.offset && at < gradient.offset + gradient.count) {
            float* const to = gradient.to + at - gradient.offset;
            *to = of.adds ? *to + sum : sum;
        }
    }
}
