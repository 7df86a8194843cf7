#pragma once

#include <cstdint>

namespace sawtooth::attention {

// One row of a tile of scores. Counts are multiples of 16.

// The largest number; -infinity for no numbers. A NaN may be ignored.
float largest(const float* row, int64_t count);
// row = exp(row - shift), for rows at most `shift`; returns the sum.
float exponentials(float* row, float shift, int64_t count);
// row = p (row - delta) scale: from the gradients of probabilities to those of scores.
void score_gradients(float* row, const float* p, float delta, float scale, int64_t count);
// In the order of cpu::multiply: where a query has one key, the gradients of its scores cancel exactly.
float ordered_dot(const float* left, const float* right, int64_t count);
// Whether all numbers are finite.
bool is_finite(const float* row, int64_t count);

}  // namespace sawtooth::attention
