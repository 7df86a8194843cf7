// check_detectors and fire_detectors: a thread per detector and item.
//
// Defines: ANCHORS (detectors.cuh), SPARSE, ALIGNED (table.cuh), INPUTS (those kept in shared memory, 0 if
// they do not fit), THREADS.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut/cuda/detectors.cuh"
#include "kernels/lut/cuda/events.cuh"
#include "kernels/lut/cuda/table.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

// Calls each(item, detector, detected) with all threads; a detector of -1 is none.
template <class Each>
__device__ void for_detectors(const CommonArguments& given, Each each) {
    __shared__ float staged[INPUTS > 0 ? INPUTS : 1];
    const int64_t detector = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    for (int64_t item = blockIdx.y; item < given.batch; item += gridDim.y) {
        const float* const x = given.x + item * given.inputs;
        if constexpr (INPUTS > 0) {
            for (int i = threadIdx.x; i < INPUTS; i += THREADS) staged[i] = x[i];
            device::sync_block();
        }
        const bool is_one = detector < given.detectors;
        Detected found;
        if (is_one) {
            const Pairs pairs(given.anchors + detector * ANCHORS * 2);
            found = detect(pairs, [&](int i) { return INPUTS > 0 ? staged[i] : x[i]; });
            store(given.found, item * given.detectors + detector, found);
        }
        each(item, is_one ? detector : -1, found);
        if constexpr (INPUTS > 0) device::sync_block();
    }
}

// Grid: ceil(T / block_size), B.
extern "C" __global__ void __launch_bounds__(THREADS) check_detectors(CommonArguments given) {
    for_detectors(given, [](int64_t, int64_t, const Detected&) {});
}

extern "C" __global__ void __launch_bounds__(THREADS) fire_detectors(Arguments given) {
    for_detectors(given, [&](int64_t item, int64_t detector, const Detected& found) {
        const int64_t neuron = detector * given.rows + found.bits;
        append(given.main, detector >= 0 && has_synapses(given.table, neuron),
               {{static_cast<int32_t>(item), static_cast<int32_t>(neuron)}}, given.room, 1);
    });
}

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
