// The variant fused: g of every detector and dx of an item by one thread block. Every warp takes 32 detectors
// at a time and adds to a row of dx of its own.
//
// Defines: ANCHORS, SPARSE, ALIGNED (table.cuh), INTEGER (sums.cuh), WARPS, ROWS_SHARED (rows.cuh), THREADS.

#include "kernels/cuda/device/reductions.cuh"
#include "kernels/lut/cuda/rows.cuh"
#include "kernels/lut/cuda/table.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

namespace {

// The sums of weight times dy over the chosen row and over the alternative. Floats are summed as a
// difference, which loses fewer digits.
struct Gradient {
    Sum main = 0, alternative = 0;

    __device__ void add(float weight, float other, float dy, double scale) {
        if constexpr (integer) {
            main += term(Wide{weight} * Wide{dy}, scale);
            alternative += term(Wide{other} * Wide{dy}, scale);
        } else {
            main += (weight - other) * dy;
        }
    }
    __device__ Wide value(double scale, int32_t* fault) const {
        return value_of(main, scale, fault) - value_of(alternative, scale, fault);
    }
};

// Of one detector, by the whole warp: lanes share the outputs. Every lane gets it.
__device__ Gradient gradient_of_rows(const Arguments& given, const float* dy, int64_t main,
                                     int64_t alternative) {
    Gradient gradient;
    const float *const chosen = given.table.weights + main * given.outputs, *const other =
                                                                                given.table.weights +
                                                                                alternative * given.outputs;
    for (int64_t o = 4 * device::lane_of_thread(); o < given.outputs; o += 128) {
        float a[4], b[4], d[4];
        load_four(chosen, o, given.outputs, a);
        load_four(other, o, given.outputs, b);
        load_four(dy, o, given.outputs, d);
#pragma unroll
        for (int k = 0; k < 4; ++k) gradient.add(a[k], b[k], d[k], given.scale);
    }
    gradient.main = device::sum_of_warp(gradient.main);
    if constexpr (integer) gradient.alternative = device::sum_of_warp(gradient.alternative);
    return gradient;
}

// Of the detector of a lane, by that lane.
__device__ Gradient gradient_of_synapses(const Arguments& given, const float* dy, int64_t main,
                                         int64_t alternative) {
    Gradient gradient;
    const Row chosen(given.table, main, given.outputs), other(given.table, alternative, given.outputs);
    for (int k = 0; k < chosen.count; ++k)
        gradient.add(given.table.weights[chosen.begin + k], 0, dy[chosen.target(given.table, k)],
                     given.scale);
    for (int k = 0; k < other.count; ++k)
        gradient.add(0, given.table.weights[other.begin + k], dy[other.target(given.table, k)], given.scale);
    return gradient;
}

}  // namespace

extern __shared__ Sum row_room[];

// Grid: B.
extern "C" __global__ void __launch_bounds__(THREADS) input_gradients(Arguments given) {
    const int64_t item = blockIdx.x;
    const int lane = device::lane_of_thread();
    const float* const dy = given.dy + item * given.outputs;
    const Rows dx(row_room, static_cast<Sum*>(given.rows_scratch) + item * given.inputs, given.inputs);
    for (int64_t first = 32 * device::warp_of_thread(); first < given.detectors; first += 32 * WARPS) {
        const int64_t detector = first + lane, at = item * given.detectors + detector;
        const bool is_one = detector < given.detectors;
        const int32_t weakest = is_one ? given.found.min_delta_index[at] : -1;
        const int64_t main = is_one ? detector * given.rows + given.found.lookup_index[at] : 0;
        const int64_t alternative = weakest >= 0 ? main ^ int64_t { 1 } << weakest : main;
        Gradient gradient;
        if constexpr (SPARSE) {
            if (weakest >= 0) gradient = gradient_of_synapses(given, dy, main, alternative);
        } else {
            const int64_t left = given.detectors - first;
            const int count = left < 32 ? static_cast<int>(left) : 32;
#pragma unroll 4
            for (int k = 0; k < count; ++k) {
                const Gradient one = gradient_of_rows(given, dy, __shfl_sync(device::whole_warp, main, k),
                                                      __shfl_sync(device::whole_warp, alternative, k));
                if (k == lane) gradient = one;
            }
        }
        Sum du = 0;
        int pair[2] = {-1, -1};
        if (weakest >= 0) {
            const Wide g = gradient.value(given.scale, given.fault + fault_gradient_sums);
            du = term(g * surrogate_derivative(given.found.min_delta[at]), given.scale);
            for (int k = 0; k < 2; ++k) pair[k] = given.anchors[(detector * ANCHORS + weakest) * 2 + k];
        }
        add_in_order(dx.of_warp(), pair[0], du);
        add_in_order(dx.of_warp(), pair[1], -du);
    }
    dx.write(static_cast<float*>(given.dx) + item * given.inputs, given.scale, given.fault + fault_dx);
}
