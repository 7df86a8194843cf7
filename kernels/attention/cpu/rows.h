#pragma once

#include <cstdint>

namespace sawtooth::attention {

// Functions of one row of a tile of scores. Counts are multiples of 16, unless a function takes any.

// Returns the largest number, or -infinity if there is none. A NaN may be ignored.
float largest(const float* row, int64_t count);
// Replaces the row by exp(row - shift) and returns its sum. No number of the row may exceed `shift`.
float exponentials(float* row, float shift, int64_t count);
// Turns gradients of probabilities into gradients of scores: row = p (row - delta) scale.
void score_gradients(float* row, const float* p, float delta, float scale, int64_t count);
// Returns the dot product, summed in the order of cpu::multiply, so that delta cancels the gradient of the
// probability exactly where a query has one key. Takes any count.
float ordered_dot(const float* left, const float* right, int64_t count);
// Returns true if all numbers are finite.
bool is_finite(const float* row, int64_t count);

}  // namespace sawtooth::attention
