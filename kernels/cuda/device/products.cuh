// Matrix products of a warp: to[16, 8 columns] += left[16, 8 inner] right[8 inner, 8 columns]. The left
// factor and the sums are in registers, in tiles of 16 rows by 8 columns; the right factor is in shared
// memory. Lane (g, q) = (lane / 4, lane % 4) holds of a tile
//   c[0], c[1] = row g, columns 2 q, 2 q + 1;  c[2], c[3] = row g + 8, the same columns,
//          columns  0  1 | 2  3 | 4  5 | 6  7
//   row 0          lane 0| lane1| lane2| lane3   c[0], c[1]
//   row 1          lane 4| lane5| lane6| lane7
//   …
//   row 8          lane 0| lane1| lane2| lane3   c[2], c[3]
// the layout of tensor cores (PTX ISA, "Matrix Fragments for mma"). A left factor has the same layout, so the
// result of one product is the left factor of the next. The order of the inner dimension is free as long as
// both factors agree. Sums are f32; factors are rounded to the Precision:
//   bf16  mma.m16n8k16, 8 bits of mantissa
//   f16   mma.m16n8k16, 11 bits, up to 65504
//   tf32  mma.m16n8k8, 11 bits: the upper 19 bits of an f32
//   rounded_tf32  the same, of factors that are rounded in shared memory already, not at each use
//   f32   fused multiply-adds
//   split_f32  mma.m16n8k8 three times, of factors split in two tf32 numbers: see split_products.cuh
#pragma once

#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/device/words.cuh"

namespace sawtooth::device {

using Tile = float[4];

enum class Precision { f32, split_f32, tf32, rounded_tf32, bf16, f16 };

__device__ inline uint32_t to_tf32(float value) {
    uint32_t rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
    return rounded;
}

template <Precision precision>
struct Products;

// bf16 and f16 as stored by `Half` (words.cuh).
template <class Half, bool is_bf16>
struct HalfProducts {
    using Element = uint16_t;
    static constexpr int inner = 16;  // per step
    struct Left {
        uint32_t a[4];
    };
    struct Right {
        uint32_t b[2];
    };

    static __device__ Element element(float value) { return Half::narrow(value); }
    static __device__ float value(Element element) { return Half::widen(element); }
    // Packs two neighbours, in memory order.
    static __device__ uint32_t pair(float first, float second) { return Half::narrow(first, second); }

    // The left factor from tiles of columns 0 … 7 and 8 … 15.
    static __device__ Left left(const Tile& low, const Tile& high) {
        return {{pair(low[0], low[1]), pair(low[2], low[3]), pair(high[0], high[1]), pair(high[2], high[3])}};
    }

    // Loads a left factor from shared memory: [16, stride], 16 elements of each row.
    static __device__ Left left_in_rows(const Element* from, int stride) {
        const int lane = lane_of_thread();
        const Element* const mine = from + lane % 16 * stride + lane / 16 * 8;
        Left left;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(left.a[0]), "=r"(left.a[1]), "=r"(left.a[2]), "=r"(left.a[3])
                     : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(mine)))
                     : "memory");
        return left;
    }

    // The same if it is stored transposed: [16, stride], where rows of `from` are columns of the factor.
    static __device__ Left left_in_columns(const Element* from, int stride) {
        const int lane = lane_of_thread();
        const Element* const mine = from + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8;
        Left left;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(left.a[0]), "=r"(left.a[1]), "=r"(left.a[2]), "=r"(left.a[3])
                     : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(mine)))
                     : "memory");
        return left;
    }

    // Stores a left factor to shared memory; lane l names row l % 8 of the tile whose numbers are a[l / 8].
    static __device__ void store_left(const Left& left, Element* row) {
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         static_cast<uint32_t>(__cvta_generic_to_shared(row))),
                     "r"(left.a[0]), "r"(left.a[1]), "r"(left.a[2]), "r"(left.a[3])
                     : "memory");
    }

    // The following two load two right factors [16, 8], of which the second has the next 8 columns.
    // Here rows of `from` are columns of the factor: [16, stride], 16 elements of each.
    static __device__ void right_in_columns(const Element* from, int stride, Right (&two)[2]) {
        const int lane = lane_of_thread();
        const Element* const mine = from + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(two[0].b[0]), "=r"(two[0].b[1]), "=r"(two[1].b[0]), "=r"(two[1].b[1])
                     : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(mine)))
                     : "memory");
    }
    // Here rows of `from` are rows of the factor: [16, stride], 16 elements of each.
    static __device__ void right_in_rows(const Element* from, int stride, Right (&two)[2]) {
        const int lane = lane_of_thread();
        const Element* const mine = from + lane % 16 * stride + lane / 16 * 8;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(two[0].b[0]), "=r"(two[0].b[1]), "=r"(two[1].b[0]), "=r"(two[1].b[1])
                     : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(mine)))
                     : "memory");
    }

    static __device__ void add(Tile& c, const Left& left, const Right& right) {
        if constexpr (is_bf16)
            asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                "{%8, %9}, {%0, %1, %2, %3};"
                : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                : "r"(left.a[0]), "r"(left.a[1]), "r"(left.a[2]), "r"(left.a[3]), "r"(right.b[0]),
                  "r"(right.b[1]));
        else
            asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                "{%8, %9}, {%0, %1, %2, %3};"
                : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                : "r"(left.a[0]), "r"(left.a[1]), "r"(left.a[2]), "r"(left.a[3]), "r"(right.b[0]),
                  "r"(right.b[1]));
    }
};

