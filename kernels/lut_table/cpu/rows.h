#pragma once

#include <cstdint>

#include "kernels/lut_table/fixed_point.h"

namespace sawtooth::lut_table {

// Rows of any length, in vectors.

// sums += factor times the rows, in their order.
void add_rows(const float* const* rows, int64_t count, int64_t columns, float factor, float* sums);
// Adds FixedPoint::term of the same products in f64.
void add_rows(const float* const* rows, int64_t count, int64_t columns, double factor, FixedPoint fixed,
              int64_t* sums);

float dot(const float* left, const float* right, int64_t columns);
// The sum of FixedPoint::term of the products in f64.
int64_t dot(const float* left, const float* right, int64_t columns, FixedPoint fixed);

// to = FixedPoint::value of the sums; false if one of them overflows.
bool convert(const int64_t* sums, int64_t columns, FixedPoint fixed, float* to);

// to = from; bypasses the caches where the alignment allows, if `streams`. Then hwy::FlushStream is due.
void put_row(const float* from, int64_t columns, float* to, bool streams);

}  // namespace sawtooth::lut_table
