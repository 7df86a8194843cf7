#pragma once

#include "kernels/cuda/device/half.cuh"
#include "kernels/cuda/device/types.cuh"

namespace sawtooth::device {

// Storage types of floats, which convert a word to and from f32. Narrow types also convert two words at once,
// the first in the low bits, so that it comes first in memory.
struct f32 {
    using Word = float;
    static constexpr uint32_t exponent = 0x7f800000;  // the bits that are all set in infinities and NaN
    static __device__ float widen(float word) { return word; }
    static __device__ float narrow(float value) { return value; }
};

struct f16 {
    using Word = uint16_t;
    static constexpr uint32_t exponent = 0x7c00;
    static __device__ float widen(uint16_t word) { return f16_to_f32(word); }
    static __device__ uint16_t narrow(float value) { return f32_to_f16(value); }
    static __device__ uint32_t narrow(float first, float second) { return f32_to_f16x2(first, second); }
};

struct bf16 {
    using Word = uint16_t;
    static constexpr uint32_t exponent = 0x7f80;
    static __device__ float widen(uint16_t word) { return bf16_to_f32(word); }
    static __device__ uint16_t narrow(float value) { return f32_to_bf16(value); }
    static __device__ uint32_t narrow(float first, float second) { return f32_to_bf16x2(first, second); }
};

// Returns the same value, but hidden from the optimiser: earlier computations with it are not reused.
template <class Integer>
__device__ Integer forget(Integer value) {
    return value ^ static_cast<Integer>(blockDim.y - 1);  // 0, as thread blocks are one-dimensional
}

// The registers that hold `bytes` bytes: 32-bit ones, except for a single 16-bit word.
template <int bytes>
struct Register {
    using Type = uint32_t;
};
template <>
struct Register<2> {
    using Type = uint16_t;
};

// `count` neighbouring words of an array, kept as stored and read or written in one access (the address must
// be a multiple of their total size).
template <class Storage, int count>
struct alignas(sizeof(typename Storage::Word) * count) Words {
    using Word = typename Storage::Word;
    static constexpr int bytes = sizeof(Word) * count;
    using Held = typename Register<bytes>::Type;
    static constexpr int held_words = sizeof(Held) / sizeof(Word);  // per register
    Held held[bytes / sizeof(Held)];

    __device__ float get(int k) const {
        if constexpr (sizeof(Word) == 4)
            return __uint_as_float(held[k]);
        else
            return Storage::widen(static_cast<Word>(held[k / held_words] >> (k % held_words * 16)));
    }
    __device__ void set(int k, float value) {
        if constexpr (sizeof(Word) == 4) {
            held[k] = __float_as_uint(value);
        } else {
            const Held word = Storage::narrow(value);
            held[k / held_words] = k % held_words == 0 ? word : held[k / held_words] | word << 16;
        }
    }
    // Sets two neighbours; k is even.
    __device__ void set(int k, float first, float second) {
        if constexpr (sizeof(Word) == 4) {
            set(k, first);
            set(k + 1, second);
        } else {
            held[k / 2] = Storage::narrow(first, second);
        }
    }
    // Keeps only the words, so that the results of earlier calls of `get` take no registers.
    __device__ void forget_widened() {
        if constexpr (sizeof(Word) < 4) {
#pragma unroll
            for (Held& one : held) one = forget(one);
        }
    }
};

template <class Storage, int count>
__device__ Words<Storage, count> load_words(const void* array, int64_t at) {
    using Word = typename Storage::Word;
    return *reinterpret_cast<const Words<Storage, count>*>(static_cast<const Word*>(array) + at);
}

// Loads or stores `count` values of an array of any storage as f32, in one access.
template <class Storage, int count>
__device__ void load(const void* array, int64_t at, float (&values)[count]) {
    const auto words = load_words<Storage, count>(array, at);
#pragma unroll
    for (int k = 0; k < count; ++k) values[k] = words.get(k);
}

template <class Storage, int count>
__device__ void store(void* array, int64_t at, const float (&values)[count]) {
    Words<Storage, count> words;
#pragma unroll
    for (int k = 0; k < count; ++k) words.set(k, values[k]);
    *reinterpret_cast<Words<Storage, count>*>(static_cast<typename Storage::Word*>(array) + at) = words;
}

// Returns two words of f16 or bf16 with zeros in place of infinities and NaN.
template <class Storage>
__device__ uint32_t without_nonfinite(uint32_t two) {
    if ((two & Storage::exponent) == Storage::exponent) two &= 0xffff0000u;
    if ((two >> 16 & Storage::exponent) == Storage::exponent) two &= 0xffffu;
    return two;
}

}  // namespace sawtooth::device
