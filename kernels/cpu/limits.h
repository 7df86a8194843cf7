#pragma once

#include <cstdint>
#include <string>

#include "kernels/cpu/pool.h"

namespace sawtooth::cpu {

// Work that runs at the limits of the machine, on all threads of the pool in one dispatch.

// to = from; arrays are 64-byte aligned, and stores bypass the caches.
void copy(Pool& pool, const float* from, float* to, int64_t count);
// to = left + 0.5 * right, likewise.
void triad(Pool& pool, const float* left, const float* right, float* to, int64_t count);
// Executes independent f32 multiplies and adds in registers, at least `operations` over all workers. Returns
// their number; a multiply and an add count as one each.
double multiply_add(Pool& pool, double operations);

// The vector instruction set of this machine: "AVX3", "AVX2", "SSSE3".
std::string vector_target();

}  // namespace sawtooth::cpu
