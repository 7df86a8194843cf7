#pragma once

#include <cstdint>

namespace sawtooth::memory {

// Rows of numbers in vectors. Counts are multiples of 16 (rows end in zeros), so that no tail is left.

float dot(const float* left, const float* right, int64_t count);
// Divided by max(norm, 1e-12), whether or not the square of the norm is an f32.
void normalise(float* row, int64_t count);
void scale(float* row, float factor, int64_t count);
// to = a x + b y; to may be x or y.
void combine(float* to, float a, const float* x, float b, const float* y, int64_t count);
// `count` rows of `columns` numbers, `stride` apart, to [columns, width] with zeros behind the count.
void transpose(const float* rows, int64_t stride, int64_t count, int64_t columns, float* to, int64_t width);
void multiply_elements(float* row, const float* by, int64_t count);
// to [count, 16]: row i of `from` times factors[i].
void scale_rows(float* to, const float* from, const float* factors, int64_t count);
// to [count, 16] loses rows of 16 numbers, `stride` apart.
void subtract_rows(float* to, const float* rows, int64_t stride, int64_t count);
// h = keep h, then h[first …] += step up to `count`, then w = decay w + h; all of padded(count).
struct Coefficients {
    float *w = nullptr, *h = nullptr;
};
void advance(const Coefficients& coefficients, float decay, float keep, float step, int64_t first,
             int64_t count);
void silu(float* row, int64_t count);          // x / (1 + exp(-x))
void sigmoid(float* row, int64_t count);       // 1 / (1 + exp(-x))
void exponentials(float* row, int64_t count);  // exp(x) for x at most 0

// One token on a strip of 16 rows of a memory, [columns, 16] (see products.h). `columns` is any number.

// e = M k - v.
void error_of(const float* m, const float* k, int64_t columns, const float* v, float* e);

// With momentum: S = keep S + u k^T, M = decay M + S. Without (`s` null): M = decay M + u k^T. Then y = M q.
struct Step {
    float* m = nullptr;
    float* s = nullptr;
    int64_t columns = 0;
    float decay = 1, keep = 0;
    const float* u = nullptr;  // [16]
    const float* k = nullptr;
    const float* q = nullptr;
    float* y = nullptr;  // [16]
};
void take_step(const Step& step);

}  // namespace sawtooth::memory
