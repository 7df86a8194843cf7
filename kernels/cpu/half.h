#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/buffer.h"

namespace sawtooth::cpu {

// Converts f32 to and from the 16 bits of f16 or bf16, rounding to nearest, ties to even. The storage must
// not be f32.
void narrow(Storage storage, const float* from, uint16_t* to, int64_t count);
void widen(Storage storage, const uint16_t* from, float* to, int64_t count);

// Copies `count` floats of an array, from element `at` on, from or to f32.
inline void read(const Buffer& from, int64_t at, int64_t count, float* to) {
    if (from.storage == Storage::f32)
        std::copy_n(static_cast<const float*>(from.address) + at, count, to);
    else
        widen(from.storage, static_cast<const uint16_t*>(from.address) + at, to, count);
}
inline void write(const float* from, int64_t count, const Buffer& to, int64_t at) {
    if (to.storage == Storage::f32)
        std::copy_n(from, count, static_cast<float*>(to.address) + at);
    else
        narrow(to.storage, from, static_cast<uint16_t*>(to.address) + at, count);
}

// Rounds f32 values in place to the precision of the storage; does nothing for f32.
void round_to(Storage storage, float* values, int64_t count);

}  // namespace sawtooth::cpu