template <>
struct Products<Precision::bf16> : HalfProducts<bf16, true> {};
template <>
struct Products<Precision::f16> : HalfProducts<f16, false> {};

struct FloatElements {
    using Element = float;
    static __device__ Element element(float value) { return value; }
    static __device__ float value(Element element) { return element; }
};

// A step of 16 inner columns is two instructions of 8.
template <bool are_rounded>
struct Tf32Products {
    using Element = float;
    static constexpr int inner = 16;
    struct Left {
        uint32_t a[2][4];
    };
    struct Right {
        uint32_t b[2][2];
    };

    static __device__ Element element(float value) {
        return are_rounded ? __uint_as_float(to_tf32(value)) : value;
    }
    static __device__ float value(Element element) { return element; }
    static __device__ uint32_t factor(Element element) {
        return are_rounded ? __float_as_uint(element) : to_tf32(element);
    }

    static __device__ Left left(const Tile& low, const Tile& high) {
        return {{{to_tf32(low[0]), to_tf32(low[2]), to_tf32(low[1]), to_tf32(low[3])},
                 {to_tf32(high[0]), to_tf32(high[2]), to_tf32(high[1]), to_tf32(high[3])}}};
    }
    static __device__ Left left_in_rows(const Element* from, int stride) {
        Left left;
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int lower = 0; lower < 2; ++lower) {
                const float2 pair = *reinterpret_cast<const float2*>(
                    from + (lane_of_thread() / 4 + 8 * lower) * stride + 8 * half + lane_of_thread() % 4 * 2);
                left.a[half][lower] = factor(pair.x);
                left.a[half][2 + lower] = factor(pair.y);
            }
        return left;
    }

    static __device__ void right_in_columns(const Element* from, int stride, Right (&two)[2]) {
        const int g = lane_of_thread() / 4, q = lane_of_thread() % 4;
#pragma unroll
        for (int n = 0; n < 2; ++n)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float2 pair =
                    *reinterpret_cast<const float2*>(from + (8 * n + g) * stride + 8 * half + 2 * q);
                two[n].b[half][0] = factor(pair.x);
                two[n].b[half][1] = factor(pair.y);
            }
    }
    static __device__ void right_in_rows(const Element* from, int stride, Right (&two)[2]) {
        const int g = lane_of_thread() / 4, q = lane_of_thread() % 4;
#pragma unroll
        for (int n = 0; n < 2; ++n)
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int k = 0; k < 2; ++k)
                    two[n].b[half][k] = factor(from[(8 * half + 2 * q + k) * stride + 8 * n + g]);
    }

    static __device__ void add(Tile& c, const Left& left, const Right& right) {
#pragma unroll
        for (int half = 0; half < 2; ++half) add_eight(c, left.a[half], right.b[half]);
    }
    // The product of eight inner columns.
    static __device__ void add_eight(Tile& c, const uint32_t (&a)[4], const uint32_t (&b)[2]) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
            "{%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

template <>
struct Products<Precision::tf32> : Tf32Products<false> {};
template <>
struct Products<Precision::rounded_tf32> : Tf32Products<true> {};

// Every lane holds rows g and g + 8 of the left factor and columns 2 q, 2 q + 1 of the right one.
template <>
struct Products<Precision::f32> : FloatElements {
    static constexpr int inner = 8;
    struct Left {
        float a[2][8];
    };
    struct Right {
        float b[2][8];
    };

