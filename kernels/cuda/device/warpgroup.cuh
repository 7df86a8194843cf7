// Products of a warpgroup (4 warps, the first one a multiple of 4): 64 rows at a time, factors from shared
// memory (PTX ISA, wgmma; sm_90a). Sums lie as in products.cuh: warp w of the group holds rows 16 w to
// 16 w + 15 as tiles of 8 columns.
//
// A product is asynchronous: its sums and factors must not be touched until a wait. The order is
//   begin_products(); multiply…; end_products(); … wait_for_products<0>(sums);
#pragma once

#include "kernels/cuda/device/barrier.cuh"
#include "kernels/cuda/device/products.cuh"
#include "kernels/cuda/device/sync.cuh"

namespace sawtooth::device {

// A matrix of f16 or bf16 in shared memory as tensor copies leave it: rows of up to 128 bytes, in which units
// of 16 bytes are permuted within 8 rows (the swizzle of the size of a row), so that there are no bank
// conflicts. The first row is aligned to 8 rows. Wider matrices are several such matrices, `next` bytes
// apart.
template <int row_bytes>
struct Swizzled {
    static_assert(row_bytes == 32 || row_bytes == 64 || row_bytes == 128);

    // Describes 16 columns of the rows that start `bytes` after `from`; rows are those of the left factor, or
    // columns of the right one. If `bytes` is constant, the steps of a product differ by one addition.
    static __device__ uint64_t rows(const void* from, int bytes) { return described(from, bytes, 1); }
    // Describes 16 rows of a right factor that is stored as is. `next` is used only if the factor is wider
    // than a row.
    static __device__ uint64_t columns(const void* from, int bytes, int next) {
        return described(from, bytes, next / 16);
    }

    // Returns where `bytes` of a row lie, in bytes from the first row.
    static __device__ int offset(int row, int bytes) {
        const int at = row * row_bytes + bytes;
        return at ^ (at >> 3 & (row_bytes - 16));
    }

  private:
    static __device__ uint64_t described(const void* from, int bytes, int leading) {
        constexpr uint32_t swizzle = row_bytes == 128 ? 1 : row_bytes == 64 ? 2 : 3;
        constexpr uint64_t upper = swizzle << 30 | 8 * row_bytes / 16;  // 8 rows
        return upper << 32 |
               ((shared_address(from) >> 4) + static_cast<uint32_t>(bytes / 16 + (leading << 16)));
    }
};

// Tells the compiler that sums and factors in registers are read and written here.
template <int tiles>
__device__ void keep_in_place(Tile (&all)[tiles]) {
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at) asm volatile("" : "+f"(all[n][at])::"memory");
}

__device__ inline void begin_products() {
    jitter();  // only here: after the fence as well, the compiler would add another fence
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits for all but the last `batches` batches.
template <int batches>
__device__ void wait_for_products() {
    jitter();
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(batches) : "memory");
    jitter();
}

// Keeps the computation of all numbers before the next wait. The assembler moves waits up to the products
// before them, where nothing runs beside the tensor cores; a branch that depends on the numbers stops it. It
// is hardly ever taken, and then does nothing.
template <int tiles>
__device__ void finish_before_wait(const Tile (&all)[tiles]) {
    uint32_t word = 0;
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at) word ^= __float_as_uint(all[n][at]);
    asm volatile(
        "{\n"
        ".reg .pred rare;\n"
        "setp.eq.u32 rare, %0, 0x7f7fffff;\n"
        "@rare nanosleep.u32 0;\n"
        "}\n" ::"r"(word)
        : "memory");
}

// Makes earlier stores to shared memory visible to products of the group that start after a barrier.
__device__ inline void make_stores_visible_to_products() {
    jitter();
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    jitter();
}

// Like sync_group (sync.cuh); also tells whether `mine` holds for any of its threads.
__device__ inline bool any_of_group(bool mine) {
    int any;
    jitter();
    asm volatile(
        "{\n"
        ".reg .pred mine, any;\n"
        "setp.ne.b32 mine, %2, 0;\n"
        "barrier.cta.red.or.aligned.pred any, %1, 128, mine;\n"
        "selp.b32 %0, 1, 0, any;\n"
        "}\n"
        : "=r"(any)
        : "r"(static_cast<int>(threadIdx.x / 128) + 1), "r"(static_cast<int>(mine))
        : "memory");
    jitter();
    return any != 0;
}

