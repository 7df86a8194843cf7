// The kernels on events: a thread per event and block of neighbouring outputs.
//
// Defines: SPARSE, ALIGNED (the outputs of a block are a multiple of 4), INTEGER (lut/cuda/sums.cuh),
// ALTERNATIVE, THREADS.

#include "kernels/lut/cuda/events.cuh"
#include "kernels/lut/cuda/table.cuh"
#include "kernels/lut_sequence/cuda/hash.cuh"

namespace sawtooth::lut_sequence {

using namespace lut;

namespace {

// Calls each(weight, target) for the weights of the neuron in an output block.
template <class Each>
__device__ void for_weights(const Arguments& given, int64_t neuron, int64_t output_block, Each each) {
    const int64_t first = given.outputs * output_block / given.output_blocks;
    const int64_t last = given.outputs * (output_block + 1) / given.output_blocks;
    const Row row(given.table, neuron, given.outputs);
    if constexpr (SPARSE) {
        for (int64_t group = 0; group < row.count; group += given.group) {
            const int64_t end = group + given.group < row.count ? group + given.group : row.count;
            for (int64_t k = group; k < end; ++k) {
                const int target = row.target(given.table, static_cast<int>(k));
                if (target >= first && target < last) each(row.begin + k, target);
            }
        }
    } else {
        for (int64_t o = first; o < last; ++o) each(row.begin + o, static_cast<int>(o));
    }
}

// Calls each(event, number of the event from 1, output block).
template <class Each>
__device__ void for_event(const Arguments& given, const Events<Event>& events, Each each) {
    Event event;
    if (!event_of_thread(events, event)) return;
    const auto number = static_cast<int32_t>(int64_t{blockIdx.x} * THREADS + threadIdx.x + 1);
    for (int64_t q = blockIdx.y; q < given.output_blocks; q += gridDim.y) each(event, number, q);
}

}  // namespace

// Grid of all: ceil(events / block_size), output_blocks.
extern "C" __global__ void __launch_bounds__(THREADS) fill_outputs_by_sparse_firings(Arguments given) {
    for_event(given, given.main, [&](const Event& event, int32_t, int64_t q) {
        Sum* const y = static_cast<Sum*>(given.y) + event.position * given.outputs;
        if constexpr (ALIGNED && !SPARSE) {
            const int64_t first = given.outputs * q / given.output_blocks;
            const int64_t last = given.outputs * (q + 1) / given.output_blocks;
            const float* const weights = given.table.weights + event.neuron * given.outputs;
            for (int64_t o = first; o < last; o += 4) {
                float four[4];
                load_four(weights, o, given.outputs, four);
                Sum terms[4];
#pragma unroll
                for (int k = 0; k < 4; ++k) terms[k] = event.count * term(four[k], given.scale);
                add_four(y + o, terms);
            }
        } else {
            for_weights(given, event.neuron, q, [&](int64_t weight, int target) {
                add(y + target, event.count * term(given.table.weights[weight], given.scale));
            });
        }
    });
}

extern "C" __global__ void __launch_bounds__(THREADS) gather_x_gradients_for_sequence(Arguments given) {
    const Events<Event>& events = ALTERNATIVE ? given.alternative : given.main;
    for_event(given, events, [&](const Event& event, int32_t number, int64_t q) {
        const int64_t item = event.position / given.length;
        const HashTable table(given, item);
        const int64_t slot = table.claim(event.neuron, event.position % given.length);
        if (slot < 0) {
            given.room[room_hash_table] = static_cast<int32_t>(item + 1);
            return;
        }
        if (!table.belongs_to(slot, ALTERNATIVE ? -number : number)) return;
        const float* const dy = given.dy + event.position * given.outputs;
        Sum sum = 0;
        for_weights(given, event.neuron, q, [&](int64_t weight, int target) {
            sum += term(Wide{given.table.weights[weight]} * Wide{dy[target]}, given.scale);
        });
        table.add(slot, sum);
    });
}

extern "C" __global__ void __launch_bounds__(THREADS) gather_w_gradients_for_sequence(Arguments given) {
    for_event(given, given.main, [&](const Event& event, int32_t, int64_t q) {
        const float* const dy = given.dy + event.position * given.outputs;
        for_weights(given, event.neuron, q, [&](int64_t weight, int target) {
            const auto lr = static_cast<Wide>(rate(given.table, given.lr, weight));
            const Sum step = event.count * term(Wide{dy[target]} * lr, given.scale);
            add(static_cast<Sum*>(given.dweights) + weight, step);
            if (!integer && given.weights_after) add(given.weights_after + weight, -static_cast<float>(step));
        });
    });
}

}  // namespace sawtooth::lut_sequence
