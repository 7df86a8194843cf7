// What the backward pass of linear computes besides its scan, on [B, L, D], in steps of the forward scan:
//   shifted_s = a_(s+1), 0 after the last step: the gate that carries the gradient from step s + 1 to step s
//   da_s = dx_s y_(s-1), where y_(-1) = initial or 0; dinitial = a_0 dx_0
//
// Defines: X (storage of the inputs), Y (of y), BLOCK_SIZE, LANES, FLIPPED (of the forward scan), THREADS.

#include "kernels/scan/cuda/access.cuh"
#include "kernels/scan/cuda/strips.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using Gate = device::X::Word;

// Grid: B * ceil(L / BLOCK_SIZE), ceil(D / LANES). A thread owns the positions that strips.cuh assigns.
extern "C" __global__ void __launch_bounds__(THREADS) shift_gates(Given<ShiftGates> given) {
    const Geometry<FLIPPED> geometry{given.length, given.channels};
    const auto* const a = static_cast<const Gate*>(given.in.plane[0]);
    auto* const shifted = static_cast<Gate*>(given.shifted);
    for_each_position<BLOCK_SIZE, LANES>(
        given.length, given.channels,
        [&](int64_t batch, int64_t step, int64_t column) {
            return step + 1 < given.length ? a[geometry.at(batch, step + 1, column)] : Gate{};
        },
        [&](int64_t batch, int64_t step, int64_t column, Gate gate) {
            shifted[geometry.at(batch, step, column)] = gate;
        });
}

// Grid: B * ceil(L / BLOCK_SIZE), ceil(D / LANES). A thread owns the positions that strips.cuh assigns.
extern "C" __global__ void __launch_bounds__(THREADS) gate_gradient(Given<GateGradient> given) {
    const Geometry<FLIPPED> geometry{given.length, given.channels};
    for_each_position<BLOCK_SIZE, LANES>(
        given.length, given.channels,
        [&](int64_t batch, int64_t step, int64_t column) {
            const float here = given.dx[geometry.at(batch, step, column)];
            float value[1] = {0};
            if (step > 0)
                device::load<device::Y>(given.y, geometry.at(batch, step - 1, column), value);
            else if (given.initial)
                value[0] = given.initial[batch * given.channels + column];
            return here * value[0];
        },
        [&](int64_t batch, int64_t step, int64_t column, float value) {
            const int64_t at = geometry.at(batch, step, column);
            given.da[at] = value;
            if (step > 0 || !given.dinitial) return;
            float gate[1];
            device::load<device::X>(given.in.plane[0], at, gate);
            given.dinitial[batch * given.channels + column] = gate[0] * given.dx[at];
        });
}
