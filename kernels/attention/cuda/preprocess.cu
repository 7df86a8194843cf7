// delta_i = sum of o_id do_id, for BLOCK_M queries of a head per thread block. A warp sums one row at a time,
// or several if HEAD is a power of two below 64. With CLEARS it also sets dq1 and dq2 to 0, to which
// backward_wgmma.cu adds; HEAD is then a multiple of 4.
//
// Defines: THREADS, SHARED_BYTES, BLOCK_M, HEAD, STORAGE, CLEARS.

#include "kernels/attention/cuda/arguments.cuh"
#include "kernels/cuda/device/reductions.cuh"
#include "kernels/cuda/device/words.cuh"

using namespace sawtooth;
using Storage = device::STORAGE;
static_assert(SHARED_BYTES == 0, "no shared memory");

__device__ float element(const void* rows, int64_t at) {
    return Storage::widen(static_cast<const Storage::Word*>(rows)[at]);
}

extern "C" __global__ void __launch_bounds__(THREADS) preprocess(attention::Arguments given) {
    // A row is spread over lanes. A lane has neighbours of a row that the lanes divide, or every 32nd number.
    constexpr bool divides = (HEAD & (HEAD - 1)) == 0 && HEAD <= 128;
    constexpr int lanes = divides && HEAD / 2 < 32 ? HEAD / 2 : 32, each = divides ? HEAD / lanes : 1;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    for (int row = static_cast<int>(threadIdx.x) / lanes; row < BLOCK_M; row += THREADS / lanes) {
        const int64_t query = static_cast<int64_t>(blockIdx.x) * BLOCK_M + row;
        const int64_t at = static_cast<int64_t>(blockIdx.y) * given.queries + query;
        float sum = 0;
        if (!divides && query < given.queries)
            for (int k = lane; k < HEAD; k += lanes)
                sum += element(given.o, at * HEAD + k) * element(given.dout, at * HEAD + k);
        if (divides && query < given.queries) {
            float o[each], dout[each];
            device::load<Storage>(given.o, at * HEAD + lane * each, o);
            device::load<Storage>(given.dout, at * HEAD + lane * each, dout);
#pragma unroll
            for (int k = 0; k < each; ++k) sum += o[k] * dout[k];
        }
        sum = device::sum_of_lanes<lanes>(sum);
        if (lane == 0 && query < given.queries) given.delta[at] = sum;
    }
    if constexpr (CLEARS) {
        const int64_t first = static_cast<int64_t>(blockIdx.x) * BLOCK_M;
        const int64_t from = (static_cast<int64_t>(blockIdx.y) * given.queries + first) * HEAD / 4;
        const int vectors =
            static_cast<int>(min(given.queries - first, static_cast<int64_t>(BLOCK_M))) * HEAD / 4;
        for (float* const to : {given.dq1, given.dq2})
            for (int i = static_cast<int>(threadIdx.x); i < vectors; i += THREADS)
                reinterpret_cast<float4*>(to)[from + i] = {0, 0, 0, 0};
    }
}
