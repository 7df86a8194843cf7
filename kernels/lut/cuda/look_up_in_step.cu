// The forward pass of the variant fused, for fully connected tables and many items: it reads less from L2
// than look_up.cu. A thread block fills an SM, and its threads go through the detectors in step, for ITEMS
// items but only a slice of SLICE outputs. Items that choose the same row read it at about the same time, so
// that it comes from L2 once and then from L1: 256 items choose about 162 of 256 rows, 512 items about 221.
//
// Defines: ANCHORS (detectors.cuh), INPUTS, OUTPUTS, ITEMS, SLICE, CLUSTER (the
// thread blocks of a cluster, which divides the number of slices), THREADS, SHARED_BYTES. The number of
// detectors is a multiple of 8.

#include "kernels/cuda/device/copy_async.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/detectors.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

extern __shared__ __align__(16) float room[];

namespace {

constexpr int chunk = 8;  // detectors that a warp compares, and detectors between two barriers
constexpr int lanes = SLICE / 4, groups = THREADS / lanes, items_of_thread = ITEMS / groups;
constexpr int step =
    4 / items_of_thread;  // detectors whose rows are loaded while the previous ones are added
constexpr int64_t table_size = int64_t{OUTPUTS} << ANCHORS;
constexpr int buffers = 4;                   // a power of two, at least 3
constexpr int pitch = 33, patch_pitch = 36;  // without bank conflicts

static_assert(groups * items_of_thread == ITEMS && step * items_of_thread == 4 && chunk % step == 0);
static_assert(ITEMS % (32 * CLUSTER) == 0, "each block of a cluster detects for as many items");
static_assert(SHARED_BYTES >= 4 * INPUTS * pitch && SHARED_BYTES >= THREADS / 8 * chunk * patch_pitch &&
              SHARED_BYTES >= buffers * 4 * ITEMS * chunk);

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

// Compares the pairs of all detectors for the items of this thread block: of the 32 items after 32 items of
// its cluster, it has every CLUSTER-th. Lane l has item l, so that reads of `room`, [INPUTS, pitch], meet no
// bank conflicts.
__device__ void detect_part(const Arguments& given, int64_t first_of_cluster) {
    const int lane = device::lane_of_thread();
    const Found& to = given.found;
    const char* const own = reinterpret_cast<const char*>(room + lane);
    for (int part = blockIdx.x % CLUSTER; part < ITEMS / 32; part += CLUSTER) {
        const int64_t first_item = first_of_cluster + 32 * part, left = given.batch - first_item;
        if (left <= 0) return;
        const int items = left < 32 ? static_cast<int>(left) : 32, last = items * INPUTS - 1;
        const float* const x = given.x + first_item * INPUTS;
        for (int64_t all = 0; all < given.detectors; all += THREADS / 32 * chunk) {
#pragma unroll 8
            for (int n = 0; n < 32 * INPUTS; n += THREADS) {
                const int i = n + static_cast<int>(threadIdx.x) < last ? n + threadIdx.x : last;
                room[i % INPUTS * pitch + i / INPUTS] = x[i];
            }
            device::sync_block();  // the inputs are visible to the whole block
            const int64_t first = all + chunk * device::warp_of_thread();
            Detected found[chunk];
            if (first < given.detectors)
#pragma unroll
                for (int d = 0; d < chunk; ++d)
                    found[d] =
                        detect(Pairs(given.anchors + (first + d) * ANCHORS * 2), given.eps,
                               [&](int i) { return *reinterpret_cast<const float*>(own + i * (4 * pitch)); });
            device::sync_block();  // the inputs have been read: patches take their place
            if (first < given.detectors) {
                const int64_t at = first_item * given.detectors + first;
                store_of_warp(found, &Detected::bits, to.lookup_index + at, items, given.detectors);
                if (blockIdx.x < CLUSTER) {  // other clusters find the same for these items
                    store_of_warp(found, &Detected::weakest, to.min_delta + at, items, given.detectors);
                    store_of_warp(found, &Detected::index, to.min_delta_index + at, items, given.detectors);
                }
            }
            device::sync_block();  // the patches have been read: the next inputs take their place
        }
    }
}

// The rows that the items of the thread block choose, for a chunk of detectors: one of `buffers` buffers,
// [ITEMS, chunk].
__device__ int32_t* rows_of(int64_t first_detector) {
    return reinterpret_cast<int32_t*>(room) + first_detector / chunk % buffers * (ITEMS * chunk);
}

// Starts to copy them, if there are such detectors. Copies of 16 bytes bypass L1, which is for tables. Items
// beyond the batch have row 0.
__device__ void copy_rows(const Arguments& given, int64_t first_item, int64_t first_detector) {
    constexpr int copies = chunk / 4;  // of an item
    if (first_detector >= given.detectors) return;
#pragma unroll
    for (int n = 0; n < ITEMS * copies; n += THREADS) {
        const int i = n + threadIdx.x;
        const int64_t item = first_item + i / copies;
        const bool there = item < given.batch;
        if (i < ITEMS * copies)
            device::copy_async<16>(rows_of(first_detector) + 4 * i,
                                   given.found.lookup_index + (there ? item : 0) * given.detectors +
                                       first_detector + 4 * (i % copies),
                                   there);
    }
}

// The rows that the items of a thread choose, for `step` detectors from `detector` of a chunk on.
struct Chosen {
    uint32_t of[step][items_of_thread];