// Two groups take turns: each waits until the other one has passed the turn to it.
__device__ inline void wait_for_turn(int group) {
    jitter();
    asm volatile("barrier.cta.sync.aligned %0, 256;" ::"r"(group + 8) : "memory");
    jitter();
}
__device__ inline void pass_turn(int group) {
    jitter();
    asm volatile("barrier.cta.arrive.aligned %0, 256;" ::"r"(group + 8) : "memory");
    jitter();
}

// Sets the number of registers per thread, called by all warps of a group: takes registers beyond those that
// a thread starts with, or gives some of them back. Ignored unless __launch_bounds__ names the blocks of a
// multiprocessor.
template <int registers>
__device__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ void keep_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

// The instruction for a step of 16 inner columns (tf32: 8), for sums of `columns` tiles.
template <Precision precision, int columns>
struct WarpgroupStep;

// The operand lists of 2 to 32 tiles.
#define SAWTOOTH_NAMES_2 "%0, %1, %2, %3, %4, %5, %6, %7"
#define SAWTOOTH_NAMES_4 SAWTOOTH_NAMES_2 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define SAWTOOTH_NAMES_8 \
    SAWTOOTH_NAMES_4     \
    ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define SAWTOOTH_NAMES_16                                                                          \
    SAWTOOTH_NAMES_8                                                                               \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, " \
    "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SAWTOOTH_NAMES_32                                                                          \
    SAWTOOTH_NAMES_16                                                                              \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, " \
    "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, "   \
    "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, "   \
    "%115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SAWTOOTH_TILE(n) "+f"(sums[n][0]), "+f"(sums[n][1]), "+f"(sums[n][2]), "+f"(sums[n][3])
#define SAWTOOTH_TILES_2(n) SAWTOOTH_TILE(n), SAWTOOTH_TILE(n + 1)
#define SAWTOOTH_TILES_4(n) SAWTOOTH_TILES_2(n), SAWTOOTH_TILES_2(n + 2)
#define SAWTOOTH_TILES_8(n) SAWTOOTH_TILES_4(n), SAWTOOTH_TILES_4(n + 4)
#define SAWTOOTH_TILES_16(n) SAWTOOTH_TILES_8(n), SAWTOOTH_TILES_8(n + 8)
#define SAWTOOTH_TILES_32(n) SAWTOOTH_TILES_16(n), SAWTOOTH_TILES_16(n + 16)

// Steps with both factors in shared memory, or with the left one in registers. The sums begin as zeros unless
// the step `keeps` them. o1 … o7 are the operands after the sums.
#define SAWTOOTH_WARPGROUP_STEP(PRECISION, TILES, WIDTH, o1, o2, o3, o4, o5, o6, o7)                        \
    template <>                                                                                             \
    struct WarpgroupStep<Precision::PRECISION, TILES> {                                                     \
        template <bool right_in_rows, bool left_in_columns = false>                                         \
        static __device__ void add(Tile (&sums)[TILES], uint64_t left, uint64_t right, int keeps) {         \
            asm volatile("{\n.reg .pred keeps;\nsetp.ne.b32 keeps, " o3                                     \
                         ", 0;\n"                                                                           \
                         "wgmma.mma_async.sync.aligned.m64n" #WIDTH "k16.f32." #PRECISION "." #PRECISION    \
                         " {" SAWTOOTH_NAMES_##TILES "}, " o1 ", " o2 ", keeps, 1, 1, " o4 ", " o5 ";\n}\n" \
                         : SAWTOOTH_TILES_##TILES(0)                                                        \
                         : "l"(left), "l"(right), "r"(keeps), "n"(left_in_columns ? 1 : 0),                 \
                           "n"(right_in_rows ? 1 : 0));                                                     \
        }                                                                                                   \
        template <bool right_in_rows>                                                                       \
        static __device__ void add(Tile (&sums)[TILES], const Products<Precision::PRECISION>::Left& left,   \
                                   uint64_t right, int keeps = 1) {                                         \
            asm volatile("{\n.reg .pred keeps;\nsetp.ne.b32 keeps, " o6                                     \
                         ", 0;\n"                                                                           \
                         "wgmma.mma_async.sync.aligned.m64n" #WIDTH "k16.f32." #PRECISION "." #PRECISION    \
                         " {" SAWTOOTH_NAMES_##TILES "}, {" o1 ", " o2 ", " o3 ", " o4 "}, " o5             \
                                                     ", keeps, 1, 1, " o7 ";\n}\n"                          \
                         : SAWTOOTH_TILES_##TILES(0)                                                        \
                         : "r"(left.a[0]), "r"(left.a[1]), "r"(left.a[2]), "r"(left.a[3]), "l"(right),      \
                           "r"(keeps), "n"(right_in_rows ? 1 : 0));                                         \
        }                                                                                                   \
    };
