#pragma once

#include "kernels/cpu/operators.h"

namespace sawtooth::cpu {

// Rows of neighbouring columns. Row r of plane p starts at plane[p] + r * stride; a negative stride walks
// backwards.
struct Rows {
    const float* plane[2] = {};
    int64_t stride = 0;
};
struct MutableRows {
    float* plane[2] = {};
    int64_t stride = 0;
};

// The rows of a tile, combined one after another, every column for itself. These functions count nothing and
// check nothing: callers do.
struct Walk {
    Operator op = Operator::sum;
    Rows in = {};
    int64_t rows = 0, columns = 0;
    States carry = {}, total = {};  // [columns], read and written
    float* out = nullptr;  // [rows, columns], finished values: y = s + e for compensated_sum, b for linear
    int64_t out_stride = 0;
    MutableRows states_out = {};  // [rows, columns], whole states, not finished
    bool stream = false;          // store rows past the caches where they are aligned
    // A single column whose rows are neighbours in memory: every stride is 1 or -1, the same one.
    bool is_line = false;
};

// A lane of a vector is a column, which combines its rows in order. A line is scanned inside vectors instead:
// there the order depends on the number of rows and the width of the vectors, and so does the last bit.
// Whichever function makes them, totals are the same to the last bit, and so are carries and rows.
void fold_rows(const Walk& walk);           // total = total o row 0 o row 1 …
void scan_rows(const Walk& walk);           // carry = carry o row r; out row r = carry, finished
void scan_and_fold_rows(const Walk& walk);  // both in one pass
void scan_states(const Walk& walk);         // carry = carry o row r; states_out row r = carry
// The same as scan_rows, but strictly one row after another, a single column too.
void chain_rows(const Walk& walk);

}  // namespace sawtooth::cpu
