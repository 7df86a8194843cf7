// Gradients of the weights: sums over tokens. A thread block sums a tile of one gradient over a part of the
// tokens; sum_parts.cu adds the parts.
//
//   kind         a thread block owns                        its threads
//   product      64 x 128 of left^T right                   8 warps of 32 x 32, terms are tokens
//   column sum   32 columns of values [tokens, columns]     lane: a column; warp: every 8th token
//   taps         tap_columns channels of dconv [width, 3]   32 groups of 8 lanes; lane: some channels,
//                                                           group: consecutive tokens
//
// Defines: THREADS, SHARED_BYTES, STORAGE, ALIGNED, ALIGNED_CHANNELS, DEPTH.

#include "kernels/ar_ssm/cuda/convolution.cuh"
#include "kernels/cuda/device/sync.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

constexpr int rows = 64, columns = 128;
using Sum = Product<rows, columns, DEPTH, 2, 4, Lies::in_columns, Lies::in_rows>;
constexpr int lanes = 32, groups = THREADS / lanes;  // for column sums
constexpr int tap_lanes = 8, tap_groups = THREADS / tap_lanes, tap_columns = tap_lanes * channels_together;

static_assert(sizeof(Sum::Shared) == SHARED_BYTES);

__device__ int64_t ceil_divide(int64_t count, int64_t by) { return (count + by - 1) / by; }

struct Part {
    int64_t first, last;  // the first token, and the one after the last
    float* to;            // the row of the part in the partial gradients
};

// Sums a tile of left^T right over the tokens of a part. left [tokens, rows] and right [tokens, columns] are
// copied as they lie, DEPTH tokens at a time: in shared memory left is in columns, [DEPTH, rows].
__device__ void sum_products(const WeightProduct& product, int64_t tile, const Part& part,
                             Sum::Shared& shared) {
    const int64_t across = ceil_divide(product.columns, columns);
    const int64_t row = tile / across * rows, column = tile % across * columns;
    Sum::Sums sums;
    Sum::clear(sums);
    Sum::add(shared, part.last - part.first, sums, [&](Sum::Stage& stage, int64_t k) {
        copy_tile<DEPTH, rows>(stage.left, Sum::left_stride, {product.left, part.last, product.rows},
                               part.first + k, row);
        copy_tile<DEPTH, columns>(stage.right, Sum::right_stride, {product.right, part.last, product.columns},
                                  part.first + k, column);
    });
    Sum::for_each(sums, [&](float value, int r, int c) {
        if (row + r < product.rows && column + c < product.columns)
            part.to[product.offset + (row + r) * product.columns + column + c] = product.scale * value;
    });
}

// Computes the sums of 32 columns: group g takes tokens first + g, first + g + groups, …; group 0 adds the
// groups.
__device__ void sum_columns(const ColumnSum& column_sum, int64_t tile, const Part& part) {
    __shared__ float room[groups][lanes];
    const int lane = static_cast<int>(threadIdx.x) % lanes, group = static_cast<int>(threadIdx.x) / lanes;
    const int64_t column = tile * lanes + lane;
    float sum = 0;
    if (column < column_sum.columns) {
#pragma unroll 8
        for (int64_t token = part.first + group; token < part.last; token += groups)
            sum += element(column_sum.values, token * column_sum.columns + column);
    }
    room[group][lane] = sum;
    device::sync_block();  // the sums of all groups are visible to group 0
    if (group != 0 || column >= column_sum.columns) return;
    sum = 0;
#pragma unroll
    for (int g = 0; g < groups; ++g) sum += room[g][lane];
    part.to[column_sum.offset + column] = sum;
}

