// One thread block scans a tile of neighbouring columns (channels last): `steps` steps of units * vector
// channels. Neighbouring lanes read neighbouring channels. Warps, and groups of `units` lanes within a warp,
// are stacked along the steps; a thread owns `rows` consecutive steps. With units = 2 and warps = 2:
//
//             unit 0  unit 1          (`vector` channels each)
//   warp 0    group 0: rows 0 … rows - 1 of a thread
//             group 1: the next `rows`
//             …        16 groups
//   warp 1    group 0 …
//
// A tile is read once and kept: in registers, and the last `shared_rows` rows of each thread in shared memory
// if the registers do not suffice. Totals go up from thread to warp to block, prefixes come down the same
// way:
//   prefix of the tile o warps before o groups before o rows before.
// Rows past the end of the sequence and columns past the last channel are zeros. They never precede anything
// that is written, so zero need not be the identity of the operator.
#pragma once

#include "kernels/cuda/device/copy_async.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/scan/cuda/access.cuh"

namespace sawtooth::scan {

template <class Op, class Storage, int steps, int vector_, int units_, int warps_, int shared_rows = 0>
struct Columns {
    static constexpr int vector = vector_, units = units_, warps = warps_;
    static constexpr int groups = 32 / units;
    static constexpr int rows = steps / (warps * groups);
    static constexpr int own_rows = rows - shared_rows;  // in registers
    static constexpr int width = units * vector;
    static_assert(rows * warps * groups == steps, "the threads' rows make up the tile");
    static_assert(own_rows > 0, "the first row is in registers");

    using Input = typename Op::Input;
    using State = typename Op::State;
    static constexpr int parts = Input::parts;
    using Words = device::Words<Storage, vector * parts>;
    static constexpr int planes_in = planes<Input>;
    // Dynamic shared memory of a block: the rows that do not fit in registers.
    static constexpr int64_t shared_row_bytes = int64_t{sizeof(Words)} * shared_rows * planes_in * 32 * warps;

    // The states of a thread's channels.
    struct States {
        State channel[vector];
    };
    struct Shared {
        State warp_total[warps][width];
        State before_tile[width];
    };

    static __device__ int unit() { return device::lane_of_thread() % units; }
    static __device__ int group() { return device::lane_of_thread() / units; }
    static __device__ int first_row() { return (device::warp_of_thread() * groups + group()) * rows; }

    static __device__ States join(const States& left, const States& right) {
        States both;
#pragma unroll
        for (int v = 0; v < vector; ++v) both.channel[v] = Op::join(left.channel[v], right.channel[v]);
        return both;
    }

    // The rows of a thread, in their storage type.
    struct Kept {
        Words own[own_rows][planes_in];

        // Where the thread keeps a row in shared memory: [shared_rows, planes_in, threads].
        static __device__ Words* shared(int row, int plane) {
            extern __shared__ uint4 shared_words[];
            return reinterpret_cast<Words*>(shared_words) +
                   ((row - own_rows) * planes_in + plane) * (32 * warps) + threadIdx.x;
        }
        __device__ void get(int row, Input (&in)[vector]) const {
#pragma unroll
            for (int p = 0; p < planes_in; ++p) {
                const Words words = row < own_rows ? own[row][p] : *shared(row, p);
#pragma unroll
                for (int k = 0; k < vector * parts; ++k)
                    in[k / parts].at[p * parts + k % parts] = words.get(k);
            }
        }
        __device__ void forget_widened(int row) {
#pragma unroll
            for (int p = 0; p < planes_in; ++p)
                if (row < own_rows) own[row][p].forget_widened();
        }
    };

    // How many of the thread's rows lie inside the sequence.
    template <bool flipped>
    static __device__ int rows_there(Geometry<flipped> geometry, int64_t first, int64_t column) {
        const int64_t left = geometry.length - first - first_row();
        return column >= geometry.channels ? 0 : static_cast<int>(left < rows ? left : rows);
    }

