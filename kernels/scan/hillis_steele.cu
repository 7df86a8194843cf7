// y_t = x_0 o x_1 o … o x_t along L of [B, L, D] by doubling (Hillis, Steele 1986):
//
//   step k = 0 … ceil(log2 L) - 1:   s_t <- s_(t - 2^k) o s_t   for t >= 2^k
//
//   x      1  2  3  4  5        a launch a step, over all positions, from one buffer into another:
//   k = 0  1  3  5  7  9        N log2 N combines in log2 L steps
//   k = 1  1  3  6 10 14
//   k = 2  1  3  6 10 15
//
// The first step reads the inputs, the last one writes y. A thread block does BLOCK_SIZE positions of LANES
// channels (strips.cuh).
//
// Defines: OP, X (storage of the inputs), Y (of y), BLOCK_SIZE, LANES, FLIPPED.

#include "kernels/scan/access.cuh"
#include "kernels/scan/strips.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using State = OP::State;

// Where a step reads its states: the inputs, whose first one takes the start in, or the last step's buffer.
struct FromInputs {
    const void *input_0, *input_1;
    const float* initial;
    Geometry<FLIPPED> geometry;

    __device__ State operator()(int64_t batch, int64_t step, int64_t column) const {
        OP::Input in[1];
        load_planes<device::X>(input_0, input_1, geometry.at(batch, step, column), in);
        const State state = OP::lift(in[0]);
        if (step > 0 || !initial) return state;
        return OP::join(start_state<OP>(initial, batch * geometry.channels + column), state);
    }
};
struct FromStates {
    const float *from_0, *from_1;
    Geometry<FLIPPED> geometry;

    __device__ State operator()(int64_t batch, int64_t step, int64_t column) const {
        State state[1];
        load_planes<device::f32>(from_0, from_1, geometry.at(batch, step, column), state);
        return state[0];
    }
};

template <class From, class Put>
__device__ void double_reach(From from, Geometry<FLIPPED> geometry, int64_t reach, Put put) {
    for_each_position<BLOCK_SIZE, LANES>(
        geometry.length, geometry.channels,
        [&](int64_t batch, int64_t step, int64_t column) {
            const State state = from(batch, step, column);
            return step >= reach ? OP::join(from(batch, step - reach, column), state) : state;
        },
        [&](int64_t batch, int64_t step, int64_t column, State state) {
            put(geometry.at(batch, step, column), state);
        });
}

extern "C" __global__ void __launch_bounds__(strip_threads)
    double_first(const void* input_0, const void* input_1, const float* initial, float* to_0, float* to_1,
                 int64_t length, int64_t channels) {
    const Geometry<FLIPPED> geometry{length, channels};
    double_reach(FromInputs{input_0, input_1, initial, geometry}, geometry, 1,
                 [&](int64_t at, State state) { store_planes(to_0, to_1, at, {state}); });
}

extern "C" __global__ void __launch_bounds__(strip_threads)
    double_middle(const float* from_0, const float* from_1, float* to_0, float* to_1, int64_t reach,
                  int64_t length, int64_t channels) {
    const Geometry<FLIPPED> geometry{length, channels};
    double_reach(FromStates{from_0, from_1, geometry}, geometry, reach,
                 [&](int64_t at, State state) { store_planes(to_0, to_1, at, {state}); });
}

extern "C" __global__ void __launch_bounds__(strip_threads)
    double_last(const float* from_0, const float* from_1, void* y, int64_t reach, int64_t length,
                int64_t channels) {
    const Geometry<FLIPPED> geometry{length, channels};
    double_reach(FromStates{from_0, from_1, geometry}, geometry, reach,
                 [&](int64_t at, State state) { device::store<device::Y>(y, at, {OP::finish(state)}); });
}

// Of a sequence of one or two positions, the first step is the last.
extern "C" __global__ void __launch_bounds__(strip_threads)
    double_only(const void* input_0, const void* input_1, const float* initial, void* y, int64_t length,
                int64_t channels) {
    const Geometry<FLIPPED> geometry{length, channels};
    double_reach(FromInputs{input_0, input_1, initial, geometry}, geometry, 1,
                 [&](int64_t at, State state) { device::store<device::Y>(y, at, {OP::finish(state)}); });
}
