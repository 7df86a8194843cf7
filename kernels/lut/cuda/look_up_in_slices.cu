// The forward pass of the variant fused, for full tables of floats and many items, after choose_rows.cu: sums
// the chosen rows of tables that pass through shared memory (slices.cuh).
//
// Defines: those of slices.cuh, SPARSE, ALIGNED, INTEGER, SHARED_BYTES.

#include "kernels/lut/cuda/slices.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

extern __shared__ __align__(128) char room[];

static_assert(SHARED_BYTES == sizeof(SlicesShared));

// Grid: (outputs / SLICE) PARTS, ceil(B / ITEMS). Thread block (s PARTS + p, i) owns slice s of the outputs
// of the items i ITEMS … + ITEMS - 1, and sums over part p of the detectors:
//   thread block   0        1          2            3            4         5     …      with 4 parts
//   outputs        0 … 31   0 … 31     0 … 31       0 … 31       32 … 63   32 … 63
//   detectors      0 … 63   64 … 127   128 … 191    192 … 255    0 … 63    64 … 127     of 256
//   reads    choices [T, B], weights [T, rows, outputs]
//   writes   y [B, outputs], or with several parts the sums of each, [PARTS, B, outputs]
// Every sum goes through its detectors in their order.
extern "C" __global__ void __launch_bounds__(THREADS)
    look_up_in_slices(const __grid_constant__ SliceArguments given) {
    const Arguments& rest = given.rest;
    const SliceOfBlock block(rest.detectors);
    float4 sums[items_of_thread] = {};
    for_slices(given, block, *reinterpret_cast<SlicesShared*>(room),
               [&](int64_t, const float4* table, const RowChoice* choices) {
#pragma unroll
                   for (int first = 0; first < items_of_thread; first += 8) {
                       const EightChoices eight(choices + first);
#pragma unroll
                       for (int k = 0; k < 8; ++k) {
                           const float4 row = table[eight.row(k) * lanes];
                           float4& sum = sums[first + k];
                           sum.x += row.x, sum.y += row.y, sum.z += row.z, sum.w += row.w;
                       }
                   }
               });
    float* const to =
        PARTS == 1 ? static_cast<float*>(rest.y) : rest.sums_of_parts + block.part * rest.batch * OUTPUTS;
#pragma unroll
    for (int k = 0; k < items_of_thread; ++k) {
        const int64_t item = block.item() + k;
        if (item < rest.batch) *reinterpret_cast<float4*>(to + item * OUTPUTS + block.output()) = sums[k];
    }
}
