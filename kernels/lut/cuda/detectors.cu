// check_detectors, fire_detectors and fire_detectors_by_lookup_indices: a thread per detector and item.
//   detectors   0 … THREADS - 1       THREADS … 2 THREADS - 1   …
//   item 0      thread block (0, 0)   thread block (1, 0)
//   item 1      thread block (0, 1)   thread block (1, 1)
// The grid is at most 65535 high: thread block (x, y) has the items y, y + gridDim.y, …, one after another.
//
// Defines: ANCHORS (detectors.cuh), SPARSE, ALIGNED (table.cuh), INPUTS (those kept in shared memory, 0 if
// they do not fit), THREADS.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut/cuda/detectors.cuh"
#include "kernels/lut/cuda/events.cuh"
#include "kernels/lut/cuda/table.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

// Calls each(item, detector, detected) with all threads, as `each` may have barriers; a thread without a
// detector passes -1. Thread t copies inputs t, t + THREADS, … of the item to `staged`.
template <class Each>
__device__ void for_detectors(const CommonArguments& given, Each each) {
    __shared__ float staged[INPUTS > 0 ? INPUTS : 1];
    const int64_t detector = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    for (int64_t item = blockIdx.y; item < given.batch; item += gridDim.y) {
        const float* const x = given.x + item * given.inputs;
        if constexpr (INPUTS > 0) {
            for (int i = threadIdx.x; i < INPUTS; i += THREADS) staged[i] = x[i];
            device::sync_block();  // the item's inputs are visible to all detectors
        }
        const bool is_one = detector < given.detectors;
        Detected found;
        if (is_one) {
            const Pairs pairs(given.anchors + detector * ANCHORS * 2);
            found = detect(pairs, [&](int i) { return INPUTS > 0 ? staged[i] : x[i]; });
            store(given.found, item * given.detectors + detector, found);
        }
        each(item, is_one ? detector : -1, found);
        if constexpr (INPUTS > 0) device::sync_block();  // all have read them: the next ones may come
    }
}

// Grid of all: ceil(T / block_size), min(B, 65535). Here each thread
//   reads    x [B, inputs] of its item, anchors [T, C, 2] of its detector
//   writes   lookup_index, min_delta, min_delta_index [B, T], one entry each
// In lut_sequence an item is a position, and B is B S.
extern "C" __global__ void __launch_bounds__(THREADS) check_detectors(CommonArguments given) {
    for_detectors(given, [](int64_t, int64_t, const Detected&) {});
}

// Compares the same way, and adds an event (item, neuron) for each chosen neuron with synapses:
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
// Threads without a detector stay, and read that of detector 0, because append has barriers.
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
