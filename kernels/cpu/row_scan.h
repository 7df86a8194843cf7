#pragma once

#include "kernels/cpu/operators.h"

namespace sawtooth::cpu {

// Rows of neighbouring columns. Row r of plane p starts at plane[p] + r * stride; with a negative stride rows
// run backwards in memory.
struct Rows {
    const float* plane[2] = {};
    int64_t stride = 0;
};
struct MutableRows {
    float* plane[2] = {};
    int64_t stride = 0;
};

// Combines the rows of a tile one after another, every column independently. These functions neither count
// operations nor check arguments; callers do.
struct Walk {
    Operator op = Operator::sum;
    Rows in = {};
    int64_t rows = 0, columns = 0;
    States carry = {}, total = {};  // [columns], read and written
    float* out = nullptr;  // [rows, columns], finished values: s + e for compensated_sum, b for linear
    int64_t out_stride = 0;
    MutableRows states_out = {};  // [rows, columns], unfinished states
    bool stream = false;          // aligned rows bypass the caches
    // Whether it is a single column with contiguous rows: all strides are 1, or all are -1.
    bool is_line = false;
};

// A lane of a vector is a column and combines its rows in order. A line is scanned inside vectors instead:
// its order, and so its last bit, depends on the number of rows and the vector width. All functions below
// produce bit-identical totals, carries and rows.
void fold_rows(const Walk& walk);           // total = total o row 0 o row 1 …
void scan_rows(const Walk& walk);           // carry = carry o row r; out row r = carry, finished
void scan_and_fold_rows(const Walk& walk);  // both in one pass
void scan_states(const Walk& walk);         // carry = carry o row r; states_out row r = carry
// The same as scan_rows, but strictly one row after another even for a single column.
void chain_rows(const Walk& walk);

// Returns the walk, with `stream` only if every vector that it stores is aligned.
Walk streaming_where_aligned(Walk walk);

}  // namespace sawtooth::cpu
