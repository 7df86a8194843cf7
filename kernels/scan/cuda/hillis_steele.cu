// y_t = x_0 o x_1 o … o x_t along L of [B, L, D] by doubling (Hillis, Steele 1986):
//
//   step k = 0 … ceil(log2 L) - 1:   s_t <- s_(t - 2^k) o s_t   for t >= 2^k
//
//   x      1  2  3  4  5        one launch per step, over all positions, from one buffer to another:
//   k = 0  1  3  5  7  9        N log2 N combines in log2 L steps
//   k = 1  1  3  6 10 14
//   k = 2  1  3  6 10 15
//
// The first step reads the inputs, the last one writes y. A thread block processes BLOCK_SIZE positions of
// LANES channels (strips.cuh).
//
// Defines: OP, X (storage of the inputs), Y (of y), BLOCK_SIZE, LANES, FLIPPED, THREADS.

#include "kernels/scan/cuda/access.cuh"
#include "kernels/scan/cuda/strips.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using State = OP::State;

// Where a step reads its states: the inputs (the first joined to the start), or the buffer of the last step.
struct FromInputs {
    const Given<Doubling>& given;
    Geometry<FLIPPED> geometry;

    __device__ State operator()(int64_t batch, int64_t step, int64_t column) const {
        OP::Input in[1];
        load_planes<device::X>(given.in, geometry.at(batch, step, column), in);
        const State state = OP::lift(in[0]);
        if (step > 0) return state;
        return OP::join(start_state<OP>(given.initial, batch * given.channels + column), state);
    }
};
struct FromStates {
    const Given<Doubling>& given;
    Geometry<FLIPPED> geometry;

    __device__ State operator()(int64_t batch, int64_t step, int64_t column) const {
        State state[1];
        load_states(given.from, geometry.at(batch, step, column), state);
        return state[0];
    }
};

// Where a step writes its states: the other buffer, or y.
struct ToStates {
    const Given<Doubling>& given;
    __device__ void operator()(int64_t at, State state) const { store_states(given.to, at, {state}); }
};
struct ToY {
    const Given<Doubling>& given;
    __device__ void operator()(int64_t at, State state) const {
        store_y<device::Y>(given.y, at, {OP::finish(state)});
    }
};

template <class From, class To>
__device__ void double_reach(const Given<Doubling>& given) {
    const Geometry<FLIPPED> geometry{given.length, given.channels};
    const From from{given, geometry};
    const To to{given};
    for_each_position<BLOCK_SIZE, LANES>(
        given.length, given.channels,
        [&](int64_t batch, int64_t step, int64_t column) {
            const State state = from(batch, step, column);
            return step >= given.reach ? OP::join(from(batch, step - given.reach, column), state) : state;
        },
        [&](int64_t batch, int64_t step, int64_t column, State state) {
            to(geometry.at(batch, step, column), state);
        });
}

// Grid: B * ceil(L / BLOCK_SIZE), ceil(D / LANES). A thread owns the positions that strips.cuh assigns.
extern "C" __global__ void __launch_bounds__(THREADS) double_first(Given<Doubling> given) {
    double_reach<FromInputs, ToStates>(given);
}

// Grid: B * ceil(L / BLOCK_SIZE), ceil(D / LANES). A thread owns the positions that strips.cuh assigns.
extern "C" __global__ void __launch_bounds__(THREADS) double_middle(Given<Doubling> given) {
    double_reach<FromStates, ToStates>(given);
}

// Grid: B * ceil(L / BLOCK_SIZE), ceil(D / LANES). A thread owns the positions that strips.cuh assigns.
extern "C" __global__ void __launch_bounds__(THREADS) double_last(Given<Doubling> given) {
    double_reach<FromStates, ToY>(given);
}

// For sequences of one or two positions, the first step is also the last.
// Grid: B * ceil(L / BLOCK_SIZE), ceil(D / LANES). A thread owns the positions that strips.cuh assigns.
extern "C" __global__ void __launch_bounds__(THREADS) double_only(Given<Doubling> given) {
    double_reach<FromInputs, ToY>(given);
}