    __device__ void load(const int32_t* rows, int detector) {
#pragma unroll
        for (int d = 0; d < step; ++d)
#pragma unroll
            for (int k = 0; k < items_of_thread; ++k)
                of[d][k] = rows[(threadIdx.x / lanes + k * groups) * chunk + detector + d];
    }
};

// Four weights of each of these rows.
struct Weights {
    float4 of[step][items_of_thread] = {};

    // `tables` are those of the chunk, and begin at the outputs of the thread.
    __device__ void load(const float* tables, int detector, const Chosen& rows) {
#pragma unroll
        for (int d = 0; d < step; ++d)
#pragma unroll
            for (int k = 0; k < items_of_thread; ++k)
                of[d][k] = *reinterpret_cast<const float4*>(tables + (detector + d) * table_size +
                                                            uint64_t{rows.of[d][k]} * OUTPUTS);
    }
    __device__ void add_to(float4 (&sums)[items_of_thread]) const {
#pragma unroll
        for (int d = 0; d < step; ++d)
#pragma unroll
            for (int k = 0; k < items_of_thread; ++k) {
                sums[k].x += of[d][k].x, sums[k].y += of[d][k].y;
                sums[k].z += of[d][k].z, sums[k].w += of[d][k].w;
            }
    }
};

}  // namespace

// Grid: outputs / SLICE, ceil(B / ITEMS). Thread block (s, i) owns slice s of the items i ITEMS … + ITEMS -
// 1; the blocks of a cluster have the same items, and each detects for a part of them. Then thread group *
// lanes + lane sums the outputs 4 lane … + 3 of the slice for the items group, group + groups, … With 256
// items, 32 outputs, 1024 threads:
//   threads   0 … 7    8 … 15   …   1016 … 1023      8 lanes with 16 bytes read a line of L1
//   items     0, 128   1, 129   …   127, 255
//   reads    x [B, inputs], anchors [T, C, 2], weights [T, rows, outputs]
//   writes   lookup_index, min_delta, min_delta_index [B, T], y [B, outputs]
// Every sum goes through the detectors in their order.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS)
    look_up_in_step(Arguments given) {
    const int64_t first_item = int64_t{blockIdx.y} * ITEMS;
    detect_part(given, first_item);
    device::sync_cluster();  // the rows that the cluster found are visible to it, and `room` is free
    copy_rows(given, first_item, 0);
    copy_rows(given, first_item, chunk);

    const int64_t o = int64_t{blockIdx.x} * SLICE + 4 * (threadIdx.x % lanes);
    const float* tables = given.table.weights + o;
    float4 sums[items_of_thread] = {};
    Weights weights;
    Chosen rows;
    device::wait_for_copies();
    device::sync_block();  // the rows of the first two chunks are visible to the whole block
    rows.load(rows_of(0), 0);
    for (int64_t first = 0; first < given.detectors; first += chunk) {
        copy_rows(given, first_item, first + 2 * chunk);
#pragma unroll
        for (int t = 0; t < chunk; t += step) {
            Weights next;
            next.load(tables, t, rows);
            const int following = t + step;
            rows.load(rows_of(first + following), following % chunk);
            weights.add_to(sums);
            weights = next;
        }
        tables += chunk * table_size;
        device::wait_for_copies();
        // The chunk after the next is visible, the buffer of this one is free, and no warp is far ahead. The
        // last loads of weights are still in flight.
        device::sync_block();
    }
    weights.add_to(sums);
    float* const y = static_cast<float*>(given.y) + o;
#pragma unroll
    for (int k = 0; k < items_of_thread; ++k) {
        const int64_t item = first_item + threadIdx.x / lanes + k * groups;
        if (item < given.batch) *reinterpret_cast<float4*>(y + item * OUTPUTS) = sums[k];
    }
}
