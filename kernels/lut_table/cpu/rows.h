#pragma once

#include <cstdint>

#include "kernels/lut_table/fixed_point.h"

namespace sawtooth::lut_table {

// Operations on rows of any length, in vectors.

// Adds the rows, multiplied by factor, to the sums in the order of the rows.
void add_rows(const float* const* rows, int64_t count, int64_t columns, float factor, float* sums);
// The same with every product computed in f64 and added as FixedPoint::term.
void add_rows(const float* const* rows, int64_t count, int64_t columns, double factor, FixedPoint fixed,
              int64_t* sums);

float dot(const float* left, const float* right, int64_t columns);
// Returns the sum of FixedPoint::term of the products, which are computed in f64.
int64_t dot(const float* left, const float* right, int64_t columns, FixedPoint fixed);

// Stores FixedPoint::value of the sums. Returns false if one of them overflows.
bool convert(const int64_t* sums, int64_t columns, FixedPoint fixed, float* to);

// Copies a row. With `streams` it bypasses the caches where the alignment allows; the caller must then call
// hwy::FlushStream.
void put_row(const float* from, int64_t columns, float* to, bool streams);

}  // namespace sawtooth::lut_table
