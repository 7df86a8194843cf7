// What the backward pass of linear does beside its scan, on [B, L, D], by steps of the forward scan:
//   shifted_s = a_(s+1), 0 after the last step: the gate that carries the gradient from step s + 1 to step s
//   da_s = g_s y_(s-1), where y_(-1) = initial or 0; dinitial = a_0 g_0
//
// Defines: X (storage of the inputs), Y (of y), BLOCK_SIZE, LANES, FLIPPED (of the forward scan).

#include "kernels/scan/access.cuh"
#include "kernels/scan/strips.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using Gate = device::X::Word;

extern "C" __global__ void __launch_bounds__(strip_threads)
    shift_gates(const Gate* a, Gate* shifted, int64_t length, int64_t channels) {
    const Geometry<FLIPPED> geometry{length, channels};
    for_each_position<BLOCK_SIZE, LANES>(
        length, channels,
        [&](int64_t batch, int64_t step, int64_t column) {
            return step + 1 < length ? a[geometry.at(batch, step + 1, column)] : Gate{};
        },
        [&](int64_t batch, int64_t step, int64_t column, Gate gate) {
            shifted[geometry.at(batch, step, column)] = gate;
        });
}

// `initial` and `dinitial` [B, D] are both there or both null.
extern "C" __global__ void __launch_bounds__(strip_threads)
    gate_gradient(const float* g, const void* y, const void* a, const float* initial, float* da,
                  float* dinitial, int64_t length, int64_t channels) {
    const Geometry<FLIPPED> geometry{length, channels};
    for_each_position<BLOCK_SIZE, LANES>(
        length, channels,
        [&](int64_t batch, int64_t step, int64_t column) {
            const float here = g[geometry.at(batch, step, column)];
            float value[1] = {0};
            if (step > 0)
                device::load<device::Y>(y, geometry.at(batch, step - 1, column), value);
            else if (initial)
                value[0] = initial[batch * channels + column];
            return here * value[0];
        },
        [&](int64_t batch, int64_t step, int64_t column, float value) {
            const int64_t at = geometry.at(batch, step, column);
            da[at] = value;
            if (step > 0 || !dinitial) return;
            float gate[1];
            device::load<device::X>(a, at, gate);
            dinitial[batch * channels + column] = gate[0] * g[at];
        });
}
