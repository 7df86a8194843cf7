// f16 and bf16 as the 16 bits in arrays, to and from f32. Narrowing rounds to nearest, ties to even, as in
// kernels/cpu/half.h (except for the payload of a NaN); widening is exact. Needs no header of the toolkit.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::device {

__device__ inline float f16_to_f32(uint16_t half) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
}

__device__ inline uint16_t f32_to_f16(float value) {
    uint16_t half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}

// A bf16 is the upper half of an f32.
__device__ inline float bf16_to_f32(uint16_t half) {
    return __uint_as_float(static_cast<uint32_t>(half) << 16);
}

__device__ inline uint16_t f32_to_bf16(float value) {
    uint16_t half;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}

// Narrows two numbers at once, with `first` in the low 16 bits, so that it comes before `second` in memory.
__device__ inline uint32_t f32_to_f16x2(float first, float second) {
    uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

__device__ inline uint32_t f32_to_bf16x2(float first, float second) {
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

}  // namespace sawtooth::device
