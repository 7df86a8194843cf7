#pragma once

#include <cstdint>

#include "kernels/core/storage.h"

namespace sawtooth::cpu {

// f32 to and from the 16 bits of f16 or bf16, to nearest, ties to even. The storage must not be f32.
void narrow(Storage storage, const float* from, uint16_t* to, int64_t count);
void widen(Storage storage, const uint16_t* from, float* to, int64_t count);

// Rounds f32 values to that storage in place; f32 leaves them as they are.
void round_to(Storage storage, float* values, int64_t count);

}  // namespace sawtooth::cpu
