#pragma once

#include <cstdint>

#include "kernels/core/storage.h"

namespace sawtooth::cpu {

// Converts f32 to and from the 16 bits of f16 or bf16, to nearest, ties to even. The storage must not be f32.
void narrow(Storage storage, const float* from, uint16_t* to, int64_t count);
void widen(Storage storage, const uint16_t* from, float* to, int64_t count);

// Rounds f32 values to the storage in place; no effect for f32.
void round_to(Storage storage, float* values, int64_t count);

}  // namespace sawtooth::cpu
