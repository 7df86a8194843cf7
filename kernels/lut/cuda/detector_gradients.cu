// The variant fused, for full tables of floats and many items: parts of the gradient g of every detector,
// from tables that pass through shared memory (slices.cuh). With two slices of two outputs:
//   g = dy_0 (w(n, 0) - w(n', 0)) + dy_1 (…)    slice 0
//     + dy_2 (w(n, 2) - w(n', 2)) + dy_3 (…)    slice 1; input_gradients.cu adds the slices
//
// Defines: those of slices.cuh, SPARSE, ALIGNED, INTEGER, SHARED_BYTES.

#include "kernels/cuda/device/reductions.cuh"
#include "kernels/lut/cuda/slices.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

extern __shared__ __align__(128) char room[];

namespace {

struct Shared : SlicesShared {
    float gradients[chunk][ITEMS];
};

static_assert(SHARED_BYTES == sizeof(Shared) && lanes == 8);

// Writes g of a chunk of detectors for the items of this warp; lane l has the items l and l + 32.
__device__ void write(const Arguments& given, const SliceOfBlock& block, Shared& shared, int64_t detector) {
    constexpr int items_of_warp = 32 / lanes * items_of_thread;
    device::sync_warp();  // the warp has stored g of its items
#pragma unroll
    for (int n = 0; n < items_of_warp; n += 32) {
        const int of_block = device::warp_of_thread() * items_of_warp + n + device::lane_of_thread();
        const int64_t item = block.first_item + of_block;
        float g[chunk];
#pragma unroll
        for (int d = 0; d < chunk; ++d) g[d] = shared.gradients[d][of_block];
        auto* const to = reinterpret_cast<float4*>(
            given.gradient_slices + (block.slice * given.batch + item) * given.detectors + detector);
        if (item < given.batch) to[0] = {g[0], g[1], g[2], g[3]}, to[1] = {g[4], g[5], g[6], g[7]};
    }
    device::sync_warp();  // their places are free
}

}  // namespace

// Grid: (outputs / SLICE) PARTS, ceil(B / ITEMS). Thread block (s PARTS + p, i) owns slice s of the outputs,
// part p of the detectors, and the items i ITEMS … + ITEMS - 1; threads keep dy of their items and outputs in
// registers.
//   reads    choices [T, B], weights [T, rows, outputs], dy [B, outputs]
//   writes   slices of g [outputs / SLICE, B, T]
extern "C" __global__ void __launch_bounds__(THREADS)
    detector_gradients(const __grid_constant__ SliceArguments given) {
    const SliceOfBlock block(given.rest.detectors);
    Shared& shared = *reinterpret_cast<Shared*>(room);
    float4 dy[items_of_thread] = {};
#pragma unroll
    for (int k = 0; k < items_of_thread; ++k) {
        const int64_t at = (block.item() + k) * OUTPUTS + block.output();
        if (block.item() + k < given.rest.batch) dy[k] = *reinterpret_cast<const float4*>(given.rest.dy + at);
    }
    for_slices(given, block, shared, [&](int64_t detector, const float4* table, const RowChoice* choices) {
        float* const to =
            shared.gradients[detector % chunk] + threadIdx.x / lanes * items_of_thread + threadIdx.x % lanes;
#pragma unroll
        for (int first = 0; first < items_of_thread; first += 8) {
            const EightChoices eight(choices + first);
            float g[8];
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                const float4 chosen = table[eight.row(k) * lanes],
                             other = table[eight.alternative(k) * lanes], by = dy[first + k];
                g[k] = (chosen.x - other.x) * by.x + (chosen.y - other.y) * by.y +
                       (chosen.z - other.z) * by.z + (chosen.w - other.w) * by.w;
            }
            to[first] = device::sum_of_own_number<1>(g);
        }
        if (detector % chunk == chunk - 1) write(given.rest, block, shared, detector - (chunk - 1));
    });
}
