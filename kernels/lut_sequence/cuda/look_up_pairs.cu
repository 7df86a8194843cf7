// The forward pass of the variant fused: a thread block sums the rows that a position and all earlier ones
// choose. With full tables, a group is LANES threads that keep four neighbouring outputs each in registers;
// each of the GROUPS groups sums every GROUPS-th row. With sparse tables, every warp adds the synapses of its
// rows to its own row of sums. Rows are numbered m = i T + detector (position.cuh).
//
// Defines: ANCHORS, POSITIONAL, SPARSE, ALIGNED (pairs.cuh), INTEGER (lut_table/cuda/sums.cuh), GROUPS and
// LANES, or WARPS and ROWS_SHARED (lut_table/cuda/rows.cuh), THREADS.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut_sequence/cuda/position.cuh"
#include "kernels/lut_table/cuda/sums.cuh"
#if SPARSE
#include "kernels/lut_table/cuda/rows.cuh"
#else
#include "kernels/lut_table/cuda/groups.cuh"
#endif

namespace sawtooth::lut_sequence {

#if SPARSE

extern __shared__ Sum row_room[];

// Grid: B S. Thread block x owns a position (position.cuh); a lane owns one m at a time:
//   warp    0          1           …   WARPS - 1          then 32 WARPS further on
//   m       0 … 31     32 … 63         … 32 WARPS - 1
//   y row   0          1               WARPS - 1          [WARPS, outputs] (lut_table/cuda/rows.cuh)
extern "C" __global__ void __launch_bounds__(THREADS) look_up_pairs(Arguments given) {
    const Place place(given);
    const Rows y(row_room, static_cast<Sum*>(given.scratch) + place.position * given.outputs, given.outputs);
    const int64_t count = place.j * given.detectors;
    for (int64_t first = 32 * device::warp_of_thread(); first < count; first += 32 * WARPS) {
        const int64_t m = first + device::lane_of_thread();
        Row row;
        if (m < count) row = Row(given.table, place.pair(given, m).neuron(given), given.outputs);
        y.add_synapses(given.table, row, given.scale);
    }
    y.write(static_cast<float*>(given.y) + place.position * given.outputs, given.scale,
            given.fault + fault_y);
}

#else

// Grid: B S. Thread block x owns a position (position.cuh). For THREADS rows at a time, thread t finds neuron
// begin + t of neurons [THREADS]; then thread group LANES + lane sums. With 2 groups, 128 lanes, 512 outputs:
//   threads    0 … 127                         128 … 255
//   m          begin, begin + 2, …             begin + 1, begin + 3, …
//   outputs    four per lane, 0 … 511 in all   the same; the groups are added (lut_table/cuda/groups.cuh)
extern "C" __global__ void __launch_bounds__(THREADS) look_up_pairs(Arguments given) {
    __shared__ int32_t neurons[THREADS];
    const Place place(given);
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    float* const y = static_cast<float*>(given.y) + place.position * given.outputs;
    const int64_t count = place.j * given.detectors;
    for (int64_t first = 0; first < given.outputs; first += 4 * LANES) {
        const int64_t o = first + 4 * lane, read = o < given.outputs ? o : 0;
        Sum sums[4] = {};
        for (int64_t begin = 0; begin < count; begin += THREADS) {
            const int64_t m = begin + threadIdx.x;
            device::sync_block();  // all threads have read the neurons of the rows before
            if (m < count) neurons[threadIdx.x] = static_cast<int32_t>(place.pair(given, m).neuron(given));
            device::sync_block();  // the neurons of these rows are visible
            const int end = count - begin < THREADS ? static_cast<int>(count - begin) : THREADS;
#pragma unroll 8
            for (int k = group; k < end; k += GROUPS) {
                float four[4];
                load_four(given.table.weights + int64_t{neurons[k]} * given.outputs, read, given.outputs,
                          four);
#pragma unroll
                for (int e = 0; e < 4; ++e) sums[e] += term(four[e], given.scale);
            }
        }
        write_groups(sums, group, y, o, given.outputs, given.scale, given.fault + fault_y, true);
    }
}

#endif

}  // namespace sawtooth::lut_sequence
