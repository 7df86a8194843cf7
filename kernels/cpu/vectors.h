#pragma once

#include <cstdint>

namespace sawtooth::cpu {

// Operations on rows of numbers in vectors. Counts are multiples of 16 (rows are zero-padded), so there is no
// tail.

float dot(const float* left, const float* right, int64_t count);
// row /= max(norm, 1e-12), even if the square of the norm is out of range for f32.
void normalise(float* row, int64_t count);
void scale(float* row, float factor, int64_t count);
// to = a x + b y; to may be x or y.
void combine(float* to, float a, const float* x, float b, const float* y, int64_t count);
// Transposes `count` rows of `columns` numbers, `stride` apart, to [columns, width], zero-padded from `count`
// on.
void transpose(const float* rows, int64_t stride, int64_t count, int64_t columns, float* to, int64_t width);
void multiply_elements(float* row, const float* by, int64_t count);
// to [count, 16]: row i is row i of `from` times factors[i].
void scale_rows(float* to, const float* from, const float* factors, int64_t count);
// to [count, 16] -= rows of 16 numbers, `stride` apart.
void subtract_rows(float* to, const float* rows, int64_t stride, int64_t count);
void silu(float* row, int64_t count);          // x / (1 + exp(-x))
void sigmoid(float* row, int64_t count);       // 1 / (1 + exp(-x))
void exponentials(float* row, int64_t count);  // exp(x) for x at most 0

}  // namespace sawtooth::cpu
