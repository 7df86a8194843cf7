// fire_detectors and fire_detectors_by_lookup_indices: one thread per detector and item (for_detectors.cuh)
// appends events.
//
// Defines: ANCHORS, INPUTS (for_detectors.cuh), SPARSE, ALIGNED (table.cuh), THREADS.

#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/events.cuh"
#include "kernels/lut_table/cuda/for_detectors.cuh"
#include "kernels/lut_table/cuda/table.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

// Grid of both kernels: ceil(T / block_size), min(B, 65535).

// Compares as check_detectors does, and adds an event (item, neuron) for each chosen neuron with synapses:
//   lookup_index [B, T]  ->  main events [B T at most], in any order of thread blocks
extern "C" __global__ void __launch_bounds__(THREADS) fire_detectors(Arguments given) {
    for_detectors(given, [&](int64_t item, int64_t detector, const Detected& found) {
        const int64_t neuron = detector * given.rows + found.bits;
        append(given.main, detector >= 0 && has_synapses(given.table, neuron),
               {{static_cast<int32_t>(item), static_cast<int32_t>(neuron)}}, given.room, 1);
    });
}

// Each thread adds up to two events of its detector and item, from what check_detectors found:
//   row 1001b, weakest 1  ->  main event of row 1001b, alternative event of row 1011b
// Threads past the last detector read the entry of detector 0 and go on, because append has barriers.
extern "C" __global__ void __launch_bounds__(THREADS) fire_detectors_by_lookup_indices(Arguments given) {
    const int64_t detector = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    for (int64_t item = blockIdx.y; item < given.batch; item += gridDim.y) {
        const bool is_one = detector < given.detectors;
        const int64_t at = item * given.detectors + (is_one ? detector : 0);
        const int32_t row = given.found.lookup_index[at], weakest = given.found.min_delta_index[at];
        const auto fire = [&](const Events<Event>& to, bool fires, int32_t of_row) {
            const int64_t neuron = (is_one ? detector : 0) * given.rows + of_row;
            append(to, fires && is_one && has_synapses(given.table, neuron),
                   {{static_cast<int32_t>(item), static_cast<int32_t>(neuron)}}, given.room, 1);
        };
        fire(given.main, true, row);
        fire(given.alternative, weakest >= 0, weakest >= 0 ? row ^ 1 << weakest : row);
    }
}
