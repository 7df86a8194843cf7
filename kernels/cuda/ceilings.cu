// Kernels that do one thing as fast as the chip can, with which profiling measures the limits of a GPU. They
// belong to no family. Results are stored only if they have a value that never occurs, so that the compiler
// keeps the work but nothing is written to memory.
//
//   empty, empty_programmatic     nothing: the cost of a launch
//   triad                         to[i] = left[i] + 3 right[i]: two read, one written
//   read_l2                       reads an array that fits into L2 again and again, past L1
//   multiply_add                  f32 fma in registers; 256 operations per thread and step
//   products                      bf16 products with f32 sums on the tensor cores, see below
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/types.cuh"

extern "C" __global__ void empty() {}

// Lets the next launch start before this one ends, if the chip supports it (sm_90 and later).
extern "C" __global__ void empty_programmatic() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

extern "C" __global__ void __launch_bounds__(256)
    triad(const float4* left, const float4* right, float4* to, int64_t count) {
    const int64_t i = int64_t{blockIdx.x} * 256 + threadIdx.x;
    if (i >= count) return;
    const float4 a = left[i], b = right[i];
    to[i] = {a.x + 3 * b.x, a.y + 3 * b.y, a.z + 3 * b.z, a.w + 3 * b.w};
}

extern "C" __global__ void __launch_bounds__(256)
    read_l2(const uint4* from, int64_t count, uint32_t* never, int steps) {
    constexpr int unrolled = 4;  // reads under way at once
    const int64_t stride = int64_t{gridDim.x} * 256;
    uint32_t bits = 0;
    for (int step = 0; step < steps; ++step)
        for (int64_t i = int64_t{blockIdx.x} * 256 + threadIdx.x; i < count; i += unrolled * stride) {
            uint4 values[unrolled];
#pragma unroll
            for (int k = 0; k < unrolled; ++k)
                if (i + k * stride < count) values[k] = __ldcg(from + i + k * stride);
#pragma unroll
            for (int k = 0; k < unrolled; ++k)
                if (i + k * stride < count) bits |= values[k].x | values[k].y | values[k].z | values[k].w;
        }
    if (bits != 0) *never = bits;  // the array is all zeros
}

extern "C" __global__ void __launch_bounds__(256) multiply_add(float* never, int steps) {
    constexpr int chains = 8;  // independent of each other, so that none waits
    constexpr int unrolled = 16;
    float x[chains];
    for (int c = 0; c < chains; ++c) x[c] = threadIdx.x + c;
    for (int step = 0; step < steps; ++step)
#pragma unroll
        for (int k = 0; k < unrolled; ++k)
#pragma unroll
            for (int c = 0; c < chains; ++c) x[c] = __fmaf_rn(x[c], 0.999f, 0.001f);
    float sum = 0;
    for (int c = 0; c < chains; ++c) sum += x[c];
    if (sum == -1.0f) *never = sum;  // x stays positive
}

// Returns two bf16 of either sign from 0.5 to 1 with mixed bits. Zeros would need less power and run faster
// than any real product.
__device__ uint32_t two_values(uint32_t seed) {
    uint32_t bits = seed * 2654435761u;
    bits ^= bits >> 15;
    bits *= 2246822519u;
    bits ^= bits >> 13;
    return (bits & 0x807F807Fu) | 0x3F003F00u;
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// On Hopper: two warpgroups per block, each with [64, 16] x [16, 256] products from shared memory (wgmma), 16
// per step. A tile is stored as "core matrices" of 8 rows of 16 bytes, neighbours along K first: no swizzle,
// no bank conflicts.
constexpr int warpgroups = 2;
constexpr int slices = 2;  // tiles along K, used alternately
constexpr int products_a_step = 16;
constexpr int words_of_a = 64 * 16 / 2, words_of_b = 256 * 16 / 2;

// Returns the wgmma descriptor of a tile: its address, and the distances of core matrices along K and along
// the rows, in units of 16 bytes.
__device__ uint64_t descriptor(const uint32_t* tile) {
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
    constexpr uint64_t along_k = 128 >> 4, along_rows = 256 >> 4;
    return ((address & 0x3FFFF) >> 4) | (along_k << 16) | (along_rows << 32);
}

#define SUM_1(i) "+f"(sums[i])
#define SUM_8(i) \
    SUM_1(i), SUM_1(i + 1), SUM_1(i + 2), SUM_1(i + 3), SUM_1(i + 4), SUM_1(i + 5), SUM_1(i + 6), SUM_1(i + 7)
#define SUM_32(i) SUM_8(i), SUM_8(i + 8), SUM_8(i + 16), SUM_8(i + 24)

// sums += A B; each thread owns 128 of the 64 x 256 sums.
__device__ void multiply(float (&sums)[128], uint64_t a, uint64_t b) {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, 1, 0;"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127 "
        "}, %128, %129, p, 1, 1, 0, 0; }"
        : SUM_32(0), SUM_32(32), SUM_32(64), SUM_32(96)
        : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(128 * warpgroups) products(float* never, int steps) {
    __shared__ alignas(128) uint32_t a[warpgroups][slices][words_of_a];
    __shared__ alignas(128) uint32_t b[slices][words_of_b];
    for (int i = threadIdx.x; i < warpgroups * slices * words_of_a; i += blockDim.x)
        (&a[0][0][0])[i] = two_values(i);
    for (int i = threadIdx.x; i < slices * words_of_b; i += blockDim.x) (&b[0][0])[i] = two_values(~i);
    // Tensor cores read shared memory through a different proxy than the stores above use.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    sawtooth::device::sync_block();

    float sums[128] = {};
    for (int step = 0; step < steps; ++step) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < products_a_step; ++k)
            multiply(sums, descriptor(a[threadIdx.x / 128][k % slices]), descriptor(b[k % slices]));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    float sum = 0;
    for (int i = 0; i < 128; ++i) sum += sums[i];
    if (sum == 0.123456f) *never = sum;
}

#else
// On other chips: 8 warps per block, each with 8 sums of [16, 16] x [16, 8] products from registers
// (mma.sync), 8 x 8 of them per step. This reaches the peak of sm_80 to sm_89 and of sm_120; the tensor cores
// of sm_100 can do more with instructions that only they have.
extern "C" __global__ void __launch_bounds__(256) products(float* never, int steps) {
    constexpr int tiles = 8, unrolled = 8;
    uint32_t a[4], b[2];
    for (int i = 0; i < 4; ++i) a[i] = two_values(threadIdx.x * 6 + i);
    for (int i = 0; i < 2; ++i) b[i] = two_values(threadIdx.x * 6 + 4 + i);
    float sums[tiles][4] = {};
    for (int step = 0; step < steps; ++step)
#pragma unroll
        for (int k = 0; k < unrolled; ++k)
#pragma unroll
            for (auto& tile : sums)
                asm volatile(
                    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                    "{%8, %9}, {%0, %1, %2, %3};"
                    : "+f"(tile[0]), "+f"(tile[1]), "+f"(tile[2]), "+f"(tile[3])
                    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    float sum = 0;
    for (const auto& tile : sums) sum += tile[0] + tile[1] + tile[2] + tile[3];
    if (sum == 0.123456f) *never = sum;
}
#endif
