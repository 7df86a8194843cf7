// The variant fused: one warp sums the gradients of a neuron's weights over the items that chose it, in their
// order, and writes them once.
//
// Defines: SPARSE, ALIGNED (table.cuh), INTEGER (sums.cuh), THREADS.

#include "kernels/lut_table/cuda/sort.cuh"
#include "kernels/lut_table/cuda/sums.cuh"
#include "kernels/lut_table/cuda/table.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_table;

namespace {

// Returns the gradient of a weight: the sum of dy times its rate.
__device__ float gradient_of(const CommonArguments& given, Sum sum, float lr) {
    const Wide value = value_of(sum, given.scale, given.fault + fault_dweights);
    return integer ? static_cast<float>(value) : static_cast<float>(value) * lr;
}
// Returns the term of dy. Floats are multiplied by the rate once, after the sum.
__device__ Sum term_of(const CommonArguments& given, float dy, double lr) {
    return integer ? term(static_cast<Wide>(dy * lr), given.scale) : term(dy, given.scale);
}

}  // namespace

// Grid: ceil(neurons / (THREADS / 32)), with T rows neurons. Warp w of thread block x owns neuron
// x (THREADS / 32) + w: its weights, and the entries of its row in the sorted lists of its detector. Row 3:
//   sorted_rows [T, choices]    0 1 3 3      begin = 2, end = 4
//   sorted_items [T, choices]   3 1 0 2      dweights[neuron, o] = lr (dy[0, o] + dy[2, o])
// Full: lane l has the outputs 4 l … 4 l + 3 and those 128, 256, … further on. Sparse: synapses l, l + 32, …
//   reads    sorted_rows, sorted_items, dy [items, outputs], weights and rates
//   writes   dweights, weights_after: [T, rows, outputs] or [synapses], every number once
// No barrier is needed, because warps are independent. In lut_sequence items are positions, and every pair of
// positions is a choice.
extern "C" __global__ void __launch_bounds__(THREADS) weight_gradients(CommonArguments given) {
    const int64_t neuron = int64_t{blockIdx.x} * (THREADS / 32) + device::uniform_warp_of_thread();
    if (neuron >= given.detectors * given.rows) return;
    const int64_t detector = neuron / given.rows;
    const auto own_row = static_cast<int32_t>(neuron % given.rows);
    const int32_t* const rows = given.sorted_rows + detector * given.choices;
    const int32_t* const items = given.sorted_items + detector * given.choices;
    const int64_t begin = lower_bound(rows, given.choices, own_row);
    const int64_t end = begin + lower_bound(rows + begin, given.choices - begin, own_row + 1);
    const Row row(given.table, neuron, given.outputs);
    auto* const dweights = static_cast<float*>(given.dweights) + row.begin;
    const float* const weights = given.table.weights + row.begin;
    float* const after = given.weights_after ? given.weights_after + row.begin : nullptr;
    const int lane = device::lane_of_thread();
    if constexpr (SPARSE) {
        for (int k = lane; k < row.count; k += 32) {
            const double lr = rate(given.table, given.lr, row.begin + k);
            const float* const dy = given.dy + row.target(given.table, k);
            Sum sum = 0;
            for (int64_t i = begin; i < end; ++i) sum += term_of(given, dy[items[i] * given.outputs], lr);
            // A neuron that no item chose keeps its weights even if its rate is not finite.
            dweights[k] = begin < end ? gradient_of(given, sum, static_cast<float>(lr)) : 0;
            if (after) after[k] = weights[k] - dweights[k];
        }
    } else {
        for (int64_t o = 4 * lane; o < given.outputs; o += 128) {
            Sum sums[4] = {};
#pragma unroll 4
            for (int64_t i = begin; i < end; ++i) {
                float dy[4];
                load_four(given.dy + items[i] * given.outputs, o, given.outputs, dy);
#pragma unroll
                for (int k = 0; k < 4; ++k) sums[k] += term_of(given, dy[k], given.lr);
            }
            float values[4], old[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) values[k] = gradient_of(given, sums[k], static_cast<float>(given.lr));
            store_four(dweights, o, given.outputs, values);
            if (!after) continue;
            load_four(weights, o, given.outputs, old);
#pragma unroll
            for (int k = 0; k < 4; ++k) old[k] -= values[k];
            store_four(after, o, given.outputs, old);
        }
    }
}
