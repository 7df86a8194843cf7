// One warp scans a tile of a single column, D = 1: `steps` neighbouring values. Each lane reads `vector`
// neighbouring values, so a pass of the warp covers 32 * vector values without gaps:
//
//   pass 0: lane 0 lane 1 … lane 31   pass 1: lane 0 lane 1 …
//
// Every pass is scanned across the lanes by itself; the totals of the passes are then joined in order. Values
// past the end of the sequence are zeros: they come after everything that is written. Between its two looks
// at a tile a thread keeps its values in registers (InRegisters) or in shared memory (InShared).
#pragma once

#include "kernels/cuda/device/copy_async.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/scan/cuda/access.cuh"

namespace sawtooth::scan {

template <class Op, int steps, int vector_>
struct Rows {
    static constexpr int vector = vector_;
    static constexpr int passes = steps / (32 * vector);
    static_assert(passes * 32 * vector == steps, "the warp's passes make up the tile");

    using Input = typename Op::Input;
    using State = typename Op::State;

    static __device__ int64_t step_of_lane(int64_t first, int pass) {
        return first + (pass * 32 + device::lane_of_thread()) * vector;
    }

    // Where the lane's values of a pass lie, lowest position first. `vector` divides the length if it is more
    // than 1, so either all of them or none lie inside the sequence.
    template <bool flipped>
    static __device__ int64_t place(Geometry<flipped> geometry, int64_t batch, int64_t step) {
        return geometry.at(batch, flipped ? step + vector - 1 : step, 0);
    }
    template <bool flipped>
    static constexpr __device__ int index(int v) {
        return flipped ? vector - 1 - v : v;
    }

    // The values of a thread, in the order of the scan.
    template <class Storage, bool flipped>
    struct InRegisters {
        Input at[passes][vector];

        __device__ void load(const Inputs& from, Geometry<flipped> geometry, int64_t batch, int64_t first) {
#pragma unroll
            for (int pass = 0; pass < passes; ++pass) {
                const int64_t step = step_of_lane(first, pass);
                Input values[vector];
#pragma unroll
                for (int v = 0; v < vector; ++v) values[v] = {};
                if (step < geometry.length) load_planes<Storage>(from, place(geometry, batch, step), values);
#pragma unroll
                for (int v = 0; v < vector; ++v) at[pass][v] = values[index<flipped>(v)];
            }
        }
        __device__ void get(int pass, Input (&in)[vector]) const {
#pragma unroll
            for (int v = 0; v < vector; ++v) in[v] = at[pass][v];
        }
    };

    // The values of a thread, as stored, in the dynamic shared memory of a block of `threads` threads. A
    // thread reads only what it copied itself, so no barrier is needed.
    template <class Storage, bool flipped, int threads>
    struct InShared {
        using Words = device::Words<Storage, vector>;
        static constexpr int64_t bytes = int64_t{sizeof(Words)} * passes * planes<Input> * threads;

        static __device__ Words* words(int pass, int plane) {
            extern __shared__ uint4 shared_words[];  // [passes, planes, threads]
            return reinterpret_cast<Words*>(shared_words) + (pass * planes<Input> + plane) * threads +
                   threadIdx.x;
        }
        static __device__ void load(const Inputs& from, Geometry<flipped> geometry, int64_t batch,
                                    int64_t first) {
#pragma unroll
            for (int pass = 0; pass < passes; ++pass) {
                const int64_t step = step_of_lane(first, pass);
                const int64_t at = place(geometry, batch, step);
                const bool is_there = step < geometry.length;
#pragma unroll
                for (int p = 0; p < planes<Input>; ++p) {
                    if constexpr (sizeof(Words) >= 4)
                        device::copy_async(words(pass, p),
                                           static_cast<const typename Storage::Word*>(from.plane[p]) + at,
                                           is_there);
                    else  // too small for an asynchronous copy
                        *words(pass, p) =
                            is_there ? device::load_words<Storage, vector>(from.plane[p], at) : Words{};
                }
            }
            device::wait_for_copies();
        }
        static __device__ void get(int pass, Input (&in)[vector]) {
#pragma unroll
            for (int p = 0; p < planes<Input>; ++p) {
                const Words kept = *words(pass, p);
#pragma unroll
                for (int v = 0; v < vector; ++v) in[v].at[p] = kept.get(index<flipped>(v));
            }
        }
    };

    // For every pass, the inclusive total of the lane's values and of the lanes before it.
    template <class Values>
    static __device__ void fold(const Values& values, State (&inclusive)[passes]) {
#pragma unroll
        for (int pass = 0; pass < passes; ++pass) {
            Input in[vector];
            values.get(pass, in);
            State total = Op::lift(in[0]);
#pragma unroll
            for (int v = 1; v < vector; ++v) total = Op::join(total, Op::lift(in[v]));
#pragma unroll
            for (int delta = 1; delta < 32; delta *= 2) {
                const State before = device::shuffle_up(total, delta);
                if (device::lane_of_thread() >= delta) total = Op::join(before, total);
            }
            inclusive[pass] = total;
        }
    }

    // The total of the tile, in every lane.
    static __device__ State total(const State (&inclusive)[passes]) {
        State total = device::shuffle(inclusive[0], 31);
#pragma unroll
        for (int pass = 1; pass < passes; ++pass)
            total = Op::join(total, device::shuffle(inclusive[pass], 31));
        return total;
    }

    // Calls put(pass, states before the lane's values) in order; returns the state after the tile.
    template <class Put>
    static __device__ State for_each_pass(State carry, const State (&inclusive)[passes], Put put) {
#pragma unroll
        for (int pass = 0; pass < passes; ++pass) {
            const State before = device::shuffle_up(inclusive[pass], 1);
            put(pass, device::lane_of_thread() > 0 ? Op::join(carry, before) : carry);
            carry = Op::join(carry, device::shuffle(inclusive[pass], 31));
        }
        return carry;
    }

    // Writes y of the tile from the state before it; returns the state after it.
    template <class Storage, bool flipped, class Values>
    static __device__ State advance_and_store(State carry, const Values& values,
                                              const State (&inclusive)[passes], Geometry<flipped> geometry,
                                              int64_t batch, int64_t first, void* y) {
        return for_each_pass(carry, inclusive, [&](int pass, State state) {
            Input in[vector];
            values.get(pass, in);
            typename Op::Output out[vector];
#pragma unroll
            for (int v = 0; v < vector; ++v) {
                state = Op::advance(state, in[v]);
                out[index<flipped>(v)] = Op::finish(state);
            }
            const int64_t step = step_of_lane(first, pass);
            if (step < geometry.length) store_y<Storage>(y, place(geometry, batch, step), out);
        });
    }
};

}  // namespace sawtooth::scan