// Computes the gradient of the taps of tap_columns channels. A thread has neighbouring channels of
// consecutive tokens:
//
//   tap 0   sum of dy[l] x[l - 1]     tap 1   sum of dy[l] x[l]     tap 2   sum of dy[l] x[l + 1]
//
// times conv_scale, with l - 1 and l + 1 only inside the sequence. The groups of lanes meet in room
// [tap_groups, 3, tap_columns].
__device__ void sum_taps(const WeightGradients& gradients, int64_t tile, const Part& part) {
    __shared__ float room[tap_groups][3][tap_columns];
    using Row = device::Words<Storage, channels_together>;
    const int lane = static_cast<int>(threadIdx.x) % tap_lanes,
              group = static_cast<int>(threadIdx.x) / tap_lanes;
    const int64_t channel = tile * tap_columns + lane * channels_together;
    const int64_t each = ceil_divide(part.last - part.first, tap_groups), first = part.first + group * each;
    const int64_t last = first + each < part.last ? first + each : part.last;
    const bool is_there = channel < gradients.conv_width;
    const auto row_of = [&](const void* values, int64_t token, bool there) {
        return there && is_there ? device::load_words<Storage, channels_together>(
                                       values, token * gradients.conv_width + channel)
                                 : Row{};
    };
    float sums[3][channels_together] = {};
    const auto add = [&](int tap, const Row& x, const Row& dy) {
#pragma unroll
        for (int v = 0; v < channels_together; ++v)
            sums[tap][v] = fmaf(gradients.conv_scale * dy.get(v), x.get(v), sums[tap][v]);
    };
    constexpr int ahead = 4;  // tokens whose rows are loaded at once
    for (int64_t token = first; token < last; token += ahead) {
        Row dy[ahead], x[ahead + 2];
#pragma unroll
        for (int r = 0; r < ahead; ++r) dy[r] = row_of(gradients.dy, token + r, token + r < last);
#pragma unroll
        for (int r = 0; r < ahead + 2; ++r)
            x[r] = row_of(gradients.x, token + r - 1, token + r > 0 && token + r - 1 < gradients.tokens);
#pragma unroll
        for (int r = 0; r < ahead; ++r) {
            if (token + r >= last) break;  // 0 times an infinity of another group would be NaN
            const int64_t position = (token + r) % gradients.length;
            if (position > 0) add(0, x[r], dy[r]);
            add(1, x[r + 1], dy[r]);
            if (position + 1 < gradients.length) add(2, x[r + 2], dy[r]);
        }
    }
#pragma unroll
    for (int tap = 0; tap < 3; ++tap)
#pragma unroll
        for (int v = 0; v < channels_together; ++v)
            room[group][tap][lane * channels_together + v] = sums[tap][v];
    device::sync_block();  // the sums of all groups are visible: a thread adds those of one tap of a channel
    for (int at = threadIdx.x; at < 3 * tap_columns; at += THREADS) {
        const int64_t column = tile * tap_columns + at / 3;
        if (column >= gradients.conv_width) return;
        float sum = 0;
#pragma unroll
        for (int g = 0; g < tap_groups; ++g) sum += room[g][at % 3][at / 3];
        part.to[gradients.conv_offset + 3 * column + at % 3] = sum;
    }
}

// Grid: tiles of all gradients, parts of the tokens. Thread block (x, y) finds its gradient by counting tiles
// and writes to row y of partial [parts, total]:
//
//   x    0      1      2      …
//        | tiles of product 0 | product 1 | … | column sum 0 | … | taps |
//   y    tokens y part_tokens … (y + 1) part_tokens - 1, fewer in the last part
extern "C" __global__ void __launch_bounds__(THREADS) weight_gradients(WeightGradients gradients) {
    extern __shared__ uint4 shared_words[];
    const int64_t first = blockIdx.y * gradients.part_tokens, left = gradients.tokens - first;
    const Part part = {first, first + (left < gradients.part_tokens ? left : gradients.part_tokens),
                       gradients.partial + blockIdx.y * gradients.total};
    int64_t tile = blockIdx.x;
    for (int i = 0; i < gradients.product_count; ++i) {
        const WeightProduct& product = gradients.products[i];
        const int64_t tiles = ceil_divide(product.rows, rows) * ceil_divide(product.columns, columns);
        if (tile < tiles)
            return sum_products(product, tile, part, *reinterpret_cast<Sum::Shared*>(shared_words));
        tile -= tiles;
    }
    for (int i = 0; i < gradients.sum_count; ++i) {
        const int64_t tiles = ceil_divide(gradients.sums[i].columns, lanes);
        if (tile < tiles) return sum_columns(gradients.sums[i], tile, part);
        tile -= tiles;
    }
    sum_taps(gradients, tile, part);
}
