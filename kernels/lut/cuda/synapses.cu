// The kernels of sparse tables: a thread per event and output block goes through the synapses of the neuron,
// a group at a time, and takes those whose target is in its block.
//
// Defines: SPARSE, ALIGNED (table.cuh), INTEGER (sums.cuh), ALTERNATIVE, THREADS.

#include "kernels/lut/cuda/events.cuh"
#include "kernels/lut/cuda/sums.cuh"
#include "kernels/lut/cuda/table.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

namespace {

// Output block q has every output_blocks-th four outputs.
struct OutputBlock {
    int64_t index, blocks;
    __device__ bool has(int output) const { return output / 4 % blocks == index; }
};

}  // namespace

// Grid of both: ceil(B T / block_size), output_blocks.
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
