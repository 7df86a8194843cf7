// The variant fused: computes du of every pair and detector, for x and for positional. A thread block has the
// pairs of a position, a warp 32 of them at a time. With fully connected tables the whole warp computes each
// row.
//
// Defines: ANCHORS, POSITIONAL, SPARSE, ALIGNED (pairs.cuh), INTEGER (lut_table/cuda/sums.cuh), THREADS.

#include "kernels/lut_sequence/cuda/position.cuh"
#include "kernels/lut_table/cuda/gradient.cuh"

namespace sawtooth::lut_sequence {

namespace {

// Returns g of every lane's neurons; `other` is -1 where there is none.
__device__ Gradient gradient_of_lanes(const Arguments& given, const float* dy, int64_t main, int64_t other) {
    Gradient gradient;
    if constexpr (SPARSE) {
        if (other >= 0) gradient = gradient_of_synapses(given.table, dy, main, other, given.scale);
    } else {
        for (unsigned rest = __ballot_sync(device::whole_warp, other >= 0); rest;) {
            const int k = device::take_lane(rest);
            const Gradient one =
                gradient_of_rows(given.table, given.outputs, dy, __shfl_sync(device::whole_warp, main, k),
                                 __shfl_sync(device::whole_warp, other, k), given.scale);
            if (k == device::lane_of_thread()) gradient = one;
        }
    }
    return gradient;
}

}  // namespace

// Grid: B S. Thread block x owns a position j (position.cuh); a lane owns one m = i T + detector at a time:
//   warp   0          1           …   THREADS / 32 - 1          then THREADS further on
//   m      0 … 31     32 … 63         … THREADS - 1
//   du, positional_du [B, pairs, T], from the first pair of j on: entry m is written once, 0 if no bit flips
// No barrier is needed, because warps are independent.
extern "C" __global__ void __launch_bounds__(THREADS) pair_gradients(Arguments given) {
    const Place place(given);
    const float* const dy = given.dy + place.position * given.outputs;
    const int64_t count = place.j * given.detectors, at = place.first_du(given);
    int32_t* const fault = given.fault + fault_gradient_sums;
    for (int64_t first = 32 * device::uniform_warp_of_thread(); first < count; first += THREADS) {
        const int64_t m = first + device::lane_of_thread();
        int64_t main = 0, alternative = -1, positional = -1;
        float delta = 0, positional_delta = 0;
        if (m < count) {
            const Pair pair = place.pair(given, m);
            const Flips flips(given, pair);
            main = pair.neuron(given);
            alternative = flips.alternative(main);
            positional = flips.positional_alternative(main);
            delta = flips.delta;
            positional_delta = flips.positional_delta;
        }
        const auto du = [&](int64_t other, float of_delta) {
            const Wide g = gradient_of_lanes(given, dy, main, other).value(given.scale, fault);
            return term_of_du(g, of_delta, given.eps, given.scale);  // 0 if no bit flips, because g is 0
        };
        const Sum of_x = du(alternative, delta);
        if (m < count) static_cast<Sum*>(given.du)[at + m] = of_x;
        if constexpr (POSITIONAL > 0) {
            const Sum of_distance = du(positional, positional_delta);
            if (m < count) static_cast<Sum*>(given.positional_du)[at + m] = of_distance;
        }
    }
}

}  // namespace sawtooth::lut_sequence
