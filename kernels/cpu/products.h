#pragma once

#include <cstdint>

#include "kernels/core/integers.h"

namespace sawtooth::cpu {

// The number of matrix rows side by side. A matrix that is multiplied with vectors is stored transposed, in
// strips of 16 rows: strip s holds rows 16 s … 16 s + 15 as [columns, 16]. A vector then holds a column of
// several rows, and its lanes never mix.
constexpr int64_t lanes = 16;
constexpr int64_t strips_of(int64_t rows) { return ceil_divide(rows, lanes); }
constexpr int64_t padded(int64_t count) { return strips_of(count) * lanes; }

// The factor whose numbers are broadcast to vectors. Element (r, c) is values[r * row + c * column].
struct Left {
    const float* values = nullptr;
    int64_t row = 0, column = 1;
};

// The factor that is loaded in vectors. Element (r, 16 b + lane) is values[b * block + r * row + lane].
// `block` is the size of a strip, or 16 for a plain matrix.
struct Right {
    const float* values = nullptr;
    int64_t row = lanes, block = lanes;
};

struct Target {
    float* values = nullptr;
    int64_t row = lanes, block = lanes;
};

enum class Into { set, add, subtract };

// target [rows, 16 blocks] = left [rows, inner] * right [inner, 16 blocks]; or target += or -= the product.
// Every sum runs over `inner` in order, for any shape.
struct Product {
    Left left;
    Right right;
    Target target;
    int64_t rows = 0, inner = 0, blocks = 1;
    Into into = Into::set;
};

void multiply(const Product& product);

// The same for a lower triangular left factor, of which row r uses only the first min(inner, first + r)
// numbers and never reads the others.
void multiply_lower(const Product& product, int64_t first);

// The number of rows of the target for which the right factor is loaded once on this processor.
int64_t rows_together();

}  // namespace sawtooth::cpu