    template <bool flipped>
    static __device__ void load(const Inputs& from, Geometry<flipped> geometry, int64_t batch, int64_t first,
                                int64_t column, Kept& kept) {
        const int here = rows_there(geometry, first, column);
        const int64_t start = geometry.at(batch, first + first_row(), column), stride = geometry.stride();
        if constexpr (shared_rows > 0) {
#pragma unroll
            for (int r = own_rows; r < rows; ++r)
#pragma unroll
                for (int p = 0; p < planes_in; ++p)
                    device::copy_async(Kept::shared(r, p),
                                       static_cast<const typename Storage::Word*>(from.plane[p]) +
                                           (start + r * stride) * parts,
                                       r < here);
        }
#pragma unroll
        for (int r = 0; r < own_rows; ++r)
#pragma unroll
            for (int p = 0; p < planes_in; ++p) {
                kept.own[r][p] = {};
                if (r < here)
                    kept.own[r][p] = device::load_words<Storage, vector * parts>(
                        from.plane[p], (start + r * stride) * parts);
            }
        if constexpr (shared_rows > 0) device::wait_for_copies();
    }

    // The inclusive total of the thread's rows and of the groups before it in the warp. Leaves the warps'
    // totals in shared memory: a barrier must follow.
    static __device__ States fold(const Kept& kept, Shared& shared) {
        States total;
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            Input in[vector];
            kept.get(r, in);
#pragma unroll
            for (int v = 0; v < vector; ++v) {
                const State here = Op::lift(in[v]);
                total.channel[v] = r == 0 ? here : Op::join(total.channel[v], here);
            }
        }
#pragma unroll
        for (int delta = units; delta < 32; delta *= 2) {
            const States before = device::shuffle_up(total, delta);
            if (device::lane_of_thread() >= delta) total = join(before, total);
        }
        if (group() == groups - 1) {
#pragma unroll
            for (int v = 0; v < vector; ++v)
                shared.warp_total[device::warp_of_thread()][unit() * vector + v] = total.channel[v];
        }
        return total;
    }

    // The total of the first `count` warps, count > 0, for one channel of the tile.
    static __device__ State total_of_warps(const Shared& shared, int channel, int count) {
        State total = shared.warp_total[0][channel];
#pragma unroll 4
        for (int warp = 1; warp < count; ++warp) total = Op::join(total, shared.warp_total[warp][channel]);
        return total;
    }

    // The total between the tile's first row and the thread's: the warps and groups before it. The first
    // group of the first warp has none.
    static __device__ bool is_first() { return device::warp_of_thread() == 0 && group() == 0; }
    static __device__ States before_in_tile(const States& inclusive, const Shared& shared) {
        const States groups_before = device::shuffle_up(inclusive, units);
        const int warp = device::warp_of_thread();
        if (warp == 0) return groups_before;
        States before;
#pragma unroll
        for (int v = 0; v < vector; ++v)
            before.channel[v] = total_of_warps(shared, unit() * vector + v, warp);
        return group() > 0 ? join(before, groups_before) : before;
    }

    // The prefix of the thread's first row, from the prefix of the tile.
    static __device__ States carry(const States& before, const Shared& shared) {
        States carry;
#pragma unroll
        for (int v = 0; v < vector; ++v) carry.channel[v] = shared.before_tile[unit() * vector + v];
        return is_first() ? carry : join(carry, before);
    }

    // Calls put(row, place, in) in order for the thread's rows inside the sequence.
    template <bool flipped, class Put>
    static __device__ void for_each_row(Kept& kept, Geometry<flipped> geometry, int64_t batch, int64_t first,
                                        int64_t column, Put put) {
        const int here = rows_there(geometry, first, column);
        int64_t at = device::forget(geometry.at(batch, first + first_row(), column));
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            Input in[vector];
            kept.forget_widened(r);
            kept.get(r, in);
            if (r < here) put(r, at, in);
            at += geometry.stride();
        }
    }
};

}  // namespace sawtooth::scan
