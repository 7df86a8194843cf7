#pragma once

#include <cstdint>
#include <string_view>

namespace sawtooth::cpu {

enum class Precision { f32, f16, bf16 };
Precision precision_named(std::string_view dtype);  // "f32", "f16", "bf16"
int64_t bytes_of(Precision precision);

// f32 to and from the 16 bits of f16 or bf16, to nearest, ties to even. The precision must not be f32.
void narrow(Precision precision, const float* from, uint16_t* to, int64_t count);
void widen(Precision precision, const uint16_t* from, float* to, int64_t count);

// Rounds f32 values to the precision in place; f32 leaves them as they are.
void round_to(Precision precision, float* values, int64_t count);

}  // namespace sawtooth::cpu