    static __device__ Left left(const Tile& tile) {
        Left left;
        const int quad = lane_of_thread() / 4 * 4;
#pragma unroll
        for (int k = 0; k < 8; ++k)
#pragma unroll
            for (int half = 0; half < 2; ++half)
                left.a[half][k] = __shfl_sync(whole_warp, tile[2 * half + k % 2], quad + k / 2);
        return left;
    }

    // Factors in shared memory as in HalfProducts, but with 8 elements of each row.
    static __device__ Left left_in_rows(const Element* from, int stride) {
        Left left;
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int k = 0; k < 8; k += 4) {
                const float4 four =
                    *reinterpret_cast<const float4*>(from + (lane_of_thread() / 4 + 8 * half) * stride + k);
                left.a[half][k] = four.x, left.a[half][k + 1] = four.y;
                left.a[half][k + 2] = four.z, left.a[half][k + 3] = four.w;
            }
        return left;
    }
    static __device__ Left left_in_columns(const Element* from, int stride) {
        Left left;
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int k = 0; k < 8; ++k) left.a[half][k] = from[k * stride + lane_of_thread() / 4 + 8 * half];
        return left;
    }

    static __device__ void right_in_columns(const Element* from, int stride, Right (&two)[2]) {
        const int q = lane_of_thread() % 4;
#pragma unroll
        for (int n = 0; n < 2; ++n)
#pragma unroll
            for (int column = 0; column < 2; ++column)
#pragma unroll
                for (int k = 0; k < 8; k += 4) {
                    const float4 four =
                        *reinterpret_cast<const float4*>(from + (8 * n + 2 * q + column) * stride + k);
                    two[n].b[column][k] = four.x, two[n].b[column][k + 1] = four.y;
                    two[n].b[column][k + 2] = four.z, two[n].b[column][k + 3] = four.w;
                }
    }
    static __device__ void right_in_rows(const Element* from, int stride, Right (&two)[2]) {
        const int q = lane_of_thread() % 4;
#pragma unroll
        for (int n = 0; n < 2; ++n)
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                const float2 pair = *reinterpret_cast<const float2*>(from + k * stride + 8 * n + 2 * q);
                two[n].b[0][k] = pair.x;
                two[n].b[1][k] = pair.y;
            }
    }

    static __device__ void add(Tile& c, const Left& left, const Right& right) {
#pragma unroll
        for (int k = 0; k < 8; ++k)
#pragma unroll
            for (int at = 0; at < 4; ++at) c[at] = fmaf(left.a[at / 2][k], right.b[at % 2][k], c[at]);
    }
};

// The layout of a factor [rows, columns] in shared memory.
enum class Lies {
    in_rows,     // as is: [rows, stride]
    in_columns,  // transposed: [columns, stride]
};

// The padding of every row in shared memory, in elements, with which lanes that read a factor together have
// the fewest bank conflicts.
template <Precision precision>
constexpr int bank_padding = precision == Precision::f32 ? 4 : 8;

// Makes step `at` of the left factor from tiles: 16 (bf16, f16, tf32) or 8 (f32) inner columns.
template <Precision precision, int tiles>
__device__ typename Products<precision>::Left left_of(const Tile (&from)[tiles], int at) {
    if constexpr (precision == Precision::f32)
        return Products<precision>::left(from[at]);
    else
        return Products<precision>::left(from[2 * at], from[2 * at + 1]);
}

template <Precision precision>
__device__ void right_of(const typename Products<precision>::Element* from, Lies lies, int stride,
                         typename Products<precision>::Right (&two)[2]) {
    if (lies == Lies::in_rows)
        Products<precision>::right_in_rows(from, stride, two);
    else
        Products<precision>::right_in_columns(from, stride, two);
}

// to[16, 8 columns] += one step of left times its rows of right.
template <Precision precision, Lies lies, int columns>
__device__ void multiply_step(const typename Products<precision>::Left& left,
                              const typename Products<precision>::Element* right, int stride,
                              Tile (&to)[columns]) {
    using P = Products<precision>;
#pragma unroll
    for (int n = 0; n < columns; n += 2) {
        typename P::Right two[2];
        right_of<precision>(right + n * 8 * (lies == Lies::in_rows ? 1 : stride), lies, stride, two);
        P::add(to[n], left, two[0]);
        P::add(to[n + 1], left, two[1]);
    }
}