SAWTOOTH_WARPGROUP_STEP(bf16, 2, 16, "%8", "%9", "%10", "%11", "%12", "%13", "%14")
SAWTOOTH_WARPGROUP_STEP(f16, 2, 16, "%8", "%9", "%10", "%11", "%12", "%13", "%14")
SAWTOOTH_WARPGROUP_STEP(bf16, 4, 32, "%16", "%17", "%18", "%19", "%20", "%21", "%22")
SAWTOOTH_WARPGROUP_STEP(f16, 4, 32, "%16", "%17", "%18", "%19", "%20", "%21", "%22")
SAWTOOTH_WARPGROUP_STEP(bf16, 8, 64, "%32", "%33", "%34", "%35", "%36", "%37", "%38")
SAWTOOTH_WARPGROUP_STEP(f16, 8, 64, "%32", "%33", "%34", "%35", "%36", "%37", "%38")
SAWTOOTH_WARPGROUP_STEP(bf16, 16, 128, "%64", "%65", "%66", "%67", "%68", "%69", "%70")
SAWTOOTH_WARPGROUP_STEP(f16, 16, 128, "%64", "%65", "%66", "%67", "%68", "%69", "%70")
SAWTOOTH_WARPGROUP_STEP(bf16, 32, 256, "%128", "%129", "%130", "%131", "%132", "%133", "%134")
SAWTOOTH_WARPGROUP_STEP(f16, 32, 256, "%128", "%129", "%130", "%131", "%132", "%133", "%134")
#undef SAWTOOTH_WARPGROUP_STEP

// Steps of 8 inner columns in tf32, with the left factor in registers: of rows g and g + 8 lane (g, q) has
//   left[0], left[1] = column q of both rows;  left[2], left[3] = column q + 4.
// The right factor is stored transposed, in rows of 8 f32 per step. Of both factors the upper 19 bits count.
#define SAWTOOTH_WARPGROUP_STEP(TILES, WIDTH, o1, o2, o3, o4, o5, o6)                                       \
    template <>                                                                                             \
    struct WarpgroupStep<Precision::tf32, TILES> {                                                          \
        static __device__ void add(Tile (&sums)[TILES], const uint32_t (&left)[4], uint64_t right,          \
                                   int keeps) {                                                             \
            asm volatile("{\n.reg .pred keeps;\nsetp.ne.b32 keeps, " o6                                     \
                         ", 0;\n"                                                                           \
                         "wgmma.mma_async.sync.aligned.m64n" #WIDTH                                         \
                         "k8.f32.tf32.tf32"                                                                 \
                         " {" SAWTOOTH_NAMES_##TILES "}, {" o1 ", " o2 ", " o3 ", " o4 "}, " o5             \
                                                     ", keeps, 1, 1;\n}\n"                                  \
                         : SAWTOOTH_TILES_##TILES(0)                                                        \
                         : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right), "r"(keeps)); \
        }                                                                                                   \
    };
SAWTOOTH_WARPGROUP_STEP(2, 16, "%8", "%9", "%10", "%11", "%12", "%13")
SAWTOOTH_WARPGROUP_STEP(4, 32, "%16", "%17", "%18", "%19", "%20", "%21")
SAWTOOTH_WARPGROUP_STEP(8, 64, "%32", "%33", "%34", "%35", "%36", "%37")
SAWTOOTH_WARPGROUP_STEP(16, 128, "%64", "%65", "%66", "%67", "%68", "%69")
#undef SAWTOOTH_WARPGROUP_STEP
#undef SAWTOOTH_NAMES_2
#undef SAWTOOTH_TILES_2
#undef SAWTOOTH_NAMES_4
#undef SAWTOOTH_TILES_4
#undef SAWTOOTH_NAMES_8
#undef SAWTOOTH_TILES_8
#undef SAWTOOTH_NAMES_16
#undef SAWTOOTH_TILES_16
#undef SAWTOOTH_NAMES_32
#undef SAWTOOTH_TILES_32
#undef SAWTOOTH_TILE

}  // namespace sawtooth::device
