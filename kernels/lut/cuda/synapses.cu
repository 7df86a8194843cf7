// The kernels of sparse tables: one thread per event and output block goes through the synapses of the
// neuron, a group at a time, and takes those whose target is in its output block.
//
// Defines: SPARSE, ALIGNED (table.cuh), INTEGER (sums.cuh), ALTERNATIVE, THREADS.

#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/events.cuh"
#include "kernels/lut_table/cuda/sums.cuh"
#include "kernels/lut_table/cuda/table.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

namespace {

// Outputs in runs of four are dealt to the output blocks in turn: of two blocks, block 0 has the outputs 0 …
// 3, 8 … 11, …
struct OutputBlock {
    int64_t index, blocks;
    __device__ bool has(int output) const { return output / 4 % blocks == index; }
};

}  // namespace

// Grid of both kernels: ceil(B T / block_size), min(output_blocks, 65535). Thread i along x owns event i, if
// there is one; thread block y has the output blocks q = y, y + gridDim.y, …:
//   event (item, neuron)  ->  synapses offsets[neuron] … offsets[neuron + 1] - 1, if their target is in q
//   y [B, outputs], at [item, target], += weight
// No barrier is needed: threads communicate only by atomic additions.
extern "C" __global__ void __launch_bounds__(THREADS) fill_outputs_by_forward_groups(Arguments given) {
    Event event;
    if (!event_of_thread(given.main, event)) return;
    for (int64_t q = blockIdx.y; q < given.output_blocks; q += gridDim.y)
        for_synapses(given, event.neuron, OutputBlock{q, given.output_blocks},
                     [&](int64_t synapse, int target) {
                         add(static_cast<Sum*>(given.y) + event.item * given.outputs + target,
                             term(given.table.weights[synapse], given.scale));
                     });
}

// Sums weight times dy over the same synapses, for main events or with ALTERNATIVE for alternative ones; only
// main events have dweights:
//   gradient_sums [B, 2, T], at [item, ALTERNATIVE, detector], += sum of weight * dy[item, target]
//   dweights [synapses] += lr dy[item, target], weights_after -= the same (floats only)
extern "C" __global__ void __launch_bounds__(THREADS) gather_gradients(Arguments given) {
    Event event;
    if (!event_of_thread(ALTERNATIVE ? given.alternative : given.main, event)) return;
    for (int64_t q = blockIdx.y; q < given.output_blocks; q += gridDim.y) {
        Sum sum = 0;
        for_synapses(given, event.neuron, OutputBlock{q, given.output_blocks},
                     [&](int64_t synapse, int target) {
                         const float dy = given.dy[event.item * given.outputs + target];
                         sum += term(Wide{given.table.weights[synapse]} * Wide{dy}, given.scale);
                         if constexpr (!ALTERNATIVE) {
                             const auto lr = static_cast<Wide>(rate(given.table, given.lr, synapse));
                             const Sum step = term(Wide{dy} * lr, given.scale);
                             add(static_cast<Sum*>(given.dweights) + synapse, step);
                             if (!integer && given.weights_after)
                                 add(given.weights_after + synapse, -static_cast<float>(step));
                         }
                     });
        const int64_t detector = event.neuron / given.rows;
        add(static_cast<Sum*>(given.gradient_sums) + (event.item * 2 + ALTERNATIVE) * given.detectors +
                detector,
            sum);
    }
}
