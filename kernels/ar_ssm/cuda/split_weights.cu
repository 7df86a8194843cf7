// Splits the weights [W1; U; V] and W2 in two tf32 numbers each, high and rest (split_products.cuh), and
// orders their columns as project_split.cu takes them:
//
//   place in 32 of [W1; U; V]    0 1  2  3 | 4 5  6  7 | 8 …     8 s + j
//   channel                      0 2 16 18 | 1 3 17 19 | 4 …     4 s + 16 (j / 2 % 2) + 2 (j % 2) + j / 4
//   place in 8 of W2             0 1 2 3 | 4 5 6 7 | 8 …
//   unit                         0 2 4 6 | 1 3 5 7 | 8 …
//
// Defines: THREADS, SHARED_BYTES (0), STORAGE (f32), ALIGNED (true).

#include "kernels/ar_ssm/cuda/product.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

static_assert(splits && SHARED_BYTES == 0);

// Stores both parts of a number; parts are `numbers` apart. The rest is rounded to what tensor cores read.
__device__ void store_parts(float value, float* to, int64_t numbers) {
    Factors::Split<1> parts;
    parts.set(0, value);
    to[0] = __uint_as_float(parts.high[0]);
    to[numbers] = __uint_as_float(device::to_tf32(__uint_as_float(parts.rest[0])));
}

// Grid: ceil(numbers / THREADS). A thread owns one number of [W1; U; V] [hidden + 2 rank, width] or, behind
// them, of W2 [rank, hidden], by its new place.
//   writes   weights [2, hidden + 2 rank, width], gate_w2 [2, rank, hidden]; the first index is the part
extern "C" __global__ void __launch_bounds__(THREADS)
    split_weights(const __grid_constant__ SplitWeights given) {
    const Layer& layer = given.layer;
    const int64_t stacked = (layer.hidden + 2 * layer.rank) * layer.width, of_w2 = layer.rank * layer.hidden;
    const int64_t at = int64_t{blockIdx.x} * THREADS + threadIdx.x, in_w2 = at - stacked;
    if (in_w2 < 0) {
        const auto column = static_cast<int>(at % layer.width), j = column % 8;
        const int channel = column / 32 * 32 + column / 8 % 4 * 4 + j / 2 % 2 * 16 + j % 2 * 2 + j / 4;
        store_parts(weights_row(layer, at / layer.width)[channel], given.weights + at, stacked);
    } else if (in_w2 < of_w2) {
        const auto j = static_cast<int>(in_w2 % 8);
        store_parts(element(layer.gate_w2, in_w2 - j + j % 4 * 2 + j / 4), given.gate_w2 + in_w2, of_w2);
    }
}
