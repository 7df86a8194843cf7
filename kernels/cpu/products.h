#pragma once

#include <cstdint>

#include "kernels/core/integers.h"

namespace sawtooth::cpu {

// Rows of a matrix that lie side by side. A matrix that vectors are multiplied with is kept transposed, in
// strips of 16 rows: strip s holds rows 16 s … 16 s + 15 as [columns, 16], so that vectors run over rows and
// none ever looks at its neighbour.
constexpr int64_t lanes = 16;
constexpr int64_t strips_of(int64_t rows) { return ceil_divide(rows, lanes); }
constexpr int64_t padded(int64_t count) { return strips_of(count) * lanes; }

// The factor whose numbers are spread over vectors: element (r, c) is values[r * row + c * column].
struct Left {
    const float* values = nullptr;
    int64_t row = 0, column = 1;
};

// The factor that is read in vectors: element (r, 16 b + lane) is values[b * block + r * row + lane]. Blocks
// of a strip follow each other at its size; those of a plain matrix at 16.
struct Right {
    const float* values = nullptr;
    int64_t row = lanes, block = lanes;
};

struct Target {
    float* values = nullptr;
    int64_t row = lanes, block = lanes;
};

enum class Into { set, add, subtract };

// target [rows, 16 blocks] = left [rows, inner] * right [inner, 16 blocks], or added to it, or taken from it.
// Every sum runs over `inner` in order, whatever the shape.
struct Product {
    Left left;
    Right right;
    Target target;
    int64_t rows = 0, inner = 0, blocks = 1;
    Into into = Into::set;
};

void multiply(const Product& product);

// The same where left is lower triangular: row r takes the first min(inner, first + r) alone and never
// looks at what stands behind them.
void multiply_lower(const Product& product, int64_t first);

}  // namespace sawtooth::cpu
