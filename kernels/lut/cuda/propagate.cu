// Propagates the two sums of a detector to the inputs of its weakest pair, with one thread per detector and
// item. If an item has few inputs, a thread block first sums in shared memory, then adds to dx once per input
// instead of twice per detector.
//
// Defines: ANCHORS, INTEGER (sums.cuh), INPUTS (the number summed in shared memory, or 0), THREADS.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/sums.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

namespace {

// The values that a thread needs of its detector, loaded before the barriers to overlap with them.
struct Detector {
    Sum *main, *alternative;
    Sum of_main, of_alternative;
    int32_t weakest;  // -1: all pairs are skipped
    float delta;
    int64_t number;

    __device__ Detector(const Arguments& given, int64_t item, int64_t detector) : number(detector) {
        const int64_t at = item * given.detectors + detector;
        main = static_cast<Sum*>(given.gradient_sums) + item * given.detectors + at;
        alternative = main + given.detectors;
        of_main = *main;
        of_alternative = *alternative;
        weakest = given.found.min_delta_index[at];
        delta = given.found.min_delta[at];
    }

    // Clears the two sums and adds du to dx.
    __device__ void propagate(const Arguments& given, Sum* dx) const {
        *main = 0;
        *alternative = 0;
        if (weakest < 0) return;
        const int32_t* const pair = given.anchors + (number * ANCHORS + weakest) * 2;
        int32_t* const fault = given.fault + fault_gradient_sums;
        const Wide g = value_of(of_main, given.scale, fault) - value_of(of_alternative, given.scale, fault);
        add_to_pair(dx, pair, term_of_du(g, delta, given.eps, given.scale));
    }
};

}  // namespace

// Grid: ceil(T / block_size), min(B, 65535). Thread block (x, y) has the items y, y + gridDim.y, …; its
// thread t owns detector x THREADS + t:
//   gradient_sums [B, 2, T]   main, alternative: read, then cleared for the next run
//   du                        (main - alternative) up'(min_delta)
//   sums [INPUTS], shared     += du at the first input of the weakest pair, -= du at the second
//   dx [B, inputs]            += sums: thread t adds inputs t, t + THREADS, …, or fours of them
extern "C" __global__ void __launch_bounds__(THREADS) propagate_through_detectors(Arguments given) {
    const int64_t own = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    const bool is_one = own < given.detectors;
    for (int64_t item = blockIdx.y; item < given.batch; item += gridDim.y) {
        Sum* const dx = static_cast<Sum*>(given.dx) + item * given.inputs;
        const Detector detector(given, item, is_one ? own : 0);
        if constexpr (INPUTS > 0) {
            __shared__ Sum sums[INPUTS > 0 ? INPUTS : 1];
            for (int i = threadIdx.x; i < INPUTS; i += THREADS) sums[i] = 0;
            device::sync_block();  // the zeros are visible to all detectors
            if (is_one) detector.propagate(given, sums);
            device::sync_block();  // all detectors of the thread block have added
            if constexpr (INPUTS % 4 == 0) {
                for (int i = 4 * threadIdx.x; i < INPUTS; i += 4 * THREADS)
                    add_four(dx + i, *reinterpret_cast<const Sum(*)[4]>(sums + i));
            } else {
                for (int i = threadIdx.x; i < INPUTS; i += THREADS) add(dx + i, sums[i]);
            }
            device::sync_block();  // all threads have read the sums, which the next item overwrites
        } else if (is_one) {
            detector.propagate(given, dx);
        }
    }
}
