#pragma once

#include <cstdint>

#include "kernels/cpu/products.h"

namespace sawtooth::memory {

// One token on a strip of 16 rows of a memory, [columns, 16] (kernels/cpu/products.h). `columns` is any
// number.

// e = M k - v.
void error_of(const float* m, const float* k, int64_t columns, const float* v, float* e);

// With momentum: S = keep S + u k^T, M = decay M + S. Without (`s` null): M = decay M + u k^T. Then y = M q.
struct StripStep {
    float* m = nullptr;
    float* s = nullptr;
    int64_t columns = 0;
    float decay = 1, keep = 0;
    const float* u = nullptr;  // [16]
    const float* k = nullptr;
    const float* q = nullptr;
    float* y = nullptr;  // [16]
};
void take_step(const StripStep& step);

// The coefficients w and h of a token's sources, padded(count) numbers each: h = keep h, then
// h[first … count - 1] += step, then w = decay w + h.
struct Coefficients {
    float *w = nullptr, *h = nullptr;
};
void advance(const Coefficients& coefficients, float decay, float keep, float step, int64_t first,
             int64_t count);

}  // namespace sawtooth::memory
