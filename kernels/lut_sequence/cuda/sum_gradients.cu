// The variant fused: sums du over the pairs of a position (position_gradients) or of a distance
// (distance_gradients). Warp w takes the pairs w, w + all_warps, …; its lanes have neighbouring detectors.
// The warps store their sums to room [all_warps, 32], in shared memory, which are added in the order of the
// warps.
//
// Defines: ANCHORS, POSITIONAL, SPARSE, ALIGNED (pairs.cuh), INTEGER (lut_table/cuda/sums.cuh), ROWS_SHARED
// (whether a row of dx is summed in shared memory), THREADS.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut_sequence/cuda/pairs.cuh"
#include "kernels/lut_table/cuda/in_order.cuh"

namespace sawtooth::lut_sequence {

namespace {

constexpr int all_warps = THREADS / 32;

// Returns to every warp the sum of each lane over all warps, added in the order of the warps.
__device__ Sum sum_of_warps(Sum sum) {
    __shared__ Sum room[all_warps][32];
    const int lane = device::lane_of_thread();
    device::sync_block();  // all warps have read the room of the previous call
    room[device::warp_of_thread()][lane] = sum;
    device::sync_block();  // the sums of all warps are visible
    sum = room[0][lane];
    for (int warp = 1; warp < all_warps; ++warp) sum += room[warp][lane];
    return sum;
}

// Returns the number of a pair in its sequence.
__device__ int64_t pair_of(int64_t i, int64_t j) { return j * (j - 1) / 2 + i; }

}  // namespace

extern __shared__ Sum row_room[];

// Grid: B S. Thread block b S + own owns a position. For S = 4 positions and own = 2:
//   other          0         1         3
//   pair (i, j)    (0, 2)    (1, 2)    (2, 3)      du [B, pairs, T]
//   own is the     query     query     key         du counts if the bit that flips is that of `own`
// The first warp adds each detector's sum to two inputs of a row [inputs] in shared memory or in scratch, and
// the barriers of sum_of_warps make its zeros visible. All threads write the row to dx [B S, inputs].
extern "C" __global__ void __launch_bounds__(THREADS) position_gradients(Arguments given) {
    const int64_t position = blockIdx.x, item = position / given.length, own = position % given.length;
    Sum* const dx = ROWS_SHARED ? row_room : static_cast<Sum*>(given.scratch) + position * given.inputs;
    for (int64_t i = threadIdx.x; i < given.inputs; i += THREADS) dx[i] = 0;
    for (int64_t first = 0; first < given.detectors; first += 32) {
        const int64_t detector = first + device::lane_of_thread();
        const bool is_one = detector < given.detectors;
        Sum sum = 0;
        for (int64_t other = device::warp_of_thread(); is_one && other < given.length; other += all_warps) {
            if (other == own) continue;
            const bool is_query = own > other;
            const int64_t i = is_query ? other : own, j = is_query ? own : other;
            if (Flips(given, Pair(given, item, i, j, detector)).of_query == is_query)
                sum += static_cast<const Sum*>(
                    given.du)[(item * given.pairs + pair_of(i, j)) * given.detectors + detector];
        }
        sum = sum_of_warps(sum);
        if (threadIdx.x >= 32) continue;
        // All pairs in which the detector's bit of this position flips have the same two inputs.
        const int32_t bit = is_one ? given.found.min_delta_index[position * given.detectors + detector] : -1;
        const int32_t* const inputs = given.anchors + (detector * ANCHORS + (bit < 0 ? 0 : bit)) * 2;
        add_in_order(dx, bit < 0 ? -1 : inputs[0], sum);
        add_in_order(dx, bit < 0 ? -1 : inputs[1], -sum);
    }
    device::sync_block();  // the first warp has added to dx
    float* const to = static_cast<float*>(given.dx) + position * given.inputs;
    for (int64_t i = threadIdx.x; i < given.inputs; i += THREADS)
        to[i] = static_cast<float>(value_of(dx[i], given.scale, given.fault + fault_dx));
}

// Grid: S - 1. Thread block d owns the distance j - i = d + 1, with S - 1 - d pairs per sequence:
//   positional_du [B, pairs, T], pairs (0, d + 1), (1, d + 2), … of all sequences
//   dpositional [S - 1, T, P]   the sum at the weakest bit, zeros at the other bits
extern "C" __global__ void __launch_bounds__(THREADS) distance_gradients(Arguments given) {
    const int64_t distance = blockIdx.x, of_item = given.length - 1 - distance;  // pairs of a sequence
    for (int64_t first = 0; first < given.detectors; first += 32) {
        const int64_t detector = first + device::lane_of_thread();
        const bool is_one = detector < given.detectors;
        Sum sum = 0;
        for (int64_t m = device::warp_of_thread(); is_one && m < given.sequences * of_item; m += all_warps) {
            const int64_t i = m % of_item, pair = m / of_item * given.pairs + pair_of(i, i + distance + 1);
            sum += static_cast<const Sum*>(given.positional_du)[pair * given.detectors + detector];
        }
        sum = sum_of_warps(sum);
        if (threadIdx.x >= 32 || !is_one) continue;
        const int64_t at = distance * given.detectors + detector;
        const int32_t bit = given.distances.min_delta_index[at];
        const auto value = static_cast<float>(value_of(sum, given.scale, given.fault + fault_dpositional));
        for (int r = 0; r < POSITIONAL; ++r)
            static_cast<float*>(given.dpositional)[at * POSITIONAL + r] = r == bit ? value : 0;
    }
}

}  // namespace sawtooth::lut_sequence
