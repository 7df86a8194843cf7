#pragma once

#include <cstdint>
#include <string>

#include "kernels/cpu/pool.h"

namespace sawtooth::cpu {

// What every kernel is held against, done by the same threads in one dispatch.

// to = from; 64-byte aligned, stored past the caches.
void copy(Pool& pool, const float* from, float* to, int64_t count);
// to = left + 0.5 * right; likewise.
void triad(Pool& pool, const float* left, const float* right, float* to, int64_t count);
// Independent f32 multiplies and adds in registers on every worker. Returns how many operations were done, a
// multiply and an add counted each.
double multiply_add(Pool& pool, int64_t rounds);

// Which vectors run here: "AVX3", "AVX2", "SSSE3".
std::string vector_target();

}  // namespace sawtooth::cpu
