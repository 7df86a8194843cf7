// The variant fused, for full tables of floats and many items: compares the pairs of all detectors. Besides
// what the detectors find, it writes both rows that an item chooses of a table (slices.cuh), for neighbouring
// items side by side.
//
// Defines: ANCHORS (detectors.cuh), SPARSE, ALIGNED, INTEGER, INPUTS, THREADS, SHARED_BYTES. Detectors are a
// multiple of 8.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/detectors.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

extern __shared__ __align__(16) float room[];

namespace {

constexpr int warps = THREADS / 32;
constexpr int pitch = 33, patch_pitch = 36;  // without bank conflicts

static_assert(SHARED_BYTES >= 4 * INPUTS * pitch && SHARED_BYTES >= 4 * warps * chunk * patch_pitch);

// Stores one number of what the lanes of a warp found: lane l has item l and a chunk of detectors. Memory is
// [items, T], so they change places in the patch of the warp, [chunk, patch_pitch].
template <class Number>
__device__ void store_of_warp(const Detected (&mine)[chunk], Number Detected::*number, Number* to, int items,
                              int64_t detectors) {
    const int lane = device::lane_of_thread(), detector = lane % chunk;
    Number* const patch = reinterpret_cast<Number*>(room) + device::warp_of_thread() * chunk * patch_pitch;
#pragma unroll
    for (int d = 0; d < chunk; ++d) patch[d * patch_pitch + lane] = mine[d].*number;
    device::sync_warp();  // the numbers of all lanes are visible to the warp
#pragma unroll
    for (int item = lane / chunk; item < 32; item += 32 / chunk)
        if (item < items) to[item * detectors + detector] = patch[detector * patch_pitch + item];
    device::sync_warp();  // the patch is free
}

}  // namespace

// Grid: padded items / 32. Thread block b owns the items 32 b … + 31; lane l has item l, so that reads of the
// inputs in `room`, [INPUTS, pitch], meet no bank conflicts. A warp owns eight detectors at a time:
//   warp         0       1        …   warps - 1      then 8 warps detectors further on
//   detectors    0 … 7   8 … 15
//   reads    x [B, inputs], anchors [T, C, 2]
//   writes   lookup_index, min_delta, min_delta_index [B, T], choices [T, padded items]
extern "C" __global__ void __launch_bounds__(THREADS) choose_rows(Arguments given) {
    const int lane = device::lane_of_thread();
    const int64_t first_item = int64_t{blockIdx.x} * 32, left = given.batch - first_item;
    const int items = left <= 0 ? 0 : left < 32 ? static_cast<int>(left) : 32;
    const float* const x = given.x + first_item * INPUTS;
    const char* const own = reinterpret_cast<const char*>(room + lane);
    for (int64_t all = 0; all < given.detectors; all += warps * chunk) {
#pragma unroll 8
        for (int i = threadIdx.x; i < 32 * INPUTS; i += THREADS)
            room[i % INPUTS * pitch + i / INPUTS] = i < items * INPUTS ? x[i] : 0;
        device::sync_block();  // the inputs are visible to the whole block
        const int64_t first = all + chunk * device::warp_of_thread();
        Detected found[chunk];
        if (first < given.detectors)
#pragma unroll
            for (int d = 0; d < chunk; ++d) {
                found[d] = detect(Pairs(given.anchors + (first + d) * ANCHORS * 2), given.eps, [&](int i) {
                    return *reinterpret_cast<const float*>(own + i * (4 * pitch));
                });
                const int flipped = found[d].index < 0 ? 0 : 1 << found[d].index;
                given.row_choices[(first + d) * given.padded_items + first_item + lane] = {
                    static_cast<uint8_t>(found[d].bits), static_cast<uint8_t>(found[d].bits ^ flipped)};
            }
        device::sync_block();  // the inputs have been read: patches take their place
        if (first < given.detectors) {
            const int64_t at = first_item * given.detectors + first;
            store_of_warp(found, &Detected::bits, given.found.lookup_index + at, items, given.detectors);
            store_of_warp(found, &Detected::weakest, given.found.min_delta + at, items, given.detectors);
            store_of_warp(found, &Detected::index, given.found.min_delta_index + at, items, given.detectors);
        }
        device::sync_block();  // the patches have been read: the next inputs take their place
    }
}