// The same step for two left factors.
template <Precision precision, Lies lies, int columns>
__device__ void multiply_step(const typename Products<precision>::Left& left,
                              const typename Products<precision>::Left& other_left,
                              const typename Products<precision>::Element* right, int stride,
                              Tile (&to)[columns], Tile (&other_to)[columns]) {
    using P = Products<precision>;
#pragma unroll
    for (int n = 0; n < columns; n += 2) {
        typename P::Right two[2];
        right_of<precision>(right + n * 8 * (lies == Lies::in_rows ? 1 : stride), lies, stride, two);
        P::add(to[n], left, two[0]);
        P::add(to[n + 1], left, two[1]);
        P::add(other_to[n], other_left, two[0]);
        P::add(other_to[n + 1], other_left, two[1]);
    }
}

// Rotates the tiles: the first becomes the last. A full rotation restores the order.
template <int tiles>
__device__ void rotate(Tile (&all)[tiles]) {
#pragma unroll
    for (int at = 0; at < 4; ++at) {
        const float first = all[0][at];
#pragma unroll
        for (int n = 0; n + 1 < tiles; ++n) all[n][at] = all[n + 1][at];
        all[tiles - 1][at] = first;
    }
}

// to[16, 8 columns] += left[16, 8 inner] right[8 inner, 8 columns]; both counts are even. In f32 a step is
// hundreds of instructions, so steps form a loop that rotates the tiles of the left factor: registers have no
// addresses.
template <Precision precision, Lies lies, int columns, int inner>
__device__ void multiply(Tile (&left)[inner], const typename Products<precision>::Element* right, int stride,
                         Tile (&to)[columns]) {
    constexpr int each = Products<precision>::inner, steps = inner * 8 / each;
    const int along = each * (lies == Lies::in_rows ? stride : 1);
    if constexpr (precision == Precision::f32) {
#pragma unroll 1
        for (int k = 0; k < steps; ++k, right += along) {
            multiply_step<precision, lies>(left_of<precision>(left, 0), right, stride, to);
            rotate(left);
        }
    } else {
#pragma unroll
        for (int k = 0; k < steps; ++k)
            multiply_step<precision, lies>(left_of<precision>(left, k), right + k * along, stride, to);
    }
}

// The same for two left factors, with the right factor loaded once.
template <Precision precision, Lies lies, int columns, int inner>
__device__ void multiply_both(Tile (&left)[inner], Tile (&other_left)[inner],
                              const typename Products<precision>::Element* right, int stride,
                              Tile (&to)[columns], Tile (&other_to)[columns]) {
    constexpr int each = Products<precision>::inner, steps = inner * 8 / each;
    const int along = each * (lies == Lies::in_rows ? stride : 1);
    if constexpr (precision == Precision::f32) {
#pragma unroll 1
        for (int k = 0; k < steps; ++k, right += along) {
            multiply_step<precision, lies>(left_of<precision>(left, 0), left_of<precision>(other_left, 0),
                                           right, stride, to, other_to);
            rotate(left);
            rotate(other_left);
        }
    } else {
#pragma unroll
        for (int k = 0; k < steps; ++k)
            multiply_step<precision, lies>(left_of<precision>(left, k), left_of<precision>(other_left, k),
                                           right + k * along, stride, to, other_to);
    }
}

// to[16, 8 columns] += left[16, inner] right[inner, 8 columns], both in shared memory. A product of tensor
// cores waits for the one before it that adds to the same sums, so every second step has sums of its own.
template <Precision precision, Lies lies, int inner, int columns>
__device__ void multiply(const typename Products<precision>::Element* left, int left_stride,
                         const typename Products<precision>::Element* right, int right_stride,
                         Tile (&to)[columns]) {
    using P = Products<precision>;
    constexpr bool splits = precision != Precision::f32;
    constexpr int unrolled = splits ? inner / P::inner : 1;
    Tile odd[columns] = {};
#pragma unroll unrolled
    for (int k = 0; k < inner; k += P::inner)
        multiply_step<precision, lies>(P::left_in_rows(left + k, left_stride),
                                       right + k * (lies == Lies::in_rows ? right_stride : 1), right_stride,
                                       splits && k / P::inner % 2 == 1 ? odd : to);
    if constexpr (splits) {
#pragma unroll
        for (int n = 0; n < columns; ++n)
#pragma unroll
            for (int at = 0; at < 4; ++at) to[n][at] += odd[n][at];
    }
}

}  // namespace sawtooth::device
